"""A year of twelve holders and a coordinator, in which everything happens that does happen.

Counts come late, never, or again with other numbers; files arrive late, twice, under another name,
unpacked or spoiled by a spreadsheet; runs are killed; folders are put back from older copies, or
lost; holders join, leave and get other beds. Half of them have keys; in half of the years noise has
a memory. A plain model says what must come of it.
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
from dpol_weekly.released import read_release
from dpol_weekly.sampler import SeededNoise
from faults import in_child
from releases import parts
from weekly import FIRST, agreed, coordinates, day

SEEDS = int(os.environ.get("DPOL_YEARS", "0"))
MU, STAY, TIMES = Fraction(1, 2), 8, 3
"""The budget has room for so many releases of each count."""
BUDGETS = {"none": 2.45, "designed": 3.5}
BEDS = 40
COPIES = "silently", "told", "ledger", "releases", "newest back", "lost silently", "lost and told"
"""Losses of a holder: parts of its folder that are put back from an older copy, or gone."""
REFUSALS = (
    *("a later one was", "--gap", "leave such rows out", "knows of releases that the ledger"),
    *("is gone or damaged|older copy", "does not know the agreement of then"),
)
EVENTS = {
    *("missing", "count comes late", "corrected", "away for long", "joined", "left", "other beds"),
    *(
        "late",
        "lost",
        "doubled",
        "renamed",
        "unpacked",
        "saved again",
        "spoiled",
        "refused",
        "set aside",
    ),
    *("killed release", "killed collection", "killed decision", "log lost", "week again"),
    *("table saved by a spreadsheet", "old agreement", "amendment not known"),
    *(f"restored: {it}" for it in COPIES),
    *REFUSALS,
}
TEMPLATES = functools.cache(load_template)


# The model.


@dataclass(frozen=True)
class Row:
    """A noisy count that was released for a week.

    The chain of its noise is the number of its first row in the table, as it was read; the weight
    is what the row adds to the squared mu of a stay.
    """

    week: int
    count: str
    chain: int | None = field(compare=False)
    weight: Fraction = field(compare=False)


@functools.cache
def weight_of(b):
    """The weight of a row whose noise is z_t - b z_(t-1): of so many in a row, the mean."""
    sums = [sum(b**back for back in range(week + 1)) for week in range(STAY)]
    norm = sum(it**2 for it in sums) + (b * sums[-1]) ** 2 / (1 - b**2)
    return MU**2 / 2 * norm * (1 - b**2) / STAY


@dataclass
class Book:
    """A copy of a holder's ledger: rows of its output, all that it has spent."""

    rows: list[Row] = field(default_factory=list)
    spent: list[Row] = field(default_factory=list)
    raw: dict[Row, int] = field(default_factory=dict)
    agreed: set[int] = field(default_factory=set)

    @property
    def held(self):
        """The last row of each week."""
        return {row.week: row for row in self.rows}

    @property
    def last(self):
        return max(row.week for row in self.spent)

    def times(self):
        return Counter(row.week for row in self.spent)

    def differ(self, table):
        """Weeks with another count than the ledger has drawn, or that left the output."""
        counts = {week: self.raw.get(row) for week, row in self.held.items()}
        gone = self.times().keys() - counts.keys()
        changed = {it for it, count in counts.items() if count not in (None, table.get(it, count))}
        return changed, gone & table.keys()

    def squared_mu(self):
        """The squared mu of the stay that loses most, by all that was spent."""
        weights = Counter()
        for row in self.spent:
            weights[row.week] += row.weight
        starts = range(min(weights) - STAY, max(weights) + 1)
        return max(sum(weights[it] for it in range(start, start + STAY)) for start in starts)

    def take(self, theirs):
        """Go on from a coordinator's rows, each with the coordinator's name of its chain.

        Own rows for their weeks leave, those after a chain went on in two ways, and their chains.
        """
        weeks, fresh = {row.week for row in theirs}, theirs.keys() - {*self.rows}
        went_on = {theirs[row] for row in fresh}
        known = [row for row in self.rows if row in theirs]
        split = [row for row in known if theirs[row] in went_on and row.chain is not None]
        # Of these, the last chain that the coordinator knows may go on.
        goes_on = [row for row in split if row.chain == known[-1].chain]
        after = self.rows[self.rows.index(goes_on[0]) :] if goes_on else []
        again = [it for it in self.rows if it not in theirs and (it.week in weeks or it in after)]
        ended = {row.chain for row in again} | {row.chain for row in split if row not in goes_on}
        kept = [it for it in self.rows if it not in again and it.chain not in ended - {None}]
        new = [row for row in theirs if row not in kept]
        for row in new:
            self.raw.pop(row, None)
        self.rows, self.spent = kept + new, self.spent + new


