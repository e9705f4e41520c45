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
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder import release as release_module
from dpol_weekly.holder import text as release_text
from releases import run

FILES = {"noisy.csv", "noisy.csv.guarantee.json", "dpol-ledger.sqlite"}
HEADER = ["hospital", "week", "covid", "beds"]
ONE = b"hospital,week,covid,beds\nA,2021-01-08,7.5,20\n"
OPTIONS = ["--output", "noisy.csv", "--deployment", "d.yaml"]
NAMES = ["A", "050002", "x,y", 'the "A"', "Łódź", "1-1"]
# Every day begins a period.
MADE = {
    "name": "d",
    "periods": {"first": "1900-01-01", "days": 1},
    "columns": {"entity": "hospital", "period": "week", "count": "covid", "capacity": "beds"},
    "entities": {name: {} for name in NAMES},
    "mu": 0.5,
    "budget_mu": 100,
    "disjoint": True,
}
FILE = json.dumps(MADE)
OPTIONS += ["--agree", Deployment.model_validate(MADE).sha256()]


def run_on(table: bytes, *more):
    """The result of `privatize` on a table, and the files that it left."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("counts.csv").write_bytes(table)
        Path("d.yaml").write_text(FILE)
        result = run("privatize", "counts.csv", *OPTIONS, *more)
        assert Path("counts.csv").read_bytes() == table
        left = {path.name: path.read_bytes() for path in Path().iterdir()}
        del left["counts.csv"], left["d.yaml"]
        return result, left


def refused(result, left):
    """True if the input was refused as it has to be."""
    code, out, err = result
    return (code, out, left) == (2, "", {}) and re.fullmatch(r"error: .+\n", err)


def released(result, left, rows):
    """True if `rows` rows were released completely."""
    code, out, err = result
    assert (code, err, set(left)) == (0, "", FILES)
    table = list(csv.DictReader(io.StringIO(left["noisy.csv"].decode(), newline="")))
    assert [None in row.values() for row in table] == [False] * rows
    assert all(math.isfinite(float(row["noisy_count"])) for row in table)
    record = json.loads(left["noisy.csv.guarantee.json"])
    assert (record["mu"], record["sampler"], record["rows"]) == (0.5, "secure", rows)
    return f"noisy.csv: {rows} row" in out


def as_csv(rows, encoding="utf-8"):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(encoding, "replace")


# ---- generated tables ----------------------------------------------------------------------------

# Long gaps and small capacities are asked about; here they are meant.
MEANT = ["--gap", "--over-capacity"]
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
WRONG = {
    0: ["", " ", "\x00", "a\nb", "\t\x07", "\u2028", "\ud7ff\ufffe", "=1+1", "-1", "＠x"],
    1: [
        *("", "2021-02-30", "01/02/2021", "20210101", "yesterday", "10000-01-01", "2021-1-1"),
        *("2021-01-01Tx", "2021-01-01T00:00:00Z", "1899-12-31"),
    ],
    2: NASTY,
    3: [*NASTY, "0", "0.00"],
}


@st.composite
def bad_tables(draw):
    """A good table with one fault."""
    rows = draw(good_rows())
    row, column = draw(st.integers(1, len(rows) - 1)), draw(st.integers(0, 3))
    fault = draw(st.sampled_from(["cell", "cell", "cell", "ragged", "column", "twice", "bytes"]))
    if fault == "bytes":
        table = as_csv(rows)
        broken = [
            *(as_csv(rows, "utf-16"), as_csv(rows, "utf-32"), table + b'"A,2021-01-01,1,1\n'),
            *(table + "é,2021-01-01,1,1\n".encode("latin-1"), table.split(b"\n")[0], b""),
        ]
        return draw(st.sampled_from(broken))
    if fault == "cell":
        rows[row][column] = draw(st.sampled_from(WRONG[column]))
    elif fault == "ragged":
        wrong = [rows[row][:-1], [*rows[row], ""], [*rows[row]] * 2, ["x"]]
        rows[row] = draw(st.sampled_from(wrong))
    elif fault == "column":
        others = [name for name in HEADER if name != HEADER[column]]
        rows[0] = list(HEADER)
        rows[0][column] = draw(st.sampled_from([*others, "", "Week", " covid", "\ufeffbeds"]))
    else:
        rows.append([*rows[row][:2], "1", "1"])
    return as_csv(rows)


PIECES = [
    *(*HEADER, *NASTY, ",".join(HEADER) + "\n", "A,2021-01-01,1,1\n", "2021-01-01", "A", "12.5"),
    *(",", ",", ",", "\n", "\n", "\r\n", "\r", '"', ";", "\t", "\x00", "\ufeff", "é", "\u2028"),
]
garbage = st.builds(
    lambda parts, encoding: "".join(parts).encode(encoding, "replace"),
    st.lists(st.sampled_from(PIECES), max_size=30),
    st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)


@settings(max_examples=100)
@given(good_rows(), st.sampled_from(["utf-8", "utf-8-sig"]), st.booleans())
def test_every_good_table_is_released_completely(rows, encoding, blank_lines):
    table = as_csv(rows, encoding)
    table = table.replace(b"\n", b"\r\n\r\n") if blank_lines else table
    assert released(*run_on(table, *MEANT), rows=len(rows) - 1)


@settings(max_examples=300)
@given(bad_tables())
def test_every_table_with_a_fault_is_refused_in_one_line(table):
    assert refused(*run_on(table, *MEANT))


@settings(max_examples=250)
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


@settings(max_examples=60)
@given(bad_tables(), good_rows())
def test_a_fault_leaves_an_earlier_release_as_it_was(table, rows):
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("d.yaml").write_text(FILE)
        Path("good.csv").write_bytes(as_csv(rows))
        assert run("privatize", "good.csv", *OPTIONS, *MEANT)[0] == 0
        Path("bad.csv").write_bytes(table)
        before = {path: path.read_bytes() for path in Path().iterdir()}
        assert refused(run("privatize", "bad.csv", *OPTIONS, *MEANT), {})
        assert {path: path.read_bytes() for path in Path().iterdir()} == before


def test_raw_counts_are_shown_nowhere():
    rows = [["A", "2021-01-01", "86420.97531", "5"], ["A", "2021-01-08", "0", "5"]]
    result, left = run_on(as_csv([HEADER, *rows]), "--over-capacity")
    assert released(result, left, rows=2)
    bad = run_on(as_csv([HEADER, *rows, ["A", "2021-01-15", "86420.97531x", "5"]]))
    assert refused(*bad)
    asked = run_on(as_csv([HEADER, *rows]))
    assert refused(*asked)
    files = (data.decode("latin-1") for data in left.values())
    shown = "".join([*result[1:], *bad[0][1:], *asked[0][1:], *files])
    assert "86420.97531" not in shown


# ---- arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--agree", ""], "argument --agree: must not be empty; see dpol privatize --help"),
        (["--agree-sensitivity", "much"], "argument --agree-sensitivity: must be a number"),
        (["--correct", "2024-1-7"], "must be a date such as 2021-01-31"),
        (["--ledger", "."], "is a folder; choose another file with --ledger"),
        (["--app"], "unrecognized arguments: --app; see dpol --help"),
        (["more\nfiles"], "unrecognized arguments: more?files"),
        (["--output", "n" * 300 + ".csv"], "too long"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(more, message):
    result, left = run_on(ONE, *more)
    assert refused(result, left)
    assert message in result[2]


@pytest.mark.parametrize("arguments", [[], ["privatize"], ["privatize", "x.csv"], ["private"]])
def test_missing_arguments_are_refused_in_one_line(arguments):
    assert refused(run(*arguments), {})


@pytest.mark.parametrize(
    ("table", "why"),
    [("none.csv", "No such file or directory"), (".", "Is a dir"), ("n" * 300, "File name too")],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_line(tmp_path, monkeypatch, table, why):
    monkeypatch.chdir(tmp_path)
    Path("d.yaml").write_text(FILE)
    result = run("privatize", table, *OPTIONS)
    assert refused(result, {path.name: b"" for path in tmp_path.iterdir() if path.name != "d.yaml"})
    assert f"cannot be read ({why}" in result[2]


def test_without_opendp_nothing_is_written_and_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp", None)
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    result, left = run_on(ONE)
    assert refused(result, left)
    assert "make secure" in result[2]


# ---- as a process --------------------------------------------------------------------------------

COMMAND = [sys.executable, "-c", "import sys; from dpol.cli import main; sys.exit(main())"]


def test_weekly_use_as_a_process(tmp_path):
    """A week is released; a second time it is known, and another output is refused."""
    (tmp_path / "week.csv").write_bytes(ONE)
    (tmp_path / "d.yaml").write_text(FILE)

    def week(*more):
        command = [*COMMAND, "privatize", "week.csv", *OPTIONS, *more]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    code, out, err = week()
    assert (code, err) == (0, "")
    assert "noisy.csv: 1 row released for 2021-01-08, mu = 0.5 each" in out
    assert "noisy.csv: 0 rows released; 1 row skipped" in week()[1]
    twice = week("--output", "second.csv")
    assert refused(twice, {})
    assert "was released for the deployment d in another output" in twice[2]
    with (tmp_path / "noisy.csv").open() as stream:
        assert [row["week"] for row in csv.DictReader(stream)] == ["2021-01-08"]


def stop(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("module", "name", "said", "rows"),
    [
        (release_module, "read_counts", "nothing was released", 0),
        (release_module, "check_newest", "nothing was released", 0),
        (release_module, "draw", "nothing was released", 0),
        (release_module, "add_rows", "nothing was released", 0),
        (release_module, "write_views", "the rows are released, and any further run with this", 1),
        (release_text, "describe", "the rows are released and written to noisy.csv", 1),
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


def test_ctrl_c_ends_a_process_in_one_line(tmp_path):
    """While it waits for its table, which is a pipe; nothing is left."""
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "d.yaml").write_text(FILE)
    command = [*COMMAND, "privatize", "pipe.csv", *OPTIONS]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests run in the background of a shell, Ctrl-C would be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        with (tmp_path / "pipe.csv").open("w"):
            time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130
        assert process.stderr.read() == "\nstopped: nothing was released\n"
    assert {path.name for path in tmp_path.iterdir()} == {"pipe.csv", "d.yaml"}


def test_nothing_large_is_imported_before_ctrl_c_is_caught():
    code = "import sys; import dpol.cli; print({'numpy', 'scipy', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        (["--help"], {"numpy", "scipy", "yaml"}),
        (["account", "--mu", "0.5"], {"yaml", "pydantic_core"}),
        (["account", "--epsilon", "1"], {"yaml", "pydantic_core"}),
    ],
)
def test_what_answers_at_once_imports_nothing_large(arguments, others):
    large = {"pandas", "pyarrow", "matplotlib", "pydantic", "dp_accounting", "scipy.stats"}
    code = f"""import sys
from dpol.cli import main
try:
    main({arguments})
finally:
    print("imported", {large | others} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "imported set()"


def test_a_release_needs_no_library_of_the_pipeline():
    """Nor dp_accounting, whose import takes a second, which the record's event must not cost."""
    large = {"dp_accounting", "pandas", "pyarrow", "matplotlib", "snakemake", "scipy.stats"}
    code = f"""import sys
import dpol_weekly.commands, dpol_weekly.holder.history, dpol_weekly.holder.registry
import dpol_weekly.holder.text
print({large} & set(sys.modules))"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_one_bad_row_among_many_is_found():
    names = ["A", "050002", "Łódź", "1-1"]
    rows = (
        f"{names[i % 4]},{datetime.date.fromordinal(700_000 + i // 4)},3.4,12" for i in range(10**5)
    )
    table = ",".join(HEADER) + "\n" + "\n".join(rows) + "\n"
    result, left = run_on(table.encode() + b"A,2021-01-01,-1,12\n")
    assert refused(result, left)
    assert "counts.csv, line 100002: column covid must hold a number" in result[2]
