"""Refusals of every command: one line that names the remedy, the exit code, and no traceback.

Mistakes in a deployment's file are reported in a line each, between a head and a foot.
"""

from __future__ import annotations

import contextlib
import io
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from dpol.cli import main
from dpol_weekly.deployment import read_deployment
from releases import run

FILE = "d.yaml"
NEW = "deployment new --name v --first 2024-01-07 --entities n:120,s:300,e --mu 0.5 --disjoint"
PLAIN = "privatize c.csv --output p.csv --mu 1 --entity entity --period period --count count"
AGREED = "privatize c.csv --output q.csv --deployment"


@pytest.fixture(scope="module", autouse=True)
def weekly(tmp_path_factory):
    """A folder with a first week, and files that are not what they should be."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("weekly"))
        rows = "n,2024-01-07,31,120\ns,2024-01-07,36,300\ne,2024-01-07,3,30\n"
        Path("c.csv").write_text(f"entity,period,count,capacity\n{rows}")
        Path("folder").mkdir()
        Path("empty").write_text("")
        Path("latin.yaml").write_bytes(b"name: M\xfcnchen\n")
        Path("list.json").write_text("[1]")
        Path("cut.json").write_text('{"name": "v"')
        Path("twice.yaml").write_text("name: a\nname: b\n")
        Path("damaged").mkdir()
        Path("damaged/log.sqlite").write_text("no database, and long enough to be looked at")
        assert run(*NEW.split(), "--output", FILE)[0] == 0
        given = Path(FILE).read_text()
        Path("central.yaml").write_text(given.replace("empirical-bayes", "l2p"))
        Path("beds.yaml").write_text(given.replace("capacity: 120", "capacity: -1"))
        agreed = "--deployment", "d.yaml", "--agree", read_deployment("d.yaml").sha256()
        assert run("privatize", "c.csv", "--output", "o.csv", *agreed)[0] == 0
        assert run(*["collect", "o.csv", "--into", "state", "--deployment", "d.yaml"])[0] == 0
        yield


ONE_LINE = [
    (2, "privatize c.csv --output p.csv --mu 1", "without --deployment: --entity, --period, --cou"),
    (2, f"{PLAIN} --capacity ''", "argument --capacity: must not be empty"),
    (2, f"{PLAIN} --capacity nope", "no column named nope"),
    (2, f"{PLAIN} --capacity count --count count", "must be different columns"),
    (2, f"{PLAIN} --mu nan", "mu must be a number from 0.001 to 100"),
    (2, f"{PLAIN} --mu 1e99999999999", "mu must be a number from 0.001 to 100"),
    (2, f"{PLAIN} --count-sensitivity -1", "the count sensitivity must be a number"),
    (2, f"{PLAIN} --memory designed", "give its column with --capacity"),
    (2, f"{PLAIN} --unit-weeks 1e400", "must be a whole number from 1 to 52"),
    (2, f"{PLAIN} --output ''", "argument --output: must not be empty"),
    (2, f"{PLAIN} --output o.txt", "choose a name that ends in .csv"),
    (2, f"{PLAIN} --ledger folder", "is a folder; choose another file with --ledger"),
    (2, "privatize folder --output p.csv --deployment d.yaml", "cannot be read (Is a directory)"),
    (2, "privatize empty --output p.csv --deployment d.yaml", "is empty; give a CSV table"),
    (2, f"{AGREED} nope.yaml", "cannot be read (No such file or directory); check the path"),
    (2, f"{AGREED} folder", "cannot be read (Is a directory); check the path"),
    (2, f"{AGREED} empty", "`dpol deployment new` writes a whole file"),
    (2, f"{AGREED} list.json", "`dpol deployment new` writes a whole file"),
    (2, f"{AGREED} latin.yaml", "not UTF-8 text; save it in UTF-8"),
    (2, f"{AGREED} d.yaml --entity-id N", "has no entity 'N'; "),
    (2, f"{AGREED} d.yaml --agree 12345678", "--agree 12345678: is not the hash of the agreement"),
    (2, f"{AGREED} d.yaml --agree-sensitivity 0.5", "the count sensitivity is 1; confirm that"),
    (2, f"{PLAIN} --agree 12345678", "--agree and --continue-from need a deployment"),
    (2, f"{AGREED} d.yaml --correct 2024-1-7", "must be a date such as 2021-01-31"),
    (2, "history --ledger c.csv", "is not a ledger of dpol; choose another file"),
    (2, "history --ledger folder", "is a folder; choose another file"),
    (2, "history --ledger empty", "there is no ledger; name it with --ledger"),
    (2, "registry nope", "cannot be read (No such file or directory); check the path"),
    (2, "registry list.json", "give the .csv.guarantee.json of dpol privatize"),
    (2, "registry o.csv.guarantee.json --output folder", "choose another file with --output"),
    (1, "collect o.csv --into c.csv --deployment d.yaml", "choose another folder"),
    (1, "collect o.csv --into new", "name the deployment's file with --deployment"),
    (1, "collect o.csv --into new --deployment nope", "check the path"),
    (2, "collect '' --into state", "argument REPORT: must not be empty"),
    (1, "decide nope", "make one with dpol collect --into nope"),
    (1, "decide damaged", "put its last backup back"),
    (2, "decide state --period 2024-13-01", "must be a date such as 2021-01-31"),
    (1, "decide state --period 2024-01-08", "every 7 days from 2024-01-07 on"),
    (1, "decide state --period 2024-03-10", "is 9 periods after the last report, of 2024-01-07"),
    (1, "decide state --period 9999-12-26", "or give --period 2024-03-03 at most"),
    (1, "decide state --period 2024-01-07", "nothing was reported before 2024-01-07"),
    (1, "decide state --check --period 2024-02-04", "there is no such decision"),
    (1, "export state --to x.txt", "must end in .csv or .parquet"),
    (1, "export nope --to x.csv", "there is no log yet"),
    (1, "deployment cost nope", "check the path"),
    (2, "deployment new --name v", "required: --entities, --first, --mu"),
    (2, f"{NEW} --mu much", "argument --mu: must be a number"),
    (2, f"{NEW} --since n", "must be two texts as in 050002=North"),
    (1, f"{NEW} --since north=2024-01-14", "--entities names no 'north'"),
    (1, f"{NEW} --title n=x --title n=y", "--title: n is there twice"),
    (1, f"{NEW} --entities n:x,s", "write them as in 050002:18"),
    (1, f"{NEW} --entities ,", "'' is there twice"),
    (1, f"{NEW} --algorithm {{", "write a name or {algorithm: NAME}"),
    (1, f"{NEW} --output d.yaml", "exists already; choose another file"),
]


@pytest.mark.parametrize(("code", "command", "message"), ONE_LINE)
def test_a_mistake_is_told_in_one_line(code, command, message):
    before = sorted(Path().rglob("*"))
    found, out, err = run(*[it.strip("'") for it in command.split()])
    assert (found, out, err.count("\n"), err[:7]) == (code, "", 1, "error: ")
    assert message in err
    assert sorted(Path().rglob("*")) == before


SETTINGS = [
    (2, f"{AGREED} central.yaml", "algorithm = 'l2p': l2p needs raw counts"),
    (1, "deployment cost central.yaml", "these can decide: rw-ftpl, rw-meta, persistence, empir"),
    (
        2,
        f"{AGREED} beds.yaml",
        "entities.n.capacity = -1.0: must be a number from 0.001 to 999999999",
    ),
    (2, f"{AGREED} cut.json", "is not YAML: line 1"),
    (2, f"{AGREED} twice.yaml", "is not YAML: line 2: key name is given twice"),
    (1, f"{NEW} --entities n:nan,s", "entities.n.capacity = nan: must be a number from 0.001"),
    (1, f"{NEW} --entities n:1e-320,s", "entities.n.capacity = 1e-320: must be a number from"),
    (1, f"{NEW} --entities n:1e9,s", "entities.n.capacity = 1000000000.0: must be a number"),
    (1, NEW.removesuffix(" --disjoint"), "disjoint: must be true: no person is counted by two"),
    (1, f"{NEW} --entities n,N", "entities.N = 'N': differs from 'n' in its spelling only"),
    (1, f"{NEW} --mu nan", "mu = nan: must be less than or equal to 100"),
    (1, f"{NEW} --days 7.5", "periods.days = 7.5: must be a whole number"),
    (1, f"{NEW} --days -1", "periods.days = -1.0: must be"),
    (1, f"{NEW} --since n=yesterday", "entities.n.since = 'yesterday': must be a date"),
    (1, f"{NEW} --first 9999-01-01", "periods.first = '9999-01-01': must be less"),
    (1, f"{NEW} --column cuont=x", "columns.cuont = 'x': unknown key; did you mean count?"),
    (1, f"{NEW} --column count=entity", "columns: entity, period, count and capacity must be diff"),
    (1, f"{NEW} --count-sensitivity 0.12345678", "count_sensitivity: the count sensitivity must"),
    (1, f"{NEW} --unit-weeks 9", "longest_stay = 8: must be at least unit_weeks (9)"),
    (1, f"{NEW} --budget-mu 1.414", "must be at least 1.415: 8 periods of two entities"),
    (1, f"{NEW} --algorithm ridge", "algorithm = 'ridge': stands for 12"),
    (
        1,
        f"{NEW} --algorithm kalmn",
        "algorithm = 'kalmn': is not an algorithm; did you mean kalman?",
    ),
    (1, f"{NEW} --memory designed --algorithm rw-meta", "takes noise as independent"),
]


@pytest.mark.parametrize(("code", "command", "message"), SETTINGS)
def test_a_mistake_in_settings_names_its_key(code, command, message):
    before = sorted(Path().rglob("*"))
    found, out, err = run(*command.split())
    assert (found, out, err[:7]) == (code, "", "error: ")
    assert message in err
    assert "constrained" not in err
    assert sorted(Path().rglob("*")) == before


def test_all_mistakes_of_settings_are_told_at_once():
    err = run(*NEW.split(), "--budget-mu", "1", "--algorithm", "l2p", "--names", "3")[2]
    assert err.startswith("error: the options: 3 problems\n")


def test_a_report_that_cannot_be_read_is_told_and_the_rest_taken():
    code, out, err = run("collect", "nope.csv", ".", "o.csv", "--into", "state")
    assert (code, out) == (1, "o.csv: 0 new, 3 known\n")
    assert err.splitlines() == [
        "nope.csv: is not there, or is not a file; check the path",
        ".: is not there, or is not a file; check the path",
        "error: refused: 2, see above; collected: 0 new, 3 known",
    ]


def test_a_decision_over_a_gap_is_within_reach_of_the_filters():
    """Eight periods after the last report are the most."""
    assert run("decide", "state", "--period", "2024-03-03")[0] == 0


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("config copy shelters", "shelters.yaml"),
        ("collect o.csv --into limited --deployment d.yaml", "limited/deployment.yaml"),
    ],
)
def test_a_file_that_may_not_become_so_large_is_named(command, place):
    """The system lets a process write 600 bytes to a file."""
    done = subprocess.run(
        [sys.executable, "-m", "dpol", *command.split()],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600)),
    )
    said = "files may not become so large here; raise the limit (ulimit -f) and run again"
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: cannot write {place}: {said}\n"


def test_an_error_of_the_system_that_no_command_foresees_is_told_in_one_line(monkeypatch):
    def fail(*_, **__):
        raise OSError(5, "Input/output error", "disk/log.sqlite")

    monkeypatch.setattr("dpol_weekly.coordinator.decide.decide", fail)
    assert run("decide", "state") == (1, "", "error: disk/log.sqlite: Input/output error\n")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_a_letter_shows_its_number(encoding, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_text("entity,period,count\nŁódź,2024-01-07,31\ns,2024-01-07,36\n")
    new = NEW.replace("n:120,s:300,e", "Łódź:120,s:300")
    assert run(*new.split(), "--output", FILE)[0] == 0
    agree = read_deployment(FILE).sha256()
    assert run(*AGREED.split(), FILE, "--agree", agree)[0] == 0
    assert run("collect", "q.csv", "--into", "state", "--deployment", FILE)[0] == 0
    raw = io.BytesIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(raw, encoding=encoding)) as shown:
        assert main(["decide", "state"]) == 0
        shown.flush()
    assert "\\u0141" in raw.getvalue().decode(encoding)


def test_signs_that_control_a_terminal_are_not_printed():
    text = Path(FILE).read_text()
    Path("signs.yaml").write_text(text + "\u202ella: 1\n", encoding="utf-8")
    code, _, err = run("privatize", "c.csv", "--output", "o.csv", "--deployment", "signs.yaml")
    assert code == 2
    assert "\n  ?lla = 1: unknown key; " in err
    assert all(line.isprintable() for line in err.split("\n"))
