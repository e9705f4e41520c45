"""`dpol new dataset TABLE`: a config for the user's own table, from four answers."""

from __future__ import annotations

import argparse
import contextlib
import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.cli import Commands, add_command, given
from dpol.core.errors import ConfigError, DpolError, Key, OutputError, UsageError, in_words
from dpol.core.files import write_text
from dpol.core.shipped import over

if TYPE_CHECKING:
    from dpol.data.table import Table

_ANSWERS = {
    "columns.entity": "column of the entities that play against each other",
    "columns.period": "column of the dates",
    "columns.count": "column of the counts",
    "columns.capacity": "column of the capacities, or none",
    "gain.at_most": "public bound on a count; with a capacity, on a count per capacity",
}
"""Keys of a config that have an option of their own."""
_VALUES = {
    "cleaning.missing_markers": '["", "NA", "VALUE"]',
    "cleaning.suppressed_markers": '["VALUE"]',
    "cleaning.drop_where": '{"COLUMN": ["VALUE"]}',
}
"""Values to complete, of keys that need more than a word."""
_BESIDE = ("gain", "privacy", "streams")
"""Blocks of a config that stand beside the dataset."""


def add(kinds: Commands) -> None:
    """Add the kind, with its four answers."""
    words = "show the columns of a tidy table, clean it, and write a config for it"
    parser = add_command(kinds, "dataset", words=words, example="dpol new dataset wards.csv")
    parser.add_argument("name", metavar="TABLE", help="file of the table")
    for key, words in _ANSWERS.items():
        name = key.rpartition(".")[2].upper()
        parser.add_argument(_option(key)[0], dest=key, metavar=name, type=given, help=words)
    words = "a key of dataset, gain, privacy or streams, such as read.sep=';'; may be repeated"
    parser.add_argument("--set", metavar="KEY=VALUE", action="append", default=[], help=words)
    parser.set_defaults(run=new_dataset)


def _option(key: str, text: str = "") -> tuple[str, ...]:
    """Return the words that give a key its value."""
    if key not in _ANSWERS:
        return "--set", f"{key}={text}"
    name = f"--{key.rpartition('.')[2].replace('_', '-')}"
    return (f"{name}={text}",) if text.startswith("-") else (name, text)


def _command(table: Path, keys: Mapping[str, str]) -> str:
    words = [word for it in keys.items() for word in _option(*it)]
    return shlex.join(["dpol", "new", "dataset", str(table), *words])


def in_options(error: DpolError) -> tuple[str, dict[str, str]]:
    """Return the text of an error with keys of a config as options of this command.

    Also return these keys, each with the value that it should have, or a word for it.
    """
    named = dict[str, str]()

    def option(key: Key) -> str:
        blocks = [it for it in key.location if isinstance(it, str)]
        name = ".".join(blocks[blocks[0] == "dataset" :]).replace("gain.bound", "gain.at_most")
        if name in _ANSWERS:
            named[name] = blocks[-1].upper()
            return _option(name)[0]
        if name == "source.file":
            return "TABLE"
        if "." not in name:
            return str(key)
        named[name] = key.value or _VALUES.get(name, "VALUE")
        return shlex.join(_option(name, key.value)) if key.value else name

    return in_words(error.args, option), named


