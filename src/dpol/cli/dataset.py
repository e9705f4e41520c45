"""`dpol new dataset TABLE`: the config of a table of one's own."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpol.config.models import Config

_STREAMS = 4
"""Groups that get a stream of their own each, at most."""
_OPTIONS = {
    "entity": "column of the entities; in a wide layout your word for them",
    "period": "column of the dates",
    "count": "column of the counts; in a wide layout your word for them",
    "capacity": "column of the capacities; none if there are none",
    "group": "column of the groups of entities, such as districts",
    "layout": "long, wide (a column per entity) or wide-periods (a column per period)",
    "step": "length of a period, such as 7-days or 1-months",
    "date": "format of the dates, such as D/M/YYYY",
    "decimal": "the decimal sign, . or ,",
    "encoding": "encoding of a CSV table, such as cp1250",
    "sheet": "sheet of a workbook",
}


def add_options(new: argparse.ArgumentParser) -> None:
    """Add the options that say what cannot be seen in a table."""
    from dpol.core.options import between

    choices = {"layout": ("long", "wide", "wide-periods"), "decimal": (".", ",")}
    about = "only with dataset, for what dpol cannot see in the table"
    group = new.add_argument_group("options of a table", about)
    for name, words in _OPTIONS.items():
        group.add_argument(
            f"--{name}", metavar=name[0].upper(), choices=choices.get(name), help=words
        )
    words = "public bound: largest count, or count for each of the capacity"
    group.add_argument("--at-most", metavar="N", type=between(1e-6, 1e6), help=words)


def told(options: argparse.Namespace) -> dict[str, Any]:
    """The options of a table that are given."""
    named = {name: getattr(options, name) for name in (*_OPTIONS, "at_most")}
    return {name: value for name, value in named.items() if value is not None}


def new_dataset(options: argparse.Namespace) -> None:
    """Look at a table, write its config next to the place of work, and clean the table once.

    Raises:
        DataError: something cannot be seen, or the table cannot be cleaned as it is.
        OutputError: the config is there already.
    """
    import yaml
    from jinja2 import Environment, StrictUndefined
    from pydantic import ValidationError

    from dpol.config.experiment import parse_experiment
    from dpol.core.errors import ConfigError, DataError, OutputError, UsageError
    from dpol.core.files import write_text
    from dpol.data.format import Format
    from dpol.data.guess import Told, look_at
    from dpol.data.values import TABLES

    table, said = Path(options.name), told(options)
    if not table.name.endswith(TABLES):
        raise UsageError(f"{table}: a table ends in {', '.join(TABLES)}; save it as one of them")
    name = re.sub("[^a-z0-9]+", "-", table.name.partition(".")[0].lower()).strip("-") or "table"
    file = Path(f"{name}.yaml")
    if not table.is_file():
        raise UsageError(f"{table}: no such file; give the path of a table from this folder")
    if file.exists():
        raise OutputError(f"{file}: exists already; delete it, or rename the table")
    if not re.fullmatch(r"[1-9][0-9]*-(days|months)", said.get("step", "1-days")):
        raise UsageError(f"--step {said['step']}: write a number of days or months, such as 7-days")
    try:
        checked = Format.model_validate(
            {key: said[key] for key in ("date", "encoding") if key in said}
        )
    except ValidationError as error:
        wrong = error.errors()[0]
        raise UsageError(f"--{wrong['loc'][0]} {wrong['input']}: {wrong['msg']}") from None
    said |= {key: getattr(checked, key) for key in ("date", "encoding") if key in said}
    try:
        seen = look_at(table, Told(**said))
    except DataError as error:  # of several lines
        raise ConfigError(str(error)) from None

    def flow(value: object) -> str:
        text = yaml.safe_dump(
            value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
        )
        return text.removesuffix("\n").removesuffix("\n...")

    title = table.name.partition(".")[0].replace("_", " ").replace("-", " ")
    streams = {name: {"title": title[0].upper() + title[1:], "groups": list(seen.groups)}}
    if 1 < len(seen.groups) <= _STREAMS:
        labels = [
            re.sub("[^A-Za-z0-9]+", "-", it).strip("-") or f"group-{k}"
            for k, it in enumerate(seen.groups)
        ]
        if len({*labels, name}) == len(labels) + 1:
            streams |= {
                label: {"title": it, "groups": [it]}
                for label, it in zip(labels, seen.groups, strict=True)
            }
    environment = Environment(
        undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["flow"] = flow
    template = Path(__file__).parent / "templates/dataset.yaml.jinja"
    text = environment.from_string(template.read_text(encoding="utf-8")).render(
        table=table.name,
        run=name,
        file=flow(str(table)),
        dataset=seen.blocks,
        streams=streams,
        gain=seen.gain,
    )
    config = parse_experiment(yaml.safe_load(text), str(file)).config
    write_text(file, text)
    print(f"{table}:", *(f"\n  {it}" for it in seen.guesses), sep="")
    try:
        print(_cleaned(config, table))
    except DataError as error:
        raise ConfigError(f"{file} is written; one thing is to be set in it. {error}") from None
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _cleaned(config: Config, table: Path) -> str:
    """What cleaning and the question leave of a table."""
    from dpol.data.cleaning import clean_panel
    from dpol.data.layout import read_counts
    from dpol.data.panel import RULES
    from dpol.data.stream import build_stream

    dataset, label = config.dataset, next(iter(config.streams))
    panel = clean_panel(read_counts(table, dataset), dataset, config.streams, None, config.at_most)
    for own in config.streams:
        build_stream(
            panel.table, own, 1.0, {}, gain=config.gain, max_clipped=dataset.cleaning.max_clipped
        )
    report = panel.reports[0]
    touched = "; ".join(
        f"{text}: {report.cells[rule]:,}" for rule, text in RULES.items() if report.cells[rule]
    )
    size = f"{report.entities:,} entities, {report.periods:,} periods"
    return f"{label}: {size}. {touched or 'No gaps.'}"
