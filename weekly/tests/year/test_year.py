"""A year of twelve hospitals and a coordinator, in which everything happens that does happen.

Counts come late, never, or again with other numbers. Files arrive late, twice, under another name,
unpacked or cut short. Runs are killed. Folders are put back from older copies, or lost. Hospitals
join, leave and get other beds. A plain model says what must come of it.
"""

from __future__ import annotations

import copy
import datetime
import functools
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from dpol.core.errors import DataError, DpolError
from dpol.show.pages import load_template
from dpol_weekly.coordinator.collect import collect, set_aside
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.export import export, verify
from dpol_weekly.coordinator.log import LOG_NAME, open_log
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import history
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.keys import make_key
from dpol_weekly.released.read import read_release
from dpol_weekly.sampler import SeededNoise
from faults import in_child
from weekly import FIRST, agreed, day

MU, STAY, TIMES, BEDS = 0.5, 8, 3, 40
"""The budget has room for so many releases of each count."""
LOSSES = "older ledger", "ledger lost", "all lost", "older folder"
EVENTS = {
    *("missing", "count comes late", "corrected", "away for long", "joined", "left", "other beds"),
    *("late", "lost", "doubled", "renamed", "unpacked", "cut short", "refused", "set aside"),
    *("killed release", "killed collection", "killed decision", "log lost", "old agreement"),
    *LOSSES,
}
Row = tuple[int, str]
"""A week and its noisy count."""


@dataclass
class Book:
    """What a copy of a hospital's ledger knows."""

    rows: list[Row] = field(default_factory=list)
    raw: dict[int, int] = field(default_factory=dict)
    marked: Counter[int] = field(default_factory=Counter)

    @property
    def weeks(self) -> set[int]:
        return {week for week, _ in self.rows} | {*self.marked}

    def squared_mu(self) -> float:
        """The squared mu of the worst stay at one entity."""
        times = Counter(week for week, _ in self.rows) + self.marked
        starts = range(min(times) - STAY, max(times) + 1)
        worst = max(sum(times[it] for it in range(start, start + STAY)) for start in starts)
        return worst * MU**2 / 2


@dataclass
class Holder:
    name: str
    folder: Path
    since: int = 0
    until: int = 10_000
    agreed: int = 0
    away: range = range(0)
    book: Book = field(default_factory=Book)
    table: dict[int, int] = field(default_factory=dict)
    owed: dict[int, int] = field(default_factory=dict)
    lost: bool = False
    older: tuple[Path, Book] | None = None

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.sqlite"

    @property
    def released(self) -> Path:
        return self.folder / "released"


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A release on its way, and whether a hospital's folder was put back since an earlier one."""

    entity: str
    rows: list[Row]
    ledger: str
    file: Path
    whole: bool
    put_back: bool


