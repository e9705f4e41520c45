"""A year of twelve hospitals and a coordinator, in which everything happens that does happen.

Counts come late, never, or again with other numbers. Files arrive late, twice or never. Folders are
put back from older copies, or lost. Hospitals join, leave and get other beds. A plain model says
what must come of it.
"""

from __future__ import annotations

import copy
import datetime
import itertools
import random
import shutil
import tempfile
from collections import Counter, defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol_weekly.coordinator.collect import collect, set_aside
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.export import verify
from dpol_weekly.coordinator.log import open_log
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import history
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.keys import make_key, make_secret
from dpol_weekly.released.read import read_release
from weekly import FIRST, agreed, day

MU, STAY, TIMES, BEDS = 0.5, 8, 3, 40
"""The budget has room for so many releases of each count."""
LOSSES = "older ledger", "ledger lost", "all lost", "older folder"
EVENTS = {
    *("missing", "count comes late", "corrected", "joined", "left", "other beds"),
    *("late", "lost", "doubled", "set aside"),
    "old agreement",
    *LOSSES,
}
Row = tuple[int, str]
"""A week and its noisy count."""


@dataclass
class Book:
    """What a copy of a hospital's ledger knows."""

    rows: list[Row] = field(default_factory=list)
    raw: dict[int, int] = field(default_factory=dict)
    begin: int = -1
    agreed: int = 0

    @property
    def weeks(self) -> set[int]:
        return {week for week, _ in self.rows}

    def squared_mu(self) -> float:
        """The squared mu of a stay, at the week that was released most often."""
        times = Counter(week for week, _ in self.rows)
        return STAY * max(times.values()) * MU**2


