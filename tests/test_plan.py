"""The plan of a run: which jobs a change reruns, and which it does not.

Snakemake reruns a job if its params or inputs differ, so these tests compare params.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
import verify
import yaml

from dpol.core.errors import ConfigError, DataError
from dpol.core.files import sha256, write_text
from dpol.plan import Plan, inputs_of, make_plan
from dpol.reruns.code_hashes import parts_of_job
from dpol.reruns.job import job_log
from dpol.studies.comparison.settings import ComparisonPoint
from dpol.studies.jobs import settings_from
from dpol.studies.registry import STUDIES, load_study
from pipeline import ROOT, run, succeed, write_config

SMALL: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
GAMES = load_study("games")


def plan(**changed: Any) -> Plan:
    return make_plan(SMALL | changed, [], "test")


def on_the_web(name: str, group: str, file: str = "table.csv.gz") -> Plan:
    """Return the plan of a run that fetches a table."""
    source = {"kind": "web", "file": file, "endpoints": [{"kind": "file", "url": "http://x/"}]}
    dataset = SMALL["dataset"] | {"source": source}
    return plan(run=name, dataset=dataset, streams={"NM": {"groups": [group]}})


def differing(one: Plan, two: Plan, study: str = "games") -> set[str]:
    """Return the places of the second plan whose jobs the first has not."""
    before, after = one.jobs[study], two.jobs[study]
    return {place for place in after if before.get(place) != after[place]}


JOBS = (
    ("study_point", GAMES.computing),
    ("study_results", GAMES.module, GAMES.collecting),
    ("study_shown", GAMES.showing, "dpol.studies.paper1.table_2"),
)


@pytest.mark.parametrize(
    ("module", "run_by"),
    [
        ("experts.play", [True, True, False]),
        ("experts.cautious_mean", [True, True, False]),  # the registry imports it by name
        ("show.reported", [False, False, True]),
        ("studies.games.study", [False, True, False]),
        ("studies.games.collect", [False, True, False]),
        ("studies.games.replay", [False, True, False]),
        ("studies.games.show", [False, False, True]),
        ("studies.paper1.figure_2", [False, False, False]),  # another exhibit
        ("studies.paper1.table_2", [False, False, True]),
        ("report.page", [False, False, False]),
        ("labels.game", [False, False, False]),
    ],
)
def test_a_job_watches_the_modules_that_it_can_run(module: str, run_by: list[bool]) -> None:
    assert [f"dpol.{module}" in parts_of_job(*job) for job in JOBS] == run_by


def test_a_new_parameter_replays_only_its_suite() -> None:
    suites = SMALL["suites"]
    central = {"algorithm": "mf-window", "window": 9}
    changed = suites | {"central": suites["central"] | {"algorithms": [central]}}
    report = SMALL["report"] | {"algorithms": ["rw-ftpl"]}
    alone = {key: value for key, value in SMALL.items() if key != "comparison"}
    before = make_plan(alone | {"report": report}, [], "test")
    after = make_plan(alone | {"report": report, "suites": changed}, [], "test")
    reached = differing(before, after)
    assert reached == {place for place in before.jobs["games"] if "/central/" in place}


@pytest.mark.parametrize(
    ("study", "changed", "reached"),
    [
        ("batching", {"n_experts": [2, 8]}, {"n-8"}),
        ("batching", {"replicates": 21}, {"n-2", "n-4"}),
        ("lazy", {"n_rounds": [100, 400]}, {"T400"}),
        ("labels", {"patients_per_week": 30}, {"hospitals-NM"}),
        ("labels", {"n_rounds": 5000}, {"sweeps"}),
    ],
)
def test_a_change_of_a_study_reruns_only_the_places_that_it_changes(
    study: str, changed: dict[str, Any], reached: set[str]
) -> None:
    after = plan(**{study: SMALL[study] | changed})
    assert differing(plan(), after, study) == reached


def test_jobs_get_the_settings_of_their_points_through_json() -> None:
    """Infinite mu as well, which JSON itself does not have."""
    readings = {"readings": {"ones": {"suppressed_value": 1}}}
    asked = plan(dataset=SMALL["dataset"] | readings)
    for study, _ in asked.studies:
        for job in asked.jobs[study.name].values():
            plain = json.loads(json.dumps(job.plain))
            assert tuple(settings_from(study.package, it) for it in plain) == job.points
    assert math.inf in {it.mu for job in asked.jobs["games"].values() for it in job.points}
    kinds = {type(it) for job in asked.jobs["comparison"].values() for it in job.points}
    assert kinds == {*get_args(ComparisonPoint)}


def test_the_result_tables_are_made_from_what_points_read() -> None:
    read = {study: inputs_of(jobs.values()) for study, jobs in plan().jobs.items()}
    assert read["games"] == {"stream": ["streams/NM.parquet"]}
    assert read["comparison"].keys() == {"summary", "totals", "stream"}
    assert read["lazy"] == {}


def test_a_new_title_replays_nothing() -> None:
    titled = {label: stream | {"title": "Other"} for label, stream in SMALL["streams"].items()}
    assert plan(streams=titled).jobs == plan().jobs


def test_the_text_of_a_config_has_its_order_letters_and_overrides(tmp_path: Path) -> None:
    titled = {label: stream | {"title": "Peña"} for label, stream in SMALL["streams"].items()}
    text = plan(streams=titled).text
    assert list(yaml.safe_load(text)) == list(SMALL)
    assert "title: Peña\n" in text
    assert plan().name == "module test"
    file = tmp_path / "a.yaml"
    file.write_text(f"# Comment.\n{yaml.safe_dump(SMALL)}")
    assert make_plan(SMALL, [file]).text == file.read_text()
    assert "\nseed: 9\n" in make_plan(SMALL | {"seed": 9}, [file]).text


LEVELS, SUITES = SMALL["privacy"]["levels"], SMALL["suites"]
MINE = {"mine": {"algorithms": [{"algorithm": "persistence", "label": "mine"}]}}
LONGER = {
    **SUITES["local"],
    "algorithms": [*SUITES["local"]["algorithms"], *MINE["mine"]["algorithms"]],
}


def reordered(block: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(block.items()))


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"privacy": {"levels": [9, *LEVELS]}}, "/mu-9/"),
        ({"privacy": {"levels": [*LEVELS, 9]}}, "/mu-9/"),
        ({"privacy": {"levels": LEVELS[::-1]}}, None),
        ({"privacy": {"levels": LEVELS[:-1]}}, None),
        ({"suites": MINE | SUITES}, "/mine/"),
        ({"suites": SUITES | MINE}, "/mine/"),
        ({"suites": reordered(SUITES)}, None),
        ({"suites": SUITES | {"local": LONGER}}, "/local/"),
    ],
)
def test_only_places_that_hold_new_games_are_played(
    changed: dict[str, Any], place: str | None
) -> None:
    after = plan(**changed)
    asked = {it for it in after.jobs["games"] if place and place in it}
    assert differing(plan(), after) == asked
    assert asked or not place


def test_more_replicates_play_only_the_new_ones() -> None:
    one, two = plan(replicates=100), plan(replicates=250)
    assert {it.split("/")[-1] for it in differing(one, two)} == {"100-199", "200-249"}


def test_a_corrected_table_is_noticed_unless_a_job_makes_it(tmp_path: Path) -> None:
    def nothing(file: str) -> bool:
        return False

    table, missing = tmp_path / "table.csv", str(tmp_path / "missing.csv")
    table.write_text("a\n1\n")
    made = plan()
    before = made.contents(str(table), made=nothing)
    assert before == {str(table): sha256(table)}
    table.write_text("a\n2\n")
    assert made.contents(str(table), made=nothing) != before
    assert made.contents(str(table), made=lambda file: True) == {str(table): None}
    assert made.contents(missing, made=nothing) == {missing: None}


def test_a_fetched_table_that_is_gone_has_the_checksum_of_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, fetched = Path("table.csv.gz"), on_the_web("a", "NM")

    def told() -> str | None:
        (found,) = fetched.contents(str(table), made=lambda file: True).values()
        return found

    assert told() is None
    Path("table.csv.gz.provenance.json").write_text(json.dumps({"sha256": "abc"}))
    assert told() == "abc"
    table.write_bytes(b"b")  # replaced by hand, or by another fetch
    assert told() == sha256(table)


def test_files_that_are_not_as_a_job_wrote_them_are_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"{number:02}.csv" for number in range(11)]
    with job_log("results/a/logs/x.log", outputs=[f"results/a/{name}" for name in names]):
        for name in names:
            write_text(Path("results/a", name), "1")
    texts = set()
    for _ in range(2):
        plan(run="a").begin(mark := Path("asked"), runs_jobs=False)
        texts.add(mark.read_text())
    assert len(texts) == 2, "Snakemake takes equal texts for the same file"
    told = "results/a: changed since the jobs wrote them: {}; move or delete these files, and run"
    for some, said in (
        (names[:1], "00.csv"),
        (names, ", ".join(names[:10]) + " and 1 other"),
    ):
        for name in some:
            Path("results/a", name).write_text("2")
        with pytest.raises(DataError, match=told.format(re.escape(said))):
            plan(run="a").begin(Path("asked"), runs_jobs=False)


def test_two_imports_share_a_fetched_table_only_if_they_ask_for_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = {"first": on_the_web("a", "NM")}
    on_the_web("b", "NM").refuse_twins(first)
    on_the_web("b", "PA", "other.csv.gz").refuse_twins(first)
    with pytest.raises(ConfigError, match="module first fetches other groups, columns or periods"):
        on_the_web("b", "PA").refuse_twins(first)
    (tmp_path / "table.csv.gz").touch()  # placed by hand, so nobody fetches it
    on_the_web("b", "PA").refuse_twins(first)
    assert not plan().must_fetch
    several = {"B": {"groups": ["PA", "NM"]}, "A": {"groups": ["NM"]}}
    assert plan(streams=several).wanted_groups == ["NM", "PA"], "their order makes no other query"


PLANNED = """
import sys
from dpol.plan import make_plan
from dpol.core.yaml_files import read_yaml
from dpol.reruns.code_hashes import code_of_job
plan = make_plan(read_yaml("config/beyond.yaml"), ["config/beyond.yaml"])
for study, block in plan.studies:
    for section in study.sections_of(block, plan.config.facts):
        plan.jobs, code_of_job("study_shown", study.showing, *section.drawing)
