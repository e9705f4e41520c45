"""Everything that is written about the config, made from the models themselves."""

from __future__ import annotations

import inspect
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpol.config.models import WHOLE
from dpol.core.plugins import OF_ANOTHER
from dpol.core.schemas import Column, shared_columns
from dpol.data.panel import DATA_SCHEMAS
from dpol.experts.interface import LearnerBank
from dpol.experts.registry import LEARNERS, REGISTRY, Entry, learner_name, make_members
from dpol.noise import NOISES
from dpol.show.pages import load_template
from dpol.studies.registry import load_studies
from dpol.studies.study import schemas_of

JsonSchema = dict[str, Any]
"""A JSON schema, or a part of one."""


def generated(folder: Path) -> dict[str, str]:
    """The generated files of a config folder, and a page of the manual, by name.

    Raises:
        ValueError: a page lacks the markers around its generated part.
    """
    readme, page = folder / "README.md", folder / "../docs/reference/tables.md"
    files = {"schema.json": schema(), "README.md": with_manual(readme.read_text(encoding="utf-8"))}
    if page.exists():
        files["../docs/reference/tables.md"] = filled(
            page.read_text(encoding="utf-8"), results=results()
        )
    return files


def schema() -> str:
    """The JSON schema of a config, algorithm names included."""
    found = WHOLE.model_json_schema()
    found["title"] = "dpol config"
    suite = found["$defs"]["Suite"]["properties"]["algorithms"]["items"]
    suite["anyOf"][:1] = [{"enum": list(REGISTRY)}, {"type": "string", "pattern": OF_ANOTHER}]
    return json.dumps(found, indent=2) + "\n"


