"""A release tells nothing of the order in which the table has its rows, columns and sheets."""

from __future__ import annotations

import datetime
import itertools
import random
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import openpyxl
import pytest

from dpol_weekly import sqlite
from dpol_weekly.holder import ledger as ledger_module
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.keys import make_key
from releases import COLUMNS, NOISY, deployment, hospital, newest
from seeded import SeededNoise

WARDS = "abcde"
WEEKS = "2021-01-01", "2021-01-08"
HEADER = list(COLUMNS.values())
# The true order of the counts is d b e a c: a table sorted by count begins with d.
ROWS = [[ward, week, str(15 - place), "60"] for week in WEEKS for place, ward in enumerate("dbeac")]
MADE = deployment(entities={ward: {} for ward in WARDS})


@pytest.fixture(autouse=True)
def one_key(monkeypatch):
    """Every release has the same key, the same ids and the same time."""

    class Now(datetime.datetime):
        @classmethod
        def now(cls, zone):
            return cls(2024, 1, 1, tzinfo=zone)

    clock = SimpleNamespace(datetime=Now, UTC=datetime.UTC)
    monkeypatch.setattr(sqlite, "datetime", clock)
    make_key(Path("kept.key"))
    monkeypatch.setattr(ledger_module.secrets, "token_hex", lambda size: "0" * 2 * size)


def as_csv(rows, columns, path):
    lines = [",".join(row[place] for place in columns) for row in [HEADER, *rows]]
    path.write_text("\n".join([*lines, ""]))


def as_workbook(rows, columns, path, sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name in sheets:
        sheet = book.create_sheet(name)
        for row in [HEADER, *rows] if name == "counts" else [["nothing"]]:
            sheet.append([row[place] for place in columns]) if name == "counts" else sheet.append(
                row
            )
    book.save(path)


def released(name, made=MADE, **own):
    """The bytes of a release of a table, by a new ledger and the same noise."""
    Path("case").mkdir()
    shutil.copy("kept.key", "case/dpol.key")
    own = hospital(made, name, to=Path("case", NOISY), ledger="case/ledger.sqlite", **own)
    request = Request(hospital=own, deployment=made, agree=made.sha256(), in_person=True)
    release(request, SeededNoise(np.random.default_rng(1)))
    file = newest(Path("case", NOISY))
    content = file.name, file.read_bytes()
    shutil.rmtree("case")
    return content


def test_the_order_of_rows_columns_files_and_sheets_is_not_released():
    """A table in eight orders, sorted by count among them, and as workbooks."""
    chance, seen, columns = random.Random(1), set(), list(range(4))
    orders = [ROWS, sorted(ROWS), sorted(ROWS, key=lambda row: int(row[2]))]
    orders += [chance.sample(ROWS, len(ROWS)) for _ in range(5)]
    for number, rows in enumerate(orders):
        as_csv(rows, chance.sample(columns, 4) if number else columns, Path(f"{number}.csv"))
        seen.add(released(f"{number}.csv"))
    for rows, sheets in itertools.product(orders[:2], (["counts", "notes"], ["notes", "counts"])):
        as_workbook(rows, columns, Path("book.xlsx"), sheets)
        seen.add(released("book.xlsx", format={"sheet": "counts"}))
    assert len(seen) == 1
