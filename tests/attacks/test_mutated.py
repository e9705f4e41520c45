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
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

import dpol_weekly.coordinator.collect as live_collect
from attacks.mutations import (
    TooSlow,
    as_json,
    as_yaml,
    other_bytes,
    other_lines,
    other_values,
    within,
)
from dpol.core.errors import DataError, DpolError
from dpol.data.cleaning import clean_panel
from dpol.data.settings import Dataset, Stream
from dpol.data.table import read_table
from dpol.privacy import noise
from dpol.privacy.noise import SeededNoise
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import counts
from dpol_weekly.released import checksum, record_of
from releases import run

ROOT = Path(__file__).parents[2]
CASES = int(os.environ.get("DPOL_TEST_MUTATIONS", "40"))
PARTS = range(8 if CASES > 100 else 1)
SECONDS = 5
AGREED, RAW, NOISY, STATE = (Path(it) for it in ("agreed.yaml", "raw.csv", "noisy.csv", "state"))
FIRST = datetime.date(2024, 1, 7)
# Of the raw counts, each in digits that stand nowhere else.
COUNTS = {("north", 0): "7.531971", ("north", 1): "8.642082", ("north", 2): "9.753193"}
COUNTS |= {("east", 0): "3.197531", ("east", 1): "4.208642", ("east", 2): "5.319753"}
COUNTS |= {("south", 0): "6.420864", ("south", 1): "2.086426", ("south", 2): "1.975319"}
KEYS = {
    "name": "winter",
    "periods": {"first": FIRST, "days": 7},
    "columns": {"entity": "entity", "period": "period", "count": "count", "capacity": "capacity"},
    "entities": {
        "north": {"title": "North", "capacity": 20},
        "east": {"capacity": "reported", "since": FIRST},
        "south": {"capacity": "reported"},
    },
    "mu": 0.5,
    "unit_weeks": 1,
    "count_sensitivity": 1,
    "noise": {"memory": "none", "chain_periods": 520},
    "algorithm": "empirical-bayes",
    "names": 1,
    "longest_stay": 3,
    "budget_mu": 10,
    "corrections": False,
    "disjoint": True,
    "seed": 3,
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
    header = ["entity", "period", "count", "capacity"]
    rows = [[it, day(t), COUNTS[it, t], BEDS[it]] for t in range(weeks) for it in entities]
    return [header, *rows]


def as_csv(rows, **dialect):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **dialect).writerows(rows)
    return text.getvalue()


def rows_of(path):
    with path.open(newline="") as stream:
        return list(csv.reader(stream))


