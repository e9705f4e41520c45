"""Tables of many domains, drawn from a seed, with the cells that they stand for.

What a table stands for is computed here in plain Python from the drawn numbers, and by no code of
dpol but `read`. The words and options are in `drawn_tables.yaml`; `untidy_tables.yaml` has tables
that are not tidy, each with the line of pandas that makes it so.
"""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
import yaml

import dpol
from streams_by_hand import streams_of_config

HERE = Path(__file__).parent
WORDS = yaml.safe_load((HERE / "drawn_tables.yaml").read_text(encoding="utf-8"))
OPTIONS: dict[str, list[Any]] = WORDS["options"]

Cells = dict[tuple[str, datetime.date], tuple[float, float]]
"""(count, capacity or bound) of each entity and start of a period, after cleaning."""
Keys = Mapping[str, Any]
"""Values of keys of `dataset`, `gain` and `privacy`, such as `read.sep`, without `dataset.`."""

BOUND = 5000
"""Public bound on counts of tables without capacities."""


@dataclass(frozen=True, kw_only=True)
class Answers:
    """The columns that `dpol new dataset` asks for; without a capacity the bound is `BOUND`."""

    entity: str
    period: str
    count: str
    capacity: str | None

    def options(self, keys: Keys) -> list[str]:
        """Return the options of the command line."""
        said = ["--entity", self.entity, "--period", self.period, "--count", self.count]
        said += ["--capacity", self.capacity or "none"]
        if not self.capacity:
            said += ["--at-most", str(BOUND)]
        for key, value in keys.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            said += ["--set", f"{key}={text}"]
        return said


def read(table: Path | pd.DataFrame, answers: Answers, keys: Keys) -> Cells:
    """Return the cells that dpol reads. Only it and `streams_of_config` call the library."""
    if isinstance(table, Path) and table.suffix == ".yaml":
        streams = streams_of_config(table)
    else:
        arguments: dict[str, Any] = dict(vars(answers))
        if not answers.capacity:
            arguments["gain"] = {"of": "count", "bound": BOUND}
        for key, value in keys.items():
            block, _, name = key.rpartition(".")
            if block in ("read", "periods", "cleaning"):
                arguments.setdefault(block, {})[name] = value
            else:  # columns, privacy and streams
                arguments[name] = value
        streams = [dpol.read_table(table, **arguments)]
    cells: Cells = {}
    for stream in streams:
        capacity = stream.capacity if answers.capacity else np.full_like(stream.gains, BOUND)
        for t, start in enumerate(stream.periods.astype("datetime64[D]").tolist()):
            for i, entity in enumerate(stream.entities):
                cells[entity, start] = (stream.gains[t, i] * capacity[t, i], capacity[t, i])
    return cells


def differences(cells: Cells, truth: Cells) -> list[str]:
    """Return what differs, a line for each cell."""
    return [
        f"{key}: {cells.get(key)}, not {truth.get(key)}"
        for key in truth.keys() | cells
        if cells.get(key) != pytest.approx(truth.get(key, (-1, -1)), abs=1e-6)
    ]


