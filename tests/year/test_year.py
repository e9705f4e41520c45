"""A year of twelve holders and a coordinator, in which everything happens that does happen.

Counts come late, never, or again with other numbers; files arrive late, twice, under another name,
unpacked or spoiled by a spreadsheet; runs are killed; folders are put back from older copies;
holders join, leave and get other beds. A plain model says what must come of it.
"""

from __future__ import annotations

import copy
import datetime
import functools
import itertools
import os
import random
import shutil
import sqlite3
import tempfile
from collections import Counter, defaultdict
from contextlib import closing
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpol.core.errors import DpolError
from dpol.privacy.noise import SeededNoise
from dpol.show.pages import load_template
from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.decide import check, decide
from dpol_weekly.coordinator.export import export, verify
from dpol_weekly.coordinator.log import LOG_NAME, open_log
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import Hospital
from faults import in_child
from releases import output, parts, record
from weekly import FIRST, agreed, coordinates, day

SEEDS = int(os.environ.get("DPOL_YEARS", "0"))
MU, STAY, TIMES = Fraction(1, 2), 8, 3
"""The budget has room for so many releases of each count."""
BUDGET = 2.45
WEIGHT = MU**2 / 2
BEDS = 40
TEMPLATES = functools.cache(load_template)
Row = tuple[int, str]
"""A week, and the noisy count that was released for it."""


# The model.


@dataclass
class Book:
    """A copy of a holder's ledger: rows of its output, all that it has spent."""

    rows: list[Row] = field(default_factory=list)
    spent: set[Row] = field(default_factory=set)
    count_of: dict[Row, int] = field(default_factory=dict)

    @property
    def counts(self):
        """The count behind the last row of each week, where this ledger has drawn it."""
        last = {row[0]: row for row in self.rows}
        return {week: self.count_of[row] for week, row in last.items() if row in self.count_of}

    def times(self):
        return Counter(week for week, _ in self.spent)

    def last(self):
        return max((week for week, _ in self.rows), default=-1)

    def to_release(self, table, correct):
        """Weeks of a table that a run must release, once each."""
        held = {week for week, _ in self.rows}
        return sorted(week for week in table if week not in held or week in correct)

    def squared_mu(self):
        """The squared mu of the stay that loses most, by all that was spent."""
        times = self.times()
        starts = range(min(times) - STAY, max(times) + 1)
        return max(WEIGHT * sum(times[it] for it in range(it, it + STAY)) for it in starts)

    def take(self, theirs):
        """Go on from a coordinator's rows; rows drawn again for their weeks leave."""
        weeks = {week for week, _ in theirs}
        self.rows = [row for row in self.rows if row[0] not in weeks] + theirs
        self.spent |= {*theirs}


@dataclass(frozen=True)
class Mail:
    """A release on its way: all rows of an output."""

    entity: str
    rows: tuple[Row, ...]
    line: str
    agreed: int
    file: Path
    whole: bool = True


@dataclass
class Register:
    """The coordinator's log as it must be: rows by entity, in the order of arrival."""

    agreed: int = 0
    rows: dict[str, list[tuple[Row, str]]] = field(default_factory=lambda: defaultdict(list))

    def collect(self, mail):
        """True if new rows of a mail are refused; else they are taken."""
        known = self.rows[mail.entity]
        fresh = [row for row in mail.rows if row not in [it for it, _ in known]]
        lacks = [row for row, line in known if line == mail.line and row not in mail.rows]
        if not mail.whole or mail.agreed > self.agreed or (fresh and lacks):
            return True
        known += [(row, mail.line) for row in fresh]
        return False

    def of(self, entity):
        """Rows of an entity as an export has them: by week, corrections after what they correct."""
        return sorted((row for row, _ in self.rows[entity]), key=lambda row: row[0])

    def squared_mu(self, before):
        """The squared mu of the worst stay, at two entities in each week before one."""
        times = [Counter(week for (week, _), _ in rows) for rows in self.rows.values()]
        pairs = [sum(sorted(it[week] for it in times)[-2:]) for week in range(before)]
        return WEIGHT * max(sum(pairs[it : it + STAY]) for it in range(before))


