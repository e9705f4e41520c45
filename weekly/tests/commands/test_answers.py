"""Answers of commands as one JSON object (--json), or none (--quiet)."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
import yaml

from dpol_weekly.deployment import read_deployment
from releases import known_keys, own_file, run

TODAY = datetime.date.today()
DAY = str(TODAY - datetime.timedelta(days=7))
"""The only period that is over."""
KEYS = {
    "name": "v",
    "periods": {"first": DAY},
    "entities": {"n": {"capacity": 120}, "s": {"capacity": 300}},
    "mu": 0.5,
    "budget_mu": 1.42,
    "affirmed": True,
}


@pytest.fixture(scope="module", autouse=True)
def weekly(tmp_path_factory):
    """A folder with a first week, which is released and collected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("weekly"))
        Path("c.csv").write_text(f"entity,period,count\nn,{DAY},31\ns,{DAY},36\n")
        Path("bad.csv").write_text("no table\n")
        Path("d.yaml").write_text(yaml.safe_dump(KEYS))
        own = {"table": "c.csv", "entities": ["n", "s"], "columns": {"entity": "entity"}}
        agreed = "--agree", read_deployment("d.yaml").sha256()
        assert run("privatize", own_file(output="o", **own), *agreed, *BEGIN)[0] == 0
        known_keys("n", "s")
        yield


BEGIN = "--begin-after", str(TODAY - datetime.timedelta(days=8))
COMMANDS = [
    (
        "privatize hospital.yaml",
        {"file", "ledger", "added", "periods", "impossible", "mu_of_stay"},
    ),
    ("collect o --into state --deployment d.yaml --known-keys known.yaml", {"reports"}),
    ("decide state", {"deployment", "period", "last_period", "named", "missing", "outlooks"}),
    ("export state --to log.csv", {"table", "releases"}),
    (f"recompute o/v-{DAY}.json --deployment d.yaml", {"records"}),
]


@pytest.mark.parametrize(("command", "keys"), COMMANDS)
def test_an_answer_is_one_json_object_and_nothing_else(command, keys):
    code, out, err = run(*command.split(), "--json")
    assert (code, err) == (0, "")
    assert keys <= json.loads(out).keys()


@pytest.mark.parametrize("command", [it for it, _ in COMMANDS])
def test_a_quiet_command_says_nothing_unless_something_is_wrong(command):
    assert run(*command.split(), "--quiet") == (0, "", "")


def test_the_agreement_is_shown_apart_from_an_object():
    entities = {"entities": ["n", "s"], "columns": {"entity": "entity"}}
    Path("x").mkdir()
    own = own_file("x/own.yaml", table="../c.csv", deployment="../d.yaml", **entities)
    agreed = "--agree", read_deployment("d.yaml").sha256()
    code, out, err = run("privatize", own, *agreed, *BEGIN, "--json")
    assert (code, json.loads(out)["periods"]) == (0, [DAY])
    assert "says what leaves your table" in err


def test_a_refused_report_is_in_the_object_and_an_error():
    code, out, err = run("collect", "bad.csv", "o", "--into", "state", "--json")
    refused, known = json.loads(out)["reports"]
    assert (code, known["known"], len(refused["refused"])) == (1, 2, 1)
    assert err.splitlines()[-1].startswith("error: refused: 1, see above")


def test_what_is_set_aside_is_in_the_object():
    words = ["set-aside", "state", "--entity", "n", "--reason", "wrong", "--json"]
    (row,) = json.loads(run(*words)[1])["set_aside"]
    assert row == {"entity": "n", "period": DAY, "version": 1}


def test_a_folder_without_releases_is_told():
    Path("mail").mkdir()
    said = run("collect", "mail", "--into", "state")[1].splitlines()[0]
    assert said == "No release was found; name the folder in which the reports arrived."