print(*sys.modules)
"""


def test_planning_imports_the_plans_of_studies_and_no_tables_or_figures() -> None:
    """NumPy comes with the algorithms, which check their parameters."""
    done = succeed(run(sys.executable, "-c", PLANNED, folder=ROOT))
    imported = set(done.split())
    assert imported.isdisjoint({"pandas", "matplotlib", "pyarrow", "scipy.stats", "requests"})
    packages = {load_study(name).package for name in STUDIES}
    of_studies = {name for name in imported if name.startswith("dpol.studies.")}
    rooms = "registry", "study", "paper1", "paper2", "ledger", "games.names"
    shared = {f"dpol.studies.{name}" for name in rooms}
    files = "", ".study", ".settings"
    expected = {f"{it}{file}" for it in packages for file in files}
    expected |= {load_study(name).showing for name in ("games", "comparison")}  # of the config
    assert of_studies == shared | expected
    # Of these, some 35 are the algorithms of all suites of dpol, which this config plays.
    assert len([name for name in imported if name.startswith("dpol")]) <= 140


def test_a_job_takes_the_time_of_its_points_and_of_its_start() -> None:
    small = plan()
    jobs = small.jobs["claims"].values()
    expected = 1.3 + sum(job.seconds for job in jobs) / len(jobs)
    assert small.seconds["claims_point"] == pytest.approx(expected)


def test_a_fault_of_the_command_line_is_named_as_such(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path, SMALL)
    with pytest.raises(
        ConfigError, match=r"^config.yaml with --config seed: 1 problem\n  seed = 'a"
    ):
        make_plan({**SMALL, "seed": "abc"}, ["config.yaml"])
    write_config(tmp_path, SMALL, seed="abc")
    with pytest.raises(ConfigError, match="^config.yaml: 1 problem"):
        make_plan({**SMALL, "seed": "abc"}, ["config.yaml"])


def test_causes_are_told_in_the_words_of_the_config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path, SMALL, seed=8)
    plan = make_plan({**SMALL, "seed": 8}, ["config.yaml"])
    assert plan.causes(["facts.seed: 7 → 8"]) == ["other settings"], "without a page"
    page = tmp_path / plan.folder / "provenance/config.yaml"
    page.parent.mkdir(parents=True)
    page.write_text(yaml.safe_dump(SMALL | {"seed": 7}))
    plan = make_plan({**SMALL, "seed": 8}, ["config.yaml"])
    reasons = ["settings.seed: 7 → 8", "points: 72955664c08563ac → 2bdf189fc30b8eaa"]
    assert plan.causes([*reasons, "code.noise: ab → cd", "code.report: ab → cd"]) == [
        "seed: 7 → 8",
        "other code",
    ]
    others = ["contents.t.csv: [1] → [2]", "streams/A.parquet", "a missing file: summary.parquet"]
    assert plan.causes(others) == [
        "another table t.csv",
        "another streams/A.parquet",
        "a missing file: summary.parquet",
    ]
    assert plan.causes(["the order of its settings"]) == ["the order of its settings"]
