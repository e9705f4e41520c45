"""Files that were changed at random: refused in words, or read as what they say; never a traceback.

A case is a file with one random fault, given to the command in this process.
"""

from __future__ import annotations

import csv
import datetime
import io
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from attacks.mutations import (
    TooSlow,
    as_yaml,
    other_bytes,
    other_lines,
    other_values,
    within,
)
from dpol.core.errors import DpolError
from dpol.data import parse
from dpol_weekly import sampler
from dpol_weekly.commands.deployment import TEMPLATE
from dpol_weekly.deployment import read_deployment
from releases import ask, newest, output, own_file, run

SECONDS = 5
AGREED, RAW = Path("agreed.yaml"), Path("raw.csv")
FIRST = datetime.date(2024, 1, 7)
# The raw counts, each in digits that stand nowhere else.
COUNTS = {
    "north": ("7.531971", "8.642082", "9.753193"),
    "east": ("3.197531", "4.208642", "5.319753"),
    "south": ("6.420864", "2.086426", "1.975319"),
}
BEDS = {"north": "20", "east": "15", "south": "12.5"}
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


class NoNoise:
    """A sampler whose noise is 0, so that every number can be compared."""

    def discrete_gaussian(self, scale, size):
        return [0] * size


@pytest.fixture(autouse=True)
def released(folder, monkeypatch):
    """One week is released, without noise."""
    monkeypatch.setattr(sampler, "SecureNoise", NoNoise)
    AGREED.write_bytes(as_yaml(KEYS))
    Path("holder").mkdir()
    RAW.write_text(as_csv(raw_rows(1)))
    assert privatize(Path("holder")) == 0
    shutil.copytree("holder", "before")
    RAW.write_text(as_csv(raw_rows(3)))


def day(number):
    return (FIRST + datetime.timedelta(days=7 * number)).isoformat()


def raw_rows(weeks):
    rows = [[name, day(t), COUNTS[name][t], BEDS[name]] for t in range(weeks) for name in COUNTS]
    return [["entity", "period", "count", "capacity"], *rows]


def as_csv(rows, **dialect):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **dialect).writerows(rows)
    return text.getvalue()