def _inlined(part: Any, models: JsonSchema) -> Any:
    """A JSON schema with its models, and a summary of each, where they are referred to."""
    if isinstance(part, list):
        return [_inlined(item, models) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        model = models[part["$ref"].rpartition("/")[2]]
        part = {**model, "summary": model["description"], **part}
    return {key: _inlined(inner, models) for key, inner in part.items() if key[0] != "$"}


def _blocks(path: str, part: JsonSchema) -> Iterator[tuple[str, JsonSchema]]:
    """Every block of a JSON schema with the keys that lead to it, depth first."""
    keys = part.get("properties", {})
    if kind := keys.get("kind", {}).get("const"):
        path += f" (kind: {kind})"
    if keys:
        yield path, part
    steps = [(f"{path}.{name}" if path else name, inner) for name, inner in keys.items()]
    steps += [(path, option) for option in (*part.get("anyOf", ()), *part.get("oneOf", ()))]
    steps += [(f"{path}.LABEL", inner) for inner in part.get("patternProperties", {}).values()]
    if isinstance(each := part.get("additionalProperties"), dict):
        steps.append((f"{path}.ID", each))
    steps += [(f"{path}[]", part["items"])] if "items" in part else []
    for step, inner in steps:
        yield from _blocks(step, inner)


_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false"}
_WORDS |= {"object": "block", "uri": "URL"}


def _type_name(part: JsonSchema) -> str:
    if options := part.get("enum", [part["const"]] if "const" in part else []):
        shown = (str(option).replace("|", r"\|").replace("\t", r"\t") for option in options)
        return " or ".join(f"`{option}`" for option in shown)
    if options := part.get("anyOf", part.get("oneOf", [])):
        names = (_type_name(option) for option in options if option.get("type") != "null")
        return " or ".join(dict.fromkeys(names))
    if "items" in part:
        return f"list of {_type_name(part['items'])}"
    for inner in part.get("patternProperties", {}).values():
        return f"{_type_name(inner)} per label"
    name = str(part.get("format", part["type"]))
    return _WORDS.get(name, name)


def algorithms() -> str:
    """A Markdown table of the registered algorithms, and one of the learners they choose from."""
    return _rendered(
        "algorithms.md",
        algorithms=REGISTRY,
        learners=LEARNERS,
        constant=", ".join(f"`{name}`" for name, noise in NOISES.items() if noise.constant),
        make_members=make_members,
        summary=lambda kind: _cell(_begin(kind.__doc__ or "")),
        parameters=_parameters,
    )


def noises() -> str:
    """A Markdown table of the noises."""
    return _rendered("noises.md", noises=NOISES)


def _parameters(name: str, entry: Entry) -> Iterator[tuple[str, str, str]]:
    """Name, default and meaning (from the class's docstring) of what a config may set."""
    text = inspect.getdoc(entry.load(name)) or ""
    section = re.search(r"^Args:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    _, *parts = re.split(r"^    (\w+): ", section[1] if section else "", flags=re.MULTILINE)
    meanings = dict(zip(parts[::2], parts[1::2], strict=True))
    for key, default in entry.parameters(name).items():
        yield key, _shown(default), _cell(" ".join(meanings.get(key, "").split())).removesuffix(".")


def _shown(value: object) -> str:
    """A default as a config would have it; nothing if it is long."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_shown(each)}" for key, each in value.items())
    if isinstance(value, tuple):
        shown = [_shown(each) for each in value]
        return ", ".join(shown) if all(shown) else ""
    if isinstance(value, str):
        return f"`{value}`"
    if isinstance(value, LearnerBank):
        return f"`{learner_name(value)}`"
    return json.dumps(value) if isinstance(value, bool | int | float) else ""


def results() -> str:
    """Markdown sections on the data, the games and the tables of all studies.

    A column that several tables have is described once, as most of them describe it. Columns that
    mean the same share a line. A group of shared columns is named as one.
    """
    tables = [*DATA_SCHEMAS.values()]
    for study in load_studies().values():
        tables += schemas_of(study).values()
    seen = Counter(column for table in tables for column in table.columns.items())
    shared: dict[str, Column] = {}
    for (name, column), times in seen.most_common():
        if times > 1:
            shared.setdefault(name, column)
    groups = {title: {it: shared[it] for it in names} for title, names in shared_columns().items()}
    described = []
    for table in tables:
        own = {name: it for name, it in table.columns.items() if shared.get(name) != it}
        whole = [title for title, it in groups.items() if it.items() <= table.columns.items()]
        grouped = set().union(*(groups[title] for title in whole))
        single = [name for name in table.columns if name not in own and name not in grouped]
        described.append((table, _lines(own), single, whole))
    grouped = set().union(*groups.values())
    common = {name: shared[name] for name in sorted(shared) if name not in grouped}
    lines = {title: _lines(columns) for title, columns in {"": common, **groups}.items()}
    return _rendered("results.md", tables=described, common=lines)


def _lines(columns: Mapping[str, Column]) -> dict[str, list[str]]:
    """The names of the columns that mean the same, by the meaning."""
    lines: dict[str, list[str]] = {}
    for name, column in columns.items():
        lines.setdefault(meaning_of(column), []).append(name)
    return lines


def meaning_of(column: Column) -> str:
    """The meaning of a column, its unit, and a note if a cell may be empty."""
    unit = f" ({column.unit})" if column.unit else ""
    said = not column.optional or "empty" in column.meaning
    return f"{column.meaning}{unit}{'' if said else ', or empty'}"


def with_manual(page: str) -> str:
    """The README of the configs with what the code says now: algorithms, noises, and all keys."""
    whole = WHOLE.model_json_schema()
    blocks = _blocks("", _inlined(whole, whole["$defs"]))
    keys = _rendered("keys.md", blocks=blocks, type_name=_type_name, json=json.dumps)
    return filled(page, algorithms=algorithms(), noises=noises(), keys=keys)


def filled(page: str, **texts: str) -> str:
    """A page with other texts between markers, each text by the name in its markers."""
    for name, text in texts.items():
        start = f"<!-- {name}: generated by `dpol config write`, do not edit -->"
        end = f"<!-- end of {name} -->"
        if start not in page or end not in page:
            raise ValueError(f"the page lacks the lines {start!r} and {end!r}")
        before, rest = page.split(start, 1)
        page = f"{before}{start}\n\n{text}\n{end}{rest.split(end, 1)[1]}"
    return page


def _rendered(template: str, **values: Any) -> str:
    page = load_template(f"{template}.j2", "dpol.config").render(values, begin=_begin)
    return page.strip() + "\n"


def _begin(text: str) -> str:
    """The first paragraph of a text, as one line."""
    return " ".join(text.partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