def new_dataset(options: argparse.Namespace) -> None:
    """Read a table as the answers say, and write its config into the working folder.

    Raises:
        UsageError: the table does not exist, or answers are missing or cannot be used; the text
            ends with the command to complete.
        OutputError: the config already exists.
    """
    import yaml

    from dpol.config.experiment import parse_experiment
    from dpol.data.cleaning import changes, played
    from dpol.data.table import provenance_of_table, rows_of_table

    table = Path(options.name)
    stem = re.sub("[^a-z0-9]+", "-", table.name.partition(".")[0].lower())
    file = Path(f"{stem[:60].strip('-') or 'table'}.yaml")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    keys = {it: text for it in _ANSWERS if (text := vars(options)[it]) is not None}
    for pair in options.set:
        key, _, text = pair.removeprefix("dataset.").partition("=")
        keys[key.strip()] = text
    try:
        raw, found = _config(table, file.stem, keys)
        config = parse_experiment(raw, file.name)
        dataset, unit = config.dataset, config.privacy.unit
        moves = config.privacy.model_dump(exclude_unset=True).get("count_sensitivity")
        facts = provenance_of_table(table, simulated=dataset.simulated)
        rows = rows_of_table(found, dataset, facts)
        _, report, _ = played(rows, dataset, config.streams, config.gain, moves, unit.weeks)
    except DpolError as error:
        told, named = in_options(error)
        answers = [it for it in named if it in _ANSWERS]
        # Only the owner knows whether a finding is as it should be.
        sets = [it for it in named if it not in (*answers, "cleaning.checked")]
        if not isinstance(error, ConfigError):  # the table is refused, not what the keys say
            sets = [it for it in sets if it not in keys or "VALUE" not in named[it]]
        command = _command(table, keys | {it: named[it] for it in sets[:1] or answers})
        raise UsageError(f"{told}\nComplete and run: {command}") from None
    lines = [f"warning: {text}" for text in report["warnings"]]
    for stream in report["streams"]:
        lines += [*changes(stream), f"{stream['stream']}, look whether it is so:"]
        lines += stream["understood"]
    print(f"{table}:", *lines, sep="\n  ")
    text = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True)
    command = _command(table, keys).replace("\n", "\n# ")
    write_text(file, f"# {command}\n{text}")
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _config(table: Path, name: str, keys: dict[str, str]) -> tuple[dict[str, Any], Table]:
    """Return the config of a table, and the table; add the answers to the keys.

    An HHS table is read as `config/paper.yaml` reads it.

    Raises:
        UsageError: answers are missing, also in the terminal.
    """
    from dpol.core.settings import inside
    from dpol.data.library import asked
    from dpol.data.settings import Dataset
    from dpol.data.table import dates_of, read_file, texts_of
    from dpol.data.understood import columns_in_words, kinds_of, period_of

    wanted = _blocks(keys)
    own = inside(wanted.get("dataset"))
    dataset: dict[str, Any] = {"source": {"kind": "local", "file": str(table)}}
    # Columns that nobody has named yet have the names that a tidy table could have.
    columns = {"entity": "place", "period": "week", "count": "count", **inside(own.get("columns"))}
    raw = {**dataset, "columns": columns, "read": own.get("read", {})}
    known = asked(str(table), {"dataset": raw, "streams": {}}).dataset
    found, read = read_file(table, known.read, of=known.columns), known.read
    streams: dict[str, Any] = {} if "streams" in wanted else {name: {"groups": ["all"]}}
    papers = Dataset.model_validate({"like": "paper"})
    if {*papers.must_have} <= {*found.header}:
        days = dates_of(found.cells[papers.needed_columns.period])
        span = {"first": days.min().date(), "last": days.max().date()}
        dataset = {"like": "paper", "public": False, **dataset, "periods": span}
        groups = {*texts_of(found.cells[papers.needed_columns.group])} - {""}
        streams = {group: {"groups": [group]} for group in sorted(groups)}
    else:
        periods: dict[str, Any] = inside(own.get("periods"))
        form = periods.get("format")
        if _missing(keys):
            kinds = kinds_of(found, read, form)
            _answer(table, columns_in_words(found, kinds), kinds, keys)
        period, entity = (found.cells.get(keys[f"columns.{it}"]) for it in ("period", "entity"))
        # Without these columns the table is refused.
        if not (period is None or entity is None or {"days", "months"} & {*periods}):
            dataset["periods"] = period_of(dates_of(period, form), entity)
        # Who plays must not depend on the counts, which are private.
        dataset["cleaning"] = {} if "cleaning.min_total_cases" in keys else {"entities": "all"}
    config: dict[str, Any] = {"run": name, "seed": 1, "dataset": dataset, "streams": streams}
    config["privacy"] = {"levels": [float("inf"), 1, 0.5, 0.25]}
    config |= {"suites": ["local", "central", "non-private"], "replicates": 40}
    whole: dict[str, Any] = over(config, {"run": name, **_blocks(keys)})
    return whole, found


def _answer(table: Path, shown: list[str], kinds: Mapping[str, str], keys: dict[str, str]) -> None:
    """Add the only column of dates, and the answers that are typed in a terminal."""
    dates = [name for name, kind in kinds.items() if kind == "date"]
    if len(dates) == 1:
        keys.setdefault("columns.period", dates[0])
    if _missing(keys):
        print(f"{table} has these columns:", *shown, sep="\n  ")
    with contextlib.suppress(EOFError):  # the end of the answers
        while sys.stdin.isatty() and (wanted := _missing(keys)):
            keys[wanted[0]] = input(f"{_ANSWERS[wanted[0]]}: ").strip()
    if wanted := _missing(keys):
        asked = [("\n  ", Key(tuple(it.split("."))), f": {_ANSWERS[it]}") for it in wanted]
        raise UsageError(f"{table}: these answers are missing.", *asked)


def _missing(keys: Mapping[str, str]) -> list[str]:
    wanted = [*_ANSWERS][: 5 if keys.get("columns.capacity") == "none" else 4]
    return [it for it in wanted if not keys.get(it)]


def _blocks(keys: Mapping[str, str]) -> dict[str, Any]:
    """Return keys as the blocks of a config: YAML, or text, as of columns and how to read a file.

    The separator of a printed command is in double quotes, since a tab would not be seen.
    """
    import yaml

    from dpol.core.settings import inside

    config, texts = dict[str, Any](), dict(keys)
    if texts.get("columns.capacity") == "none":
        del texts["columns.capacity"]
        texts |= {"gain.of": "count", "gain.bound": texts.pop("gain.at_most", "")}
    for key, text in texts.items():
        value: Any = text
        is_text = re.match("columns|read|periods.format", key)
        if not is_text or (key not in _ANSWERS and text.startswith(("{", "[", '"'))):
            with contextlib.suppress(yaml.YAMLError):
                value = yaml.safe_load(text)
        block, (*blocks, last) = config, key.split(".")
        for name in blocks if key.split(".")[0] in _BESIDE else ["dataset", *blocks]:
            block[name] = block = inside(block.get(name))
        block[last] = value
    return config