@dataclass(frozen=True, kw_only=True)
class Mail:
    """A release on its way: all rows of an output, `line`, of a ledger."""

    entity: str
    rows: tuple[Row, ...]
    ledger: str
    line: str
    agreed: int
    file: Path
    whole: bool = True


@dataclass
class Register:
    """The coordinator's log as it must be: rows by entity, in the order of arrival."""

    agreed: int = 0
    rows: dict[str, dict[Row, Mail]] = field(default_factory=lambda: defaultdict(dict))
    aside: set[tuple[str, Row]] = field(default_factory=set)

    def collect(self, mail):
        """True if new rows of a mail are refused; else they are taken."""
        known = self.rows[mail.entity]
        fresh = [row for row in mail.rows if row not in known]
        counts = self.counting(mail.entity)
        lacks = [row for row in counts if known[row].line == mail.line and row not in mail.rows]
        ledgers = [known[row].ledger for row in counts][-1:]
        if not mail.whole or mail.agreed > self.agreed:
            return True
        if fresh and (lacks or ledgers not in ([], [mail.ledger])):
            return True
        known |= dict.fromkeys(fresh, mail)
        return False

    def counting(self, entity):
        """Rows that were not set aside."""
        return [row for row in self.rows[entity] if (entity, row) not in self.aside]

    def of(self, entity):
        """Rows of an entity as an export has them: by week, corrections after what they correct."""
        return sorted(self.rows[entity], key=lambda row: row.week)

    def squared_mu(self, before):
        """The squared mu of the worst stay, at two entities in each week before one."""
        weights = defaultdict(Counter)
        for entity, rows in self.rows.items():
            for row in rows:
                weights[row.week][entity] += row.weight
        pairs = [sum(sorted(weights[week].values())[-2:]) for week in range(before)]
        return max(sum(pairs[it : it + STAY]) for it in range(before))


# The year.


