"""Files that were changed at random: refused in words, or read as what they say; never a traceback.

A case is a file with one random fault, given to the commands in this process. DPOL_TEST_MUTATIONS
is the number of cases of each campaign; a failure names the case.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import json
import math
import os
import random
import re
import shutil
import sqlite3
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml

from attacks.mutations import (
    TooSlow,
    as_json,
    as_yaml,
    other_bytes,
    other_lines,
    other_values,
    within,
)
from dpol.core.errors import DpolError
from dpol.data import texts
from dpol.privacy import noise
from dpol_weekly.commands.deployment import TEMPLATE
from dpol_weekly.coordinator import collect
from dpol_weekly.deployment import read_deployment
from dpol_weekly.released import checksum, pack
from dpol_weekly.sampler import SeededNoise
from releases import newest, output, own_file, parts, run

ROOT = Path(__file__).parents[2]
CASES = int(os.environ.get("DPOL_TEST_MUTATIONS", "40"))
PARTS = range(8 if CASES > 100 else 1)
SECONDS = 5
AGREED, RAW, STATE = (Path(it) for it in ("agreed.yaml", "raw.csv", "state"))
FIRST = datetime.date(2024, 1, 7)
# Of the raw counts, each in digits that stand nowhere else.
COUNTS = {
    "north": ("7.531971", "8.642082", "9.753193"),
    "east": ("3.197531", "4.208642", "5.319753"),
    "south": ("6.420864", "2.086426", "1.975319"),
}
KEYS = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8")) | {
    "name": "winter",
    "periods": {"first": FIRST, "days": 7},
    "entities": {
        "north": {"capacity": 20},
        "east": {"capacity": "reported", "since": FIRST},
        "south": {"capacity": "reported"},
    },
    "mu": 0.5,
    "longest_stay": 3,
    "budget_mu": 10,
    "disjoint": True,
}
MEMORIES = "none", "designed"
BEDS = {"north": "20", "east": "15", "south": "12.5"}


class NoNoise:
    """A sampler whose noise is 0, so that every number can be compared."""

    name = "secure"

    def discrete_gaussian(self, scale, size):
        return [0] * size


class Seeded(SeededNoise):
    """A sampler that can be repeated, under the name of the secure one."""

    name = "secure"

    def __init__(self):
        super().__init__(np.random.default_rng(1))


def day(number):
    return (FIRST + datetime.timedelta(days=7 * number)).isoformat()


def raw_rows(entities, weeks=3):
    rows = [[it, day(t), COUNTS[it][t], BEDS[it]] for t in range(weeks) for it in entities]
    return [["entity", "period", "count", "capacity"], *rows]


def as_csv(rows, **dialect):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **dialect).writerows(rows)
    return text.getvalue()


def rows_of(file):
    return list(csv.reader(io.StringIO(parts(file)["table.csv"].decode(), newline="")))


def said(*arguments, answers=1):
    """The exit code of a command that ends as every command has to.

    Args:
        arguments: of the command.
        answers: 0: several lines may say what is wrong, of settings or of reports.
    """
    code, out, err = within(SECONDS, run, *arguments)
    lines = err.splitlines()
    assert code in (0, 1, 2), f"{arguments}: exit code {code}"
    assert (code == 0) == (not lines), f"{arguments}: {code}, {err}"
    assert not code or any(line.startswith("error: ") for line in lines), err
    assert not answers or len(lines) <= answers, err
    assert all(line.replace("\t", "").isprintable() for line in lines), repr(err)
    hidden = [it for of in COUNTS.values() for it in of if it in out + err]
    assert not hidden, f"{arguments} shows raw counts: {hidden}"
    return code


def privatize(table, folder, *, deployment=AGREED, entities=tuple(COUNTS), answers=1):
    """The exit code of a release under an agreement that is confirmed, if it can be read."""
    try:
        sha256 = within(SECONDS, read_deployment, deployment).sha256()
    except DpolError:
        sha256 = "0"
    own = own_file(
        folder / "own.yaml",
        deployment=Path(deployment).absolute(),
        table=Path(table).absolute(),
        entities=list(entities),
        columns={"entity": "entity", "capacity": "capacity"},
        output=".",
    )
    return said("privatize", own, "--agree", sha256, answers=answers)


def release(folder, entities, *, weeks=3):
    """Release counts of some entities in a folder, as the agreement there says; its file."""
    folder.mkdir(exist_ok=True)
    (folder / RAW).write_text(as_csv(raw_rows(entities, weeks)))
    assert privatize(folder / RAW, folder, entities=entities) == 0
    return newest(folder)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failures(campaign, numbers, of_a_case, accepted):
    """The cases of a campaign that break a law; `of_a_case(rng)` gives what was done and the rest.

    The rest, called, tests the laws and says whether the file was accepted.
    """
    for number in numbers:
        what, test = of_a_case(random.Random(f"{campaign}/{number}"))
        try:
            accepted[bool(test())] += 1
        except (Exception, TooSlow) as error:
            yield f"case {number} ({what}): {type(error).__name__}: {error}"


def another_yaml(text, rng):
    """YAML with a fault, what was done, and whether it must be refused."""
    kind = rng.choice(["values", "lines", "lines", "bytes"])
    if kind == "lines":
        text, what, must = other_lines(text, rng)
        return text.encode(), what, must
    if kind == "bytes":
        return *other_bytes(text.encode(), rng), False
    tree, what = other_values(yaml.safe_load(text), rng)
    with contextlib.suppress(yaml.YAMLError):
        return as_yaml(tree), what, False
    return text.encode(), "nothing", False


# ---- The file of a deployment. -------------------------------------------------------------------


def another_agreement(rng):
    whole = as_yaml({**KEYS, "noise": {"memory": rng.choice(MEMORIES)}})
    data, what, must = another_yaml(whole.decode(), rng)
    Path("changed.yaml").write_bytes(data)
    return what, lambda: _agreement_is_kept_or_refused(must)


def _agreement_is_kept_or_refused(must):
    changed, folder = Path("changed.yaml"), Path("new")
    for path in ("new", "state"):
        shutil.rmtree(path, ignore_errors=True)
    folder.mkdir()
    try:
        good = bool(within(SECONDS, read_deployment, changed))
    except DpolError:
        good = False
    code = privatize(Path("holder/raw.csv"), folder, deployment=changed, answers=int(good))
    assert code == 0 or not list(folder.glob("*.zip"))
    assert good or code == 1
    reports = newest(folder if code == 0 else Path("holder"))
    collected = said("collect", reports, "--into", STATE, "--deployment", changed, answers=0)
    assert code or not collected, "what one deployment releases is refused by it"
    if collected == 0:
        said("decide", STATE)
    assert not (must and good), "it is read as something else than it says"
    return good


@pytest.fixture
def deployment(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", NoNoise)
    AGREED.write_bytes(as_yaml(KEYS))
    release(folder / "holder", BEDS)
    return another_agreement


# ---- A report. -----------------------------------------------------------------------------------

CELLS = "entity", "period", "noisy_count", "capacity", "noisy_share"


@dataclass(frozen=True, kw_only=True)
class Reports:
    """Good reports of north and east, and one of south that is going to be changed.

    Args:
        memory: the folder of the agreement, its reports and its states.
        good: rows of north and east in the log.
        bad: rows of south.
    """

    memory: Path
    good: set[tuple[str, ...]]
    bad: set[tuple[str, ...]]


def reported(file):
    header, *rows = rows_of(file)
    return {tuple(row[header.index(name)] for name in CELLS) for row in rows}


@pytest.fixture
def reports(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", Seeded)
    made = []
    for memory in MEMORIES:
        place = folder / memory
        place.mkdir()
        monkeypatch.chdir(place)
        AGREED.write_bytes(as_yaml({**KEYS, "noise": {"memory": memory}}))
        holders = {"good": ["north", "east"], "bad": ["south"]}
        first = [release(place / name, of, weeks=2) for name, of in holders.items()]
        assert said("collect", *first, "--into", "before", "--deployment", AGREED) == 0
        good, bad = (reported(release(place / name, of)) for name, of in holders.items())
        made.append(Reports(memory=place, good=good, bad=bad))
    monkeypatch.chdir(folder)
    return made


TEXTS = "60 1e300 1e-300 0.001 0 -1 inf nan 1_0 ٣ NA =1+1 0x10 12,5 +5.000000 5.0 -0.000000 20. 020"
TEXTS += " 9999-12-26 2424-01-07 2024-01-08 20240107 2024-W01-7 South SOUTH west <b> １２"
TEXTS = [*TEXTS.split(), "", "60\n", "south ", "A\x00", "\x1b[2J", "\ud7ff", "9" * 300, "x" * 9999]


@pytest.fixture
def report(reports):
    def of_a_case(rng):
        made = rng.choice(reports)
        original, bad = newest(made.memory / "bad"), Path("bad/south.zip")
        held = parts(original)
        data, record = held["table.csv"], json.loads(held["record.json"])
        kind = rng.choice(["bytes", "cell", "cell", "cell", "rows", "json", "json", "json bytes"])
        what, forged, last, later = kind, *(rng.random() < it for it in (0.8, 0.5, 0.5))
        if kind == "bytes":
            data, what = other_bytes(data, rng)
        elif kind == "cell":
            data, what = _other_cell(rows_of(original), rng)
        elif kind == "rows":
            data, what = _other_rows(rows_of(original), rng)
        elif kind == "json":
            part = rng.choice([it for it in ("chains", "chains", "ledger") if it in record])
            if rng.random() < 0.7:
                record[part], what = other_values(record[part], rng)
            else:
                record, what = other_values(record, rng)
        if forged:
            with contextlib.suppress(RecursionError, UnicodeError, TypeError):
                plain = json.loads(as_json(record))
                record = plain | {"sha256": checksum(data, plain)}
        text = as_json(record)
        if kind == "json bytes":
            text, what = other_bytes(text, rng)
        shutil.rmtree(bad.parent, ignore_errors=True)
        bad.parent.mkdir()
        if rng.random() < 0.5:
            bad.write_bytes(pack({"table.csv": data, "record.json": text}))
        else:
            bad.unlink(missing_ok=True)
            bad.with_name("noisy (1).csv").write_bytes(data)
            bad.with_name("record.txt").write_bytes(text)
        told = f"{what}; forged {forged}, memory {made.memory.name}"
        return told, lambda: _others_are_collected(made, forged, last, later)

    return of_a_case


def _other_cell(table, rng):
    row = rng.randrange(1, len(table)) if rng.random() < 0.95 else 0
    column = rng.choice([*range(len(table[0])), 2, 2, 3, 3, 3])
    cell, another = table[row][column], rng.choice(table[rng.randrange(len(table))])
    forms = "{}\n", " {}", "{} ", "\t{}", "{}0", "0{}", "-{}", "{}9"
    near = [another, *(form.format(cell) for form in forms)]
    table[row][column] = rng.choice(near if rng.random() < 0.5 else TEXTS)
    if rng.random() < 0.5 and row:  # what follows from the cell is forged with it
        with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError):
            table[row][4] = f"{float(table[row][2]) / float(table[row][3]):.9g}"
    what = f"line {row + 1}, cell {column + 1}: {table[row][column]!r}"
    return as_csv(table).encode(errors="replace"), what


def _other_rows(table, rng):
    header, *rows = table
    place, order = rng.randrange(len(rows)), rng.sample(range(len(header)), len(header))
    tables = {
        "fewer": [header, *rows[:place], *rows[place + 1 :]],
        "twice": [*table, rows[place]],
        "another order": [header, *rng.sample(rows, len(rows))],
        "ragged": [*table[:-1], [*table[-1], "1"]],
        "none": [header],
        "columns": [[row[it] for it in order] for row in table],
    }
    what = rng.choice(list(tables))
    return as_csv(tables[what]).encode(), what


def _others_are_collected(reports, forged, last, later):
    shutil.rmtree(STATE, ignore_errors=True)
    if later:
        shutil.copytree(reports.memory / "before", STATE)
    files = [Path("bad"), newest(reports.memory / "good")]
    agreed = "--into", STATE, "--deployment", reports.memory / AGREED
    code = said("collect", *(reversed(files) if last else files), *agreed, answers=0)
    with contextlib.closing(sqlite3.connect(STATE / "log.sqlite")) as base:
        rows = set(base.execute(f"SELECT {', '.join(CELLS)} FROM released"))
    assert reports.good <= rows, "a good report is not collected"
    strange = rows - reports.good - reports.bad
    assert forged or not strange, f"rows without a checksum: {strange}"
    assert all(map(_as_written, strange)), f"rows that dpol privatize does not write: {strange}"
    assert said("decide", STATE) == 0
    return code == 0


def _as_written(row):
    """True if `dpol privatize` may have released this, by the rules of its documentation."""
    entity, period, count, beds, share = row
    if not re.fullmatch(r"-?[0-9]{1,6}\.[0-9]{6}", count) or count == "-0.000000":
        return False
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,40})?", beds):
        return False
    wild = abs(float(count)) > float(beds) + 200  # 40 standard deviations of 2.83, and memory
    same = f"{float(count) / float(beds):.9g}" == share and math.isfinite(float(share))
    return entity in BEDS and period in map(day, range(100)) and same and not wild


# ---- The entry of the public registry. -----------------------------------------------------------


@pytest.fixture
def record(reports):
    whole = _keys(newest(reports[0].memory / "good"))

    def of_a_case(rng):
        record = parts(newest(rng.choice(reports).memory / "good"))["record.json"]
        tree, what = other_values(json.loads(record), rng)
        data = as_json(tree)
        if rng.random() < 0.3:
            data, more = other_bytes(data, rng)
            what += f", then {more}"
        Path("changed.json").write_bytes(data)

        def test():
            keys = _keys("changed.json")
            assert keys in (None, whole), "a part of the entry is missing"
            return keys is not None

        return what, test

    return of_a_case


def _keys(record):
    """The keys of a record's entry, with all above them; None if it is refused."""
    if said("publish-entry", record):
        return None
    lines = run("publish-entry", record)[1].replace("- ", "  ").splitlines()
    return {line.partition(":")[0] for line in lines if ":" in line}


