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

from dpol.cli import Commands, add_command, given
from dpol.core.errors import ConfigError, DpolError, Key, OutputError, UsageError, in_words
from dpol.core.files import write_text

if TYPE_CHECKING:
    from dpol.data.table import Table

_ANSWERS = {
    "entity": "column of the entities that play against each other",
    "period": "column of the dates",
    "count": "column of the counts",
    "capacity": "column of the capacities, or none",
    "at_most": "public bound: on a count if there is no capacity, else on a count per capacity",
}
_BESIDE = ("gain", "privacy", "streams")
"""Blocks of a config that stand beside the dataset."""


def add(kinds: Commands) -> None:
    """Add the kind, with its four answers."""
    words = "show the columns of a tidy table, clean it, and write a config for it"
    parser = add_command(kinds, "dataset", words=words, example="dpol new dataset wards.csv")
    parser.add_argument("name", metavar="TABLE", help="file of the table")
    for name, words in _ANSWERS.items():
        parser.add_argument(_flag(name), metavar=name.upper(), type=given, help=words)
    words = "a key of dataset, gain or privacy, such as read.sep=';'; may be repeated"
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], type=_pair, help=words
    )
    parser.set_defaults(run=new_dataset)


def _pair(text: str) -> tuple[str, str]:
    """Parse the key and the text of `--set`."""
    key, sign, value = text.removeprefix("dataset.").partition("=")
    if not (sign and key):
        raise argparse.ArgumentTypeError(f"{text}: must be KEY=VALUE, such as read.skiprows=2")
    return key.strip(), value


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def in_options(error: DpolError) -> tuple[str, dict[str, str], list[str]]:
    """Return the text of an error with keys of a config as options of this command.

    Also return the keys that `--set` can complete, each with its value or the word VALUE, and the
    answers that the text names.
    """
    named, answers = dict[str, str](), list[str]()

    def option(key: Key) -> str:
        blocks = [it for it in key.location if isinstance(it, str)]
        answer = "at_most" if blocks == ["gain", "bound"] else blocks[-1]
        if answer in _ANSWERS:
            answers.append(answer)
            return _flag(answer)
        name = ".".join(blocks[blocks[0] == "dataset" :])
        if "." not in name or blocks[0] not in ("dataset", *_BESIDE):
            return str(key)
        named[name] = shlex.quote(key.value) if key.value else "VALUE"
        return f"--set {name}={named[name]}" if key.value else name

    return in_words(error.args, option), named, answers


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
    from dpol.data.stream import HOLDS, warning_of
    from dpol.data.table import provenance_of_table, rows_of_table

    table = Path(options.name)
    stem = re.sub("[^a-z0-9]+", "-", table.name.partition(".")[0].lower())
    file = Path(f"{stem[:60].strip('-') or 'table'}.yaml")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    logging.getLogger("dpol").addHandler(logging.NullHandler())  # warnings are printed below
    said = {it: value for it in _ANSWERS if (value := getattr(options, it)) is not None}
    sets = dict[str, str](options.set)
    try:
        keys = {key: _value(key, text) for key, text in sets.items()}
        raw, found = _config(table, file.stem, said, keys)
        config = parse_experiment(raw, file.name)
        dataset, unit = config.dataset, config.privacy.unit
        moves = config.privacy.model_dump(exclude_unset=True).get("count_sensitivity")
        facts = provenance_of_table(table, simulated=dataset.simulated)
        rows = rows_of_table(found, dataset, facts)
        panel, report, _ = played(rows, dataset, config.streams, config.gain, moves, unit.weeks)
    except DpolError as error:
        told, named, answers = in_options(error)
        missing = _missing(said) if isinstance(error, UsageError) else answers * (not named)
        said = {it: value for it, value in said.items() if it not in missing}
        if isinstance(error, ConfigError):  # which refuses values of keys
            sets = {key: text for key, text in sets.items() if key not in named}
        more = [f"{_flag(it)} {it.upper()}" for it in missing]
        more += [f"--set {key}={text}" for key, text in named.items() if key not in sets][:1]
        command = " ".join([_command(table, said, sets), *more])
        raise UsageError(f"{told}\nComplete and run: {command}") from None
    from dpol.show.heat_map import heat_map
    from dpol.show.panels import save_figure

    lines = [f"warning: {text}" for text in report["warnings"]]
    for stream in report["streams"]:
        lines += [*changes(stream), f"{stream['stream']}, look whether it is so:"]
        lines += stream["understood"]
    picture = Path("results", config.run, "data/understood.svg")  # which a run draws again
    save_figure(heat_map(panel, *dataset.pictured), [picture])
    print(f"{table}:", *lines, f"the picture: {picture}", sep="\n  ")
    print(f"  results/{config.run}: {warning_of(dataset.private, HOLDS)}")
    text = yaml.safe_dump(raw, sort_keys=False, allow_unicode=True)
    write_text(file, f"# {_command(table, said, sets)}\n{text}")
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _config(
    table: Path, name: str, said: dict[str, str], keys: Mapping[str, Any]
) -> tuple[dict[str, Any], Table]:
    """Return the config of a table, and the table; complete the answers.

    An HHS table is read as `config/paper.yaml` reads it.

    Raises:
        UsageError: answers are missing, also in the terminal.
    """
    import pandas as pd

    from dpol.data.settings import Dataset
    from dpol.data.table import dates_of, texts_of
    from dpol.data.understood import columns_in_words, kinds_of, period_of, read_undescribed

    found, read = read_undescribed(table, keys, said)
    dataset: dict[str, Any] = {"source": {"kind": "local", "file": str(table)}}
    streams: dict[str, Any] = {name: {"groups": ["all"]}}
    papers = Dataset.model_validate({"like": "paper"}).needed_columns
    if {*papers.needed, *papers.may_lack} <= {*found.header}:
        days = dates_of(found.cells[papers.period])
        span = {"first": days.min().date(), "last": days.max().date()}
        dataset = {"like": "paper", "public": False, **dataset, "periods": span}
        groups = {*texts_of(found.cells[str(papers.group)])} - {""}
        streams = {group: {"groups": [group]} for group in sorted(groups)}
    else:
        form = keys.get("periods.format")
        if _missing(said):
            kinds = kinds_of(found, read, form)
            _answer(table, columns_in_words(found, kinds), kinds, said)
        columns = {it: said[it] for it in said if it != "at_most" and said[it] != "none"}
        none = pd.Series(dtype="category")
        dates, of = (found.cells.get(said[it], none) for it in ("period", "entity"))
        # Who plays must not depend on the counts, which are private.
        chosen = {} if "cleaning.min_total_cases" in keys else {"entities": "all"}
        length = period_of(dates_of(dates, form), of)
        dataset |= {"columns": columns, "periods": length, "cleaning": chosen}
    config: dict[str, Any] = {"run": name, "seed": 1, "dataset": dataset, "streams": streams}
    if bound := said.get("at_most"):
        limit = _value("gain", bound)
        counts = {"of": "count", "bound": limit}
        config["gain"] = counts if said.get("capacity") == "none" else {"at_most": limit}
    config["privacy"] = {"levels": [float("inf"), 1, 0.5, 0.25]}
    for key, value in keys.items():
        *blocks, last = key.split(".")
        block = config if blocks[:1] and blocks[0] in _BESIDE else dataset
        for part in blocks:
            block = block.setdefault(part, {})
        block[last] = value
    config |= {"suites": ["local", "central", "non-private"], "replicates": 40}
    return config, found