@dataclass
class Holder:
    name: str
    folder: Path
    since: int = 0
    until: int = 10_000
    book: Book = field(default_factory=Book)
    table: dict[int, int] = field(default_factory=dict)
    owed: dict[int, int] = field(default_factory=dict)
    lost: bool = False
    told: bool = False
    older: tuple[Path, Book] | None = None

    @property
    def ledger(self) -> Path:
        return self.folder / "ledger.sqlite"

    @property
    def released(self) -> Path:
        return self.folder / "released"


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A release on its way."""

    entity: str
    rows: list[Row]
    ledger: str
    file: Path


class Year:
    """Hospitals, a coordinator and their model, in a folder."""

    def __init__(self, folder: Path, seed: int, holders: int, weeks: int) -> None:
        self.folder, self.weeks, self.state = folder, weeks, folder / "state"
        self.chance = random.Random(seed)
        self.happened, self.post = Counter[str](), list[tuple[int, Mail]]()
        self.log = defaultdict[str, list[Row]](list)
        self.aside, self.bound = set[tuple[str, Row]](), dict[str, str]()
        self.numbers = itertools.count()
        self.origin: dict[tuple[str, Row], str] = {}
        self.renewed = set[str]()
        self.decided: list[datetime.date] = []
        self.changes = (0, weeks // 3, weeks // 2)
        """The weeks from which the agreements hold."""
        self.losses = [*LOSSES, *self.chance.sample(LOSSES, 4)]
        names = [f"h{number:02}" for number in range(holders)]
        self.holders = [Holder(name=name, folder=folder / name) for name in names]
        self.holders[-1].since, self.holders[0].until = self.changes[1:]
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
        return sum(week >= change for change in self.changes) - 1

    # Hospitals.

    def run(self, holder: Holder, week: int, **options):
        """A run of `dpol privatize`."""
        holder.folder.mkdir(exist_ok=True)
        if not (key := holder.folder / "dpol.key").exists():
            make_key(key)
        if not (secret := holder.folder / "dpol.secret").exists():
            make_secret(secret)
        raw, made = holder.folder / "raw.csv", read_deployment(self.agreements[holder.book.agreed])
        lines = ["week,ill", *(f"{day(it)},{count}" for it, count in sorted(holder.table.items()))]
        raw.write_text("\n".join([*lines, ""]))
        request = Request(
            hospital=Hospital(
                deployment=self.agreements[holder.book.agreed],
                entities=[holder.name],
                table=raw,
                columns={"period": "week", "count": "ill"},
                output=holder.released,
                ledger=holder.ledger,
                zero="written",
                covers="all",
                format={"decimal": ".", "thousands": "none"},
                key=key,
                secret=secret,
            ),
            deployment=made,
            agree=made.sha256(),
            today=self.today(week),
            in_person=True,
            **options | {"correct": frozenset(map(day, options.get("correct", ())))},
        )
        return release(request)

    def release(self, holder: Holder, week: int) -> Path | None:
        """A week at a hospital: what was counted is released once; its newest file."""
        book, options = holder.book, {}
        if holder.lost:
            book.begin = max(it for it, _ in self.log[holder.name])
            last = datetime.date.fromisoformat(day(book.begin)) + datetime.timedelta(days=6)
            options["begin_after"] = last
            self.renewed.add(holder.name)
            # A new ledger does not know the agreements before, nor the beds of then.
            since = self.changes[book.agreed]
            kept = {it for it in holder.table if it <= book.begin or it >= since}
            holder.table = {it: holder.table[it] for it in kept}
        table, first = holder.table, min(book.weeks, default=book.begin + 1)
        new = {it for it in table if it >= first} - book.weeks
        if not (new or book.rows):
            return None  # there is nothing to release, and no file
        times = Counter(it for it, _ in book.rows)
        changed = {it for it, count in book.raw.items() if table.get(it, count) != count}
        changed = {it for it in changed if times[it] < TIMES}
        done = self.run(holder, week, correct=changed, **options)
        holder.lost = False
        rows = [(self.week(it), count) for it, count in self.rows_of(done.file)]
        assert rows[: len(book.rows)] == book.rows, "a released row is lost"
        added = rows[len(book.rows) :]
        assert sorted(it for it, _ in added) == sorted(new | changed), "twice, or not at all"
        book.rows = rows
        book.raw |= {it: table[it] for it, _ in added}
        assert done.mu_of_stay**2 == pytest.approx(book.squared_mu())
        history.history(holder.ledger)
        return done.file

    @staticmethod
    def rows_of(file: Path) -> list[tuple[str, str]]:
        return [(row.period, row.noisy_count) for row in read_release(file).rows]

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
            newest = shutil.copy(holder.ledger, self.folder / "newest")
            shutil.copy(holder.older[0] / "ledger.sqlite", holder.ledger)
            with suppress(DataError):  # a count was changed since
                self.run(holder, week)
            shutil.move(newest, holder.ledger)
        elif kind == "older folder":  # nobody notices before the next report
            shutil.rmtree(holder.folder)
            shutil.copytree(holder.older[0], holder.folder)
            holder.book = copy.deepcopy(holder.older[1])
        else:
            if kind == "ledger lost":  # whatever is there is collected
                self.take(week, [self.mail(holder, it, it) for it in self.files(holder)])
            self.begin_again(holder, keep=kind == "ledger lost")

    def begin_again(self, holder: Holder, *, keep: bool) -> None:
        """The ledger is gone; the hospital goes on from what the coordinator has, if anything."""
        holder.ledger.unlink()
        if not keep:
            shutil.rmtree(holder.released)
        holder.book, holder.older = Book(agreed=holder.book.agreed), None
        holder.lost = bool(self.log[holder.name])

    @staticmethod
    def files(holder: Holder) -> list[Path]:
        return sorted(holder.released.glob("*.json"))

    def at_hospital(self, holder: Holder, week: int) -> None:
        """A week at a hospital, and its mail."""
        if week >= holder.until + 3 or week < holder.since:
            return
        self.happened["joined"] += week == holder.since > 0
        self.happened["left"] += week == holder.until
        self.happened["other beds"] += holder.name == "h01" and week == self.changes[1]
        concerned = holder.name in ("h00", "h01", self.holders[-1].name)
        if holder.book.agreed < self.known(week) and (
            concerned or not self.happens("old agreement", 0.5)
        ):
            holder.book.agreed += 1
        if not holder.ledger.exists() and not holder.lost:
            holder.book.agreed = self.known(week)
        if holder.told:  # its folder was put back: it begins again
            holder.told = False
            self.deliver(holder.name, week)
            self.begin_again(holder, keep=False)
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
            place = self.folder / "post" / f"{next(self.numbers):05}.json"
            place.parent.mkdir(exist_ok=True)
            shutil.copy(file, place)
            self.post.append((arrives, self.mail(holder, file, place)))
            arrives += self.chance.randint(0, 2)

    def mail(self, holder: Holder, file: Path, place: Path) -> Mail:
        """A release that is sent as another file."""
        return Mail(
            entity=holder.name,
            rows=[(self.week(it), count) for it, count in self.rows_of(file)],
            ledger=read_release(file).ledger,
            file=place,
        )

    # The coordinator.

    def deliver(self, entity: str, week: int) -> None:
        """All mail of a hospital arrives now."""
        own = [mail for _, mail in self.post if mail.entity == entity]
        self.post = [letter for letter in self.post if letter[1].entity != entity]
        self.take(week, own)

    def refuses(self, mail: Mail) -> bool:
        """Whether a mail is refused; otherwise its new rows are taken."""
        known, entity = self.log[mail.entity], mail.entity
        fresh = [row for row in mail.rows if row not in known]
        own = [it for it in known if self.origin[entity, it] == mail.ledger]
        lacks = any(it not in mail.rows for it in own if (entity, it) not in self.aside)
        other = self.bound.get(entity, mail.ledger) != mail.ledger and entity not in self.renewed
        if fresh and (lacks or other):
            holder = next(holder for holder in self.holders if holder.name == entity)
            holder.told |= lacks and {*mail.rows} <= {*holder.book.rows}
            return True
        if fresh:
            if self.bound.get(entity) != mail.ledger:
                self.renewed.discard(entity)
            self.bound[entity] = mail.ledger
        known += fresh
        self.origin |= {(entity, it): mail.ledger for it in fresh}
        return False

    def take(self, week: int, mails: list[Mail]) -> None:
        """Collect some mail, and compare the log with the model."""
        if not mails:
            return
        file, paths = self.agreements[self.known(week)], [mail.file for mail in mails]
        options = {"today": self.today(week), "new_ledgers": self.renewed}
        for amendment in self.agreements[: self.known(week) + 1]:
            collect([], self.state, amendment)
        done = {
            report.file: report.refused for report in collect(paths, self.state, file, **options)
        }
        for mail in mails:
            refused = self.refuses(mail)
            assert bool(done.get(mail.file)) == refused, (mail, done)
            self.happened["refused"] += refused
        self.compare()

    def compare(self) -> None:
        """The log holds what the model says, and its hash chain is whole."""
        verify(self.state)
        with open_log(self.state) as log:
            held = [(row["entity"], (row["period"], row["noisy_count"])) for row in log.releases()]
        expected = [(name, row) for name, rows in self.log.items() for row in rows]
        assert Counter(held) == Counter(expected)

    def at_coordinator(self, week: int) -> None:
        """Mail arrives, rows are set aside, and a decision is made."""
        mails = [mail for arrives, mail in self.post if arrives <= week]
        self.post = [letter for letter in self.post if letter[0] > week]
        self.take(week, mails)
        counting = {
            name: {row[0] for row in rows if (name, row) not in self.aside}
            for name, rows in self.log.items()
        }
        often = [name for name, weeks in counting.items() if len(weeks) > 2]
        if often and self.happens("set aside", 0.1):
            name = self.chance.choice(often)
            gone = max(counting[name])
            set_aside(self.state, name, "wrong", FIRST + datetime.timedelta(days=7 * gone))
            self.aside |= {(name, row) for row in self.log[name] if row[0] == gone}
            counting[name].remove(gone)
        last = max((max(weeks) for weeks in counting.values() if weeks), default=-9)
        if sum(map(bool, counting.values())) < 2 or week + 1 - last > 8:
            return  # there is nothing to decide by
        period = FIRST + datetime.timedelta(days=7 * (week + 1))
        decision = decide(self.state, period)
        for outlook in decision.outlooks:
            weeks = {number for number in counting.get(outlook.entity, ()) if number <= week}
            assert outlook.reports == len(weeks)
            assert outlook.last_report == (day(max(weeks)) if weeks else None)
        times = defaultdict(Counter)
        for name, rows in self.log.items():
            for number, _ in rows:
                times[number][name] += number <= week
        pairs = [sum(sorted(times[number].values())[-2:]) for number in range(week + 1)]
        worst = sum(sorted(pairs)[-STAY:])
        assert decision.spent.mu_of_stay**2 == pytest.approx(worst * MU**2 / 2)
        self.decided.append(period)
        check(self.state, period)

    def play(self) -> Counter[str]:
        for week in range(self.weeks):
            for holder in self.holders:
                self.at_hospital(holder, week)
            self.at_coordinator(week)
        # In the end all mail arrives, and every hospital sends its newest file.
        for _ in range(2):  # after the first one it knows if its folder was put back
            for holder in self.holders:
                self.deliver(holder.name, self.weeks)
                if holder.told:
                    holder.told = False
                    self.begin_again(holder, keep=False)
                if holder.table and (file := self.release(holder, self.weeks)):
                    self.take(self.weeks, [self.mail(holder, file, file)])
        for holder in self.holders:
            known = {it for it, _ in self.log[holder.name]}
            owed = {it for it in holder.table if it >= min(holder.book.weeks, default=10**9)}
            assert known >= owed, "a count is lost"
        for period in self.decided:
            check(self.state, period)
        return self.happened


@pytest.fixture
def folder(monkeypatch):
    """A folder in memory, where there is one, for a year writes thousands of files."""
    fast = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=fast) as path:
        yield Path(path)


def test_a_year(folder):
    """Nothing is lost or released twice; ceilings hold; decisions are made again."""
    happened = Year(folder, 13, holders=12, weeks=60).play()
    assert {event for event in EVENTS if not happened[event]} == set()