# The year.


@dataclass
class Holder:
    name: str
    folder: Path
    since: int = 0
    until: int = 10_000
    agreed: int = 0
    away: int = -1
    behind: bool = False
    book: Book = field(default_factory=Book)
    table: dict[int, int] = field(default_factory=dict)
    owed: dict[int, int] = field(default_factory=dict)
    copies: list[tuple[Path, Book]] = field(default_factory=list)

    @property
    def ledger(self):
        return self.folder / "ledger.sqlite"

    @property
    def released(self):
        return self.folder / "released"


class Year:
    """Holders, a coordinator and their model, in a folder."""

    def __init__(self, folder, seed, holders, weeks):
        self.folder, self.weeks, self.state = folder, weeks, folder / "state"
        self.chance = random.Random(seed)
        self.seed = seed * 1_000_000
        self.happened = Counter()
        self.register, self.post, self.archive = Register(), [], []
        self.decided = []
        self.joins, self.leaves = weeks // 3, weeks // 2
        names = [f"h{number:02}" for number in range(holders)]
        self.holders = [Holder(name=name, folder=folder / name) for name in names]
        self.holders[-1].since, self.holders[0].until = self.joins, self.leaves
        self.agreements = self.agree(names)
        self.made = [read_deployment(it) for it in self.agreements]
        self.hashes = [it.sha256() for it in self.made]
        coordinates(self.state, corrections=True)

    def agree(self, names):
        """The agreement; another holder joins and one gets beds; a holder leaves."""
        keys = {"mu": float(MU), "longest_stay": STAY, "budget_mu": BUDGET}
        entities = {name: {"capacity": BEDS} for name in names[:-1]}
        files = [agreed(self.folder / "agreed-0", entities, **keys)]
        changes = (
            (self.joins, {names[-1]: {"capacity": 30, "since": day(self.joins)}}),
            (self.joins, {names[1]: {"capacity": 55}}),
            (self.leaves, {names[0]: {"capacity": BEDS, "until": day(self.leaves)}}),
        )
        for number, week in enumerate((self.joins, self.leaves), start=1):
            for when, change in changes:
                entities = entities | (change if when == week else {})
            before = read_deployment(files[-1]).sha256()
            amends = {"agreement": before, "since": day(week)}
            place = self.folder / f"agreed-{number}"
            files.append(agreed(place, entities, amends=amends, **keys))
        return files

    def happens(self, what, chance):
        if self.chance.random() >= chance:
            return False
        self.happened[what] += 1
        return True

    def today(self, week):
        return FIRST + datetime.timedelta(days=7 * week + 8)

    # Holders.

    def run(self, holder, week, **options):
        """A run of `dpol privatize`."""
        holder.folder.mkdir(exist_ok=True)
        raw = holder.folder / "raw.csv"
        end = "\r\n" if self.happens("table saved by a spreadsheet", 0.1) else "\n"
        lines = ["week,ill", *(f"{day(it)},{count}" for it, count in sorted(holder.table.items()))]
        raw.write_text(end.join([*lines, ""]), newline="")
        made = self.made[holder.agreed]
        request = Request(
            hospital=Hospital(
                deployment=self.agreements[holder.agreed],
                entity=holder.name,
                table=raw,
                columns={"period": "week", "count": "ill"},
                output=holder.released,
                ledger=holder.ledger,
            ),
            deployment=made,
            agree=made.sha256(),
            today=self.today(week),
            **options,
        )
        self.seed += 1
        sampler = SeededNoise(np.random.default_rng(self.seed))
        if self.happens("killed release", 0.04):
            k = self.chance.randint(1, 30)
            said, _ = in_child(lambda: release(request, sampler) and None, "kill", k)
            if said is None:  # it came to its end: nobody corrects again
                request = replace(request, correct=frozenset())
            self.seed += 1
            sampler = SeededNoise(np.random.default_rng(self.seed))
        return release(request, sampler)

    def refused(self, message, holder, week, **options):
        """A run is refused, and releases nothing."""
        self.happened[message] += 1
        with pytest.raises(DpolError, match=message):
            self.run(holder, week, **options)

    def release(self, holder, week):
        """A week at a holder: what was counted is released once; its file."""
        book, options = holder.book, {}
        if holder.behind and self.register.rows[holder.name]:
            export(self.state, self.folder / "export.csv")
            options["continue_from"] = self.folder / "export.csv"
            book.take(self.register.of(holder.name))
            holder.behind = False
        times = book.times()
        # Nothing helps a week that was lost, drawn again and lost until its budget was spent.
        new = book.to_release(holder.table, ())
        for it in [it for it in new if times[it] >= TIMES]:
            self.refused("leave such rows out", holder, week, correct=frozenset(), **options)
            del holder.table[it]
        new = book.to_release(holder.table, ())
        past = {it for it in new if it < book.last()}
        if past:
            self.refused("a later one was", holder, week, **options)
        correct = set(past)
        held = {it for it, _ in book.rows}
        changed = {
            it for it in held & holder.table.keys() if holder.table[it] != book.counts.get(it)
        }
        for it in sorted(changed & book.counts.keys()):
            if times[it] < TIMES:
                correct.add(it)
            else:
                days = frozenset(map(day, {*correct, it}))
                self.refused("leave such rows out", holder, week, correct=days, **options)
        line = [*([book.last()] if book.rows else []), *(it for it in new if it > book.last())]
        if any(after - before > 8 for before, after in itertools.pairwise(line)):
            days = frozenset(map(day, correct))
            self.refused("--gap", holder, week, correct=days, **options)
            options["gap"] = True
        expected = book.to_release(holder.table, correct)
        done = self.run(holder, week, correct=frozenset(map(day, correct)), **options)
        rows = self.rows_of(done.file)
        if "continue_from" in options:
            before = [row for row in rows if row in book.rows]
            assert Counter(before) == Counter(book.rows)
            book.rows = before
        assert rows[: len(book.rows)] == book.rows, "a released row is lost"
        added = rows[len(book.rows) :]
        assert sorted(it for it, _ in added) == expected, "released twice, or not at all"
        book.rows, book.spent = rows, book.spent | {*added}
        book.count_of |= {row: holder.table[row[0]] for row in added}
        with closing(sqlite3.connect(holder.ledger)) as base:
            drawn = base.execute("SELECT COUNT(*) FROM release").fetchone()[0]
        assert drawn == len(book.spent), "the ledger has other rows"
        differ = {it for it, count in book.counts.items() if holder.table.get(it, count) != count}
        assert {it.period for it in done.differ} == {*map(day, differ)}, (holder, options, differ)
        assert done.worst.squared_mu == book.squared_mu()
        assert done.worst.kept == (max(book.times().values()) <= TIMES)
        return done.file

    def rows_of(self, file):
        weeks = {day(week): week for week in range(self.weeks + 1)}
        return [(weeks[row["period"]], row["noisy_count"]) for row in output(file)]

    def restore(self, holder, week):
        """The folder of a holder, or a part of it, becomes that of an older copy."""
        place, book = self.chance.choice(holder.copies)
        if not (place.exists() and book.rows and self.register.rows[holder.name]):
            return
        kind = self.chance.choice(["silently", "told", "ledger", "releases", "newest back"])
        self.happened[f"restored: {kind}"] += 1
        kept = holder.folder.with_name(f"{holder.name}-newest")
        shutil.copytree(holder.folder, kept, dirs_exist_ok=True)
        if kind == "releases":
            shutil.rmtree(holder.released)
            shutil.copytree(place / "released", holder.released)
            if holder.book.rows != book.rows:
                self.refused("is gone or damaged|older copy", holder, week)
                self.run(holder, week, write_again=True)
        elif kind in ("ledger", "newest back"):
            shutil.copy(place / "ledger.sqlite", holder.ledger)
            if holder.book.rows != book.rows:
                self.refused("knows of releases that the ledger", holder, week)
            if kind == "ledger":
                holder.book, holder.behind = copy.deepcopy(book), True
            else:
                shutil.copy(kept / "ledger.sqlite", holder.ledger)
        else:
            shutil.rmtree(holder.folder)
            shutil.copytree(place, holder.folder)
            holder.book, holder.behind = copy.deepcopy(book), kind == "told"
        shutil.rmtree(kept)

    def at_holder(self, holder, week):
        """A week at a holder, and its mail."""
        if week >= holder.until + 3 or week < holder.since or week < holder.away:
            return
        if self.happens("away for long", 0.004):
            holder.away = week + 10
            return
        newest_agreement = (week >= self.joins) + (week >= self.leaves)
        if holder.agreed < newest_agreement and (
            holder.since == self.joins
            or holder.until <= week
            or not self.happens("old agreement", 0.5)
        ):
            holder.agreed = newest_agreement
        if week < holder.until:
            counted = self.chance.randint(0, 30)
            if self.happens("missing", 0.06):
                holder.owed[week] = counted
                return
            holder.table[week] = counted
        if holder.owed and self.happens("count comes late", 0.3):
            holder.table |= holder.owed
            holder.owed = {}
        if self.happens("corrected", 0.08):
            again = self.chance.choice(sorted(holder.table)[-6:])
            holder.table[again] = self.chance.randint(0, 30)
        if holder.copies and self.happens("restored", 0.02):
            self.restore(holder, week)
        file = self.release(holder, week)
        self.send(holder, week, file)
        if self.chance.random() < 0.3:
            place = self.folder / "copies" / f"{holder.name}-{week}"
            shutil.copytree(holder.folder, place)
            holder.copies = [*holder.copies[-1:], (place, copy.deepcopy(holder.book))]

    def send(self, holder, week, file):
        arrives = week
        if self.happens("late", 0.12):
            arrives += self.chance.randint(1, 6)
        elif self.happens("lost", 0.04):
            return
        for _ in range(1 + self.happens("doubled", 0.1)):
            place = self.folder / "post" / f"{len(self.post):05}"
            place.parent.mkdir(exist_ok=True)
            whole = True
            if self.happens("unpacked", 0.05):
                self.unpack(file, place, lambda table: table)
            elif self.happens("saved again", 0.05):
                self.unpack(file, place, lambda table: table.replace(b"\n", b"\r\n"))
            elif self.happens("spoiled", 0.04):
                self.unpack(file, place, lambda table: table.replace(b",", b";"))
                whole = False
            else:
                if self.happens("renamed", 0.1):
                    place = place.with_name(f"{place.name} noisy (1).download")
                shutil.copy(file, place)
            self.post.append((arrives, self.mail(holder, file, place, whole=whole)))
            arrives += self.chance.randint(0, 2)

    def mail(self, holder, file, place, *, whole=True):
        """A release that is sent as another file."""
        facts = record(file)
        return Mail(
            entity=holder.name,
            rows=tuple(self.rows_of(file)),
            line=facts["ledger"]["output"],
            # That of the last rows.
            agreed=self.hashes.index(facts["deployment"]["sha256"]),
            file=place,
            whole=whole,
        )

    @staticmethod
    def unpack(file, place, change):
        place.mkdir()
        for name, content in parts(file).items():
            (place / name).write_bytes(change(content) if name == "table.csv" else content)

    # The coordinator.

    def at_coordinator(self, week):
        newest_agreement = (week >= self.joins) + (week >= self.leaves)
        late = self.register.agreed < newest_agreement and self.happens("amendment not known", 0.5)
        if not late:
            self.register.agreed = newest_agreement
        mails = [mail for arrives, mail in self.post if arrives == week]
        self.take(week, mails)
        if week == self.weeks - 5:
            self.put_log_back(week)
        if not any(self.register.rows.values()):
            return
        if self.happens("killed decision", 0.1):
            period = FIRST + datetime.timedelta(days=7 * (week + 1))
            k = self.chance.randint(1, 15)
            in_child(lambda: decide(self.state, period) and None, "kill", k)
        self.decide(week + 1)

    def take(self, week, mails, agreement=None):
        if not mails:
            return
        known = self.register.agreed if agreement is None else agreement
        self.archive.append((week, mails, known))
        file, paths = self.agreements[known], [mail.file for mail in mails]
        options = {"today": self.today(week)}
        if self.happens("killed collection", 0.1):
            k = self.chance.randint(1, 12)
            in_child(lambda: collect(paths, self.state, file, **options) and None, "kill", k)
        done = collect(paths, self.state, file, **options)
        for mail in mails:
            told = [line for it in done for line in it.refused if self.within(it.file, mail.file)]
            refused = self.register.collect(mail)
            assert bool(told) == refused, (mail, told)
            self.happened["refused"] += refused
            holder = next(it for it in self.holders if it.name == mail.entity)
            if refused and mail.whole and mail.agreed <= known:
                holder.behind |= {*mail.rows} == {*holder.book.rows}
        with open_log(self.state) as log:
            held = defaultdict(list)
            for row in log.releases():
                week_of = (datetime.date.fromisoformat(row["period"]) - FIRST).days // 7
                held[row["entity"]].append((week_of, row["noisy_count"]))
        for holder in self.holders:
            assert held[holder.name] == self.register.of(holder.name), "the log has other rows"

    @staticmethod
    def within(file, place):
        return file == place or place in file.parents

    def put_log_back(self, week):
        """The log is lost; all mail is collected again."""
        self.happened["log lost"] += 1
        (self.state / LOG_NAME).unlink()
        self.register, archive, self.archive = Register(), self.archive, []
        for when, mails, known in archive:
            self.register.agreed = known
            self.take(when, mails, known)
        for it in self.decided:
            check(self.state, it)

    def decide(self, number):
        """A decision rests on the log, and says what it cost."""
        period = FIRST + datetime.timedelta(days=7 * number)
        decision = decide(self.state, period)
        self.decided.append(period)
        rows = {it.name: {week for week, _ in self.register.of(it.name)} for it in self.holders}
        for it in decision.outlooks:
            weeks = {week for week in rows[it.entity] if week < number}
            assert it.reports == len(weeks)
            assert it.last_report == (day(max(weeks)) if weeks else None)
        assert decision.spent.mu_of_stay**2 == pytest.approx(
            float(self.register.squared_mu(number))
        )
        check(self.state, period)

    def play(self):
        for week in range(self.weeks):
            for holder in self.holders:
                self.at_holder(holder, week)
            self.at_coordinator(week)
        # In the end all that is on its way arrives, and what was refused is sent again.
        self.register.agreed = len(self.agreements) - 1
        self.take(self.weeks, [mail for arrives, mail in self.post if arrives >= self.weeks])
        for _ in range(2):
            mails = []
            for holder in self.holders:
                holder.agreed = len(self.agreements) - 1
                file = self.release(holder, self.weeks)
                place = self.folder / "post" / f"last-{holder.name}-{len(self.archive)}.zip"
                shutil.copy(file, place)
                mails.append(self.mail(holder, place, place))
            self.take(self.weeks, mails)
        for holder in self.holders:
            assert not holder.behind
            weeks = {week for week, _ in self.register.of(holder.name)}
            assert weeks >= holder.table.keys(), "a count is lost"
        for period in self.decided:
            check(self.state, period)
        verify(self.state)
        return self.happened


@pytest.fixture
def folder(monkeypatch):
    """A folder in memory, where there is one, for a year writes thousands of files."""
    for room in ("holder.views", "coordinator.page"):
        monkeypatch.setattr(f"dpol_weekly.{room}.load_template", TEMPLATES)
    fast = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=fast) as path:
        yield Path(path)


def test_a_short_year(folder):
    """Sixteen weeks of five holders."""
    assert Year(folder, 1, 5, 16).play()["killed release"]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_year(folder, seed):
    """Nothing is lost or released twice; ceilings hold; decisions are made again."""
    assert Year(folder, seed, 12, 60).play().keys() >= {"killed release", "restored", "refused"}