# ---- A holder's table. ---------------------------------------------------------------------------

DATES = ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%G-W%V", "%Y-%m-%dT00:00", "%Y-%d-%m"]
BLANKS = [" {}", "{} ", "\u00a0{}", "{}\n", "\t{}"]
ENDS = [b"\r\n", b"\r", b"\n\n", b"\r\r\n"]


def another_table(rng):
    """A table of counts in another convention; none of its numbers is another number."""
    header, *rows = raw_rows(BEDS)
    place, order, form = rng.randrange(len(rows)), rng.sample(range(4), 4), rng.choice(DATES)
    blank, sign = rng.choice(BLANKS), rng.choice([" ", "'", "_", "."])
    spelling = rng.choice([str.upper, str.title, *(it.format for it in [*BLANKS, "'{}'"])])
    of_cells = {  # the column, and what is written in it
        "dates": (1, lambda text: datetime.date.fromisoformat(text).strftime(form)),
        "decimal": (2, lambda text: text.replace(".", ",")),
        "thousands": (2, lambda text: text.replace(".", sign)),
        "exponent": (2, lambda text: f"{float(text) / 10:.7f}e1"),
        "blanks": (2, blank.format),
        "id": (0, spelling),
    }
    of_tables = {
        "order": ([header, *rng.sample(rows, len(rows))], {}),
        "twice": ([header, *rows, rows[place]], {}),
        "columns": ([[row[it] for it in order] for row in [header, *rows]], {}),
        "delimiter": ([header, *rows], {"delimiter": rng.choice(";\t|")}),
        "quotes": ([header, *rows], {"quoting": csv.QUOTE_ALL, "quotechar": rng.choice("\"'")}),
    }
    of_bytes = {
        "encoding": lambda data: data.decode().encode(
            rng.choice(["utf-8-sig", "utf-16", "cp1252"])
        ),
        "ends": lambda data: data.replace(b"\n", rng.choice(ENDS)),
        "bytes": lambda data: rng.choice([data + b"\x00", data[:-1], b"\n" + data, data + b"\x1a"]),
    }
    what = rng.choice([*of_cells, *of_cells, *of_tables, *of_bytes])
    if what in of_cells:
        column, other = of_cells[what]
        for row in rows if rng.random() < 0.5 else [rows[place]]:
            row[column] = other(row[column])
    table, dialect = of_tables.get(what, ([header, *rows], {}))
    data = as_csv(table, **dialect).encode()
    RAW.write_bytes(of_bytes.get(what, bytes)(data))
    return what, _counts_are_those_of_the_table


