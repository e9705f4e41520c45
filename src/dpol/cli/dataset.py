"""`dpol new dataset TABLE`: a config for the user's own table, from four answers."""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.errors import ConfigError, DataError, Key, OutputError, Text, UsageError, in_words
from dpol.core.files import write_text
from dpol.core.options import Commands, add_command, given

if TYPE_CHECKING:
    from dpol.data.understood import Found

_ANSWERS = {
    "entity": "column of the entities that play against each other",
    "period": "column of the dates",
    "count": "column of the counts",
    "capacity": "column of the capacities, or none",
    "at_most": "public bound: on a count if there is no capacity, else on a count per capacity",
}
_TEXTS = {"read.sep", "read.encoding", "read.sheet_name", "periods.format"} | {
    f"columns.{name}" for name in ("entity", "period", "count", "capacity", "group", "name")
}
"""Keys whose values are text, also where YAML would read a number, such as a sheet named 2023."""
_LABEL = 60
"""Largest length of a label, in characters."""


def add(kinds: Commands) -> None:
    """Add the kind, with its four answers."""
    words = "show the columns of a tidy table, clean it, and write a config for it"
    parser = add_command(kinds, "dataset", words=words, example="dpol new dataset wards.csv")
    parser.add_argument("name", metavar="TABLE", help="file of the table")
    for name, words in _ANSWERS.items():
        parser.add_argument(_flag(name), metavar=name.upper(), type=given, help=words)
    words = "a key of dataset, gain or privacy, such as read.sep=';'; may be repeated"
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=words)
    parser.set_defaults(run=new_dataset)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def as_option(key: Key) -> str:
    """Return what stands for a key of a config on the command line."""
    place = [str(it) for it in key.location]
    if place[:2] == ["dataset", "columns"] and place[-1] in _ANSWERS:
        return _flag(place[-1])
    name = ".".join(place[1:] if place[0] == "dataset" else place)
    if "." not in name or place[0] not in ("dataset", "gain", "privacy", "streams"):
        return str(key)
    return f"--set {name}={shlex.quote(key.value)}" if key.value else name


def new_dataset(options: argparse.Namespace) -> None:
    """Read a table as the answers say, and write its config into the working folder.

    Raises:
        UsageError: the table does not exist, or answers are missing or cannot be used; the text
            ends with the command to complete.
        OutputError: the config already exists.
    """
    import yaml

    from dpol.data.settings import TABLES
    from dpol.data.understood import columns_of, only_answers

    table = Path(options.name)
    if not table.is_file():
        raise UsageError(f"{table}: no such file; give the path of a table from this folder")
    if not table.name.endswith(TABLES):
        raise UsageError(f"{table}: a table ends in {', '.join(TABLES)}; save it as one of them")
    stem = table.name.partition(".")[0]
    name = re.sub("[^a-z0-9]+", "-", stem.lower())[:_LABEL].strip("-") or "table"
    file = Path(f"{name}.yaml")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    logging.getLogger("dpol").addHandler(logging.NullHandler())  # warnings are printed below
    said = {it: value for it in _ANSWERS if (value := getattr(options, it)) is not None}
    more: list[str] = []
    sets = [text.removeprefix("dataset.") for text in options.set]
    try:
        keys = [_key(text) for text in sets]
        found = columns_of(table, dict(keys), said)
        said |= only_answers(found, said)
        wanted = [] if found.papers else _missing(said)
        if wanted:
            print(f"{table} has these columns:", *found.lines, sep="\n  ")
        with contextlib.suppress(EOFError):  # the end of the answers
            while wanted and sys.stdin.isatty():
                said[wanted[0]] = input(f"{_ANSWERS[wanted[0]]}: ").strip()
                wanted = _missing(said)
        if wanted:
            more = [f"{_flag(it)} {it.upper()}" for it in wanted]
            asked = "".join(f"\n  {_flag(it)}: {_ANSWERS[it]}" for it in wanted)
            raise UsageError(f"{table}: these answers are missing.{asked}")
        config = _config(table, name, said, keys, found)
        lines = _cleaned(config, name)
    except (ConfigError, DataError, UsageError) as error:
        named = _options_in(error.args)
        if isinstance(error, ConfigError):  # which refuses values of keys
            refused = {it.partition("=")[0] for it in named}
            sets = [it for it in sets if f"--set {it.partition('=')[0]}" not in refused]
        known = {f"--set {text.partition('=')[0]}" for text in sets}
        open_ = [it for it in named if it.partition("=")[0] not in known]
        command = " ".join([_command(table, said, sets), *more, *open_[:1]])
        told = in_words(error.args, as_option)
        raise UsageError(f"{told}\nComplete and run: {command}") from None
    print(f"{table}:", *lines, sep="\n  ")
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(file, f"# {_command(table, said, sets)}\n{text}")
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _config(
    table: Path, name: str, said: dict[str, str], keys: list[tuple[str, Any]], found: Found
) -> dict[str, Any]:
    """Return the config of a table; an HHS table is read as `config/paper.yaml` reads it."""
    columns = {it: said[it] for it in said if it != "at_most" and said[it] != "none"}
    dataset: dict[str, Any] = {"source": {"kind": "local", "file": str(table)}}
    streams: dict[str, Any] = {name: {"groups": ["all"]}}
    if found.papers:
        dataset = {"like": "paper", "public": False, **dataset, "periods": found.span}
        streams = {group: {"groups": [group]} for group in found.groups}
    else:
        # Who plays must not depend on the counts, which are private.
        dataset |= {"columns": columns, "periods": found.lasting(said["period"])}
        dataset["cleaning"] = {"entities": "all"}
    config: dict[str, Any] = {"run": name, "seed": 1, "dataset": dataset, "streams": streams}
    if bound := said.get("at_most"):
        limit = _key(f"bound={bound}")[1]
        counts = {"of": "count", "bound": limit}
        config["gain"] = counts if said.get("capacity") == "none" else {"at_most": limit}
    config["privacy"] = {"levels": [float("inf"), 1, 0.5, 0.25]}
    for key, value in keys:
        *blocks, last = key.split(".")
        block = config if blocks[:1] in (["gain"], ["privacy"], ["streams"]) else dataset
        for part in blocks:
            block = block.setdefault(part, {})
        block[last] = value
    if "min_total_cases" in dataset.get("cleaning", {}):
        dataset["cleaning"].pop("entities", None)
    return config | {"suites": ["local", "central", "non-private"], "replicates": 40}


