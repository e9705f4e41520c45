"""`dpol new dataset TABLE`: a config for the user's own table."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpol.config.models import Config

_STREAMS = 4
"""Largest number of groups for which each group gets its own stream."""
_LABEL = 60
"""Largest length of a label, in characters."""
_OPTIONS = {
    "entity": "column of the entities, or your word for them if each has its own column",
    "period": "column of the dates",
    "count": "column of the counts, or your word for them if they have no column",
    "capacity": "column of the capacities, or none",
    "group": "column with the group of the entity, such as a district",
    "layout": "long, wide (a column per entity) or wide-periods (a column per period)",
    "step": "length of a period, such as 7-days or 1-months",
    "date": "format of the dates, such as D/M/YYYY",
    "each_day": "how several rows of an entity on a day become one: sum, mean, max or last",
    "decimal": "the decimal sign, . or ,",
    "encoding": "encoding of a CSV table, such as cp1250",
    "sheet": "sheet of a workbook",
}
_NUMBERS = {
    "at_most": "public bound on a count, or on a count per capacity (loans per seat)",
    "per_person": "largest change that one person makes to one count (default: 1)",
}


def add_options(new: argparse.ArgumentParser) -> None:
    """Add the options for facts that a table does not show."""
    from dpol.core.options import between, given

    choices = {
        "layout": ("long", "wide", "wide-periods"),
        "decimal": (".", ","),
        "each_day": ("sum", "mean", "max", "last"),
    }
    about = "only with dataset, for facts that dpol cannot see in the table"
    group = new.add_argument_group("options of a table", about)
    for name, words in _OPTIONS.items():
        choice = choices.get(name)
        option = f"--{name.replace('_', '-')}"
        group.add_argument(option, metavar="IT", type=given, choices=choice, help=words)
    for name, words in _NUMBERS.items():
        option, most = f"--{name.replace('_', '-')}", 1e6 if name == "at_most" else 1e3
        group.add_argument(option, metavar="N", type=between(1e-3, most), help=words)


def told(options: argparse.Namespace) -> dict[str, Any]:
    """Return the given options of a table."""
    named = {name: getattr(options, name) for name in (*_OPTIONS, *_NUMBERS)}
    return {name: value for name, value in named.items() if value is not None}


def new_dataset(options: argparse.Namespace) -> None:
    """Look at a table, write its config into the working folder, and clean the table once.

    Raises:
        UsageError: the table does not exist, or an option is invalid.
        OutputError: the config already exists.
        ConfigError: the table does not show a needed fact, or cannot be cleaned as it is.
    """
    import yaml

    from dpol.config.experiment import parse_experiment
    from dpol.core.errors import ConfigError, DataError, OutputError, UsageError
    from dpol.core.files import write_text
    from dpol.data.guess import look_at
    from dpol.data.setting_types import TABLES
    from dpol.data.settings import Columns

    table, said = Path(options.name), _checked(told(options))
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
        seen = look_at(table, said)
    except DataError as error:  # of several lines
        raise ConfigError(str(error)) from None
    columns = {key: value for key in Columns.model_fields if (value := seen.columns.get(key))}
    text = _rendered(
        table=table.name,
        run=name,
        source={"kind": "local", "file": str(table)},
        blocks={"format": seen.format, "columns": columns, "periods": seen.periods},
        cleaning=seen.cleaning,
        streams=_streams(
            name, re.sub("[-_]+", " ", stem).capitalize(), seen.groups, alone=seen.alone
        ),
        gain=seen.gain,
        per_person=said.get("per_person", 1),
        count_sensitivity=seen.count_sensitivity,
    )
    config = parse_experiment(yaml.safe_load(text), str(file)).config
    write_text(file, text)
    print(f"{table}:", *seen.guesses, sep="\n  ")
    if "per_person" not in said:
        print("  one person changes a count by at most 1; if more, give --per-person N")
    try:
        print(_cleaned(config, table))
    except DataError as error:
        raise ConfigError(f"{file} is written, but needs one change. {error}") from None
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _checked(said: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with whole numbers as integers and dpol's names of encodings."""
    from pydantic import ValidationError

    from dpol.core.errors import UsageError
    from dpol.data.table_format import Format

    if not re.fullmatch("[1-9][0-9]*-(days|months)", said.get("step", "1-days")):
        raise UsageError(
            f"--step {said['step']}: write a number of days or months, such as 7-days; dpol plays"
            " days at the finest, and --each-day makes one row of the hours of a day"
        )
    for key in said.keys() & {"date", "encoding"}:
        try:
            said[key] = getattr(Format.model_validate({key: said[key]}), key)
        except ValidationError as error:
            expected = error.errors()[0]["ctx"]["expected"]
            raise UsageError(f"--{key} {said[key]}: must be {expected}") from None
    numbers = {
        key: int(number) for key in _NUMBERS if (number := said.get(key, 0.5)) == int(number)
    }
    return said | numbers


def _streams(
    name: str, title: str, groups: Sequence[str], *, alone: Collection[str]
) -> dict[str, Any]:
    """Return one stream of all groups, and one stream per group if there are few.

    A game needs two entities, so a group in `alone` has no stream of its own.
    """
    streams = {name: {"title": title, "groups": list(groups)}}
    if 1 < len(groups) <= _STREAMS:
        for number, group in enumerate((group for group in groups if group not in alone), start=1):
            label = re.sub("[^A-Za-z0-9]+", "-", group)[:_LABEL].strip("-") or str(number)
            label = f"{label}-{number}" if label in streams else label
            streams[label] = {"title": group, "groups": [group]}
    return streams


def _rendered(**words: Any) -> str:
    """Return the config of a table, from its template."""
    import yaml

    from dpol.show.pages import load_template

    def flow(value: object) -> str:
        text = yaml.safe_dump(
            value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
        )
        return str(text).removesuffix("\n").removesuffix("\n...")

    return load_template("dataset.yaml.jinja", "dpol.cli").render(words, flow=flow)


def _cleaned(config: Config, table: Path) -> str:
    """Clean a table, build its streams, and return lines on the result."""
    from dpol.core.logs import LOGGER
    from dpol.data.cleaning import clean_panel
    from dpol.data.panel import RULES, in_warning
    from dpol.data.raw_table import read_counts
    from dpol.data.stream import build_stream

    LOGGER.addHandler(logging.NullHandler())  # the warnings are printed below
    rules = config.dataset.cleaning
    raw = read_counts(table, config.dataset)
    panel = clean_panel(raw, config.dataset, config.streams, None, config.at_most)
    for label in config.streams:
        build_stream(panel.table, label, 1.0, {}, gain=config.gain, max_clipped=rules.max_clipped)
    report = panel.reports[0]
    found = [
        f"{text}: {report.cells[rule]:,}" for rule, text in RULES.items() if report.cells[rule]
    ]
    size = f"{report.entities:,} entities, {report.periods:,} periods"
    lines = [f"{size}. {'; '.join(found) or 'No gaps'}.", *map(in_warning, panel.warnings)]
    return "\n".join(f"  {line}" for line in lines)
