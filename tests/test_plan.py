"""The plan of a run: which jobs a change reruns, and which it does not.

Snakemake reruns a job if its params or inputs differ, so these tests compare params.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import verify
import yaml

from dpol import plan as plan_module
from dpol.core import plugins
from dpol.core.errors import ConfigError
from dpol.plan import Plan, make_plan
from dpol.studies.registry import load_study

SMALL: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
GAMES = load_study("games")


def plan(**changed: Any) -> Plan:
    return make_plan(SMALL | changed, [], "test")


def codes(of: Plan) -> list[list[str]]:
    """Return the hashes of the code that plays, makes result tables, draws, and writes the page."""
    job = next(iter(of.jobs["games"]))
    draws, page = of.code_of_shown(GAMES), of.code_of_page()
    return [of.code_of_job(GAMES, job), of.code_of_results(GAMES), draws, page]


def differing(one: Plan, two: Plan, study: str = "games") -> set[str]:
    """Return the labels of the points that differ."""
    before, after = one.points[study], two.points[study]
    labels = before.keys() | after.keys()
    return {label for label in labels if before.get(label) != after.get(label)}


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("experts/play.py", [True, True, True, True]),
        ("show/looks.py", [False, False, True, True]),
        ("show/reported_average_gain.csv", [False, True, True, True]),
        ("report/page.py", [False, False, False, True]),
        ("cli/compare.py", [False, False, False, False]),
        ("checks/check.py", [False, False, False, False]),
    ],
)
def test_a_change_of_dpol_changes_only_the_hashes_that_depend_on_it(
    file: str, changed: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, path = plugins.files_of_package, Path(plugins.__file__).parents[1] / file
    before = codes(plan())
    edited = tmp_path / path.name
    edited.write_text(path.read_text() + "# A comment.\n")
    files = [(name, edited if file == path else file) for name, file in real("dpol")]
    monkeypatch.setattr(plugins, "files_of_package", lambda top: files)
    if path == plan_module.REPORTED:
        monkeypatch.setattr(plan_module, "REPORTED", edited)
    after = codes(plan())
    assert [old != new for old, new in zip(before, after, strict=True)] == changed


def test_a_wheel_and_a_checkout_have_the_same_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wheel also holds the pipeline, with tables and configs that no code depends on."""
    before, files = codes(plan()), [*plugins.files_of_package("dpol")]
    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    beside = [("dpol/pipeline/data/table.csv", table)]
    monkeypatch.setattr(plugins, "files_of_package", lambda top: [*files, *beside])
    assert codes(plan()) == before


def test_a_new_parameter_replays_only_its_suite() -> None:
    suites = SMALL["suites"]
    central = {"algorithm": "mf-window", "window": 9}
    changed = suites | {"central": suites["central"] | {"algorithms": [central]}}
    report = SMALL["report"] | {"algorithms": ["rw-ftpl"], "rivals": []}
    alone = {key: value for key, value in SMALL.items() if key != "comparison"}
    before = make_plan(alone | {"report": report}, [], "test")
    after = make_plan(alone | {"report": report, "suites": changed}, [], "test")
    reached = differing(before, after)
    assert {label.split("/")[1] for label in reached} == {"central"}
    assert reached == {label for label in before.points["games"] if "/central/" in label}


def test_a_new_title_replays_nothing() -> None:
    titled = {label: stream | {"title": "Other"} for label, stream in SMALL["streams"].items()}
    before, after = plan(), plan(streams=titled)
    assert differing(before, after) == set()
    assert before.facts_of_results(GAMES) == after.facts_of_results(GAMES)
    assert before.facts_of_shown(GAMES) != after.facts_of_shown(GAMES)
    lazy = load_study("lazy")
    assert before.facts_of_shown(lazy) == after.facts_of_shown(lazy), "it reads no stream"


def test_a_corrected_table_is_noticed_unless_a_job_makes_it(tmp_path: Path) -> None:
    def nothing(file: str) -> bool:
        return False

    table = tmp_path / "table.csv"
    table.write_text("a\n1\n")
    made = plan()
    (before,) = made.contents(str(table), made=nothing)
    table.write_text("a\n2\n")
    assert made.contents(str(table), made=nothing) != [before]
    assert made.contents(str(table), made=lambda file: True) == [None]
    assert made.contents(str(tmp_path / "missing.csv"), made=nothing) == [None]


def test_two_imports_cannot_write_one_run() -> None:
    with pytest.raises(ConfigError, match="module first writes to"):
        plan().refuse_twins({"first": plan()})
    plan(run="another").refuse_twins({"first": plan()})


def test_every_output_is_in_the_folder_of_the_run() -> None:
    small = plan()
    for study, block in small.studies:
        files = [*small.results(study, block).values()]
        for section in small.sections(study, block):
            files += [path for path, _ in small.shown(section)]
        assert files
        assert all(str(path).startswith(f"{small.folder}/") for path in files)
        assert len(set(files)) == len(files)
        assert set(files) <= set(small.outputs)
