"""Nothing that leaves depends on a count: a table is played beside the one with a person more.

All commands of a hospital run week by week, as a hospital runs them that does what they say. The
person is added to one place and week, before any run: before, between or after its releases. Exit
codes, standard output, names of files, rows and their dates must be the same. Standard error may
differ: nobody sends it.
"""

from __future__ import annotations

import csv
import datetime
import itertools
import json
import re
import tempfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import openpyxl
import pytest
import yaml

from dpol.core.errors import DataError
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import counts as counts_module
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder import request as request_module
from dpol_weekly.holder import text as text_module
from dpol_weekly.holder.drawn import changed
from dpol_weekly.holder.entries import outputs, select
from dpol_weekly.holder.text import describe, warnings_of
from dpol_weekly.keys import Secret
from releases import run

FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
FIRST = datetime.date(2024, 1, 1)
WEEKS, AFTER = 5, 2
BEDS = {"n": 120, "s": 2000, "c": 60}
"""A person more in some week: 99 and 1, 999 and 1, 120 beds and 1, nobody and 1."""
COUNTS = {"n": [99, 120, 0, 9, 119], "s": [999, 13, 1000, 0, 12], "c": [7, 60, 0]}
LATE = "s", 1
"""This row is in the table two weeks too late; ward c closes after three weeks."""


def start(week: int) -> datetime.date:
    return FIRST + datetime.timedelta(days=7 * week)


def plain(count: Decimal) -> str:
    return f"{count:f}"


def grouped(count: Decimal) -> str:
    return f"{count:,f}"


def german(count: Decimal) -> str:
    return f"{count:,f}".translate({44: ".", 46: ","})


def scientific(count: Decimal) -> str:
    """As R writes it: 1e+05 is shorter than 100000."""
    return f"{count:.0e}" if count and count % 10**5 == 0 else plain(count)


@dataclass(frozen=True)
class Exporter:
    """How a hospital writes its table.

    Args:
        write: writes a count.
        part: what one person adds to a count: a seventh to an average over seven days.
        factor: of all counts.
        own: further keys of the hospital's file.
        mark: between cells.
        new_only: the table holds the rows of the last week only.
        suffix: of the table's file.
    """

    write: Callable[[Decimal], str] = plain
    part: Decimal = Decimal(1)
    factor: int = 1
    mark: str = ","
    new_only: bool = False
    suffix: str = ".csv"

    def table(self, week: int, person: tuple[str, int] | None) -> Path:
        """Write the table of a week, with a person more in a place and a week."""
        rows = [["entity", "period", "count"]]
        for of in range(week + 1):
            for name, counts in COUNTS.items():
                late = (name, of) == LATE and week < of + 2
                old = self.new_only and of < week and (name, of) != LATE
                if of < len(counts) and not late and not old:
                    more = self.part if person == (name, of) else 0
                    rows.append([name, str(start(of)), counts[of] * self.factor + more])
        path = Path(f"counts{self.suffix}")
        if self.suffix == ".xlsx":
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append(row)
            book.save(path)
        else:
            cells = [[*row[:2], self.write(Decimal(row[2]))] for row in rows[1:]]
            with path.open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream, delimiter=self.mark).writerows([rows[0], *cells])
        return path


AVERAGE = Decimal("0.143")
EXPORTERS = {
    "whole numbers": Exporter(),
    "grouped": Exporter(grouped),
    "averages": Exporter(part=AVERAGE),
    "grouped averages": Exporter(grouped, part=AVERAGE),
    "German": Exporter(german, part=AVERAGE, mark=";"),
    "R": Exporter(scientific, factor=101, part=Decimal(1)),
    "new rows": Exporter(part=AVERAGE, new_only=True),
    "workbook": Exporter(suffix=".xlsx", part=AVERAGE),
}
KEYS = {
    "name": "v",
    "periods": {"first": FIRST},
    "entities": {name: {"capacity": beds} for name, beds in BEDS.items()},
    "mu": 0.5,
    "budget_mu": 4,
    "corrections": True,
    "affirmed": True,
}
KEYS["entities"]["c"]["until"] = start(3)
SECOND = {"second_release": {"after": AFTER}}
ADVICE = re.compile(r"released \(([-0-9, ]+)\).*to correct: --correct")


@pytest.fixture
def clock(monkeypatch):
    """Set the date of the computer."""

    def set_to(day):
        class Today(datetime.date):
            @classmethod
            def today(cls):
                return day

        now = SimpleNamespace(date=Today, timedelta=datetime.timedelta)
        for module in (counts_module, request_module):
            monkeypatch.setattr(module, "datetime", now)

    return set_to


def left() -> list[object]:
    """What anybody may get: the files in `released` and `outbox`, and their rows without noise."""
    seen: list[object] = []
    for folder in ("released", "outbox"):
        for file in sorted(Path(folder).glob("*")):
            rows = json.loads(file.read_text())["rows"]
            seen.append([folder, file.name, [(row[0], row[1], row[3]) for row in rows]])
    return seen