def _cleaned(raw: dict[str, Any], name: str) -> list[str]:
    """Clean a table as a run does, draw its picture, and return what its owner should see."""
    from dpol.config.experiment import parse_experiment
    from dpol.data.cleaning import changes, clean_table, provenance_of_stream
    from dpol.data.leaving import HOLDS, warning_of
    from dpol.data.stream import build_stream
    from dpol.show.heat_map import heat_map
    from dpol.show.style import save_figure

    config = parse_experiment(raw, f"{name}.yaml").config
    moved = "count_sensitivity" in config.privacy.model_fields_set
    file, dataset = config.raw_file, config.dataset
    panel, report = clean_table(file, dataset, config.streams, [config.gain], moved=moved)
    for stream in report["streams"]:
        facts = provenance_of_stream({**report, "stream": stream})
        build_stream(panel, stream["stream"], 1.0, facts, gain=config.gain)
    lines = [f"warning: {text}" for text in report["warnings"]]
    for stream in report["streams"]:
        lines += [*changes(stream), f"{stream['stream']}, look whether it is so:"]
        lines += stream["understood"]
    picture = Path("results", name, "data/understood.svg")  # which a run draws again
    save_figure(heat_map(panel, *dataset.pictured), [picture])
    warning = warning_of(dataset.private, HOLDS)
    return [*lines, f"the picture: {picture}", f"results/{name}: {warning}"]


def _missing(said: dict[str, str]) -> list[str]:
    names = ["entity", "period", "count", "capacity"]
    names += ["at_most"] * (said.get("capacity") == "none")
    return [it for it in names if not said.get(it)]


def _key(text: str) -> tuple[str, Any]:
    """Return the key and the value of `--set`; the value is YAML, or else text."""
    import yaml

    key, sign, value = text.partition("=")
    if not (sign and key):
        raise UsageError(f"--set {text}: must be KEY=VALUE, such as cleaning.max_carry=2")
    key = key.strip()
    try:
        read = yaml.safe_load(value)
    except yaml.YAMLError:
        return key, value
    is_text = key in _TEXTS and not isinstance(read, (list, dict))
    return key, value if is_text or value.strip() in ("", ",", ";", "|") else read


def _command(table: Path, said: dict[str, str], sets: list[str]) -> str:
    words = [word for key, value in said.items() for word in (_flag(key), value)]
    words += [word for it in sets for word in ("--set", it)]
    return shlex.join(["dpol", "new", "dataset", str(table), *words])


def _options_in(text: Text | tuple[Text, ...]) -> list[str]:
    """Return the options that a message names, to be completed."""
    if isinstance(text, tuple):
        return [option for part in text for option in _options_in(part)]
    option = as_option(text) if isinstance(text, Key) else "."
    if option.startswith(("--set ", ".", "dataset")) or "." not in option:
        return [option] * option.startswith("--set ")
    return [f"--set {option}=VALUE"]
