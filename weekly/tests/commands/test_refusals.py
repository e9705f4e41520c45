"""Refusals of every command: one line that names the remedy, the exit code, and no traceback.

Mistakes in a deployment's file are reported in a line each, between a head and a foot.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dpol_weekly.deployment import read_deployment
from releases import known_keys, newest, own_file, run

FILE, SENT = "d.yaml", "sent.json"
# Files of holders, and what is wrong in them.
HOLDERS = {
    "q": {},
    "is-folder": {"table": "folder"},
    "is-empty": {"table": "empty"},
    "other": {"entities": ["n", "N"]},
    "no-deployment": {"deployment": "nope.yaml"},
    "latin-deployment": {"deployment": "latin.yaml"},
    "signs": {"deployment": "wrong-signs.yaml"},
}
AGREED = "privatize q.yaml --agree"
INIT = "privatize z.yaml --deployment d.yaml --init"
WRITTEN = "--column zero=written decimal=. thousands=none"
KEYS = {
    "name": "v",
    "periods": {"first": "2024-01-07"},
    "entities": {"n": {"capacity": 120}, "s": {"capacity": 300}, "e": {}},
    "mu": 0.5,
    "budget_mu": 1.42,
    "affirmed": True,
}


def written(file, **keys):
    """The file of a deployment, some keys replaced; its comment makes it long."""
    text = yaml.safe_dump(KEYS | keys, allow_unicode=True) + f"# {'-' * 600}\n"
    Path(file).write_text(text, encoding="utf-8")
    return file


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
        Path("damaged").mkdir()
        Path("damaged/accepted.jsonl").write_text("no list\n")
        written(FILE)
        agreed = "--agree", read_deployment("d.yaml").sha256()
        own = {"table": "c.csv", "entities": [*"nse"], "output": "noisy"}
        own["columns"] = {"entity": "entity", "capacity": "capacity"}
        for name, keys in HOLDERS.items():
            own_file(f"{name}.yaml", **own | keys)
        assert run("privatize", "q.yaml", *agreed)[0] == 0
        newest().rename(SENT)
        words = ["collect", SENT, "--into", "state", "--deployment", "d.yaml"]
        assert run(*words, *known_keys(*"nse"))[0] == 0
        yield


ONE_LINE = [
    (1, "privatize nope.yaml", "cannot be read (No such file or directory); check the path"),
    (1, "privatize is-folder.yaml", "cannot be read (Is a directory); check table"),
    (1, "privatize is-empty.yaml", "must name entity, period, count, capacity once; get an"),
    (1, "privatize no-deployment.yaml", "cannot be read (No such file or directory); check the"),
    (1, "deployment check list.json", "`dpol deployment new` writes a whole file"),
    (1, "privatize list.json", "`dpol privatize --init TABLE` writes a file"),
    (1, "privatize latin-deployment.yaml", "not UTF-8 text; save it as UTF-8"),
    (1, "privatize other.yaml", "has no entity 'N'; "),
    (1, f"{AGREED} 12345678", "--agree"),
    (1, "recompute nope --deployment d.yaml", "is not there, or is not a file"),
    (1, "recompute c.csv --deployment d.yaml", "is not a release of dpol"),
    (2, f"recompute {SENT}", "--deployment"),
    (1, "privatize q.yaml --entity n", "--column and --copy-to go with --init"),
    (1, "privatize z.yaml --init c.csv", "name the file that all hospitals share with --depl"),
    (2, f"{AGREED} ''", "argument --agree: must not be empty; see dpol privatize --help"),
    (1, "privatize q.yaml --init c.csv --deployment d.yaml", "exists already; move it away"),
    (1, f"{INIT} c.csv --entity N {WRITTEN}", "has no entity 'N'"),
    (1, f"{INIT} none.csv --entity n {WRITTEN}", "none.csv: cannot be read"),
    (1, f"collect {SENT} --into c.csv --deployment d.yaml", "choose another folder"),
    (1, "decide state --check 2024-01-14", "is not there, or no decision of dpol"),
    (2, "privatize q.yaml --through 2024-1-7", "must be a date such as 2021-01-31"),
    (1, f"collect {SENT} --into new", "holds no agreement; dpol collect --deployment names"),
    (2, "collect '' --into state", "argument REPORT: must not be empty"),
    (1, "decide nope", "nope: holds no agreement; dpol collect --deployment names its file"),
    (1, "decide damaged", "put the last backup of damaged back"),
    (1, f"collect {SENT} --into state --known-keys list.json", "write a line NAME: KEY for"),
    (1, f"collect {SENT} --into state --known-keys q.yaml", "must be the 64 digits of a key"),
    (1, "privatize z.yaml --init c.csv --deployment d.yaml --column n", "must be KEY=ANSWER, such"),
    (1, "export nope", "nope: holds no agreement; dpol collect --deployment names its file"),
    (1, "deployment check nope", "check the path"),
    (1, "deployment new c.csv/y", "cannot write c.csv/y: a part of the path is a file"),
    (1, "deployment new d.yaml", "exists already; choose another file"),
]


@pytest.mark.parametrize(("code", "command", "message"), ONE_LINE)
def test_a_mistake_is_told_in_one_line(code, command, message):
    before = sorted(Path().rglob("*"))
    found, out, err = run(*[word.strip("'") for word in command.split()])
    assert (found, out, err.count("\n"), err[:7]) == (code, "", 1, "error: ")
    assert message in err
    assert sorted(Path().rglob("*")) == before


KEY_BY_KEY = [
    *(
        ({"entities": {"n": {"capacity": it}}}, f"entities.n.capacity = {it}: must be a number")
        for it in (float("nan"), 1e-320, 1e9)
    ),
    ({"entities": {}}, "entities = {}: "),
    ({"affirmed": None}, "affirmed = None: must be True"),
    ({"entities": {"n" * 41: {}}}, "must have at most 40 characters"),
    *(
        ({"entities": {name: {}}}, "must be letters, digits, '.', '_' and '-', and begin with")
        for name in (" C", "\u057douth", "-C", '=HYPERLINK("http://x")', "<TODO>")
    ),
    ({"entities": {"n": {"key": "a" * 64}}}, "entities.n.key = 'aaaa"),
    ({"entities": {"n": {}, "n.": {}}}, "entities.n. = 'n.': differs from 'n' in its spelling"),
    ({"periods": {"first": "2024-01-07", "days": 7.5}}, "periods.days = 7.5: must be a whole"),
    ({"entities": {"n": {"since": "yesterday"}}}, "entities.n.since = 'yesterday': must be"),
    ({"periods": {"first": "9999-01-01"}}, "periods.first = '9999-01-01': must be less"),
    ({"unit_weeks": 9}, "unit_weeks = 9: unknown key"),
    ({"budget_mu": 1.414}, "must be at least 1.415: it pays for 8 periods, each released once"),
]


@pytest.mark.parametrize(("keys", "message"), KEY_BY_KEY)
def test_a_mistake_in_a_deployment_names_its_key(keys, message):
    code, out, err = run("deployment", "check", written("wrong.yaml", **keys))
    assert (code, out) == (1, "")
    assert message in err
    assert "constrained" not in err


def test_all_mistakes_of_settings_are_told_at_once():
    file = written("wrong.yaml", longest_stay=0, mu=0.0001)
    err = run("deployment", "check", file)[2]
    assert err.startswith("error: wrong.yaml: 2 problems\n")


def test_signs_that_control_a_terminal_are_not_printed():
    text = Path(FILE).read_text()
    Path("wrong-signs.yaml").write_text(text + "\u202ella: 1\n", encoding="utf-8")
    code, _, err = run("privatize", "signs.yaml")
    assert code == 1
    assert "\n  ?lla = 1: unknown key; " in err
    assert all(line.isprintable() for line in err.split("\n"))
