"""`dpol privatize`: never a traceback, never half an output, always one line that says what to do.

Noise here is secure, so outputs differ in every run; what is tested does not depend on it.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder import text as release_text
from releases import COLUMNS, own_file, run

HEADER = ["hospital", "week", "covid", "beds"]
ONE = b"hospital,week,covid,beds\nA,2021-01-08,7.5,20\n"
NAMES = ["A", "050002", "x.y", "the_A", "Lodz", "1-1"]
# Every day begins a period.
MADE = {
    "name": "d",
    "periods": {"first": "1900-01-01", "days": 1},
    "entities": {name: {} for name in NAMES},
    "mu": 0.5,
    "budget_mu": 100,
    "affirmed": True,
}
FILE = json.dumps(MADE)
OPTIONS = ["--agree", Deployment.model_validate(MADE).sha256(), "--begin-after", "1899-12-31"]


def run_on(table: bytes, *more, **own):
    """The result of `privatize` on a table, and the files that it left."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("counts.csv").write_bytes(table)
        Path("d.yaml").write_text(FILE)
        own_file(columns=COLUMNS, entities=NAMES, **own)
        result = run("privatize", *OPTIONS, *more)
        assert Path("counts.csv").read_bytes() == table
        left = {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}
        for name in ("counts.csv", "d.yaml", "hospital.yaml"):
            del left[name]
        return result, left


def refused(result, left, wanted=1):
    """True if the input was refused as it has to be; with exit code 2 it cannot be read."""
    code, out, err = result
    return (code, out, left) == (wanted, "", {}) and re.fullmatch(r"error: .+\n", err)


def released(result, left, rows):
    """True if `rows` rows were released completely."""
    code, out, err = result
    ledger, key, file = sorted(left)
    warned = err == "" or err.startswith("Some count is above its capacity")
    assert (code, warned, ledger, key) == (0, True, "dpol-ledger.sqlite", "dpol.key")
    record = json.loads(left[file])
    assert all(math.isfinite(float(row[2])) for row in record["rows"])
    assert len(record["rows"]) == rows
    return f"{file}: {rows} row" in out


def as_csv(rows, encoding="utf-8"):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(encoding, "replace")


# ---- generated tables ----------------------------------------------------------------------------

names = st.sampled_from(NAMES[:6])
dates = st.dates(datetime.date(1900, 1, 1), datetime.date(2025, 12, 31)).map(str) | st.just(
    "2021-01-01T00:00:00.000"
)
counts = st.sampled_from(["0", "3.4", "22.9", "3.2857142857142856", "999999999", "007."])
beds = st.sampled_from(["95.0", "12", "0.5", "999999999"])


@st.composite
def good_rows(draw):
    """Header and rows of a table that has to be accepted."""
    # A week given twice, once with a time of day, is one week.
    keys = draw(
        st.lists(
            st.tuples(names, dates), min_size=1, max_size=6, unique_by=lambda k: (k[0], k[1][:10])
        )
    )
    return [HEADER, *([*key, draw(counts), draw(beds)] for key in keys)]


NASTY = ["", "NA", "nan", "inf", "-inf", "1e400", "-1", "-999999", "1e5", "9" * 400, "0x10", "１２"]


PIECES = [
    *(*HEADER, *NASTY, ",".join(HEADER) + "\n", "A,2021-01-01,1,1\n", "2021-01-01", "A", "12.5"),
    *(",", ",", ",", "\n", "\n", "\r\n", "\r", '"', ";", "\t", "\x00", "\ufeff", "é", "\u2028"),
]
garbage = st.builds(
    lambda parts, encoding: "".join(parts).encode(encoding, "replace"),
    st.lists(st.sampled_from(PIECES), max_size=30),
    st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)


@settings(max_examples=20)
@given(good_rows(), st.sampled_from(["utf-8", "utf-8-sig"]), st.booleans())
def test_every_good_table_is_released_completely(rows, encoding, blank_lines):
    table = as_csv(rows, encoding)
    table = table.replace(b"\n", b"\r\n\r\n") if blank_lines else table
    assert released(*run_on(table), rows=len(rows) - 1)


@settings(max_examples=60)
@given(garbage | st.binary(max_size=300))
@example((",".join(HEADER) + "\n" + "A,2021-01-01,1,1\n" * 2).encode())
def test_garbage_is_refused_in_one_line(table):
    """Input is refused, or released completely where the pieces happen to make up a table."""
    result, left = run_on(table)
    if result[0] == 0:
        lines = [line for line in csv.reader(io.StringIO(table.decode("utf-8-sig"))) if line]
        assert released(result, left, rows=len(lines) - 1)
    else:
        assert refused(result, left)


def test_raw_counts_are_shown_nowhere():
    rows = [["A", "2021-01-01", "86420.97531", "5"], ["A", "2021-01-08", "0", "5"]]
    result, left = run_on(as_csv([HEADER, *rows]))
    assert "Some count is above its capacity" in result[2]
    assert released(result, left, rows=2)
    bad = run_on(as_csv([HEADER, *rows, ["A", "2021-01-15", "86420.97531x", "5"]]))
    assert refused(*bad)
    files = (data.decode("latin-1") for data in left.values())
    shown = "".join([*result[1:], *bad[0][1:], *files])
    assert "86420.97531" not in shown


# ---- arguments -----------------------------------------------------------------------------------


def test_without_opendp_nothing_is_written_and_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    result, left = run_on(ONE)
    assert refused(result, left)
    assert "install dpol-weekly again" in result[2]


# ---- Ctrl-C and imports --------------------------------------------------------------------------


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "name", "said", "rows"),
    [
        (release_module, "read_counts", "nothing was released", 0),
        (release_module, "check_nearby", "nothing was released", 0),
        (release_module, "hashes_of", "nothing was released", 0),
        (release_module, "add_rows", "nothing was released", 0),
        (release_module, "mu_of_stay", "the rows are released, and any further run writes", 1),
        (release_text, "describe", "the rows are released and written to noisy/d-2021-01-08", 1),
    ],
)
def test_ctrl_c_ends_in_one_line_that_says_what_is_released(monkeypatch, module, name, said, rows):
    with monkeypatch.context() as patched:
        patched.setattr(module, name, stop)
        (code, out, err), left = run_on(ONE)
    assert (code, "released for" in out) == (130, False)
    assert err.startswith(f"\nstopped: {said}")
    assert err.count("\n") == 2
    assert (b"2021-01-08" in left.get("dpol-ledger.sqlite", b"")) == bool(rows)


LARGE = {"pandas", "pyarrow", "matplotlib", "dp_accounting", "scipy.stats"}


@pytest.mark.parametrize(
    ("code", "others"),
    [
        ("import dpol.cli", {"numpy", "scipy", "yaml"}),  # before Ctrl-C is caught
        ("main(['--help'])", {"numpy", "scipy", "yaml", "pydantic"}),
        ("main(['account', '--mu', '0.5'])", {"yaml", "pydantic"}),
        ("main(['account', '--epsilon', '1'])", {"yaml", "pydantic"}),
        ("import dpol_weekly.commands, dpol_weekly.holder.history", {"snakemake"}),
        ("import dpol_weekly.holder.text", {"snakemake"}),
    ],
)
def test_what_answers_at_once_imports_nothing_large(code, others):
    """dp_accounting alone takes a second, which the event of a record must not cost."""
    code = f"""import sys
from dpol.cli import main
try:
    {code}
finally:
    print("imported", {LARGE | others} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported set()"