def play(clock, exporter: Exporter, keys, person=None, at=0):
    """All that is seen of a hospital, run by run; the person is in the table from a run on."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
        Path("d.yaml").write_text(yaml.safe_dump(KEYS | keys, sort_keys=False))
        agreed = ["--agree", read_deployment("d.yaml").sha256(), "--begin-after", "2023-12-31"]
        seen: list[object] = []
        for week in range(WEEKS):
            clock(start(week + 1))
            table = exporter.table(week, person if week >= at else None)
            if week == 0:
                seen += init(table)
            more = {0: agreed, 1: [], 2: ["--json"], 3: ["--correct", str(start(LATE[1]))]}
            code, out, err = run("privatize", *more.get(week, ["--quiet"]))
            seen.append((week, code, out, left()))
            if advised := ADVICE.search(out + err):
                again = [word for day in advised[1].split(", ") for word in ("--correct", day)]
                seen.append((run("privatize", *again)[:2], left()))
            seen.append(run("history")[:2])
        file = max(Path("released").glob("*.json"), default="none")
        seen.append(run("recompute", file, "--deployment", "d.yaml")[:2])
        return seen


COPY = "--copy-to", "outbox"
WORDS = "--deployment", "d.yaml", *COPY


def init(table: Path) -> list[object]:
    """A first file, which reads all wards, and what is printed."""
    return [run("privatize", "--init", table, *WORDS)[:2]]


def difference(clock, exporter, keys, cases=None):
    """The first run that tells two neighbours apart, or None; cases: place, week, first run."""
    usual = play(clock, exporter, keys)
    everywhere = [
        ((name, week), at)
        for name, counts in COUNTS.items()
        for week in range(len(counts))
        for at in sorted({0, week + 1, min(week + AFTER, WEEKS - 1)})
    ]
    for place, at in cases or everywhere:
        found = play(clock, exporter, keys, place, at)
        # A run more, which somebody was told to make, is a difference too.
        for one, other in itertools.zip_longest(usual, found):
            if one != other:
                return (place, at), one, other
    return None


EDGES = [(("n", 0), 0), (("s", 0), 1), (("s", 1), 0), (("n", 2), 3), (("n", 1), 0), (("c", 2), 0)]


def test_a_person_more_in_any_place_and_week_changes_nothing_that_leaves(clock):
    assert difference(clock, EXPORTERS["whole numbers"], SECOND) is None


def test_nor_without_second_releases(clock):
    assert difference(clock, EXPORTERS["whole numbers"], {}, EDGES) is None


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_way_in_which_counts_are_written_changes_nothing_that_leaves(clock, name):
    assert difference(clock, EXPORTERS[name], SECOND, EDGES) is None


def test_a_year_of_runs_is_released_in_all_worlds(clock):
    """The comparison compares releases, not refusals."""
    for exporter in EXPORTERS.values():
        seen = play(clock, exporter, SECOND)
        assert {one[1] for one in seen if len(one) == 4} == {0}
        rows = [row for folder, _, rows in seen[-3][3] for row in rows]
        assert {name for name, *_ in rows} == {*COUNTS}


# ---- faults that are planted ---------------------------------------------------------------------


def due_if_changed(ledger, request, counts, base, right=release_module.due, **options):
    """A second release of what was changed only."""
    new, late = right(ledger, request, counts, base, **options)
    (output,) = outputs(ledger) or [None]
    if output is None:
        return new, late
    secret = Secret(request.hospital.secret)
    known = {(row["entity"], row["period"]) for row in select(ledger, "SELECT * FROM release")}
    differ = {id(it) for it in changed(ledger, output, new, secret, request.deployment)}
    return [it for it in new if id(it) in differ or (it.entity, it.period) not in known], late


def on_standard_output(done, deployment):
    return [*describe(done, deployment), *warnings_of(done, deployment)]


def without_thousands(text, form, right=counts_module.parse_count):
    return None if re.search(r"[.,][0-9]{3}$", text) else right(text, form)


def by_count(counts, *rest, right=release_module.in_time):
    return sorted(right(counts, *rest), key=lambda it: (it.period, Decimal(it.count)))


def if_plausible(counts, *rest, right=release_module.in_time):
    return [it for it in right(counts, *rest) if Decimal(it.count) <= Decimal(it.capacity)]


def refused_above(counts, *rest, right=release_module.in_time):
    if any(Decimal(it.count) > Decimal(it.capacity) for it in counts):
        raise DataError("too many")
    return right(counts, *rest)


PLANTED = {
    "second release if changed": (release_module, "due", due_if_changed),
    "warnings on standard output": (text_module, "describe", on_standard_output),
    "thousands refused": (counts_module, "parse_count", without_thousands),
    "rows by count": (release_module, "in_time", by_count),
    "implausible counts left out": (release_module, "in_time", if_plausible),
    "implausible counts refused": (release_module, "in_time", refused_above),
}


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED)
def test_a_fault_that_tells_something_is_noticed(clock, monkeypatch, fault):
    monkeypatch.setattr(*fault)
    assert difference(clock, EXPORTERS["grouped"], SECOND, EDGES) is not None