def _answer(table: Path, shown: list[str], kinds: Mapping[str, str], said: dict[str, str]) -> None:
    """Add the answers to which one column fits, and those that are typed in a terminal."""
    for answer, kind in {"period": "date", "entity": "text", "count": "number"}.items():
        fit = [name for name, of in kinds.items() if of == kind and name not in said.values()]
        if answer not in said and len(fit) == 1:
            (said[answer],) = fit
    if _missing(said):
        print(f"{table} has these columns:", *shown, sep="\n  ")
        print(*(f"{_flag(it)} {value}" for it, value in said.items()))
    with contextlib.suppress(EOFError):  # the end of the answers
        while sys.stdin.isatty() and (wanted := _missing(said)):
            said[wanted[0]] = input(f"{_ANSWERS[wanted[0]]}: ").strip()
    if wanted := _missing(said):
        asked = "".join(f"\n  {_flag(it)}: {_ANSWERS[it]}" for it in wanted)
        raise UsageError(f"{table}: these answers are missing.{asked}")


def _missing(said: Mapping[str, str]) -> list[str]:
    names = ["entity", "period", "count", "capacity"]
    names += ["at_most"] * (said.get("capacity") == "none")
    return [it for it in names if not said.get(it)]


def _value(key: str, text: str) -> Any:
    """Return the value of a key: YAML, or else text, as of columns and options of the reader.

    The separator of a printed command is in double quotes, since a tab would not be seen.
    """
    import yaml

    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    is_text = re.match("columns|read|periods.format", key) and not isinstance(value, (list, dict))
    return text if is_text and not text.startswith('"') else value


def _command(table: Path, said: Mapping[str, str], sets: Mapping[str, str]) -> str:
    words = [word for key, value in said.items() for word in (_flag(key), value)]
    words += [word for key, text in sets.items() for word in ("--set", f"{key}={text}")]
    return shlex.join(["dpol", "new", "dataset", str(table), *words])