def said(*arguments, answers=1):
    """The exit code of a command that ends as every command has to.

    Args:
        arguments: of the command.
        answers: 0: several lines may say what is wrong.
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


def privatize(folder, deployment=AGREED, answers=1):
    """The exit code of a release under an agreement that is confirmed, if it can be read."""
    try:
        sha256 = within(SECONDS, read_deployment, deployment).sha256()
    except DpolError:
        sha256 = "0" * 64
    own = own_file(
        folder / "own.yaml",
        deployment=Path(deployment).absolute(),
        table=RAW.absolute(),
        entities=list(COUNTS),
        columns={"entity": "entity", "capacity": "capacity"},
        output=".",
    )
    begin = () if (folder / "dpol-ledger.sqlite").exists() else ("--begin-after", "2023-12-31")
    return said("privatize", own, "--agree", sha256, *begin, answers=answers)


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


# ---- The file of a deployment. -------------------------------------------------------------------


def deployment(rng):
    text = as_yaml(KEYS).decode()
    kind, must = rng.choice(["values", "lines", "lines", "bytes"]), False
    if kind == "lines":
        text, what, must = other_lines(text, rng)
        data = text.encode()
    elif kind == "bytes":
        data, what = other_bytes(text.encode(), rng)
    else:
        tree, what = other_values(yaml.safe_load(text), rng)
        try:
            data = as_yaml(tree)
        except yaml.YAMLError:
            data, what = text.encode(), "nothing"
    Path("changed.yaml").write_bytes(data)
    return what, lambda: _agreement_is_kept_or_refused(must)


def _agreement_is_kept_or_refused(must):
    changed, folder = Path("changed.yaml"), Path("new")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        good = bool(within(SECONDS, read_deployment, changed))
    except DpolError:
        good = False
    code = privatize(folder, changed, answers=int(good))
    assert (code == 0) == bool(list(folder.glob("*.json")))
    assert good or code == 1
    assert not (must and good), "it is read as something else than it says"
    return good


# ---- A holder's table. ---------------------------------------------------------------------------

DATES = ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y%m%d", "%G-W%V", "%Y-%m-%dT00:00", "%Y-%d-%m"]
BLANKS = [" {}", "{} ", "\u00a0{}", "{}\n", "\t{}"]
ENDS = [b"\r\n", b"\r", b"\n\n", b"\r\r\n"]


def table(rng):
    """A table of counts in another convention; none of its numbers is another number."""
    header, *rows = raw_rows(3)
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
    encoding, end = rng.choice(["utf-8-sig", "utf-16", "cp1252"]), rng.choice(ENDS)
    of_bytes = {
        "encoding": lambda data: data.decode().encode(encoding),
        "ends": lambda data: data.replace(b"\n", end),
        "bytes": lambda data: rng.choice([data + b"\x00", data[:-1], b"\n" + data, data + b"\x1a"]),
    }
    what = rng.choice([*of_cells, *of_cells, *of_tables, *of_bytes])
    if what in of_cells:
        column, other = of_cells[what]
        for row in rows if rng.random() < 0.5 else [rows[place]]:
            row[column] = other(row[column])
    whole, dialect = of_tables.get(what, ([header, *rows], {}))
    RAW.write_bytes(of_bytes.get(what, bytes)(as_csv(whole, **dialect).encode()))
    return what, _counts_are_those_of_the_table


def held(folder):
    """The releases in a folder, and the rows of its ledger."""
    files = {file.name: file.read_bytes() for file in folder.glob("*.json")}
    return files, ask("SELECT * FROM release ORDER BY number", folder / "dpol-ledger.sqlite")


def _counts_are_those_of_the_table():
    holder = Path("holder")
    shutil.rmtree(holder)
    shutil.copytree("before", holder)
    before = held(holder)
    if privatize(holder):
        assert held(holder) == before, "a refused table left something"
        return False
    rows = output(newest(holder))
    for row in rows:
        count = dict(zip(map(day, range(3)), COUNTS[row["entity"]], strict=True))[row["period"]]
        assert float(row["noisy_count"]) == float(count), f"{row} is silently another number"
        assert row["capacity"] == BEDS[row["entity"]]
    keys = [(row["entity"], row["period"]) for row in rows]
    assert len(keys) == len({*keys}), "a period is released twice"
    return True


# ---- The laws, and that they fail where a check is broken. ---------------------------------------


@pytest.mark.parametrize("campaign", [deployment, table])
def test_a_changed_file_is_refused_or_read_as_what_it_says(campaign):
    """Good files and bad ones are among them: otherwise all might be refused."""
    accepted = Counter()
    wrong = list(failures(campaign.__name__, range(20), campaign, accepted))
    assert not wrong, "\n".join([f"{len(wrong)} cases, such as", *wrong[:9]])
    assert accepted[True]
    assert accepted[False]


def cut_at_commas(text, form, known=parse.parse_decimal):
    """Reading of cells that forgets what stands behind a comma."""
    return known(text.partition(",")[0], form)


@pytest.mark.parametrize(
    ("below", "name", "broken", "campaign", "message"),
    [
        ("dpol_weekly.holder", "parse_decimal", cut_at_commas, table, "silently another number"),
        ("dpol.core", "_UniqueKeys", yaml.SafeLoader, deployment, "something else than it says"),
    ],
)
def test_a_broken_check_is_noticed(below, name, broken, campaign, message, monkeypatch):
    modules = [it for at, it in sys.modules.items() if f"{at}.".startswith(f"{below}.")]
    having = [module for module in modules if hasattr(module, name)]
    assert having
    for module in having:
        monkeypatch.setattr(module, name, broken)
    told = failures(f"{campaign.__name__}/x", range(80), campaign, Counter())
    assert any(message in it for it in told)
