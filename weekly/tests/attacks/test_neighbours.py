"""Nothing that leaves depends on a count: a table is played beside the one with a person more.

All commands of a hospital run week by week, as a hospital runs them that does what they say. The
person is added to one place and week, before any run: before, between or after its releases. Exit
codes, standard output, names of files, rows and their dates must be the same. Standard error may
differ: nobody sends it.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import itertools
import json
import os
import re
import tempfile
from collections.abc import Callable
from contextlib import chdir
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from dpol.core.errors import DataError
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import counts as counts_module
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder import request as request_module
from dpol_weekly.holder import text as text_module
from dpol_weekly.holder.drawn import noisy
from dpol_weekly.holder.entries import select
from dpol_weekly.holder.text import describe, warnings_of
from dpol_weekly.keys import Secret
from releases import run

FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
FIRST = datetime.date(2024, 1, 1)
WEEKS, AFTER = 5, 2
BEDS = {"n": 120, "s": 2000, "c": 60}
"""A person more in some week: 99 and 1, 999 and 1, 120 beds and 1, nobody and 1."""
COUNTS = {"n": [99, 120, 0, 9, 119, 0], "s": [999, 13, 1000, 0, 12, 0], "c": [7, 60, 0]}
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
        form: how it writes, in the hospital's file.
        part: what one person adds to a count: a seventh to an average over seven days.
        factor: of all counts.
        mark: between cells.
        zero: `missing`: a grouped query, which has no row where nobody was; `blank`; `written`.
        reach: number of weeks in the table; None: all.
        running: whether the table has the week that has just begun too.
    """

    write: Callable[[Decimal], str] = plain
    form: tuple[str, str] = (".", "none")
    part: Decimal = Decimal(1)
    factor: int = 1
    mark: str = ","
    zero: str = "written"
    reach: int | None = None
    running: bool = False

    def table(self, week: int, person: tuple[str, int] | None) -> Path:
        """Write the table after a week, with a person more in a place and a week."""
        rows = [["entity", "period", "count"]]
        for of in range(week + 1 + self.running):
            for name, counts in COUNTS.items():
                late = (name, of) == LATE and week < of + 2
                old = self.reach is not None and of <= week - self.reach
                if of < len(counts) and not late and not old:
                    count = counts[of] * self.factor + (self.part if person == (name, of) else 0)
                    if count or self.zero == "written":
                        rows.append([name, str(start(of)), self.write(Decimal(count))])
                    elif self.zero == "blank":
                        rows.append([name, str(start(of)), ""])
        path = Path("counts.csv")
        with path.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, delimiter=self.mark).writerows(rows)
        return path

    def words(self) -> list[str]:
        """What a person or a script tells `--init`; nothing is read off the table."""
        decimal, thousands = self.form
        told = {"zero": self.zero, "covers": self.reach or "all", "date": "YYYY-MM-DD"}
        told |= {"decimal": decimal, "thousands": thousands}
        told |= {"delimiter": self.mark, "entity": "entity"}
        return ["--column", *(f"{key}={it}" for key, it in told.items())]


AVERAGE = Decimal("0.143")
EXPORTERS = {
    "whole numbers": Exporter(running=True),
    "grouped": Exporter(grouped, (".", ",")),
    "averages": Exporter(part=AVERAGE),
    "German": Exporter(german, (",", "."), part=AVERAGE, mark=";"),
    "R": Exporter(scientific, factor=101, part=Decimal(1)),
    "if count": Exporter(zero="missing"),
    "if count, and the running week": Exporter(zero="missing", running=True),
    "if count, averages of three weeks": Exporter(zero="missing", reach=3, part=AVERAGE),
    "if count, the last week": Exporter(zero="missing", reach=1, running=True),
    "nobody": Exporter(zero="missing", factor=0, running=True),
    "blank": Exporter(zero="blank", running=True),
    "blank, of nobody": Exporter(zero="blank", factor=0),
}
KEYS = {
    "name": "v",
    "periods": {"first": FIRST},
    "entities": {name: {"capacity": beds} for name, beds in BEDS.items()},
    "mu": 0.5,
    "budget_mu": 4,
    "affirmed": True,
}
KEYS["entities"]["c"]["until"] = start(3)
SECOND = {"second_release": {"after": AFTER}}


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
                seen.append(run("privatize", "--init", table, *WORDS, *exporter.words())[:2])
            more = {0: agreed, 1: [], 2: ["--json"]}
            code, out, _ = run("privatize", *more.get(week, ["--quiet"]))
            seen.append((week, code, out, left()))
        file = max(Path("released").glob("*.json"), default="none")
        seen.append(run("recompute", file, "--deployment", "d.yaml")[:2])
        return seen


COPY = "--copy-to", "outbox"
WORDS = "--deployment", "d.yaml", *COPY


def test_what_is_due_and_outside_an_export_is_named_each_run(clock):
    """A rolling export never has the row of a second release; every run says so."""
    told = []
    with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
        Path("d.yaml").write_text(yaml.safe_dump(KEYS | SECOND, sort_keys=False))
        agreed = ["--agree", read_deployment("d.yaml").sha256(), "--begin-after", "2023-12-31"]
        exporter = EXPORTERS["if count, the last week"]
        for week in range(WEEKS):
            clock(start(week + 1))
            table = exporter.table(week, None)
            if week == 0:
                run("privatize", "--init", table, *WORDS, *exporter.words())
            code, _, err = run("privatize", "--quiet", *(agreed if week == 0 else []))
            told.append((code, "Due, and cannot be released (the export does not reach" in err))
            if week == WEEKS - 1:
                assert f"c {start(0)}, c {start(1)}, c {start(2)}, n {start(0)}, n" in err
    assert told == [(0, False)] * 2 + [(0, True)] * 3


