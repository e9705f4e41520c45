"""The plan of a run: which jobs a change reruns, and which it does not.

Snakemake reruns a job if its params or inputs differ, so these tests compare params.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import verify
import yaml

from dpol.core.errors import ConfigError, DataError
from dpol.core.files import sha256
from dpol.core.logs import job_log
from dpol.core.reach import Code
from dpol.plan import Plan, make_plan
from dpol.studies.registry import STUDIES, load_study
from pipeline import ROOT, run, succeed
from small_config import GAINS, changed

SMALL: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
GAMES = load_study("games")


def plan(**changed: Any) -> Plan:
    return make_plan(SMALL | changed, [], "test")


def on_the_web(name: str, group: str, file: str = "table.csv.gz") -> Plan:
    """Return the plan of a run that fetches a table."""
    source = {"kind": "web", "file": file, "endpoints": [{"kind": "file", "url": "http://x/"}]}
    dataset = SMALL["dataset"] | {"source": source}
    return plan(run=name, dataset=dataset, streams={"NM": {"groups": [group]}})


def codes(of: Plan) -> list[Code]:
    """Return the code that plays central rivals, makes tables, draws, and writes the page."""
    jobs = of.code_of_jobs(GAMES)
    played = next(jobs[label] for label in jobs if "/central/" in label)
    return [played, of.code_of_results(GAMES), of.code_of_shown(GAMES), of.code_of_page()]


def differing(one: Plan, two: Plan, study: str = "games") -> set[str]:
    """Return the labels of the points that differ."""
    before, after = one.points[study], two.points[study]
    labels = before.keys() | after.keys()
    return {label for label in labels if before.get(label) != after.get(label)}


@pytest.mark.parametrize(
    ("module", "run_by"),
    [
        ("experts.play", [True, True, True, True]),
        ("experts.tree_ftpl", [True, True, True, True]),
        ("experts.persistence", [False, True, True, True]),
        ("show.reported", [False, True, True, True]),
        ("studies.games.paper", [False, False, True, True]),
        ("report.page", [False, False, False, True]),
        ("labels.game", [False, False, False, True]),  # the page knows every study of the run
        ("cli.compare", [False, False, False, False]),
        ("checks.check", [False, False, False, False]),
    ],
)
def test_a_job_watches_the_modules_that_it_can_run(module: str, run_by: list[bool]) -> None:
    assert [f"dpol.{module}" in code.modules for code in codes(plan())] == run_by


def test_words_of_a_study_compute_no_point() -> None:
    assert [GAMES.columns in code.files for code in codes(plan())] == [False, True, True, True]
    for module, reached in {
        GAMES.module: [False, True, True, True],
        GAMES.collecting: [False, True, False, False],
        GAMES.showing: [False, False, True, True],
    }.items():
        assert [module in code.modules for code in codes(plan())] == reached


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


@pytest.mark.parametrize(
    ("study", "changed", "reached"),
    [
        ("batching", {"n_experts": [2, 8]}, {"n-4", "n-8"}),
        ("batching", {"replicates": 21}, {"n-2", "n-4"}),
        ("lazy", {"n_rounds": [100, 400]}, {"T300-d3", "T400-d3"}),
        ("lazy", {"largest_tree": 600}, {"T300-d3"}),
        ("labels", {"patients_per_week": 30}, {"hospitals-NM"}),
        ("labels", {"groups": 7}, {"rounds-0", "labels", "hypotheses"}),
        (
            "claims",
            {"papers": ["labels", "lazy"]},
            {"experts", "experts-in-this-run", "dartboard", "coupling"},
        ),
    ],
)
def test_a_change_of_a_study_reruns_only_the_points_that_it_changes(
    study: str, changed: dict[str, Any], reached: set[str]
) -> None:
    after = plan(**{study: SMALL[study] | changed})
    assert differing(plan(), after, study) == reached


def test_each_point_names_the_code_of_what_it_plays() -> None:
    points = plan().points
    code = points["games"]["NM/batched/isotropic-constant/mu-0.5/block-0"].code
    assert {"dpol.experts.adabatch", "dpol.experts.ftpl", "dpol.noise.noises"} <= {*code}
    assert "dpol.experts.meta" not in code
    compared = points["comparison"]
    code = compared["NM/noise-memory/2-weeks"].code
    assert code == ("dpol.experts.ftpl", "dpol.noise.noises")
    assert compared["systems"].code == (), "it may name any algorithm"


def test_the_result_tables_are_made_from_what_points_write_and_read() -> None:
    small = plan(keep_rounds=True)
    files = {study.name: small.inputs_of_results(study, block) for study, block in small.studies}
    assert files["games"].keys() == {"scores", "curves", "rounds", "stream"}
    assert files["games"]["stream"] == [f"{small.folder}/streams/NM.parquet"]
    assert files["comparison"].keys() == {"comparison", "memory"} | {
        "summary",
        "totals",
        "stream",
    }
    assert files["lazy"].keys() == {"lazy"}


def test_a_new_title_replays_nothing() -> None:
    titled = {label: stream | {"title": "Other"} for label, stream in SMALL["streams"].items()}
    before, after = plan(), plan(streams=titled)
    assert differing(before, after) == set()
    assert before.facts_of_results(GAMES) == after.facts_of_results(GAMES)
    assert before.facts_of_shown(GAMES) != after.facts_of_shown(GAMES)
    lazy = load_study("lazy")
    assert before.facts_of_shown(lazy) == after.facts_of_shown(lazy), "it reads no stream"


def test_a_job_has_as_many_points_as_the_config_allows() -> None:
    for most in (1, 2, 3):
        sizes = [
            len(job) for jobs in plan(points_per_job=most).jobs.values() for job in jobs.values()
        ]
        assert max(sizes) == most


def test_studies_of_streams_wait_and_others_start_at_once() -> None:
    small = plan()
    waiting = {study.name: small.waits(study) for study, _ in small.studies}
    assert (waiting["games"], waiting["comparison"]) == (True, True)
    assert (waiting["lazy"], waiting["labels"]) == (False, False)  # one point of labels waits


def test_the_report_stays_if_the_table_the_streams_and_what_points_wrote_are_deleted() -> None:
    small = plan()
    files = set(small.played_files)
    assert {small.config.raw_file, f"{small.folder}/streams/NM.parquet"} <= files
    for study, block in small.studies:
        assert files >= {
            it for part in small.parts_of_results(study, block).values() for it in part
        }
    assert files.isdisjoint(small.outputs)


def test_figures_of_every_study_watch_the_settings_of_the_main_one() -> None:
    """They are drawn with its privacy levels and reported systems."""
    small = plan()
    for study, _ in small.studies:
        assert GAMES.module in small.code_of_shown(study).modules


def test_a_study_without_streams_knows_the_seed_and_the_errors_that_are_allowed() -> None:
    report, privacy = {"confidence": 0.9}, SMALL["privacy"] | {"delta": 1e-4}
    asked = plan(seed=7, privacy=privacy, report=SMALL["report"] | report)
    known = asked.facts_of_results(load_study("lazy"))
    assert {key: known[key] for key in ("seed", "delta", "confidence", "simulated")} == {
        **{"seed": 7, "delta": 1e-4, "confidence": 0.9, "simulated": True}
    }
    assert known["streams"] == {}


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


def test_only_a_table_that_the_run_fetched_itself_needs_no_checksum(tmp_path: Path) -> None:
    def nothing(file: str) -> bool:
        return False

    table = tmp_path / "table.csv.gz"
    table.write_bytes(b"a")
    fetched, by_hand = on_the_web("a", "NM"), plan()
    known = [sha256(table)]
    assert [of.contents(str(table), made=nothing) for of in (fetched, by_hand)] == [known, known]
    record = tmp_path / "table.csv.gz.provenance.json"
    record.write_text(json.dumps({"sha256": known[0]}))
    assert [of.contents(str(table), made=nothing) for of in (fetched, by_hand)] == [[None], known]
    table.write_bytes(b"b")  # replaced by hand
    assert fetched.contents(str(table), made=nothing) == [sha256(table)]


def test_a_second_table_with_the_capacities_is_read_too() -> None:
    second = {"file": "beds.csv", "entity": "hospital", "capacity": "beds"}
    dataset = SMALL["dataset"] | {
        "source": {"kind": "local", "file": "patients.csv"},
        "columns": SMALL["dataset"]["columns"] | {"capacity": second},
    }
    assert plan(dataset=dataset).tables_read == ["patients.csv", "beds.csv"]


def test_files_that_are_not_as_a_job_wrote_them_are_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"{number:02}.csv" for number in range(12)]
    with job_log("results/a/logs/x.log", outputs=[f"results/a/{name}" for name in names]):
        for name in names:
            Path("results/a", name).write_text("1")
    plan(run="a").refuse_changed_files()
    told = "results/a: not as the jobs wrote them: {}; move or delete these files, and run"
    for some, said in (
        (names[:1], "00.csv"),
        (names, ", ".join(names[:10]) + ", and 2 other files"),
    ):
        for name in some:
            Path("results/a", name).write_text("2")
        with pytest.raises(DataError, match=told.format(re.escape(said))):
            plan(run="a").refuse_changed_files()


def test_two_imports_cannot_write_one_run() -> None:
    with pytest.raises(ConfigError, match="module first writes to"):
        plan().refuse_twins({"first": plan()})
    plan(run="another").refuse_twins({"first": plan()})


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


def test_every_source_has_the_times_of_its_own_jobs() -> None:
    """The report would wait for a time that no job writes."""
    made = {"simulate_dataset", "fetch_dataset", "clean_panel", "build_stream"}
    for of, expected in (
        (plan(), made - {"fetch_dataset"}),
        (on_the_web("a", "NM"), made - {"simulate_dataset"}),
        (make_plan(changed(GAINS), [], "test"), {"build_stream"}),
    ):
        names = [file.removeprefix(f"{of.folder}/benchmarks/") for file in of.benchmarks]
        assert {name.removesuffix(".tsv").partition("/")[0] for name in names} & made == expected


def test_every_output_is_in_the_folder_of_the_run() -> None:
    small = plan()
    for study, block in small.studies:
        files = [*small.results(study, block).values()]
        for section in small.sections(study, block):
            files += [path for path, _ in small.shown(study, section)]
        assert files
        assert all(str(path).startswith(f"{small.folder}/") for path in files)
        assert len(set(files)) == len(files)
        assert set(files) <= set(small.outputs)


PLANNED = """
import sys
from dpol.plan import make_plan
from dpol.core.yaml_files import read_yaml
plan = make_plan(read_yaml("config/beyond.yaml"), ["config/beyond.yaml"])
for study, block in plan.studies:
    plan.jobs, plan.code_of_jobs(study), plan.code_of_results(study), plan.code_of_shown(study)
plan.outputs, plan.code_of_page(), plan.benchmarks
print(*sys.modules)
"""


def test_planning_imports_the_plans_of_studies_and_no_tables_or_figures() -> None:
    """NumPy comes with the algorithms, which check their parameters."""
    done = succeed(run(sys.executable, "-c", PLANNED, folder=ROOT))
    imported = set(done.split())
    assert imported.isdisjoint({"pandas", "matplotlib", "pyarrow", "scipy.stats", "requests"})
    packages = {load_study(name).package for name in STUDIES}
    of_studies = {name for name in imported if name.startswith("dpol.studies.")}
    shared = {f"dpol.studies.{name}" for name in ("registry", "study")}
    expected = {f"{it}{file}" for it in packages for file in ("", ".study", ".settings")}
    expected |= {load_study(name).showing for name in ("games", "comparison")}  # of the config
    assert of_studies == shared | expected
    assert len([name for name in imported if name.startswith("dpol")]) <= 105


def test_a_job_takes_the_time_of_its_points_and_of_its_start() -> None:
    small = plan()
    jobs, points = small.jobs["claims"], small.points["claims"].values()
    expected = 1.3 + sum(point.seconds for point in points) / len(jobs)
    assert small.seconds["claims_point"] == pytest.approx(expected)