@dataclass
class Holder:
    name: str
    folder: Path
    key: Path | None = None
    since: int = 0
    until: int = 10_000
    agreed: int = 0
    away: range = range(0)
    behind: bool = False
    book: Book = field(default_factory=Book)
    table: dict[int, int] = field(default_factory=dict)
    owed: dict[int, int] = field(default_factory=dict)
    more: dict[str, object] = field(default_factory=dict)
    wrong: int | None = None
    named: set[int] = field(default_factory=set)
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
        self.memory = ("none", "designed")[seed % 2]
        self.seed = seed * 1_000_000
        self.happened = Counter()
        self.register, self.post, self.archive = Register(), [], []
        self.decided, self.taken = [], set()
        self.changes = (0, weeks // 3, weeks // 2)
        """The weeks from which the agreements hold."""
        _, self.joins, self.leaves = self.changes
        self.copies = self.chance.sample(COPIES, len(COPIES)) * 2
        names = [f"h{number:02}" for number in range(holders)]
        self.holders = [Holder(name=name, folder=folder / name) for name in names]
        self.keys = {}
        for holder in self.holders[1::2]:
            holder.key = folder / f"{holder.name}.key"
            self.keys[holder.name] = {"key": make_key(holder.key)}
        self.holders[-1].since, self.holders[0].until = self.joins, self.leaves
        gone = self.chance.randint(4, weeks - 12)
        self.holders[2].away = range(gone, gone + 10)
        self.agreements = self.agree(names)
        self.made = [read_deployment(it) for it in self.agreements]
        self.hashes = [it.sha256() for it in self.made]
        coordinates(self.state, corrections=True)

    def agree(self, names):
        """The agreement; another holder joins and one gets beds; a holder leaves."""
        budget, noise = BUDGETS[self.memory], {"memory": self.memory}
        keys = {"mu": float(MU), "longest_stay": STAY, "budget_mu": budget, "noise": noise}
        entities = {name: {"capacity": BEDS} for name in names[:-1]}
        changes = (
            {},
            {names[-1]: {"capacity": 35, "since": day(self.joins)}, names[1]: {"capacity": 50}},
            {names[0]: {"capacity": BEDS, "until": day(self.leaves)}},
        )
        files = []
        for number, change in enumerate(changes):
            entities |= change
            signed = {name: its | self.keys.get(name, {}) for name, its in entities.items()}
            amends = {}
            if files:
                before = read_deployment(files[-1]).sha256()
                amends = {"amends": {"agreement": before, "since": day(self.changes[number])}}
            place = self.folder / f"agreed-{number}"
            files.append(agreed(place, signed, **amends, **keys))
        return files

    def happens(self, what, chance):
        if self.chance.random() >= chance:
            return False
        self.happened[what] += 1
        return True

    def today(self, week):
        return FIRST + datetime.timedelta(days=7 * week + 8)

    def known(self, week):
        """The agreement of a week, for those who have read it."""
        return sum(week >= it for it in self.changes) - 1

    def noise(self):
        self.seed += 1
        return SeededNoise(np.random.default_rng(self.seed))

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
                key=holder.key,
            ),
            deployment=made,
            agree=made.sha256(),
            today=self.today(week),
            **options | {"correct": frozenset(map(day, options.get("correct", ())))},
        )
        sampler = self.noise()
        if self.happens("killed release", 0.04):
            k = self.chance.randint(1, 30)
            said, _ = in_child(lambda: release(request, sampler) and None, "kill", k)
            if said is None:  # it came to its end: nobody corrects again
                request = replace(request, correct=frozenset())
            sampler = self.noise()
        try:
            return release(request, sampler)
        finally:
            if holder.ledger.exists():
                holder.book.agreed.add(holder.agreed)

    def refused(self, message, holder, week, **options):
        """A run is refused, and releases nothing."""
        self.happened[message] += 1
        with pytest.raises(DpolError, match=message):
            self.run(holder, week, **options)

    def release(self, holder, week):
        """A week at a holder: what was counted is released once; its file."""
        book, table, options = holder.book, holder.table, holder.more
        holder.more = {}
        if holder.behind and self.register.rows[holder.name]:
            while files := self.unknown(holder):
                self.send_again(holder, week, files[0])
            export(self.state, self.folder / "export.csv")
            options["continue_from"] = self.folder / "export.csv"
            theirs = self.register.rows[holder.name]
            book.take({row: (it.line, row.chain) for row, it in theirs.items()})
            holder.behind = False
        times = book.times()
        last = max(times, default=-1)
        new = {it for it in table if it not in times}
        past = {it for it in new if it < last}
        if past:
            self.refused("a later one was", holder, week, **options)
        line = [*([last] if times else []), *sorted(it for it in new if it > last)]
        if any(after - before > 8 for before, after in itertools.pairwise(line)):
            self.refused("--gap", holder, week, correct=past, **options)
            options["gap"] = True
        changed, gone = book.differ(table)
        # A week that left the output is corrected once a run has named it.
        correct = past | changed | (gone & holder.named)
        needed = range(min(map(self.known, new | correct), default=9), holder.agreed)
        if unknown := {*needed} - book.agreed:
            message = "does not know the agreement of then"
            self.refused(message, holder, week, correct=correct, **options)
            holder.agreed = min(unknown)
        for it in sorted(it for it in correct if times[it] >= TIMES):
            self.refused("leave such rows out", holder, week, correct=correct, **options)
            correct.remove(it)
            if it in gone:  # nothing helps it: its budget is spent
                del table[it]
        self.happened["week again"] += len(correct & gone)
        expected = sorted(new | correct)
        done = self.run(holder, week, correct=correct, **options)
        _, rows = self.facts_of(done.file)
        if "continue_from" in options:
            before = [row for row in rows if row in book.rows]
            assert Counter(before) == Counter(book.rows)
            book.rows = before
        assert rows[: len(book.rows)] == book.rows, "a released row is lost"
        added = rows[len(book.rows) :]
        assert sorted(row.week for row in added) == expected, "released twice, or not at all"
        book.rows, book.spent = rows, book.spent + added
        book.raw |= {row: table[row.week] for row in added}
        with closing(sqlite3.connect(holder.ledger)) as base:
            drawn = base.execute("SELECT COUNT(*) FROM release").fetchone()[0]
        assert drawn == len(book.spent), "the ledger has other rows"
        differ = set().union(*book.differ(table))
        assert {it.period for it in done.differ} == {*map(day, differ)}
        holder.named = differ
        assert done.worst.squared_mu == book.squared_mu()
        assert done.worst.kept == (max(book.times().values()) <= TIMES)
        if "continue_from" in options:
            history.verify(holder.ledger)
        return done.file

    def unknown(self, holder):
        """Files of a lost copy, with rows that neither its ledger nor the coordinator knows."""
        known = [*holder.book.spent, *self.register.rows[holder.name]]
        known = {(row.week, row.count) for row in known}
        files = sorted(holder.released.glob("*.zip"))
        return [it for it in files if not self.weeks_and_counts(it) <= known]

    def weeks_and_counts(self, file):
        return {(row.week, row.count) for row in self.facts_of(file)[1]}

    def send_again(self, holder, week, file):
        """The coordinator collects a file of a lost copy; one that is refused is moved away."""
        export(self.state, self.folder / "export.csv")
        message = "have the coordinator collect this file"
        self.refused(message, holder, week, continue_from=self.folder / "export.csv")
        place = self.folder / "post" / f"again-{len(self.archive)}-{file.name}"
        shutil.copy(file, place)
        self.take(week, [self.mail(holder, place, place)], self.register.agreed)
        if file in self.unknown(holder):
            self.happened["file moved away"] += 1
            file.rename(place.with_suffix(".away"))

    def facts_of(self, file):
        """A release as it is read, and its rows."""
        report = read_release(file)
        weeks = {day(week): week for week in range(self.weeks + 1)}
        return report, [
            Row(
                week=weeks[row.cells.period],
                count=row.cells.noisy_count,
                chain=row.part and row.part["first_row"],
                weight=weight_of(Fraction(str(row.part["b"]) if row.part else 0)),
            )
            for row in report.rows
        ]

    def restore(self, holder, week):
        """The folder of a holder, or a part of it, is lost, or becomes that of an older copy."""
        place, book = self.chance.choice(holder.copies)
        if not (self.register.rows[holder.name] and holder.book.last > book.last):
            return
        kind = self.copies.pop()
        self.happened[f"restored: {kind}"] += 1
        kept = holder.folder.with_name(f"{holder.name}-newest")
        shutil.copytree(holder.folder, kept, dirs_exist_ok=True)
        if kind == "releases":
            shutil.rmtree(holder.released)
            shutil.copytree(place / "released", holder.released)
            self.refused("is gone or damaged|older copy", holder, week)
            holder.more = {"write_again": True}
        elif kind in ("ledger", "newest back"):
            shutil.copy(place / "ledger.sqlite", holder.ledger)
            with pytest.raises(DataError, match="older copy|another ledger"):
                history.verify(holder.ledger)
            self.refused("knows of releases that the ledger", holder, week)
            if kind == "ledger":
                holder.book, holder.behind = copy.deepcopy(book), True
                holder.copies = [(place, book)]
            else:
                shutil.copy(kept / "ledger.sqlite", holder.ledger)
        else:
            shutil.rmtree(holder.folder)
            holder.book, holder.behind, holder.copies = Book(), "told" in kind, []
            if "lost" not in kind:
                shutil.copytree(place, holder.folder)
                holder.book, holder.copies = copy.deepcopy(book), [(place, book)]
        shutil.rmtree(kept)

    def at_holder(self, holder, week):
        """A week at a holder, and its mail."""
        if week >= holder.until + 3 or week < holder.since:
            return
        self.happened["joined"] += week == holder.since > 0
        self.happened["left"] += week == holder.until
        self.happened["other beds"] += holder.name == "h01" and week == self.joins
        if week in holder.away:
            self.happened["away for long"] += 1
            return
        if holder.agreed < self.known(week) and (
            week in (holder.since, holder.until) or not self.happens("old agreement", 0.5)
        ):
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
        if self.happens("corrected", 0.1):
            holder.wrong = self.chance.choice(sorted(holder.table)[-6:])
        elif self.chance.random() < 0.5:
            holder.wrong = None
        if holder.wrong in holder.table:
            holder.table[holder.wrong] = self.chance.randint(0, 30)
        due = len(self.copies) - len(COPIES) * (week < self.leaves)
        if holder.copies and self.chance.random() < 8 * due / len(self.holders) / self.weeks:
            self.restore(holder, week)
        if not holder.table:
            return
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
        facts, rows = self.facts_of(file)
        return Mail(
            entity=holder.name,
            rows=tuple(rows),
            ledger=facts.ledger,
            line=facts.output,
            # That of the last rows.
            agreed=self.hashes.index(facts.agreement),
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
        late = self.register.agreed < self.known(week)
        if not (late and self.happens("amendment not known", 1 if week in self.changes else 0.5)):
            self.register.agreed = self.known(week)
        mails = [mail for arrives, mail in self.post if arrives == week]
        self.take(week, mails, self.register.agreed)
        if week == self.weeks - 5:
            self.put_log_back(week)
        weeks = {
            it.name: {row.week for row in self.register.counting(it.name)} for it in self.holders
        }
        often = [name for name, those in weeks.items() if len(those) > 2]
        if often and self.happens("set aside", 0.1):
            name = self.chance.choice(often)
            self.set_aside(name, max(weeks[name]))
            weeks[name].remove(max(weeks[name]))
        last = max((max(those) for those in weeks.values() if those), default=-1)
        if sum(map(bool, weeks.values())) < 2 or week + 1 - last > 8:
            return  # there is nothing to decide by
        if self.happens("killed decision", 0.15):
            period = FIRST + datetime.timedelta(days=7 * (week + 1))
            k = self.chance.randint(1, 15)
            in_child(lambda: decide(self.state, period) and None, "kill", k)
        self.decide(week + 1)

    def set_aside(self, entity, week):
        """The coordinator no longer believes what an entity has reported for a week."""
        self.archive.append((self.set_aside, (entity, week)))
        set_aside(self.state, entity, "wrong", FIRST + datetime.timedelta(days=7 * week))
        rows = self.register.rows[entity]
        self.register.aside |= {(entity, row) for row in rows if row.week == week}

    def take(self, week, mails, known):
        if not mails:
            return
        self.archive.append((self.take, (week, mails, known)))
        self.register.agreed = known
        file, paths = self.agreements[known], [mail.file for mail in mails]
        options = {"today": self.today(week)}
        for amendment in self.agreements[:known]:
            if amendment not in self.taken:
                collect([], self.state, amendment)
        self.taken |= {*self.agreements[: known + 1]}
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
                held[row["entity"]].append((row["period"], row["noisy_count"]))
        for holder in self.holders:
            rows = [(day(row.week), row.count) for row in self.register.of(holder.name)]
            assert held[holder.name] == rows, "the log has other rows"

    @staticmethod
    def within(file, place):
        return file == place or place in file.parents

    def put_log_back(self, week):
        """The log is lost; all mail is collected again."""
        self.happened["log lost"] += 1
        (self.state / LOG_NAME).unlink()
        self.register, archive, self.archive, self.taken = Register(), self.archive, [], set()
        for act, facts in archive:
            act(*facts)
        for it in self.decided:
            check(self.state, it)

    def decide(self, number):
        """A decision rests on the log, and says what it cost."""
        period = FIRST + datetime.timedelta(days=7 * number)
        decision = decide(self.state, period)
        self.decided.append(period)
        for it in decision.outlooks:
            weeks = {row.week for row in self.register.counting(it.entity) if row.week < number}
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
        newest = len(self.agreements) - 1
        mails = [mail for arrives, mail in self.post if arrives >= self.weeks]
        self.take(self.weeks, mails, newest)
        for _ in range(3):  # a run names what left the output, and the next one corrects it
            mails = []
            for holder in self.holders:
                holder.agreed = newest
                file = self.release(holder, self.weeks)
                place = self.folder / "post" / f"last-{holder.name}-{len(self.archive)}.zip"
                shutil.copy(file, place)
                mails.append(self.mail(holder, place, place))
            self.take(self.weeks, mails, newest)
        for holder in self.holders:
            assert not holder.behind
            weeks = {row.week for row in self.register.of(holder.name)}
            assert weeks >= holder.table.keys(), "a count is lost"
            history.verify(holder.ledger)
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


def play(folder, seed, holders, weeks):
    """Play a year in which all happens that can; without memory no week leaves an output."""
    happened = Year(folder, seed, holders, weeks).play()
    never = EVENTS - {it for it, times in happened.items() if times}
    assert never <= ({"week again"} if seed % 2 == 0 else set())


def test_a_short_year(folder):
    """Sixteen weeks of five holders."""
    play(folder, 13, 5, 16)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_year(folder, seed):
    """Nothing is lost or released twice; ceilings hold; decisions are made again."""
    play(folder, seed, 12, 60)