def test_of_an_empty_export_zeros_are_released_and_an_old_export_is_named(clock):
    exporter = EXPORTERS["nobody"]
    with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
        Path("d.yaml").write_text(yaml.safe_dump(KEYS, sort_keys=False))
        agreed = ["--agree", read_deployment("d.yaml").sha256(), "--begin-after", "2023-12-31"]
        table = exporter.table(0, None)
        assert table.read_text().splitlines() == ["entity,period,count"]
        run("privatize", "--init", table, *WORDS, *exporter.words())
        written = datetime.datetime(2024, 1, 10).timestamp()
        os.utime(table, (written, written))
        clock(start(2))
        code, _, err = run("privatize", "--quiet", *agreed)
        assert (code, [len(rows) for *_, rows in left()]) == (0, [3, 3])
        assert "written before its end, on 2024-01-10): c 2024-01-08, n 2024-01-08" in err


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
EDGES += [(("n", 5), 0)]


@pytest.mark.parametrize("name", ["whole numbers", "if count, and the running week"])
def test_a_person_more_in_any_place_and_week_changes_nothing_that_leaves(clock, name):
    assert difference(clock, EXPORTERS[name], SECOND) is None


@pytest.mark.parametrize("name", ["whole numbers", "if count, and the running week"])
def test_nor_without_second_releases(clock, name):
    assert difference(clock, EXPORTERS[name], {}, EDGES) is None


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_way_in_which_counts_are_written_changes_nothing_that_leaves(clock, name):
    assert difference(clock, EXPORTERS[name], SECOND, EDGES) is None


def test_a_year_of_runs_is_released_in_all_worlds(clock):
    """The comparison compares releases, not refusals."""
    for exporter in EXPORTERS.values():
        seen = play(clock, exporter, SECOND)
        assert {one[1] for one in seen if len(one) == 4} == {0}
        rows = [tuple(row[:2]) for _, _, rows in seen[-2][3][-1:] for row in rows]
        assert {name for name, _ in rows} == {*COUNTS}
        late = exporter.reach == 1 and exporter.zero == "written"
        assert len({*rows}) == 2 * WEEKS + 3 - late


# ---- faults that are planted ---------------------------------------------------------------------


def due_if_changed(ledger, request, table, base, right=release_module.due, **options):
    """A second release of what was changed only."""
    found = right(ledger, request, table, base, **options)
    secret, rows = Secret(request.hospital.secret), select(ledger, "SELECT * FROM release")
    known = {(row["entity"], row["period"]): row["noisy_count"] for row in rows}
    new = [
        it
        for it in found.new
        if known.get((it.entity, it.period)) != noisy(secret, request.deployment, it, 1)
    ]
    return dataclasses.replace(found, new=new)


def on_standard_output(done, deployment):
    return [*describe(done, deployment), *warnings_of(done)]


def without_thousands(text, form, right=counts_module.parse_count):
    return None if re.search(r"[.,][0-9]{3}$", text) else right(text, form)


def changed_table(change):
    """A fault: the counts of a table are changed before anything is due."""

    def read(request, right=release_module.read_counts):
        table = right(request)
        kept = {key: it for key, it in table.counts.items() if change(it)}
        unread = {**table.unread, **dict.fromkeys(table.counts.keys() - kept, "left out")}
        return dataclasses.replace(table, counts=kept, unread=unread)

    return read


def by_count(*given, right=release_module.due, **options):
    found = right(*given, **options)
    new = sorted(found.new, key=lambda it: (it.period, Decimal(it.count)))
    return dataclasses.replace(found, new=new)


def refused(count):
    if Decimal(count.count) > Decimal(count.capacity):
        raise DataError("too many")
    return True


def refused_if_running(hospital, deployment, right=counts_module._rows):
    rows, strangers = right(hospital, deployment)
    if any(day >= str(counts_module.datetime.date.today()) for _, _, day, _ in rows):
        raise DataError("its period is not over")
    return rows, strangers


PLANTED = {
    "second release if changed": (release_module, "due", due_if_changed),
    "warnings on standard output": (text_module, "describe", on_standard_output),
    "thousands refused": (counts_module, "parse_count", without_thousands),
    "rows by count": (release_module, "due", by_count),
    "implausible counts left out": (
        *(release_module, "read_counts"),
        changed_table(lambda it: Decimal(it.count) <= Decimal(it.capacity)),
    ),
    "implausible counts refused": (release_module, "read_counts", changed_table(refused)),
    "only rows that are there": (
        *(release_module, "read_counts"),
        changed_table(lambda it: "without a line" not in it.where),
    ),
    "a row of the running week refused": (counts_module, "_rows", refused_if_running),
}
NOTICED_BY = {"thousands refused": "grouped", "a row of the running week refused": "nobody"}


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_that_tells_something_is_noticed(clock, monkeypatch, name):
    monkeypatch.setattr(*PLANTED[name])
    exporter = EXPORTERS[NOTICED_BY.get(name, "if count, and the running week")]
    assert difference(clock, exporter, SECOND, EDGES) is not None