class Year:
    """Hospitals, a coordinator and their model, in a folder."""

    def __init__(self, folder: Path, seed: int, holders: int, weeks: int) -> None:
        self.folder, self.weeks, self.state = folder, weeks, folder / "state"
        self.chance, self.seed = random.Random(seed), seed * 1_000_000
        self.happened, self.post, self.archive = Counter[str](), [], []
        self.log = defaultdict[str, list[Row]](list)
        self.aside, self.bound = set[tuple[str, Row]](), dict[str, str]()
        self.decided: list[datetime.date] = []
        self.changes = (0, weeks // 3, weeks // 2)
        """The weeks from which the agreements hold."""
        self.losses = [*LOSSES, *self.chance.sample(LOSSES, 4)]
        names = [f"h{number:02}" for number in range(holders)]
        self.holders = [Holder(name=name, folder=folder / name) for name in names]
        self.holders[-1].since, self.holders[0].until = self.changes[1:]
        gone = self.chance.randint(4, weeks - 12)
        self.holders[2].away = range(gone, gone + 10)
        self.agreements = self.agree(names)

    def agree(self, names: list[str]) -> list[Path]:
        """The agreement; then one joins and one gets beds; then one leaves. Half have keys."""
        entities = {name: {"capacity": BEDS} for name in names[:-1]}
        for name in names[::2]:
            (self.folder / name).mkdir()
            key = {"key": make_key(self.folder / name / "dpol.key")}
            entities.setdefault(name, {"capacity": BEDS}).update(key)
        last = {"since": day(self.changes[1])} | entities.pop(names[-1], {"capacity": BEDS})
        changes = (
            {},
            {names[-1]: last, names[1]: {**entities[names[1]], "capacity": 50}},
            {names[0]: {**entities[names[0]], "until": day(self.changes[2])}},
        )
        files: list[Path] = []
        for number, change in enumerate(changes):
            entities |= change
            amends = {}
            if files:
                before = read_deployment(files[-1]).sha256()
                amends = {"amends": {"agreement": before, "since": day(self.changes[number])}}
            place, budget = self.folder / f"agreed-{number}", MU * (STAY * TIMES) ** 0.5 + 1e-9
            keys = {"mu": MU, "longest_stay": STAY, "budget_mu": budget, "corrections": True}
            files.append(agreed(place, entities, **amends, **keys))
        return files

    def happens(self, what: str, chance: float) -> bool:
        if self.chance.random() >= chance:
            return False
        self.happened[what] += 1
        return True

    def today(self, week: int) -> datetime.date:
        return FIRST + datetime.timedelta(days=7 * week + 8)

    def known(self, week: int) -> int:
        """The agreement of a week."""
        return sum(week >= it for it in self.changes) - 1

    # Hospitals.

    def run(self, holder: Holder, week: int, **options):
        """A run of `dpol privatize`, which may be killed and is then repeated."""
        holder.folder.mkdir(exist_ok=True)
        raw, made = holder.folder / "raw.csv", read_deployment(self.agreements[holder.agreed])
        lines = ["week,ill", *(f"{day(it)},{count}" for it, count in sorted(holder.table.items()))]
        raw.write_text("\n".join([*lines, ""]))
        self.seed += 2
        samplers = [SeededNoise(np.random.default_rng(self.seed + it)) for it in (0, 1)]
        request = Request(
            hospital=Hospital(
                deployment=self.agreements[holder.agreed],
                entity=holder.name,
                table=raw,
                columns={"period": "week", "count": "ill"},
                output=holder.released,
                ledger=holder.ledger,
                key=holder.folder / "dpol.key",
            ),
            deployment=made,
            agree=made.sha256(),
            today=self.today(week),
            **options | {"correct": frozenset(map(day, options.get("correct", ())))},
        )
        if "continue_from" not in options and self.happens("killed release", 0.05):
            k = self.chance.randint(1, 30)
            in_child(lambda: release(request, samplers[0]) and None, "kill", k)
        return release(request, samplers[1])

    def release(self, holder: Holder, week: int) -> Path | None:
        """A week at a hospital: what was counted is released once; its newest file."""
        book, table, options = holder.book, holder.table, {}
        if holder.lost and self.log[holder.name]:
            export(self.state, self.folder / "export.csv")
            options["continue_from"] = self.folder / "export.csv"
            book.marked = Counter(it for it, _ in self.log[holder.name])
        last = max(book.weeks, default=-1)
        new = table.keys() - book.weeks
        if not new and not holder.ledger.exists():
            return None  # nothing to begin a ledger with
        past = {it for it in new if it < last}
        steps = [it for it in (last, *sorted(new - past)) if it >= 0]
        gap = any(after - before > 8 for before, after in zip(steps, steps[1:], strict=False))
        times = Counter(it for it, _ in book.rows)
        changed = {
            it
            for it, count in book.raw.items()
            if table[it] != count and times[it] < TIMES and it not in book.marked
        }
        if past and "continue_from" not in options:
            with pytest.raises(DpolError, match="a later one was"):
                self.run(holder, week)
        before = Counter(book.rows)
        done = self.run(holder, week, correct=past | changed, gap=gap, **options)
        rows = [(self.week(it), count) for it, count in self.rows_of(done.file)]
        added = list((Counter(rows) - before).elements())
        assert not before - Counter(rows), "a released row is lost"
        assert sorted(it for it, _ in added) == sorted(new | changed), "twice, or not at all"
        book.rows, holder.lost = rows, False
        book.raw |= {it: table[it] for it, _ in added}
        assert done.worst.mu**2 == pytest.approx(book.squared_mu())
        history.verify(holder.ledger)
        return done.file

    @staticmethod
    def rows_of(file: Path) -> list[tuple[str, str]]:
        return [(row.cells.period, row.cells.noisy_count) for row in read_release(file).rows]

    @staticmethod
    def week(period: str) -> int:
        return (datetime.date.fromisoformat(period) - FIRST).days // 7

    def lose(self, holder: Holder, week: int) -> None:
        """The folder of a hospital, or a part of it, is lost, or becomes an older copy."""
        kind = self.losses[0]
        older = holder.older and {*holder.older[1].rows} < {*holder.book.rows}
        if kind.startswith("older") and not older:
            return
        self.happened[self.losses.pop(0)] += 1
        self.deliver(holder.name, week)  # The coordinator collects what was sent so far.
        if kind == "older ledger":
            shutil.copy(holder.ledger, kept := holder.folder / "kept")
            shutil.copy(holder.older[0] / "ledger.sqlite", holder.ledger)
            with pytest.raises(DataError):
                self.run(holder, week)
            shutil.move(kept, holder.ledger)
        elif kind == "older folder":  # nobody notices before the next report
            shutil.rmtree(holder.folder)
            shutil.copytree(holder.older[0], holder.folder)
            holder.book = copy.deepcopy(holder.older[1])
        else:
            holder.ledger.unlink()
            if kind == "all lost":
                shutil.rmtree(holder.released)
            else:  # whatever is there has been collected
                self.take(week, [self.mail(holder, it, it) for it in self.files(holder)])
            holder.book, holder.lost, holder.older = Book(), bool(self.log[holder.name]), None

    @staticmethod
    def files(holder: Holder) -> list[Path]:
        return sorted(holder.released.glob("*.zip"))

    def at_hospital(self, holder: Holder, week: int) -> None:
        """A week at a hospital, and its mail."""
        if week >= holder.until + 3 or week < holder.since:
            return
        self.happened["joined"] += week == holder.since > 0
        self.happened["left"] += week == holder.until
        self.happened["other beds"] += holder.name == "h01" and week == self.changes[1]
        if week in holder.away:
            self.happened["away for long"] += 1
            return
        concerned = holder.name in ("h00", "h01", self.holders[-1].name)
        if holder.agreed < self.known(week) and (
            concerned or not self.happens("old agreement", 0.5)
        ):
            holder.agreed += 1
        if week == holder.since:
            holder.agreed = self.known(week)
        if week < holder.until:
            counted = self.chance.randint(0, 30)
            if self.happens("missing", 0.06):
                holder.owed[week] = counted
                return
            holder.table[week] = counted
        if holder.owed and self.happens("count comes late", 0.3):
            holder.table |= holder.owed
            holder.owed = {}
        if holder.table and self.happens("corrected", 0.1):
            holder.table[self.chance.choice(sorted(holder.table)[-6:])] = self.chance.randint(0, 30)
        if self.losses and holder.book.rows and self.chance.random() < 10 / self.weeks:
            self.lose(holder, week)
        if holder.table and (file := self.release(holder, week)):
            self.send(holder, week, file)
        if holder.ledger.exists() and self.chance.random() < 0.3:
            place = self.folder / "copies" / f"{holder.name}-{week}"
            shutil.copytree(holder.folder, place)
            holder.older = place, copy.deepcopy(holder.book)

    def send(self, holder: Holder, week: int, file: Path) -> None:
        arrives = week
        if self.happens("late", 0.12):
            arrives += self.chance.randint(1, 6)
        elif self.happens("lost", 0.04):
            return
        for _ in range(1 + self.happens("doubled", 0.1)):
            place = self.folder / "post" / f"{len(self.post):05}.zip"
            place.parent.mkdir(exist_ok=True)
            shutil.copy(file, place)
            whole = True
            if self.happens("renamed", 0.1):
                place = place.rename(place.with_name(f"{place.stem} noisy (1).download"))
            elif self.happens("unpacked", 0.04):
                shutil.unpack_archive(place, place.with_suffix(""))
                place.unlink()
                place, whole = place.with_suffix("") / "table.csv", False
            elif self.happens("cut short", 0.04):
                place.write_bytes(place.read_bytes()[:-40])
                whole = False
            self.post.append((arrives, self.mail(holder, file, place, whole=whole)))
            arrives += self.chance.randint(0, 2)

    def mail(self, holder: Holder, file: Path, place: Path, *, whole: bool = True) -> Mail:
        """A release that is sent as another file."""
        return Mail(
            entity=holder.name,
            rows=[(self.week(it), count) for it, count in self.rows_of(file)],
            ledger=read_release(file).ledger,
            file=place,
            whole=whole,
            put_back=False,
        )

    # The coordinator.

    def deliver(self, entity: str, week: int) -> None:
        """All mail of a hospital arrives now."""
        own = [it for it in self.post if it[1].entity == entity]
        self.post = [it for it in self.post if it[1].entity != entity]
        self.take(week, [mail for _, mail in own])

    def refuses(self, mail: Mail) -> bool:
        """Whether rows of a mail are refused; else they are taken."""
        known = self.log[mail.entity]
        fresh = [row for row in mail.rows if row not in known]
        same = self.bound.get(mail.entity) in (None, mail.ledger)
        counting = [it for it in known if (mail.entity, it) not in self.aside]
        lacks = same and any(it not in mail.rows for it in self.of_ledger(mail, counting))
        if not mail.whole or (fresh and (lacks or not same)):
            return True
        if mail.rows:
            self.bound[mail.entity] = mail.ledger
        known += fresh
        self.origin |= {(mail.entity, it): mail.ledger for it in fresh}
        return False

    def of_ledger(self, mail: Mail, rows: list[Row]) -> list[Row]:
        return [it for it in rows if self.origin[mail.entity, it] == mail.ledger]

    def take(self, week: int, mails: list[Mail]) -> None:
        """Collect some mail, and compare the log with the model."""
        if not mails:
            return
        self.archive.append((self.take, (week, mails)))
        file, paths = self.agreements[self.known(week)], [mail.file for mail in mails]
        new = {it.name for it in self.holders if it.name in self.renewed}
        options = {"today": self.today(week), "new_ledgers": sorted(new)}
        for amendment in self.agreements[: self.known(week)]:
            collect([], self.state, amendment)
        if self.happens("killed collection", 0.1):
            k = self.chance.randint(1, 12)
            in_child(lambda: collect(paths, self.state, file, **options) and None, "kill", k)
        done = {it.file: it.refused for it in collect(paths, self.state, file, **options)}
        for mail in mails:
            refused = self.refuses(mail)
            assert bool(done.get(mail.file)) == refused, (mail, done)
            self.happened["refused"] += refused
        self.compare()

    def compare(self) -> None:
        with open_log(self.state) as log:
            held = defaultdict(set)
            for row in log.releases():
                held[row["entity"]].add((self.week(row["period"]), row["noisy_count"]))
        assert {it: {*rows} for it, rows in self.log.items() if rows} == held
