"""`dpol new dataset TABLE`: a config for the user's own table."""

from __future__ import annotations

import argparse
import json
import logging
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.errors import ConfigError, DataError, Key, OutputError, UsageError, in_words
from dpol.core.files import write_text
from dpol.core.options import Commands, add_command, between, given
from dpol.core.words import listed, one_line

if TYPE_CHECKING:
    from dpol.data.guess import UnclearError
    from dpol.data.second_look import Doubt

_SHOWN = 40
"""Number of entities that are listed."""
_LABEL = 60
"""Largest length of a label, in characters."""
_OPTIONS = {
    "entity": "column of the entities, or NAME,CITY; your word for them if each has its own column",
    "period": "column of the dates, or YEAR,MONTH: two columns",
    "count": "column of the counts, or your word for them if they have no column",
    "capacity": "column of the capacities, the columns whose sum it is, or none",
    "date": "format of the dates, such as D/M/YYYY",
    "first": "date of the first row, such as 2021-01-31, if dates can be read in several ways",
    "row": "what one row is: the number of a place and period (number), one of several parts to be"
    " added (part), one event (event), or one of several measurements (mean, max or last)",
    "decimal": "the decimal sign, . or ,",
    "strip": "sign to remove from the ends of numbers, such as %; may be repeated",
    "encoding": "encoding of a CSV table, such as cp1250",
    "sheet": "sheet of a workbook",
    "skip_rows": "number of lines above the header, if dpol takes another for it",
    "skip_last": "number of rows at the end that are no part of the table, such as notes",
    "missing": "text that means a missing number; may be repeated",
    "suppressed": "text that means a number too small to publish; may be repeated",
    "absent": "what it means that an entity has no row in a period: zero, or carry the last count",
    "max_zeroed": "largest share of numbers, such as 0.1, that may become 0 after long gaps",
    "capacity_zero": "how a count above 0 beside a capacity of 0 is read: drop, absent or carry",
    "drop_where": "COLUMN=TEXT: rows to leave out, such as a total; may be repeated",
    "keep": "COLUMN=TEXT: the rows to read, such as one of several measures; may be repeated",
    "identifiers": "SPELLING=ENTITY: an entity under two names; may be repeated",
    "negative_counts": "missing, if counts below 0 are",
    "latest_by": "column of dates, such as of a revision: the latest row of a day is kept",
    "several_capacities": "whether summed rows have their own capacities (sum) or share one (mean)",
    "equal_rows": "what rows equal in every column are: one row twice (drop), or parts (add)",
    "cumulative": "difference, if counts are totals to date",
    "above": "how a count above its bound is read: cut or missing",
    "checked": "a test whose finding is as it should be; may be repeated",
    "at_most": "public bound on a count, or on a count per capacity (loans per seat)",
    "per_person": "largest change that one person makes to one count (default: 1)",
}
_REPEATED = "strip", "missing", "suppressed", "drop_where", "keep", "identifiers", "checked"
_LARGEST = {
    "at_most": 1e12, "per_person": 1e3, "skip_last": 1e4, "skip_rows": 1e4, "max_zeroed": 1,
}  # fmt: skip
_LOOK = re.compile("(,? or|[.] Or) let dpol look at the table: dpol new dataset TABLE")
_BLOCKS = "dataset.columns", "dataset.format", "dataset.cleaning", "gain", "privacy"
"""Blocks of a config with keys for which an option stands."""
_OTHER_NAMES = {
    "several_rows": "row", "missing_markers": "missing", "suppressed_markers": "suppressed",
    "bound": "at_most", "count_sensitivity": "per_person",
}  # fmt: skip
"""Options whose names are not those of their keys, by key."""


def add(kinds: Commands) -> None:
    """Add the kind, with options for facts that a table does not show."""
    words = "look at a table of counts, print what dpol sees, and write a config for it"
    example = "dpol new dataset clinics.xlsx"
    parser = add_command(kinds, "dataset", words=words, example=example)
    parser.add_argument("name", metavar="TABLE", help="file of the table")
    parser.set_defaults(run=new_dataset)
    kinds_of: dict[str, Callable[[str], Any]] = {"missing": str, "suppressed": str}  # or blank
    kinds_of |= {name: between(1e-3, most) for name, most in _LARGEST.items()}
    for name, words in _OPTIONS.items():
        parser.add_argument(
            flag(name),
            metavar=name.upper(),
            type=kinds_of.get(name, given),
            choices=[".", ","] if name == "decimal" else None,
            action="append" if name in _REPEATED else "store",
            help=words.replace("%", "%%"),
        )


