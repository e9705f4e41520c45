"""`dpol new dataset TABLE`: a config for the user's own table, from four answers."""

from __future__ import annotations

import argparse
import contextlib
import logging
import re
import shlex
import sys
from collections.abc import Mapping
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
_BESIDE = ("gain", "privacy", "streams")
"""Blocks of a config that stand beside the dataset."""
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
    if key.location[-1] in _ANSWERS:
        return _flag(str(key.location[-1]))
    name = _settable(key)
    return f"--set {name}={shlex.quote(key.value)}" if key.value and name else name or str(key)


def _settable(key: Key) -> str:
    """Return the name of a key in `--set`; empty if it cannot be set."""
    blocks = [str(it) for it in key.location]
    name = ".".join(blocks[blocks[0] == "dataset" :])
    return name if "." in name and blocks[0] in ("dataset", *_BESIDE) else ""


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
    if not (table.is_file() and table.name.endswith(TABLES)):
        raise UsageError(f"{table}: no such file, or its name does not end in {', '.join(TABLES)}")
    stem = table.name.partition(".")[0]
    name = re.sub("[^a-z0-9]+", "-", stem.lower())[:_LABEL].strip("-") or "table"
    file = Path(f"{name}.yaml")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    logging.getLogger("dpol").addHandler(logging.NullHandler())  # warnings are printed below
    said = {it: value for it in _ANSWERS if (value := getattr(options, it)) is not None}
    sets = dict(_pair(text) for text in options.set)
    more: list[str] = []
    try:
        keys = {key: _value(key, text) for key, text in sets.items()}
        found = columns_of(table, keys, said)
        said |= (guessed := only_answers(found, said))
        wanted = [] if found.papers else _missing(said)
        if wanted:
            print(f"{table} has these columns:", *found.lines, sep="\n  ")
        with contextlib.suppress(EOFError):  # the end of the answers
            for answer, value in guessed.items() if wanted and sys.stdin.isatty() else ():
                print(f"{_ANSWERS[answer]}: {value}, since no other column can be it")
            while wanted and sys.stdin.isatty():
                said[wanted[0]] = input(f"{_ANSWERS[wanted[0]]}: ").strip()
                wanted = _missing(said)
        if wanted:
            more = [f"{_flag(it)} {it.upper()}" for it in wanted]
            asked = "".join(f"\n  {_flag(it)}: {_ANSWERS[it]}" for it in wanted)
            raise UsageError(f"{table}: these answers are missing.{asked}")
        config = _config(table, name, said, keys, found)
        lines = _cleaned(config, found)
    except (ConfigError, DataError, UsageError) as error:
        named = _keys_in(error.args)
        if isinstance(error, ConfigError):  # which refuses values of keys
            sets = {key: text for key, text in sets.items() if key not in named}
        more += [f"--set {key}={text}" for key, text in named.items() if key not in sets][:1]
        told, command = in_words(error.args, as_option), _command(table, said, sets)
        raise UsageError(f"{told}\nComplete and run: {' '.join([command, *more])}") from None
    print(f"{table}:", *lines, sep="\n  ")
    text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
    write_text(file, f"# {_command(table, said, sets)}\n{text}")
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _config(
    table: Path, name: str, said: Mapping[str, str], keys: Mapping[str, Any], found: Found
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
        cleaning = {} if "cleaning.min_total_cases" in keys else {"entities": "all"}
        dataset |= {"columns": columns, "periods": found.lasting(said["period"])}
        dataset["cleaning"] = cleaning
    config: dict[str, Any] = {"run": name, "seed": 1, "dataset": dataset, "streams": streams}
    if bound := said.get("at_most"):
        limit = _value("bound", bound)
        counts = {"of": "count", "bound": limit}
        config["gain"] = counts if said.get("capacity") == "none" else {"at_most": limit}
    config["privacy"] = {"levels": [float("inf"), 1, 0.5, 0.25]}
    for key, value in keys.items():
        *blocks, last = key.split(".")
        block = config if blocks[:1] and blocks[0] in _BESIDE else dataset
        for part in blocks:
            block = block.setdefault(part, {})
        block[last] = value
    return config | {"suites": ["local", "central", "non-private"], "replicates": 40}


def _cleaned(raw: dict[str, Any], found: Found) -> list[str]:
    """Clean a table as a run does, draw its picture, and return what its owner should see."""
    from dpol.config.experiment import parse_experiment
    from dpol.data.cleaning import changes, played
    from dpol.data.leaving import HOLDS, warning_of
    from dpol.data.table import provenance_of_table, rows_of_table
    from dpol.show.heat_map import heat_map
    from dpol.show.style import save_figure

    config = parse_experiment(raw, f"{raw['run']}.yaml").config
    dataset, privacy = config.dataset, config.privacy
    moves = privacy.count_sensitivity if "count_sensitivity" in privacy.model_fields_set else None
    facts = provenance_of_table(config.raw_file, simulated=dataset.simulated)
    rows = rows_of_table(found.table, dataset, facts)
    panel, report, _ = played(rows, dataset, config.streams, config.gain, moves, privacy.unit.weeks)
    lines = [f"warning: {text}" for text in report["warnings"]]
    for stream in report["streams"]:
        lines += [*changes(stream), f"{stream['stream']}, look whether it is so:"]
        lines += stream["understood"]
    picture = Path("results", config.run, "data/understood.svg")  # which a run draws again
    save_figure(heat_map(panel, *dataset.pictured), [picture])
    warning = warning_of(dataset.private, HOLDS)
    return [*lines, f"the picture: {picture}", f"results/{config.run}: {warning}"]


def _missing(said: Mapping[str, str]) -> list[str]:
    names = ["entity", "period", "count", "capacity"]
    names += ["at_most"] * (said.get("capacity") == "none")
    return [it for it in names if not said.get(it)]


def _pair(text: str) -> tuple[str, str]:
    """Return the key and the text of `--set`."""
    key, sign, value = text.removeprefix("dataset.").partition("=")
    if not (sign and key):
        raise UsageError(f"--set {text}: must be KEY=VALUE, such as cleaning.max_carry=2")
    return key.strip(), value


def _value(key: str, text: str) -> Any:
    """Return the value of a key: YAML, or else text."""
    import yaml

    try:
        read = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    is_text = key in _TEXTS and not isinstance(read, (list, dict))
    return text if is_text or text.strip() in ("", ",", ";", "|") else read


def _command(table: Path, said: Mapping[str, str], sets: Mapping[str, str]) -> str:
    words = [word for key, value in said.items() for word in (_flag(key), value)]
    words += [word for key, text in sets.items() for word in ("--set", f"{key}={text}")]
    return shlex.join(["dpol", "new", "dataset", str(table), *words])


def _keys_in(text: Text | tuple[Text, ...]) -> dict[str, str]:
    """Return the keys that a message names and `--set` can complete, with their values."""
    if isinstance(text, tuple):
        return {key: value for part in text for key, value in _keys_in(part).items()}
    if not isinstance(text, Key) or text.location[-1] in _ANSWERS or not _settable(text):
        return {}
    return {_settable(text): shlex.quote(text.value) if text.value else "VALUE"}
