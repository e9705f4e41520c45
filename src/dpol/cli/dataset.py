"""`dpol new dataset TABLE`: a config for the user's own table."""

from __future__ import annotations

import argparse
import logging
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpol.core.errors import Key
from dpol.core.options import Commands, add_command, between, given

_LABEL = 60
"""Largest length of a label, in characters."""
_OPTIONS = {
    "entity": "column of the entities, or your word for them if each has its own column",
    "period": "column of the dates, or YEAR,MONTH: two columns",
    "count": "column of the counts, or your word for them if they have no column",
    "capacity": "column of the capacities, or none",
    "date": "format of the dates, such as D/M/YYYY",
    "each_day": "how several rows of an entity on a day become one: sum, mean, max or last",
    "decimal": "the decimal sign, . or ,",
    "encoding": "encoding of a CSV table, such as cp1250",
    "sheet": "sheet of a workbook",
    "missing": "text that means a missing number; may be repeated",
    "suppressed": "text that means a number too small to publish; may be repeated",
    "capacity_zero": "how a count above 0 beside a capacity of 0 is read: drop, absent or carry",
    "at_most": "public bound on a count, or on a count per capacity (loans per seat)",
    "per_person": "largest change that one person makes to one count (default: 1)",
}
_CHOICES = {
    "decimal": (".", ","),
    "each_day": ("sum", "mean", "max", "last"),
    "capacity_zero": ("drop", "absent", "carry"),
}
_LARGEST = {"at_most": 1e6, "per_person": 1e3}
_BLOCKS = "dataset.columns", "dataset.format", "dataset.cleaning", "gain", "privacy"
"""Blocks of a config with keys for which an option stands."""
_OTHER_NAMES = {
    "several_rows": "each_day", "missing_markers": "missing", "suppressed_markers": "suppressed",
    "bound": "at_most", "count_sensitivity": "per_person",
}  # fmt: skip
"""Options whose names are not those of their keys, by key."""


def add(kinds: Commands) -> None:
    """Add the kind, with options for facts that a table does not show."""
    words = "look at a table of counts, print what dpol sees, and write a config for it"
    example = "dpol new dataset clinics.xlsx --count patients --capacity slots"
    parser = add_command(kinds, "dataset", words=words, example=example)
    parser.add_argument("name", metavar="TABLE", help="file of the table")
    parser.set_defaults(run=new_dataset)
    for name, words in _OPTIONS.items():
        parser.add_argument(
            flag(name),
            metavar=name.upper(),
            type=between(1e-3, _LARGEST[name]) if name in _LARGEST else given,
            choices=_CHOICES.get(name),
            action="append" if name in ("missing", "suppressed") else "store",
            help=words,
        )


def as_option(key: Key) -> str:
    """Return the option that stands for a key of a config; a key without one keeps its name."""
    block, _, name = str(key).rpartition(".")
    option = _OTHER_NAMES.get(name, name)
    return flag(option) if block in _BLOCKS and option in _OPTIONS else str(key)


def flag(option: str) -> str:
    """Return an option as users type it."""
    return f"--{option.replace('_', '-')}"


def new_dataset(options: argparse.Namespace) -> None:
    """Look at a table, write its config into the working folder, and clean the table once.

    Raises:
        UsageError: the table does not exist, or options are missing or invalid.
        OutputError: the config already exists.
        ConfigError: the table cannot be read, or not be cleaned as it is.
    """
    import yaml

    from dpol.config.experiment import parse_experiment
    from dpol.core.errors import ConfigError, DataError, OutputError, UsageError, in_words
    from dpol.core.files import write_text
    from dpol.core.logs import LOGGER
    from dpol.data.cleaning import clean_table
    from dpol.data.panel import in_warning
    from dpol.data.setting_types import TABLES
    from dpol.data.stream import build_stream
    from dpol.data.tables.guess import UnclearError, look_at
    from dpol.show.pages import load_template

    table = Path(options.name)
    said = {name: it for name in _OPTIONS if (it := getattr(options, name)) is not None}
    if not table.is_file():
        raise UsageError(f"{table}: no such file; give the path of a table from this folder")
    if not table.name.endswith(TABLES):
        raise UsageError(f"{table}: a table ends in {', '.join(TABLES)}; save it as one of them")
    stem = table.name.partition(".")[0]
    name = re.sub("[^a-z0-9]+", "-", stem.lower())[:_LABEL].strip("-") or "table"
    file = Path(f"{name}.yaml")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    try:
        look = look_at(table, said)
    except UnclearError as unclear:
        raise UsageError(_questions(table, said, unclear.asked)) from None
    except DataError as error:  # of several lines
        raise ConfigError(in_words(error.args, as_option)) from None
    title = re.sub("[-_]+", " ", stem)
    template = load_template("dataset.yaml.jinja", "dpol.cli")
    text = template.render(look=look, run=name, title=title[:1].upper() + title[1:], flow=_flow)
    config = parse_experiment(yaml.safe_load(text), str(file)).config
    write_text(file, text)
    print(f"{table}:")
    for key in ("format", "columns", "periods", "cleaning", "gain"):
        for one, value in getattr(look, key).items():
            print(f"  {one}: {_flow(value)}")
    moved = look.count_sensitivity
    print(f"  one person changes a count by at most {moved:g}; if more, give --per-person N")
    LOGGER.addHandler(logging.NullHandler())  # the warnings are printed below
    try:
        panel, _ = clean_table(table, config.dataset, config.streams, config.at_most)
        clipped = config.dataset.cleaning.max_clipped
        build_stream(panel.table, name, 1.0, {}, gain=config.gain, max_clipped=clipped)
    except DataError as error:
        raise ConfigError(f"{file} is written, but needs one change. ", *error.args) from None
    whole = panel.reports[0]
    changes = [f"  {text}" for text in whole.changes()]
    found = "Changes by cleaning:" if changes else "No gaps."
    print(
        f"  {whole.entities:,} entities, {whole.periods:,} periods. {found}", *changes, sep="\n  "
    )
    for text in panel.warnings:
        print(f"  {in_warning(text)}")
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _questions(table: Path, said: Mapping[str, Any], asked: Mapping[str, str]) -> str:
    """Return all questions, and the command that answers them."""
    lines = [f"  {flag(key)}: {question}" for key, question in asked.items()]
    known = [word for key, value in said.items() if key not in asked
             for one in (value if isinstance(value, list) else [value])
             for word in (flag(key), str(one))]  # fmt: skip
    command = shlex.join(["dpol", "new", "dataset", str(table), *known])
    missing = " ".join(f"{flag(key)} {key.upper()}" for key in asked)
    start = f"{table}: does not show everything. Add these options:"
    return "\n".join([start, *lines, f"Complete and run: {command} {missing}"])


def _flow(value: object) -> str:
    """Return a value as YAML in one line."""
    import yaml

    text = yaml.safe_dump(
        value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
    )
    return str(text).removesuffix("\n").removesuffix("\n...")
