"""Reading YAML files with plain values only, without repeated keys or endless aliases."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import yaml

from dpol.core.errors import ConfigError


def read_yaml(path: Path | str) -> object:
    """Read a YAML file.

    A key given twice in one block is refused. So is a number that YAML 1.1 reads otherwise than
    people do: with a leading zero (base 8) or colons (base 60), or too large to be finite.

    Raises:
        ConfigError: the file cannot be read, or is not such YAML.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not YAML: it is not UTF-8 text; save it as UTF-8") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, place: str) -> object:
    """Read YAML as `read_yaml` does; messages name its place.

    Raises:
        ConfigError: the text is not such YAML.
    """
    try:
        loader = _UniqueKeys(text)
        root = loader.get_single_node()
        _size(root, {})
        return None if root is None else loader.construct_document(root)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None
    except yaml.MarkedYAMLError as error:
        raise ConfigError(f"{place}: is not YAML: {_in_words(error)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{place}: is not YAML: {error}") from None
    except RecursionError:
        raise ConfigError(
            f"{place}: is nested too deeply; a config has only a few levels"
        ) from None


_MOST_NODES = 100_000


def _size(node: yaml.Node | None, sizes: dict[yaml.Node, int]) -> int:
    """Count the nodes of YAML with its aliases expanded; `sizes` is 0 for nodes being counted.

    Raises:
        ValueError: the YAML is huge, or contains itself.
    """
    if node is None:
        return 0
    if node not in sizes:
        sizes[node] = 0
        parts = node.value if isinstance(node, yaml.CollectionNode) else ()
        inner = [one for part in parts for one in (part if isinstance(part, tuple) else (part,))]
        sizes[node] = 1 + sum(_size(one, sizes) for one in inner)
    if not 0 < sizes[node] <= _MOST_NODES:
        line = node.start_mark.line + 1
        raise ValueError(f"line {line}: aliases make this block endless or far too large")
    return sizes[node]


def _in_words(error: yaml.MarkedYAMLError) -> str:
    """Return the parser's problem with its line, and the remedy for the most common mistakes."""
    mark, problem = error.problem_mark, str(error.problem or error)
    if "'\\t'" in problem:
        problem = "a tab; indent with spaces"
    elif problem == "mapping values are not allowed here":
        problem = "a key is not allowed here; is a space missing after a colon in this line or the"
        problem += " one above, or is the line indented too far?"
    return problem if mark is None else _at(mark, problem)


def _at(mark: yaml.Mark, problem: str) -> str:
    """Return a problem with its line."""
    snippet = mark.get_snippet()
    return f"line {mark.line + 1}: {problem}" + (f"\n{snippet}" if snippet else "")


_OTHER_BASE = re.compile("[-+]?(0[0-9_]+|[0-9][0-9_]*:.+|[0-9_]*_[0-9_.]*)", re.DOTALL)
"""Numbers in base 8 or base 60, and numbers with underscores."""


class _UniqueKeys(yaml.SafeLoader):
    """A YAML loader that refuses repeated keys, and numbers that people read otherwise."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                problem = f"key {key.value} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)

    def construct_yaml_int(self, node: yaml.ScalarNode) -> int:
        return int(self._plain(node, super().construct_yaml_int(node)))

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        return float(self._plain(node, super().construct_yaml_float(node)))

    def _plain(self, node: yaml.ScalarNode, value: float) -> float:
        """Return a number, and refuse one that YAML 1.1 reads otherwise than people do."""
        text = str(node.value)
        if _OTHER_BASE.fullmatch(text) or (abs(value) == math.inf and "inf" not in text.lower()):
            digits = re.fullmatch("([-+]?)0*([0-9]+)", text.replace("_", ""))
            plain = f"write {digits[1]}{digits[2]}" if digits else "write a plain number"
            problem = f"YAML reads {text} as {value}; {plain}, or put it in quotes"
            raise ConfigError(_at(node.start_mark, problem))
        return value

    def construct_yaml_timestamp(self, node: yaml.ScalarNode) -> Any:
        try:
            return super().construct_yaml_timestamp(node)
        except (ValueError, AttributeError):
            problem = f"{node.value} is not a date"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None


for _kind in ("int", "float", "timestamp"):
    _UniqueKeys.add_constructor(
        f"tag:yaml.org,2002:{_kind}", getattr(_UniqueKeys, f"construct_yaml_{_kind}")
    )