def as_option(key: Key) -> str:
    """Return the option that stands for a key of a config; a key without one keeps its name."""
    if key.value:  # spellings of entities, and the entity of each
        pairs = (f"{old}={new}" for old, new in json.loads(key.value).items())
        return " ".join(f"--identifiers {shlex.quote(it)}" for it in pairs)
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
    from dpol.core.logs import LOGGER
    from dpol.data.cleaning import clean_table
    from dpol.data.guess import UnclearError, look_at
    from dpol.data.leaving import HOLDS, warning_of
    from dpol.data.panel import in_lines_of, in_warning, pictured
    from dpol.data.second_look import DoubtError
    from dpol.data.stream import build_stream
    from dpol.data.tables.setting_types import TABLES
    from dpol.show.heat_map import heat_map
    from dpol.show.pages import load_template
    from dpol.show.style import save_figure

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
    LOGGER.addHandler(logging.NullHandler())  # the warnings are printed below
    template, title = load_template("dataset.yaml.jinja", "dpol.cli"), re.sub("[-_]+", " ", stem)
    render = partial(template.render, run=name, title=title[:1].upper() + title[1:], flow=_flow)
    totals, panel = list[str](), None
    while panel is None:
        try:
            look = look_at(table, said)
            command = _command(table, said)
            person = said.get("per_person", 1)
            text = render(table=table, person=person, command=command, **look)
            config = parse_experiment(yaml.safe_load(text), str(file)).config
            panel, _ = clean_table(table, config.dataset, config.streams, [config.gain])
            build_stream(panel.table, name, 1.0, {}, gain=config.gain)
        except ConfigError as error:  # an option has a value that its key does not allow
            raise UsageError(in_words(error.args, as_option)) from None
        except UnclearError as unclear:
            raise UsageError(_questions(table, said, unclear)) from None
        except DoubtError as doubtful:
            if not (sure := [doubt for doubt in doubtful.doubts if doubt.sure]):
                asked = UnclearError(_of_doubts(doubtful.doubts))
                raise UsageError(_questions(table, said, asked)) from None
            totals += [in_words(doubt.says).rpartition(". ")[0] for doubt in sure]
            dropped = [it for doubt in sure for it in _typed(doubt.value)]
            said["drop_where"] = [*said.get("drop_where", []), *dropped]
        except DataError as error:
            told = in_words(error.args, as_option)
            raise ConfigError(_LOOK.sub("", told)) from None  # it does look
    print(f"{table}:")
    for key in ("format", "columns", "periods", "cleaning", "gain"):
        for one, value in look[key].items():
            print(f"  {one}: {_flow(value)}")
    moved = f"{look['count_sensitivity']:g}"
    print(f"  one person changes a count by at most {moved}; if more, give --per-person N")
    for line in totals:
        print(f"  left out: {line}")
    whole = panel.reports[0]
    print(f"  play: {listed(map(one_line, panel.table['entity'].unique()), _SHOWN)}")
    changes = [f"  {text}" for text in whole.changes()]
    all_ = "Changes by cleaning:" if changes else "" if whole.dropped else "No gaps."
    print(f"  {whole.entities:,} entities, {whole.periods:,} periods. {all_}", *changes, sep="\n  ")
    print("What was understood; look whether it is so:", *in_lines_of(whole.understood), sep="\n  ")
    picture = Path("results", name, "data/understood.svg")  # which a run draws again
    save_figure(heat_map(panel.table, *pictured(config.dataset.needed_columns)), [picture])
    print(f"  the picture: {picture}")
    print(f"  results/{name}: {warning_of(config.dataset.private, HOLDS)}")
    for warning in panel.warnings:
        print(f"  {in_warning(warning)}")
    write_text(file, text)
    print(f"Written: {file}. Now: dpol run {file} --cores 2")


def _command(table: Path, said: Mapping[str, Any]) -> str:
    words = [word for key, value in said.items()
             for one in (value if isinstance(value, list) else [value])
             for word in (flag(key), str(one))]  # fmt: skip
    return shlex.join(["dpol", "new", "dataset", str(table), *words])


def _questions(table: Path, said: Mapping[str, Any], unclear: UnclearError) -> str:
    """Return all questions, and the command that answers them, with the options `said` before."""
    asked = unclear.asked
    start = unclear.start or [f"{table}: these questions are open. Answer them by options:"]
    lines = [f"  {flag(key)}: {question}" for key, question in asked.items()]
    known = {key: it for key, it in said.items() if key not in asked or isinstance(it, list)}
    ready = {key: shlex.quote(it) for key, it in unclear.ready.items()}
    missing = " ".join(f"{flag(key)} {ready.get(key, key.upper())}" for key in asked)
    last = f"Complete and run: {_command(table, known)} {missing}"
    return "\n".join([*start, *lines, last])


def _of_doubts(doubts: Sequence[Doubt]) -> dict[str, str]:
    """Return what the second look asks, by option."""
    asked = dict[str, str]()
    for doubt in doubts:
        option = as_option(doubt.key).removeprefix("--").replace("-", "_")
        mends = " ".join(f"{flag(option)} {shlex.quote(it)}" for it in _typed(doubt.value))
        says = f"{in_words(doubt.says, as_option)}{f' If so: {mends}.' if mends else ''}"
        fine = f" If it is as it should be: {flag('checked')} {doubt.check}" if doubt.check else ""
        asked[option] = f"{asked[option]} " if option in asked else ""
        asked[option] += f"{says}{fine}"
    return asked


def _typed(value: object) -> list[str]:
    """Return the value of a key as users type it after its option."""
    if isinstance(value, Mapping):
        return [f"{column}={text}" for column, texts in value.items() for text in texts]
    return [] if value is None else [*map(str, value if isinstance(value, list) else [value])]


def _flow(value: object) -> str:
    """Return a value as YAML in one line."""
    import yaml

    text = yaml.safe_dump(
        value, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
    )
    return str(text).removesuffix("\n").removesuffix("\n...")
