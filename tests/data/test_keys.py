"""A refusal names a key as the edge does that prints it: a config, a function, or a command."""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import dpol
from dpol.cli.dataset import add, as_option
from dpol.core.errors import Key, in_words, keyed
from dpol.data.own_table import as_argument
from pipeline import ROOT

FILES = [*(ROOT / "src/dpol/data").rglob("*.py")]
OF_A_RUN = "panel.py"  # writes a page of a run, which has a config
SCHEMA = json.loads((ROOT / "config/schema.json").read_text())
KINDS = argparse.ArgumentParser().add_subparsers()
add(KINDS)


def keys_in(file: Path) -> Iterator[Key]:
    """Yield the keys that a module names, in templates and alone."""
    for call in ast.walk(ast.parse(file.read_text())):
        match call:
            case ast.Call(func=ast.Name("keyed"), args=[ast.Constant(template)], keywords=values):
                fields = {field for _, field, *_ in Formatter().parse(template) if field}
                for field in fields - {value.arg for value in values}:
                    yield Key(tuple(field.split(".")))
            case ast.Call(func=ast.Name("Key"), args=[ast.Tuple(parts), *_]):
                location = [part.value if isinstance(part, ast.Constant) else "*" for part in parts]
                yield Key(tuple(location))


def block_at(location: tuple[str | int, ...], schema: Any = SCHEMA) -> Any:
    """Return the schema of a key of a config, in which * is any key; None if there is none."""
    if "$ref" in schema:
        return block_at(location, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    kinds = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if kinds:
        return next((found for kind in kinds if (found := block_at(location, kind))), None)
    if not location:
        return schema
    first, *inner = location
    keys = {**schema.get("properties", {}), **schema.get("patternProperties", {})}
    below = next(iter(keys.values()), None) if first == "*" else keys.get(first)
    return below and block_at(tuple(inner), below)


KEYS = sorted({key for file in FILES for key in keys_in(file)}, key=str)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_an_edge_names_only_keys_that_it_has(key: Key) -> None:
    assert block_at(key.location), "a config has no such key"
    argument = as_argument(key)
    first = argument.partition(".")[0]
    arguments = inspect.signature(dpol.read_table).parameters
    of_no_counts = key.location[:2] == ("dataset", "source")  # kinds that are no table of counts
    assert first in arguments or argument == "the arguments" or of_no_counts
    option = as_option(key)
    assert option in (str(key), *KINDS.choices["dataset"]._option_string_actions)


def test_the_edges_name_one_key_in_their_words() -> None:
    text = keyed("Check {dataset.columns.count}: {shown}.", shown="{3}")
    assert in_words(text) == "Check dataset.columns.count: {3}."
    assert in_words(text, as_argument) == "Check count: {3}."
    assert in_words(text, as_option) == "Check --count: {3}."


def test_an_option_stands_for_a_key() -> None:
    options = {as_option(key) for key in KEYS} - {str(key) for key in KEYS}
    assert options >= {"--count", "--capacity", "--sheet", "--encoding", "--date", "--decimal"}


@pytest.mark.parametrize("file", [file for file in FILES if file.name != OF_A_RUN], ids=str)
def test_no_text_names_a_key_of_one_edge(file: Path) -> None:
    """A key in plain text would read the same at all edges."""
    tree = ast.parse(file.read_text())
    described = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node not in described
    ]
    assert [text for text in texts if re.search(r"(?<!\{)\b(dataset|streams)\.[a-z*]", text)] == []


REFUSED = {
    "a,2024-01-01,1\nA,2024-01-08,1": 'cleaning={"identifiers": {"A": "a"}}',
    "a,2024-01-01,x\nb,2024-01-01,1": "in format, numbers not written like 1234.5; in cleaning, ",
    "a,2024-01-01,1\na,2024-01-01,2": "2024-01-01, rows 2, 3; in all 2 such rows) are not equal",
    "a,1/2/2024,1\nb,1/2/2024,1": "set format.date: D/M/YYYY or M/D/YYYY.",
}


@pytest.mark.parametrize("rows", REFUSED)
def test_a_function_names_its_arguments(rows: str, tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text(f"site,week,used\n{rows}\n")
    asked = {"gain": {"of": "count", "bound": 9}, "cleaning": {"entities": "all"}}
    with pytest.raises(dpol.DataError, match=re.escape(REFUSED[rows])) as error:
        dpol.read_table(file, entity="site", period="week", count="used", **asked)
    assert not re.search("dataset[.]|config", str(error.value))
