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
import io
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

import pytest
import yaml

from dpol.core.errors import DataError
from dpol_weekly import prose
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import counts as counts_module
from dpol_weekly.holder import release as release_module
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
        zero: `missing`: a grouped query, which has no row where nobody was; `blank`; `written`; or
            another text.
        reach: number of weeks in the table; None: all.
        running: whether the table has the week that has just begun too.
        header: whether a table without rows has a header, as PowerShell's Export-Csv has none.
        title: whether a line stands above the header.
        total: whether a line with the total stands at the end.
        end: whether the last line has a line end.
        kept: whether a table that is as before stays the file that it was, of its old time.
        through: whether the job says which day its query covered.
    """

    write: Callable[[Decimal], str] = plain
    form: tuple[str, str] = (".", "none")
    part: Decimal = Decimal(1)
    factor: int = 1
    mark: str = ","
    zero: str = "written"
    reach: int | None = None
    running: bool = False
    header: bool = True
    title: bool = False
    total: bool = False
    end: bool = True
    kept: bool = False
    through: bool = True

    def table(self, week: int, person: tuple[str, int] | None) -> Path:
        """Write the table after a week, with a person more in a place and a week.

        The place `Ward 3, West` is of no agreement, and not quoted; a patient of the place `n?` has
        no date.
        """
        rows = []
        for of in range(week + 1 + self.running):
            for name, counts in COUNTS.items():
                late = (name, of) == LATE and week < of + 2
                old = self.reach is not None and of <= week - self.reach
                if of < len(counts) and not late and not old:
                    count = counts[of] * self.factor + (self.part if person == (name, of) else 0)
                    if count or self.zero == "written":
                        rows.append([name, str(start(of)), self.write(Decimal(count))])
                    elif self.zero != "missing":
                        rows.append([name, str(start(of)), self.zero.replace("blank", "")])
        stream = io.StringIO()
        head = [["entity", "period", "count"]] if rows or self.header else []
        csv.writer(stream, delimiter=self.mark).writerows([*head, *rows])
        text = "Patients by ward\r\n" * self.title + stream.getvalue()
        if person and person[0] in STRANGERS and person[1] <= week:
            head = "" if head else "entity,period,count\r\n"
            text += head + self.mark.join([*STRANGERS[person[0]], "1\r\n"])
        text += f"Total{self.mark}{self.mark}{len(rows)}\r\n" * self.total
        data = (text if self.end else text.rstrip()).encode()
        path = Path("counts.csv")
        if not (self.kept and path.exists() and path.read_bytes() == data):
            path.write_bytes(data)
            time = datetime.datetime.combine(start(week + 1), datetime.time(5)).timestamp()
            os.utime(path, (time, time))
        return path

    def words(self) -> list[str]:
        """What a person or a script tells `--init`; nothing is read off the table."""
        decimal, thousands = self.form
        told = {"zero": self.zero, "reaches": self.reach or "all", "date": "YYYY-MM-DD"}
        told |= {"decimal": decimal, "thousands": thousands, "header": 1 + self.title}
        told |= {"delimiter": self.mark, "entity": "entity"}
        told |= {} if self.through else {"covers": "yesterday"}
        return ["--column", *(f"{key}={it}" for key, it in told.items())]

    def more(self, week: int) -> list[str]:
        """What the job says each week."""
        return ["--through", str(start(week) + datetime.timedelta(days=6))] * self.through


AVERAGE = Decimal("0.143")
STRANGERS = {"west": ["Ward 3, West", str(start(0))], "n?": ["n", ""]}
GROUPED = Exporter(zero="missing", running=True)
EXPORTERS = {
    "whole numbers": Exporter(running=True),
    "grouped": Exporter(grouped, (".", ",")),
    "averages": Exporter(part=AVERAGE),
    "German": Exporter(german, (",", "."), part=AVERAGE, mark=";"),
    "R": Exporter(scientific, factor=101, part=Decimal(1)),
    "if count": dataclasses.replace(GROUPED, running=False),
    "if count, and the running week": GROUPED,
    "if count, by hospital.yaml": dataclasses.replace(GROUPED, through=False),
    "if count, averages of three weeks": Exporter(zero="missing", reach=3, part=AVERAGE),
    "if count, the last week": dataclasses.replace(GROUPED, reach=1),
    "blank": Exporter(zero="blank", running=True),
    "a text": Exporter(zero="NULL"),
    "a title": dataclasses.replace(GROUPED, title=True),
    "a total": dataclasses.replace(GROUPED, total=True),
    "no line end": dataclasses.replace(GROUPED, end=False),
    "kept": dataclasses.replace(GROUPED, kept=True),
}
NOBODY = dataclasses.replace(GROUPED, factor=0)
"""Nobody was there at all: of the tables that follow, --init saw one with patients."""
OF_NOBODY = {
    "a header only": NOBODY,
    "no header when empty": dataclasses.replace(NOBODY, header=False),
    "a title only": dataclasses.replace(NOBODY, header=False, title=True),
    "kept, and no header": dataclasses.replace(NOBODY, header=False, kept=True),
    "blank": Exporter(zero="blank", factor=0),
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


def left() -> list[object]:
    """What anybody may get: the files in `released` and `outbox`, and their rows without noise."""
    seen: list[object] = []
    for folder in ("released", "outbox"):
        for file in sorted(Path(folder).glob("*")):
            if file.suffix == ".yaml":
                seen.append([folder, file.read_text()])
                continue
            rows = json.loads(file.read_text())["rows"]
            # The name of the key, made by chance, is that of the hospital.
            name = re.sub("-[0-9a-f]{8}-", "-KEY-", file.name)
            seen.append([folder, name, [(row[0], row[1], row[3]) for row in rows]])
    return seen


def first_file(exporter):
    """The answer of --init, for a table that has a row of each place."""
    table = dataclasses.replace(exporter, factor=1, reach=None).table(3, None)
    return run("privatize", "--init", table, *WORDS, *exporter.words(), *exporter.more(0))


def play(clock, exporter: Exporter, keys, person=None, at=0):
    """All that is seen of a hospital, run by run; the person is in the table from a run on."""
    with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
        Path("d.yaml").write_text(yaml.safe_dump(KEYS | keys, sort_keys=False))
        agreed = ["--agree", read_deployment("d.yaml").sha256()]
        seen: list[object] = []
        for week in range(WEEKS):
            clock.now = start(week + 1)
            more = exporter.more(week)
            if week == 0:
                seen.append(first_file(exporter)[:2])
            exporter.table(week, person if week >= at else None)
            quiet = {0: agreed, 1: []}.get(week, ["--quiet"])
            code, out, _ = run("privatize", *quiet, *more)
            seen.append((week, code, re.sub("-[0-9a-f]{8}-", "-KEY-", out), left()))
        file = max(Path("released").glob("*.json"), default="none")
        out = run("recompute", file, "--deployment", "d.yaml")[:2]
        seen.append(re.sub("-[0-9a-f]{8}-", "-KEY-", str(out)))
        return seen


WORDS = "--deployment", "d.yaml", "--copy-to", "outbox"


def weeks_of(clock, exporter, keys, weeks=WEEKS):
    """Exit code and standard error of each week, in the current folder."""
    Path("d.yaml").write_text(yaml.safe_dump(KEYS | keys, sort_keys=False))
    agreed = ["--agree", read_deployment("d.yaml").sha256()]
    for week in range(weeks):
        clock.now = start(week + 1)
        more = exporter.more(week)
        if week == 0:
            assert first_file(exporter)[0] == 0
        exporter.table(week, None)
        code, _, err = run("privatize", "--quiet", *more, *(agreed if week == 0 else []))
        yield code, err


def test_what_is_due_and_outside_an_export_is_named_each_run(clock, folder):
    """A rolling export never has the row of a second release; every run says so."""
    told = [*weeks_of(clock, EXPORTERS["if count, the last week"], SECOND)]
    said = [(code, "Due, and cannot be released (the export does not" in err) for code, err in told]
    assert said == [(0, False)] * 2 + [(0, True)] * 3
    assert f"c {start(0)}, c {start(1)}, c {start(2)}, n {start(0)}, n" in told[-1][1]
    with Path("hospital.yaml").open("a") as stream:
        stream.write(f"unknown: [{start(0)}, {start(1)}, {start(2)}]\n")
    assert "Due" not in run("privatize", "--quiet", "--through", str(start(5)))[2]


def test_zeros_of_an_empty_export_are_released_with_a_warning(clock, folder):
    """And nothing is released of a week that the export does not cover."""
    (code, err), *_ = weeks_of(clock, NOBODY, {}, 1)
    assert (code, [len(it[2]) for it in left() if len(it) == 3]) == (0, [3, 3])
    assert "the table has no row of n, s and c" in err
    assert "The table has no row at all for 2024-01-01: zeros are released." in err
    clock.now = start(3)
    code, _, err = run("privatize", "--quiet", "--through", str(start(2)))
    assert (code, len(left()[2][2])) == (0, 6)
    assert f"the export covers nothing after {start(2)}): c {start(2)}, n" in err
    assert "let the export job say it with --through" in run("privatize")[2]


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
EDGES += [(("n", 5), 0), (("west", 1), 0), (("n?", 2), 0)]


def test_a_person_more_in_any_place_and_week_changes_nothing_that_leaves(clock):
    assert difference(clock, GROUPED, SECOND) is None


@pytest.mark.parametrize("name", ["whole numbers", "if count, and the running week"])
def test_nor_without_second_releases(clock, name):
    assert difference(clock, EXPORTERS[name], {}, EDGES) is None


@pytest.mark.parametrize("name", EXPORTERS)
def test_the_way_in_which_counts_are_written_changes_nothing_that_leaves(clock, name):
    assert difference(clock, EXPORTERS[name], SECOND, EDGES) is None


@pytest.mark.parametrize("name", OF_NOBODY)
def test_the_first_patient_of_all_changes_nothing_that_leaves(clock, name):
    assert difference(clock, OF_NOBODY[name], SECOND, EDGES) is None


@pytest.mark.parametrize("name", [*EXPORTERS, *OF_NOBODY])
def test_a_year_of_runs_is_released_in_all_worlds(clock, name):
    """The comparison compares releases, not refusals."""
    exporter = (EXPORTERS | OF_NOBODY)[name]
    seen = play(clock, exporter, SECOND)
    assert {one[1] for one in seen if len(one) == 4} == {0}
    rows = [tuple(row[:2]) for it in seen[-2][3] for row in it[-1] if len(it) == 3]
    assert {name for name, _ in rows} == {*COUNTS}
    assert len({*rows}) == 2 * WEEKS + 3


# ---- faults that are planted ---------------------------------------------------------------------


def due_if_changed(deployment, table, rows, *more, right=release_module._due):
    """A second release of what was changed only."""
    wanted, late = right(deployment, table, rows, *more)
    secret = Path("dpol.secret").read_bytes()

    def same(place):
        before = (*place[:2], 1)
        count = table.counts[place[:2]]
        again = release_module._noisy(secret, deployment, before, count.count, count.capacity)
        return place[2] == 2 and again == rows[before]

    return [it for it in wanted if not same(it)], late


def on_standard_output(name, part, right=prose.lines_of, **facts):
    return [*right(name, part, **facts), *(facts["done"].warnings if name == "done" else ())]


def without_thousands(text, form, right=counts_module.parse_count):
    return None if re.search(r"[.,][0-9]{3}$", text) else right(text, form)


def changed_table(change):
    """A fault: the counts of a table are changed before anything is due."""

    def read(*given, right=release_module.read_counts, **options):
        table = right(*given, **options)
        kept = {key: it for key, it in table.counts.items() if change(it)}
        unread = {**table.unread, **dict.fromkeys(table.counts.keys() - kept, "left out")}
        return dataclasses.replace(table, counts=kept, unread=unread)

    return read


def refused(count):
    if Decimal(count.count) > Decimal(count.capacity):
        raise DataError("too many")
    return True


def refused_if_running(text, form, right=counts_module.parse_date):
    day, today = right(text, form), release_module.datetime.date.today()
    if Path("hospital.yaml").exists() and day and str(day) >= str(today):
        raise DataError("its period is not over")
    return day


def by_its_age(hospital, deployment, calendar, *more, right=counts_module._unread):
    """What a table holds that was written before the end of a period."""
    yield from right(hospital, deployment, calendar, *more)
    written = datetime.date.fromtimestamp(hospital.table.stat().st_mtime)
    for name, days in calendar.items():
        for it in days:
            if datetime.date.fromisoformat(it) + datetime.timedelta(days=6) >= written:
                yield (name, it), "the table is older"


def strict(*given, right=counts_module.read_table, **options):
    table = right(*given, **options)
    if any(width != table.width for *_, width in table.lines):
        raise DataError("cells")
    return table


def without_empty(*given, right=counts_module.read_table, may_be_empty):
    return right(*given, may_be_empty=False)


def undated(text, form, right=counts_module.parse_date):
    if not text:
        raise DataError("no date")
    return right(text, form)


PLANTED = {
    "second release if changed": (release_module, "_due", due_if_changed),
    "warnings on standard output": (prose, "lines_of", on_standard_output),
    "thousands refused": (counts_module, "parse_count", without_thousands),
    "implausible counts left out": (
        *(release_module, "read_counts"),
        changed_table(lambda it: Decimal(it.count) <= Decimal(it.capacity)),
    ),
    "implausible counts refused": (release_module, "read_counts", changed_table(refused)),
    "only rows that are there": (
        *(release_module, "read_counts"),
        changed_table(lambda it: "without a line" not in it.where),
    ),
    "a row of the running week refused": (counts_module, "parse_date", refused_if_running),
    "an old file is not whole": (counts_module, "_unread", by_its_age),
    "a line of others refused": (counts_module, "read_table", strict),
    "an empty file refused": (counts_module, "read_table", without_empty),
    "a patient without a date refused": (counts_module, "parse_date", undated),
}
NOTICED_BY = {
    "thousands refused": "grouped",
    "a row of the running week refused": "a header only",
    "an old file is not whole": "kept, and no header",
    "an empty file refused": "no header when empty",
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_that_tells_something_is_noticed(clock, monkeypatch, name):
    monkeypatch.setattr(*PLANTED[name])
    exporter = (EXPORTERS | OF_NOBODY)[NOTICED_BY.get(name, "if count, and the running week")]
    assert difference(clock, exporter, SECOND, EDGES) is not None