def said(*arguments, answers=1):
    """The exit code of a command that ends as every command has to; its output.

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
    hidden = [it for it in COUNTS.values() if it in out + err]
    assert not hidden, f"{arguments} shows raw counts: {hidden}"
    return code, out


def release(folder, entities, *, weeks=3):
    """Release counts of some entities in a folder, as the agreement there says; its output."""
    table, output = folder / RAW, folder / NOISY
    folder.mkdir(exist_ok=True)
    table.write_text(as_csv(raw_rows(entities, weeks)))
    agree = "--agree", read_deployment(AGREED).sha256()
    assert said("privatize", table, "--output", output, "--deployment", AGREED, *agree)[0] == 0
    return output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Tally:
    """Numbers of cases that were accepted and refused."""

    accepted: int = 0
    refused: int = 0


def failures(campaign, numbers, of_a_case, tally):
    """The cases of a campaign that break a law; `of_a_case(rng)` gives what was done and the rest.

    The rest, called, tests the laws and says whether the file was accepted.
    """
    for number in numbers:
        what, test = of_a_case(random.Random(f"{campaign}/{number}"))
        try:
            accepted = test()
        except (Exception, TooSlow) as error:
            yield f"case {number} ({what}): {type(error).__name__}: {error}"
            continue
        tally.accepted += accepted
        tally.refused += not accepted


def attack(campaign, part, of_a_case):
    """Make a part of a campaign. No case breaks a law, and of good and of bad files there are some.

    Files that mean the same as before are accepted: otherwise all might be refused.
    """
    tally = Tally()
    wrong = list(failures(campaign, range(part, CASES, len(PARTS)), of_a_case, tally))
    assert not wrong, "\n".join([f"{len(wrong)} cases, such as", *wrong[:9]])
    assert tally.accepted
    assert tally.refused


# ---- The file of a deployment. -------------------------------------------------------------------


def another_agreement(rng):
    kind = rng.choice(["values", "values", "lines", "bytes"])
    base = as_yaml({**KEYS, "noise": {"memory": rng.choice(MEMORIES)}})
    must = False
    if kind == "values":
        tree, what = other_values(KEYS, rng)
        with contextlib.suppress(yaml.YAMLError):
            base = as_yaml(tree)
    elif kind == "lines":
        text, what, must = other_lines(base.decode(), rng)
        base = text.encode()
    else:
        base, what = other_bytes(base, rng)
    Path("changed.yaml").write_bytes(base)
    return what, lambda: _agreement_is_kept_or_refused(must)


def _agreement_is_kept_or_refused(must):
    changed, raw, output = Path("changed.yaml"), Path("holder/raw.csv"), Path("new/noisy.csv")
    for path in ("new", "state"):
        shutil.rmtree(path, ignore_errors=True)
    output.parent.mkdir()
    try:
        sha256 = within(SECONDS, read_deployment, changed).sha256()
    except DpolError:
        sha256 = None
    options = "--output", output, "--deployment", changed, "--agree", sha256 or "0"
    code = said("privatize", raw, *options, answers=1 if sha256 else 0)[0]
    assert code == 0 or not output.exists()
    assert sha256 is not None or code == 2
    reports = output if code == 0 else Path("holder/noisy.csv")
    collected = said("collect", reports, "--into", STATE, "--deployment", changed, answers=0)[0]
    assert code or not collected, "what one deployment releases is refused by it"
    if collected == 0:
        said("decide", STATE)
    assert not (must and sha256), "it is read as something else than it says"
    return sha256 is not None


@pytest.fixture
def agreement(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", NoNoise)
    AGREED.write_bytes(as_yaml(KEYS))
    release(folder / "holder", BEDS)


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_deployment_is_refused_or_means_the_same_to_all(agreement, part):
    attack("2a", part, another_agreement)


# ---- A report. -----------------------------------------------------------------------------------


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


CELLS = "entity", "period", "noisy_count", "capacity", "noisy_share"


def reported(*outputs):
    rows = [dict(zip(*pair, strict=True)) for it in outputs for pair in _with_header(it)]
    return {tuple(row[name] for name in CELLS) for row in rows}


def _with_header(output):
    header, *rows = rows_of(output)
    return [(header, row) for row in rows]


@pytest.fixture
def reports(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", Seeded)
    made = []
    for memory in MEMORIES:
        place = folder / memory
        place.mkdir()
        monkeypatch.chdir(place)
        AGREED.write_bytes(as_yaml({**KEYS, "noise": {"memory": memory}}))
        first = [release(place / "good", ["north", "east"], weeks=2)]
        first.append(release(place / "bad", ["south"], weeks=2))
        agreed = "--into", "before", "--deployment", AGREED
        assert said("collect", *first, *agreed)[0] == 0
        good, bad = release(place / "good", ["north", "east"]), release(place / "bad", ["south"])
        made.append(Reports(memory=place, good=reported(good), bad=reported(bad)))
    monkeypatch.chdir(folder)
    return made


TEXTS = "60 1e300 1e-300 0.001 0 -1 inf nan 1_0 ٣ NA =1+1 0x10 12,5 +5.000000 5.0 -0.000000 20. 020"
TEXTS += (
    " 9999-12-26 2424-01-07 2024-01-08 20240107 2024-W01-7 1900-01-07 South SOUTH west <b> １２"
)
TEXTS = [*TEXTS.split(), "", "60\n", "south ", "A\x00", "\x1b[2J", "\ud7ff", "9" * 300, "x" * 9999]


def another_report(made):
    def of_a_case(rng):
        reports = rng.choice(made)
        table = rows_of(reports.memory / "bad" / NOISY)
        data = (reports.memory / "bad" / NOISY).read_bytes()
        record = json.loads(record_of(reports.memory / "bad" / NOISY).read_text())
        whole, forged, last = None, rng.random() < 0.8, rng.random() < 0.5
        kind = rng.choice(["bytes", "cell", "cell", "cell", "rows", "json", "json", "json bytes"])
        what = kind
        if kind == "bytes":
            data, what = other_bytes(data, rng)
        elif kind == "cell":
            data, what = _other_cell(table, rng)
        elif kind == "rows":
            data, what = _other_rows(table, rng)
        elif kind == "json":
            part = rng.choice(["chains", "chains", "ledger", "sha256", None])
            if part in record and isinstance(record[part], list | dict) and record[part]:
                record[part], what = other_values(record[part], rng)
            else:
                record, what = other_values(record, rng)
        if forged:
            with contextlib.suppress(RecursionError, UnicodeError, TypeError):
                plain = json.loads(as_json(record))
                record = plain | {"sha256": checksum(data, plain)}
        if kind == "json bytes":
            whole, what = other_bytes(as_json(record), rng)
        Path("bad").mkdir(exist_ok=True)
        Path("bad/noisy.csv").write_bytes(data)
        record_of(Path("bad/noisy.csv")).write_bytes(whole or as_json(record))
        told = f"{what}; forged {forged}, memory {reports.memory.name}"
        return told, lambda: _others_are_collected(reports, forged, last, rng.random() < 0.5)

    return of_a_case


def _other_cell(table, rng):
    row = rng.randrange(1, len(table)) if rng.random() < 0.95 else 0
    column = rng.choice([*range(len(table[0])), 2, 2, 3, 3, 3])
    cell, another = table[row][column], rng.choice(table[rng.randrange(len(table))])
    forms = "{}\n", " {}", "{} ", "\t{}", "{}0", "0{}", "-{}", "{}9"
    near = [form.format(cell) for form in forms]
    table[row][column] = text = rng.choice([another, *near] if rng.random() < 0.5 else TEXTS)
    if rng.random() < 0.5 and row:  # what follows from the cell is forged with it
        with contextlib.suppress(ValueError, ZeroDivisionError, OverflowError, LookupError):
            places = [table[0].index(name) for name in ("noisy_count", "capacity", "noisy_share")]
            count, beds = (float(table[row][it]) for it in places[:2])
            table[row][places[2]] = f"{count / beds:.9g}"
    return as_csv(table).encode(errors="replace"), f"line {row + 1}, cell {column + 1}: {text!r}"


def _other_rows(table, rng):
    header, *rows = table
    what = rng.choice(["fewer", "twice", "another order", "ragged", "none", "columns"])
    if what == "fewer":
        del rows[rng.randrange(len(rows))]
    elif what == "twice":
        rows.insert(rng.randrange(len(rows) + 1), rng.choice(rows))
    elif what == "another order":
        rng.shuffle(rows)
    elif what == "ragged":
        rows[rng.randrange(len(rows))].append("1")
    elif what == "none":
        rows = []
    else:
        order = rng.sample(range(len(header)), len(header))
        header, rows = [header[it] for it in order], [[row[it] for it in order] for row in rows]
    return as_csv([header, *rows]).encode(), what


def _others_are_collected(reports, forged, last, later):
    shutil.rmtree(STATE, ignore_errors=True)
    if later:
        shutil.copytree(reports.memory / "before", STATE)
    files = [Path("bad/noisy.csv"), reports.memory / "good" / NOISY]
    agreed = "--into", STATE, "--deployment", reports.memory / AGREED
    code = said("collect", *(reversed(files) if last else files), *agreed, answers=0)[0]
    with contextlib.closing(sqlite3.connect(STATE / "log.sqlite")) as base:
        rows = set(base.execute(f"SELECT {', '.join(CELLS)} FROM release"))
    assert reports.good <= rows, "a good report is not collected"
    strange = rows - reports.good - reports.bad
    assert forged or not strange, f"rows without a checksum: {strange}"
    assert all(map(_as_written, strange)), f"rows that dpol privatize does not write: {strange}"
    assert said("decide", STATE)[0] == 0
    return code == 0


def _as_written(row):
    """True if `dpol privatize` may have released this, by the rules of its documentation."""
    entity, period, count, beds, share = row
    if not re.fullmatch(r"-?[0-9]{1,6}\.[0-9]{6}", count) or count == "-0.000000":
        return False
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{0,40})?", beds):
        return False
    weeks = [day(number) for number in range(100)]
    wild = abs(float(count)) > float(beds) + 200  # 40 standard deviations of 2.83, and memory
    same = f"{float(count) / float(beds):.9g}" == share
    return entity in BEDS and period in weeks and same and not wild and math.isfinite(float(share))


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_report_is_refused_and_no_other_is_lost(reports, part):
    attack("2b", part, another_report(reports))


# ---- The entry of the public registry. -----------------------------------------------------------


def another_record(made, keys):
    def of_a_case(rng):
        record = record_of(rng.choice(made).memory / "good" / NOISY)
        tree, what = other_values(json.loads(record.read_text()), rng)
        data = as_json(tree)
        if rng.random() < 0.3:
            data, more = other_bytes(data, rng)
            what += f", then {more}"
        Path("changed.json").write_bytes(data)

        def test():
            code, out = said("registry", "changed.json")
            assert code or _keys(yaml.safe_load(out)) == keys
            return code == 0

        return what, test

    return of_a_case


def _keys(tree):
    """The keys of a tree, in each block."""
    blocks = tree.items() if isinstance(tree, dict) else enumerate(tree[:1])
    return {key: _keys(it) for key, it in blocks if isinstance(it, dict | list)} | dict.fromkeys(
        key for key, it in blocks if not isinstance(it, dict | list)
    )


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_record_is_no_entry_or_a_whole_one(reports, part):
    out = said("registry", record_of(reports[0].memory / "good" / NOISY))[1]
    attack("2e", part, another_record(reports, _keys(yaml.safe_load(out))))


# ---- A holder's table. ---------------------------------------------------------------------------


DATES = "%d.%m.%Y %m/%d/%Y %d/%m/%Y %Y%m%d %G-W%V %Y-%m-%dT00:00"
CONVENTIONS = "delimiter quotes encoding decimal thousands exponent dates swapped id id ends blanks"
CONVENTIONS += " order columns bytes twice"


def another_table(rng):
    """A table of counts in another convention; none of its numbers is another number."""
    header, *rows = raw_rows(BEDS)
    what = rng.choice(CONVENTIONS.split())
    dialect, place = {}, rng.randrange(len(rows))
    encoding = rng.choice(["utf-8-sig", "utf-16", "utf-32", "cp1252"]) if what == "encoding" else ""
    some = rows if rng.random() < 0.5 else [rows[place]]
    if what == "delimiter":
        dialect = {"delimiter": rng.choice(";\t|")}
    elif what == "quotes":
        dialect = {"quoting": csv.QUOTE_ALL, "quotechar": rng.choice("\"'")}
    elif what == "dates":
        form = rng.choice(DATES.split())
        for row in some:
            row[1] = datetime.date.fromisoformat(row[1]).strftime(form)
    elif what == "swapped":
        row = rows[place]
        with contextlib.suppress(ValueError):
            year, month, number = row[1].split("-")
            row[1] = datetime.date(int(year), int(number), int(month)).isoformat()
    elif what in ("decimal", "thousands", "exponent", "blanks"):
        for row in some:
            row[2] = {
                "decimal": row[2].replace(".", ","),
                "thousands": f"{row[2].replace('.', rng.choice([' ', chr(39), '_', '.']))}",
                "exponent": f"{float(row[2]) / 10:.7f}e1",
                "blanks": rng.choice([" {}", "{} ", "\u00a0{}", "{}\n", "\t{}"]).format(row[2]),
            }[what]
    elif what == "id":
        other = rng.choice([str.upper, str.title, "{} ".format, " {}".format, "'{}'".format])
        for row in some:
            row[0] = other(row[0])
    elif what == "order":
        rng.shuffle(rows)
    elif what == "twice":
        rows.append(rows[place])
    elif what == "columns":
        order = rng.sample(range(4), 4)
        header, rows = [header[it] for it in order], [[row[it] for it in order] for row in rows]
    data = as_csv([header, *rows], **dialect).encode(encoding or "utf-8")
    if what == "ends":
        data = data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\r\r\n"]))
    elif what == "bytes":
        data = rng.choice(
            [data + b"\x00", data[:-1], b"\n" + data, data + b"\x1a", b"sep=,\n" + data]
        )
    RAW.write_bytes(data)
    return f"{what} ({len(some)} rows, {encoding})", _counts_are_those_of_the_table


def _held(folder):
    return {it.name: it.read_bytes() for it in folder.iterdir() if it.suffix != ".sqlite"}


def _ledger(folder):
    with contextlib.closing(sqlite3.connect(folder / "dpol-ledger.sqlite")) as base:
        return base.execute("SELECT * FROM release ORDER BY 1, 2, 3").fetchall()


def _counts_are_those_of_the_table():
    shutil.rmtree("holder", ignore_errors=True)
    shutil.copytree("before", "holder")
    holder = Path("holder")
    before, rows = _held(holder), _ledger(holder)
    agreed = "--deployment", AGREED, "--agree", read_deployment(AGREED).sha256()
    code = said("privatize", RAW, "--output", holder / NOISY, *agreed)[0]
    if code:
        assert (_held(holder), _ledger(holder)) == (before, rows), "a refused table left something"
        return False
    header, *released = rows_of(holder / NOISY)
    for cells in released:
        row = dict(zip(header, cells, strict=True))
        (count,) = (it for (who, t), it in COUNTS.items() if (who, day(t)) == tuple(cells[:2]))
        assert float(row["noisy_count"]) == float(count), f"{cells[:2]} is silently another number"
        assert row["capacity"] == BEDS[row["entity"]]
    keys = [tuple(cells[:2]) for cells in released]
    assert len(keys) == len(set(keys)), "a period is released twice"
    return True


@pytest.fixture
def holder(folder, monkeypatch):
    monkeypatch.setattr(noise, "SecureNoise", NoNoise)
    AGREED.write_bytes(as_yaml(KEYS))
    release(folder / "before", BEDS, weeks=1)
    (folder / "before" / RAW).unlink()


@pytest.mark.parametrize("part", PARTS)
def test_a_table_in_another_convention_is_the_same_numbers_or_refused(holder, part):
    attack("2c", part, another_table)


# ---- A table of an experiment, in the convention of its country. ---------------------------------

IDS = ["050002", "TRUE", "North", "1-2", "5e3", "Müller", "7.0", "St. Ann"]
PATTERNS = {
    "YYYY-MM-DD": "{0:%Y-%m-%d}",
    "YYYYMMDD": "{0:%Y%m%d}",
    "YYYY/M/D": "{0:%Y}/{0.month}/{0.day}",
    "D.M.YYYY": "{0.day}.{0.month}.{0:%Y}",
    "D/M/YYYY": "{0:%d/%m/%Y}",
    "M/D/YYYY": "{0:%m/%d/%Y}",
}
# Every byte of cp1252 is a letter of cp1251 too: which of them is wrong, nobody can know.
DELIMITERS, SIGNS, ENCODINGS = ",;\t|", ".,", ["utf-8", "utf-16", "cp1252"]
COLUMNS = {"entity": "id", "period": "week", "count": "patients", "capacity": "beds", "name": "n"}


def european_panel():
    """Entity, week, count and capacity; numbers have at most two decimals, and none is a thousand.

    Three decimals may be a thousand: only a key decides.
    """
    rng = random.Random("panel")
    weeks = [datetime.date(2021, 1, 3) + datetime.timedelta(weeks=t) for t in range(12)]
    return [
        (name, week, f"{rng.randrange(1, 900) / 100:g}", f"{rng.randrange(20, 400)}.5")
        for week in weeks
        for name in IDS
    ]


def as_published(rows, form, quoting=csv.QUOTE_MINIMAL):
    """A table in a convention."""
    lines = [COLUMNS.values()]
    for name, week, *numbers in rows:
        texts = (it.replace(".", form["decimal"]) for it in numbers)
        lines.append([name, PATTERNS[form["date"]].format(week), *texts, "Klinik ü"])
    table = as_csv(lines, delimiter=form["delimiter"], quoting=quoting)
    return table.encode(form["encoding"], "replace")


def european(truth):
    rows = european_panel()

    def of_a_case(rng):
        form = {
            "delimiter": rng.choice(DELIMITERS),
            "decimal": rng.choice(SIGNS),
            "date": rng.choice(list(PATTERNS)),
            "encoding": rng.choice(ENCODINGS),
        }
        said_so, drawn = dict(form), list(rows)
        what = rng.choice(["right", "left out", "wrong", "wrong", "id", "swapped", "cells"])
        key, place = rng.choice(list(form)), rng.randrange(len(rows))
        name, week, *numbers = rows[place]
        if what == "left out":
            del said_so[key]
        elif what == "wrong":
            known = {"delimiter": DELIMITERS, "decimal": SIGNS, "date": list(PATTERNS)}
            said_so[key] = rng.choice(known.get(key, [*ENCODINGS, "gb18030"]))
        elif what == "id":
            change = rng.choice([str.upper, str.lower, str.title, _unpadded, " {} ".format])
            for number in rng.sample(range(len(rows)), rng.choice([1, 5, 40])):
                drawn[number] = change(rows[number][0]), *rows[number][1:]
        elif what == "swapped" and week.day <= 12:
            drawn[place] = name, week.replace(month=week.day, day=week.month), *numbers
        elif what == "cells":
            text = rng.choice(["NaN ", "1e", "4 5", "--1", "<5", "4.5.", "4,5,", "٣", "n/a", "+-2"])
            drawn[place] = name, week, text, numbers[1]
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        Path("table.csv").write_bytes(as_published(drawn, form, quoting))
        told = f"{what} {key}: {form}, keys {said_so}, row {place + 2} of {drawn[place]}"
        return told, lambda: _panel_is_the_same(truth, said_so, needed=what == "right")

    return of_a_case


def _unpadded(name):
    return name.lstrip("0").removesuffix(".0")


def european_cleaned(keys):
    """The numbers of the cleaned table.csv, by entity and week."""
    dataset = Dataset.model_validate(
        {
            "source": {"kind": "local", "file": "table.csv"},
            "format": keys,
            "columns": COLUMNS,
            "cleaning": {"min_total_cases": 0, "missing_markers": ["NA"]},
        }
    )
    raw = read_table("table.csv", dataset.columns.needed(), dataset.format)
    table = clean_panel(raw, dataset, {"S": Stream(groups=["all"])}).table
    return {
        (row.entity, str(row.period)[:10]): (row.count_, row.capacity, row.entity_name)
        for row in table.rename(columns={"count": "count_", "name": "entity_name"}).itertuples()
    }


def _panel_is_the_same(truth, keys, *, needed):
    try:
        panel = within(SECONDS, european_cleaned, keys)
    except (DataError, ValidationError):
        if needed:
            raise
        return False
    other = {key: it for key, it in panel.items() if truth.get(key) != it}
    assert not other, f"silently others: {list(other.items())[:3]}"
    assert len(panel) == len(truth)
    return True


@pytest.fixture
def truth(folder):
    form = {"delimiter": ",", "decimal": ".", "date": "YYYY-MM-DD", "encoding": "utf-8"}
    Path("table.csv").write_bytes(as_published(european_panel(), form))
    return european_cleaned(form)


@pytest.mark.parametrize("part", PARTS)
def test_a_table_of_another_country_is_the_same_numbers_or_refused(truth, part):
    attack("2c-clean", part, european(truth))


# ---- Configs. ------------------------------------------------------------------------------------

CONFIGS = sorted(it for it in (ROOT / "config").glob("*.yaml"))


def another_config(changed):
    def of_a_case(rng):
        config = rng.choice(CONFIGS)
        text = config.read_text(encoding="utf-8")
        must = False
        kind = rng.choice(["values", "values", "lines", "bytes"])
        if kind == "values":
            tree, what = other_values(yaml.safe_load(text), rng)
            data = as_yaml(tree)
        elif kind == "lines":
            text, what, must = other_lines(text, rng)
            data = text.encode()
        else:
            data, what = other_bytes(text.encode(), rng)
        changed.write_bytes(data)

        def test():
            code = said("config", "check", changed, answers=0)[0]
            assert code or not must, "it is read as something else than it says"
            return code == 0

        return f"{config.name}: {what}", test

    return of_a_case


@pytest.mark.parametrize("part", PARTS)
def test_a_changed_config_is_accepted_or_refused_in_words(tmp_path, monkeypatch, part):
    monkeypatch.chdir(ROOT)
    attack("2d", part, another_config(tmp_path / "changed.yaml"))


# ---- The laws fail where a check is broken. ------------------------------------------------------


def collected_as_one(log, file, accepted, today):
    """Collecting that lets one report undo all others."""
    whole = live_collect.read_report(file, log.deployment, log.sha256)
    return live_collect._take(log, whole, accepted, today)


def cut_at_commas(where, cells, deployment, known=counts._count):
    """Reading of cells that forgets what stands behind a comma."""
    return known(where, [cell.partition(",")[0] for cell in cells], deployment)


NEVER, BLANKS = re.compile("(?!)"), re.compile(r"\s*[0-9]{1,9}(\.[0-9]{0,40})?\s*")
BROKEN = {
    "octal": ("dpol.core.yaml_files._OTHER_BASE", NEVER, "2a", "something else than it says"),
    "all or none": (
        "dpol_weekly.coordinator.collect._collect",
        collected_as_one,
        "2b",
        "good report|no such",
    ),
    "blanks": (
        "dpol_weekly.coordinator.checks._CAPACITY",
        BLANKS,
        "2b",
        "that dpol privatize does not write",
    ),
    "record": ("dpol_weekly.holder.registry._NO_RECORD", (), "2e", "Error"),
    "comma": ("dpol_weekly.holder.counts._count", cut_at_commas, "2c", "silently another number"),
    "ids": ("dpol.data.cleaning.refuse_alike", lambda *_: None, "2c-clean", "silently others"),
    "swapped": ("dpol.data.cleaning.refuse_swapped", lambda *_: None, "2c-clean", "silently"),
    "key twice": ("dpol.core.yaml_files._UniqueKeys", yaml.SafeLoader, "2d", "than it says"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_check_is_noticed(what, request, tmp_path, monkeypatch):
    place, broken, campaign, message = BROKEN[what]
    of_a_case = {
        "2a": lambda: request.getfixturevalue("agreement") or another_agreement,
        "2b": lambda: another_report(request.getfixturevalue("reports")),
        "2c": lambda: request.getfixturevalue("holder") or another_table,
        "2c-clean": lambda: european(request.getfixturevalue("truth")),
        "2d": lambda: another_config(tmp_path / "changed.yaml"),
        "2e": lambda: another_record(request.getfixturevalue("reports"), {}),
    }[campaign]()
    if campaign == "2d":
        monkeypatch.chdir(ROOT)
    monkeypatch.setattr(place, broken)
    told = failures(campaign, range(200), of_a_case, Tally())
    assert any(re.search(message, it) for it in told)


def test_a_case_that_hangs_is_noticed():
    with pytest.raises(TooSlow):
        within(0.05, time.sleep, 2)
    assert within(1, len, "abc") == 3