def _held(folder):
    """The files of a holder, of the ledger the rows."""
    files = {it.name: it.read_bytes() for it in folder.glob("*.zip")}
    with contextlib.closing(sqlite3.connect(folder / "dpol-ledger.sqlite")) as base:
        return files, base.execute("SELECT * FROM release ORDER BY 1, 2, 3").fetchall()


def _counts_are_those_of_the_table():
    holder = Path("holder")
    shutil.rmtree(holder, ignore_errors=True)
    shutil.copytree("before", holder)
    before = _held(holder)
    if privatize(RAW, holder):
        assert _held(holder) == before, "a refused table left something"
        return False
    released = output(holder)
    for row in released:
        count = dict(zip(map(day, range(3)), COUNTS[row["entity"]], strict=True))[row["period"]]
        assert float(row["noisy_count"]) == float(count), f"{row} is silently another number"
        assert row["capacity"] == BEDS[row["entity"]]
    keys = [(row["entity"], row["period"]) for row in released]
    assert len(keys) == len(set(keys)), "a period is released twice"
    return True


@pytest.fixture
def table(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", NoNoise)
    AGREED.write_bytes(as_yaml(KEYS))
    release(folder / "before", BEDS, weeks=1)
    (folder / "before" / RAW).unlink()
    return another_table


# ---- Configs. ------------------------------------------------------------------------------------

CONFIGS = sorted((ROOT / "config").glob("*.yaml"))


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    changed = tmp_path / "changed.yaml"

    def of_a_case(rng):
        shipped = rng.choice(CONFIGS)
        data, what, must = another_yaml(shipped.read_text(encoding="utf-8"), rng)
        changed.write_bytes(data)

        def test():
            code = said("config", "check", changed, answers=0)
            assert code or not must, "it is read as something else than it says"
            return code == 0

        return f"{shipped.name}: {what}", test

    return of_a_case


# ---- The laws, and that they fail where a check is broken. ---------------------------------------


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("campaign", ["deployment", "report", "record", "table", "config"])
def test_a_changed_file_is_refused_or_read_as_what_it_says(campaign, part, request):
    """Good files and bad ones are among them: otherwise all might be refused."""
    accepted = Counter()
    numbers = range(part, CASES, len(PARTS))
    wrong = list(failures(campaign, numbers, request.getfixturevalue(campaign), accepted))
    assert not wrong, "\n".join([f"{len(wrong)} cases, such as", *wrong[:9]])
    assert accepted[True]
    assert accepted[False]


def together(log, parts, may_change, today):
    """Collecting that lets one report undo all others."""
    return collect._take(log, parts, may_change, today)


def cut_at_commas(text, form, known=texts.decimal_of):
    """Reading of cells that forgets what stands behind a comma."""
    return known(text.partition(",")[0], form)


NEVER = re.compile("(?!)")
BLANK = {"capacity": re.compile(r"\s*[0-9]{1,9}(\.[0-9]{0,40})?\s*")}
# A name that is broken in every module below, the campaign that notices it, and its message.
BROKEN = [
    ("dpol.core", "_OTHER_BASE", lambda _: NEVER, "deployment", "something else than it says"),
    ("dpol_weekly.coordinator", "_collect", lambda _: together, "report", "good report|no such"),
    ("dpol_weekly", "PATTERNS", lambda known: known | BLANK, "report", "privatize does not write"),
    (
        "dpol_weekly.holder",
        "decimal_of",
        lambda _: cut_at_commas,
        "table",
        "silently another number",
    ),
    ("dpol.core", "_UniqueKeys", lambda _: yaml.SafeLoader, "config", "than it says"),
]


@pytest.mark.parametrize(("below", "name", "broken", "campaign", "message"), BROKEN)
def test_a_broken_check_is_noticed(below, name, broken, campaign, message, request, monkeypatch):
    of_a_case = request.getfixturevalue(campaign)
    modules = [it for at, it in sys.modules.items() if f"{at}.".startswith(f"{below}.")]
    having = [module for module in modules if hasattr(module, name)]
    assert having
    for module in having:
        monkeypatch.setattr(module, name, broken(getattr(module, name)))
    told = failures(f"{campaign}/x3", range(200), of_a_case, Counter())
    assert any(re.search(message, it) for it in told)


def test_a_case_that_hangs_is_noticed():
    with pytest.raises(TooSlow):
        within(0.05, time.sleep, 2)
    assert within(1, len, "abc") == 3