def start_of(step: str, number: int) -> datetime.date:
    """Return the start of a period; weeks begin on Mondays and cross the end of a year."""
    ((unit, length),) = WORDS["steps"][step]["key"].items()
    if unit == "periods.days":
        return datetime.date(2022, 11, 28) + datetime.timedelta(days=length * number)
    return datetime.date(2004 + length * number // 12, 1 + length * number % 12, 1)


def format_of(drawn: dict[str, Any]) -> str | None:
    """Return the format of a table's dates; None if they are typed."""
    return WORDS["steps"][drawn["step"]]["formats"][drawn["format"]]


# Tidy tables


@dataclass(frozen=True, kw_only=True)
class Case:
    """A tidy table.

    Args:
        file: name of its file.
        given: keys that its owner sets at once, since no reader can ask for them.
        known: keys that its owner sets when a message prints them.
        truth: the cells that it stands for.
    """

    file: str
    answers: Answers
    given: dict[str, Any]
    known: dict[str, Any]
    truth: Cells


def draw_case(name: str, folder: Path) -> Case:
    """Draw a table by its name, write it into a folder, and return what it stands for."""
    rng = random.Random(name)
    drawn = {option: rng.choice(values) for option, values in OPTIONS.items()}
    for found, instead in WORDS["together"]:
        if all(drawn[option] in values for option, values in found.items()):
            drawn |= instead
    cells = _cells(drawn, rng)
    columns = [names for names in WORDS["columns"] if drawn["places"] >= 4 or "gmina" not in names]
    entity, period, count, capacity = rng.choice(columns)
    capacity = capacity if drawn["capacity"] else None
    form, table = format_of(drawn), []
    for cell in cells:
        date = start_of(drawn["step"], cell["at"])
        line = {
            entity: cell["place"],
            "region": cell["region"],
            period: date.strftime(form) if form else date,
            count: _written(cell["shown"], drawn),
            "label": f"{cell['place']} *",
        }
        if capacity:
            line[capacity] = _written(cell["capacity"], drawn)
        table.append(line)
    rng.shuffle(table)
    path = folder / f"{name}{drawn['suffix']}"
    _write(table, path, drawn)
    given, known = _keys(drawn)
    if drawn["extra"] == "group":
        known[f"streams.{name}.groups"] = ["N", "S"]
    return Case(
        file=path.name,
        answers=Answers(entity=entity, period=period, count=count, capacity=capacity),
        given=given,
        known=known,
        truth=_truth(cells, drawn),
    )


def _cells(drawn: dict[str, Any], rng: random.Random) -> list[dict[str, Any]]:
    """Draw the cell of each place and period: what is shown, and read; None if it is missing."""
    length, cells = WORDS["steps"][drawn["step"]]["length"], []
    hidden = next(iter(drawn["cleaning.suppressed_markers"]), None)
    for number, place in enumerate(WORDS["places"][drawn["places"]][: rng.randint(4, 7)]):
        most, share = rng.randint(30, 3900), rng.uniform(0.1, 0.8)
        for at in range(length):
            share = min(max(share + rng.gauss(0, 0.1), 0), 0.9)
            count = round(share * most, 1 if drawn["capacity"] else None)
            cell = {"place": place, "at": at, "capacity": most, "region": "NS"[number % 2]}
            count = rng.randint(0, 4) if hidden and rng.random() < 0.12 else count
            cell |= dict.fromkeys(("shown", "read"), count)
            if hidden and 0 < count < 5:
                cell |= {"shown": hidden, "read": 2}
            if at and rng.random() < 0.04:
                cell |= dict.fromkeys(("shown", "read"))
            elif at and drawn["capacity"] and rng.random() < 0.03:
                cell["capacity"] = None
            cells.append(cell)
    return cells


def _written(number: float | str | None, drawn: dict[str, Any]) -> Any:
    """Return a number as the table's cell; typed in workbooks and Parquet."""
    if number is None:
        return drawn["cleaning.missing_markers"][0]
    if isinstance(number, str) or drawn["suffix"] in (".xlsx", ".parquet"):
        return number
    text = f"{number:,.1f}" if number % 1 else f"{number:,.0f}"
    signs = {",": drawn["read.thousands"], ".": drawn["read.decimal"]}
    return text.translate(str.maketrans(signs))


def _truth(cells: list[dict[str, Any]], drawn: dict[str, Any]) -> Cells:
    """Fill the cells: carry a count at most `max_carry` periods, then 0; a capacity always."""
    truth: Cells = {}
    counts, ages, capacities = {}, {}, {}
    for cell in cells:
        place = cell["place"]
        ages[place] = ages.get(place, 0) + 1 if cell["read"] is None else 0
        counts[place] = counts[place] if cell["read"] is None else cell["read"]
        capacities[place] = cell["capacity"] or capacities[place]
        count = counts[place] if ages[place] <= WORDS["given"]["cleaning.max_carry"] else 0
        capacity = capacities[place] if drawn["capacity"] else BOUND
        truth[place, start_of(drawn["step"], cell["at"])] = (count, capacity)
    return truth


def _keys(drawn: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the keys that the owner sets at once, and those that a message must ask for."""
    given = WORDS["given"] | WORDS["given_with"].get(drawn["extra"], {})
    known = WORDS["known"] | WORDS["steps"][drawn["step"]]["key"]
    for name, value in drawn.items():
        if "." in name and value != OPTIONS[name][0]:
            known[name] = value
    if drawn["read.thousands"] == ".":  # 1.234 is a number anyway
        given |= {name: known.pop(name) for name in ("read.decimal", "read.thousands")}
    form = format_of(drawn)
    if form and not form.startswith("%Y-%m-%d"):
        known["periods.format"] = form
    return given, known


def _write(table: list[dict[str, Any]], path: Path, drawn: dict[str, Any]) -> None:
    """Write rows with lines above and below them."""
    lines = [["Ministry of Tables"], ["as of today"], ["all places"]][: drawn["read.skiprows"]]
    lines += [list(table[0]), *[list(row.values()) for row in table]]
    lines += [["Source: registers"], ["* estimated"]][: drawn["read.skipfooter"]]
    if path.suffix == ".parquet":
        frame = pd.DataFrame(table).replace({"": None})
        texts = frame.columns[frame.map(lambda cell: isinstance(cell, str)).any()]
        frame[texts] = frame[texts].map(str, na_action="ignore")
        frame.to_parquet(path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        if drawn["read.sheet_name"]:
            book.active.append(["What the numbers mean"])
            book.create_sheet(drawn["read.sheet_name"])
        for line in lines:
            book.worksheets[-1].append([None if cell == "" else cell for cell in line])
        book.save(path)
    else:
        text = io.StringIO()
        csv.writer(text, delimiter=drawn["read.sep"]).writerows([*lines, *[[]] * drawn["blank"]])
        content = text.getvalue().encode(drawn["read.encoding"])
        path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


# Untidy tables


@dataclass(frozen=True, kw_only=True)
class Untidy:
    """A table that is not tidy; `untidy_tables.yaml` says what its expressions mean."""

    name: str
    made: str
    line: str
    tidy: str = "table"
    capacity: str | None = "beds"
    asked: dict[str, str] = field(default_factory=dict)
    keys: dict[str, Any] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    step: str = "week"

    @property
    def answers(self) -> Answers:
        """The columns of the tidy table."""
        return Answers(entity="place", period="week", count="patients", capacity=self.capacity)

    def base(self) -> pd.DataFrame:
        """Return a tidy table of five places, whose beds do not change."""
        rng, rows = random.Random(5), []
        for place in ("North-1", "North-2", "South-1", "South-2", "Isles-1"):
            beds = rng.randint(15, 40)
            for number in range(24):
                date = start_of(self.step, number).isoformat()
                rows.append((place, date, rng.randint(0, beds), beds))
        return pd.DataFrame(rows, columns=["place", "week", "patients", "beds"])

    def write(self, folder: Path) -> Path:
        """Write the table, and `beds.csv` with the capacities of its places."""
        table = self.base()
        table[["place", "beds"]].drop_duplicates().to_csv(folder / "beds.csv", index=False)
        made = eval(self.made, {"pd": pd, "table": table})
        if isinstance(made, dict):
            with pd.ExcelWriter(folder / "wards.xlsx") as book:
                for name, sheet in made.items():
                    index = isinstance(sheet.columns, pd.MultiIndex)
                    sheet.to_excel(book, sheet_name=name, index=index)
            return folder / "wards.xlsx"
        made.to_csv(folder / "wards.csv", index=isinstance(made.columns, pd.MultiIndex))
        return folder / "wards.csv"

    def truth(self) -> Cells:
        """Return the cells that the table stands for."""
        cells: Cells = {}
        for row in eval(self.tidy, {"table": self.base()}).itertuples():
            capacity = row.beds if self.capacity else BOUND
            cells[row.place, datetime.date.fromisoformat(row.week)] = (row.patients, capacity)
        return cells


UNTIDY = [
    Untidy(**case)
    for case in yaml.safe_load((HERE / "untidy_tables.yaml").read_text(encoding="utf-8"))
]
