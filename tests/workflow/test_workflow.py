"""Real snakemake runs: whole, repeated, killed, and with every kind of bad input."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from dpol.core.schemas import read_frame, read_schemas
from dpol.studies import registry
from dpol.studies.registry import load_study
from frozen.values import CONFIGS, changes, read_names, result_files
from pipeline import ROOT, command, fail, run, snakemake, succeed, write_config
from report.crates import checked_crate

# Every algorithm, mechanism and study, in seconds: its values are frozen.
DEMO: dict[str, Any] = yaml.safe_load(CONFIGS["demo"].read_text())
STUDIES = tuple(name for name in registry.STUDIES if name in DEMO)
# Without the studies, whose results depend on nothing else in the config.
PLAIN = {key: value for key, value in DEMO.items() if key not in STUDIES}
STUDY_TITLES = [load_study(name).title for name in STUDIES]
# test_examples.py plays the others but the paper's, which is the default.
PLAYED = {"admissions", "clicks", "config", "icu", "shelters"}
UNPLAYED = [it for it in sorted((ROOT / "config").glob("*.yaml")) if it.stem not in PLAYED]

pytestmark = pytest.mark.workflow


def write_plain(folder: Path, **changes: Any) -> None:
    write_config(folder, PLAIN, **changes)


RUN = "runs/NM/local/isotropic/mu-0.5/block-0.parquet"


def contents(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Files that must not depend on how the run was made."""
    return {name: (folder / "results" / "demo" / name).read_bytes() for name in names}


def targets(names: Iterable[str]) -> list[str]:
    """The files as Snakemake is asked for them."""
    return [f"results/demo/{name}" for name in names]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    write_config(folder, DEMO)
    text = succeed(snakemake(folder))
    assert [title for title in STUDY_TITLES if f"{title}: " not in text] == []
    assert "tables/average-gain.md" in text
    assert "figures/cumulative-gain.png" in text
    return folder


def test_every_output_of_a_run_is_there(whole: Path) -> None:
    base = whole / "results" / "demo"
    tables = ["average-gain", "comparison", "ablation"]
    figures = ["privacy-utility", "cumulative-gain", "comparison"]
    for study in map(load_study, STUDIES):
        tables += [table.name for table in study.tables]
        figures += [
            it.name for it in study.figures(study.settings.model_validate(DEMO[study.name]))
        ]
    suffixes = ("md", "csv", "tex", "html")
    wanted = [f"tables/{name}.{suffix}" for name in tables for suffix in suffixes]
    wanted += [f"figures/{name}.{suffix}" for name in figures for suffix in ("svg", "png", "pdf")]
    wanted += ["report/index.html", "provenance/Snakefile", "provenance/config.yaml"]
    wanted += ["data/cleaning.md", "data/cleaning.json", "data/panel.parquet"]
    assert [name for name in wanted if not (base / name).stat().st_size] == []
    named = {it["@id"] for it in checked_crate(base)}
    results = {path.name for path in base.glob("*.parquet")}
    assert {*wanted, *results} <= named
    played = [f"suite-{it}" for it in DEMO["suites"]] + [f"study-{it}" for it in STUDIES]
    assert {f"#hash-of-the-code-of-{it}" for it in played} <= named


def test_values_of_the_whole_run_are_as_frozen(whole: Path) -> None:
    wrong = changes("demo", result_files(whole / "results/demo"), read_names())
    assert wrong == {}, "if it is meant: names.yaml; new: tests/frozen/renew.py demo --new"


def test_result_tables_are_what_their_schemas_say(whole: Path) -> None:
    folders = [ROOT / "src/dpol/studies/hospitals", *(load_study(it).folder for it in STUDIES)]
    files = [folder / "results.yaml" for folder in folders]
    schemas = {name: schema for file in files for name, schema in read_schemas(file).items()}
    found = {path.stem: path for path in (whole / "results/demo").glob("*.parquet")}
    assert found.keys() == schemas.keys()
    for name, path in found.items():
        frame = read_frame(path, schemas[name])
        assert list(frame) == list(pd.read_parquet(path)), "columns in the order of the manual"


def test_second_run_has_nothing_to_do(whole: Path) -> None:
    text = succeed(snakemake(whole))
    assert "Nothing to be done" in text


def test_results_depend_neither_on_cores_nor_on_blocks(whole: Path, tmp_path: Path) -> None:
    """The run uses one core, and three replicates in blocks of two and one."""
    names = [RUN.replace("block-0", f"block-{block}") for block in (0, 1)]
    points = [str(path.relative_to(whole)) for path in whole.rglob("points/labels/*/*.parquet")]
    write_config(tmp_path, DEMO, block_replicates=2)
    succeed(snakemake(tmp_path, *targets(names), *points, "--cores", "1"))
    for name in points:  # every other study is one job
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()
    keys = ["algorithm", "replicate", "round"]
    parts = [pd.read_parquet(tmp_path / name) for name in targets(names)]
    joined = pd.concat(parts).sort_values(keys, ignore_index=True)
    at_once = pd.read_parquet(whole / "results/demo" / RUN)
    pd.testing.assert_frame_equal(joined, at_once.sort_values(keys, ignore_index=True))


def test_another_seed_gives_other_results(whole: Path, tmp_path: Path) -> None:
    write_plain(tmp_path, seed=8)
    succeed(snakemake(tmp_path, *targets([RUN])))
    before = pd.read_parquet(whole / "results/demo" / RUN)["action"]
    after = pd.read_parquet(tmp_path / "results/demo" / RUN)["action"]
    assert not before.equals(after)


@pytest.fixture(scope="module")
def copied(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run, and next to it the package, whose code a test may change and put back."""
    folder = tmp_path_factory.mktemp("copied")
    for name in ("results", ".snakemake"):
        shutil.copytree(whole / name, folder / name)
    # Compiled files and all: what did not change need not be compiled again.
    shutil.copytree(ROOT / "src", folder / "src")
    write_config(folder, DEMO)
    assert rules_to_run(folder) == set()
    return folder


def rules_to_run(folder: Path) -> set[str]:
    """The rules of which Snakemake would run a job, with the package in `folder`."""
    planned = run(*command(folder, "--dry-run"), PYTHONPATH=str(folder / "src"))
    return set(re.findall(r"^(\w+) +\d+$", succeed(planned), re.MULTILINE)) - {"all", "total"}


def jobs_of(*studies: str) -> set[str]:
    """The rules of studies, and of the report."""
    kinds = ("point", "results", "shown")
    return {f"{study}_{kind}" for study in studies for kind in kinds} | {"render_report"}


# l2p is played by a suite of the config.
MAIN = {
    *("run_suite", "aggregate_runs"),
    *("privacy_utility_shown", "replay_shown", "average_gain_shown", "cumulative_gain_shown"),
    "beyond_shown",
}


def test_changed_config_reruns_only_what_it_affects(copied: Path) -> None:
    write_config(copied, DEMO, report={**DEMO["report"], "algorithms": ["rw-ftpl"]})
    rules = rules_to_run(copied)
    columns = {**DEMO["dataset"]["columns"], "titles": {"entity": "clinic"}}
    write_config(copied, DEMO, dataset={**DEMO["dataset"], "columns": columns})
    titled = rules_to_run(copied)
    write_config(copied, DEMO)
    assert "aggregate_runs" in rules
    assert "run_suite" not in rules
    assert titled == {"render_report"}, "titles are words of the report"


@pytest.mark.parametrize("config", UNPLAYED, ids=lambda path: path.stem)
def test_dry_run_of_every_config_that_is_played_nowhere(tmp_path: Path, config: Path) -> None:
    """A default config with a mistake is there, with which they are not mixed."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text("replicats: 5\n")
    source = yaml.safe_load(config.read_text())["dataset"]["source"]
    if source["kind"] == "local":
        table = tmp_path / source["file"]
        table.parent.mkdir(parents=True)
        table.touch()
    assert "cumulative_gain_shown" in succeed(snakemake(tmp_path, "--dry-run", config=config))


def test_default_config_is_the_paper(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    words = command(tmp_path, "--dry-run")
    index = words.index("--configfile")
    said = succeed(run(*words[:index], *words[index + 2 :]))
    assert "results/paper/" in said
    assert "cumulative_gain_shown" in said


def test_killed_run_continues_to_the_same_results(whole: Path, tmp_path: Path) -> None:
    write_plain(tmp_path)
    base = whole / "results/demo"
    names = [str(path.relative_to(base)) for path in (base / "runs/NM/local").rglob("*.parquet")]
    wanted = targets(names)
    started = subprocess.Popen(
        command(tmp_path, "--cores", "2", *wanted),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = tmp_path / "results/demo/runs"
    deadline = time.monotonic() + 120
    while len(list(runs.rglob("*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert runs.exists()
    assert len(list(runs.rglob("*.parquet"))) < len(names)
    assert "--unlock" in fail(snakemake(tmp_path, *wanted))
    succeed(snakemake(tmp_path, "--unlock"))
    succeed(snakemake(tmp_path, *wanted))
    assert contents(tmp_path, names) == contents(whole, names)


@pytest.fixture
def small_disk(tmp_path: Path) -> Any:
    """A folder on a disk of 300 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_full_disk_is_told_and_leaves_no_half_file(small_disk: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results/demo").symlink_to(small_disk)
    write_plain(tmp_path, replicates=600)
    done = snakemake(tmp_path)
    assert done.returncode != 0
    # Ours if a result met the full disk, Snakemake's if its own measurement of a job did.
    assert re.search("disk is full|No space left on device", done.stdout + done.stderr)
    for path in small_disk.rglob("*.parquet"):
        pd.read_parquet(path)


LOCAL = {"kind": "local", "file": "table.csv"}


def local_table(folder: Path, text: str, source: Any = LOCAL, **changes: Any) -> None:
    (folder / "table.csv").write_text(text)
    dataset = {
        "source": source,
        "columns": {"entity": "id", "period": "week", "count": "sick", "capacity": "beds"},
        "cleaning": {"min_total_cases": 0},
    }
    streams = {"all": {"groups": ["all"]}}
    write_plain(folder, dataset=dataset, streams=streams, **changes)


HEADER = "id,week,sick,beds\n"
GOOD = HEADER + "a,2021-01-01,1,10\nb,2021-01-01,2,10\na,2021-01-08,1,10\nb,2021-01-08,2,10\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "has a header but no rows"),
        (GOOD.replace("a,2021-01-08,1,10", "a,2021-01-08,-1,10"), "    negative_counts: missing\n"),
    ],
    ids=["read", "negative"],
)
def test_bad_tables_are_told_and_nothing_is_lost(tmp_path: Path, text: str, message: str) -> None:
    local_table(tmp_path, text)
    # Said by the job, and once more after all that Snakemake says.
    for said in fail(snakemake(tmp_path)).split("What went wrong:"):
        assert message in said
    assert (tmp_path / "table.csv").read_text() == text


def test_a_run_on_a_table_that_is_not_public_warns_and_keeps_no_replay(tmp_path: Path) -> None:
    local_table(
        tmp_path,
        GOOD,
        privacy={"levels": {"none": float("inf"), "high": 0.5}},
        suites={"local": {"algorithms": ["rw-ftpl", "ridge"]}},
        comparison=None,
        report={"algorithms": ["rw-ftpl"]},
        replicates=2,
    )
    warning = "This folder holds your raw counts. Share nothing of it."
    assert f"results/demo: {warning}" in succeed(snakemake(tmp_path))
    base = tmp_path / "results/demo"
    assert warning in (base / "report/index.html").read_text()
    described = {it["@id"]: it for it in checked_crate(base)}["./"]["description"]
    assert described.endswith(warning)
    assert not (base / "replay.parquet").exists()
    assert not list(base.glob("figures/decisions*"))


def test_a_bad_table_is_told_before_the_long_studies_begin(tmp_path: Path) -> None:
    local_table(tmp_path, HEADER, lazy=DEMO["lazy"])
    said = fail(snakemake(tmp_path, "--cores", "1"))
    assert "has a header but no rows" in said
    assert [title for title in STUDY_TITLES if f"{title}: " in said] == []


def test_missing_table_is_told_before_anything_runs(tmp_path: Path) -> None:
    local_table(tmp_path, GOOD)
    (tmp_path / "table.csv").unlink()
    assert "table.csv: no such file" in fail(snakemake(tmp_path))


def test_unwritable_results_are_told(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("not a folder")
    write_config(tmp_path, PLAIN)
    assert "cannot write results/demo" in fail(snakemake(tmp_path))


def test_config_mistakes_are_all_told_at_once(tmp_path: Path) -> None:
    levels = {"mu-inf": float("inf"), "mu-0": 0}
    write_config(tmp_path, PLAIN, replicats=3, privacy={"levels": levels})
    said = fail(snakemake(tmp_path))
    assert "replicats = 3: unknown key; did you mean replicates?" in said
    assert "privacy.levels.mu-0 = 0: must lie from 0.001 to 1000" in said


WEB = {"kind": "web", "file": "data/raw/table.csv.gz", "attempts": 1}
NOWHERE = "http://127.0.0.1:9/table.csv"


def test_a_table_placed_by_hand_is_used_instead_of_fetching(tmp_path: Path) -> None:
    local_table(tmp_path, GOOD, {**WEB, "endpoints": [{"kind": "file", "url": NOWHERE}]})
    assert "fetch_dataset" in succeed(snakemake(tmp_path, "--dry-run"))
    placed = tmp_path / "data/raw/table.csv.gz"
    placed.parent.mkdir(parents=True)
    placed.write_bytes(gzip.compress(GOOD.encode()))
    said = succeed(snakemake(tmp_path, "results/demo/data/panel.parquet"))
    assert "fetch_dataset" not in said
    assert gzip.decompress(placed.read_bytes()) == GOOD.encode()


def test_without_network_the_fetch_ends_with_what_to_do(tmp_path: Path) -> None:
    source = {**WEB, "endpoints": [{"kind": "socrata", "url": NOWHERE}]}
    write_config(tmp_path, DEMO, dataset={**DEMO["dataset"], "source": source})
    said = fail(snakemake(tmp_path, "--cores", "1"))
    assert [title for title in STUDY_TITLES if f"{title}: " in said] == []
    assert "place it by hand as data/raw/table.csv.gz" in said
    assert "dpol demo" in said


@pytest.mark.parametrize(
    ("file", "rerun"),
    [
        ("studies/claims/statements.yaml", jobs_of("claims")),
        ("studies/labels/figures.py", {"labels_shown", "render_report"}),
        ("lazy/accounting.py", MAIN | jobs_of("lazy", "convex", "audits", "claims")),
        ("experts/learners/empirical_bayes.py", jobs_of("memory")),
        ("studies/registry.py", {"render_report"}),
        ("config/docs.py", set()),
    ],
)
def test_changed_code_reruns_only_what_it_affects(copied: Path, file: str, rerun: set[str]) -> None:
    path = copied / "src/dpol" / file
    before = path.read_text()
    path.write_text(f"{before}\n# YAML\n" if path.suffix == ".yaml" else f"{before}\nNEW = 1\n")
    found = rules_to_run(copied)
    path.write_text(before)
    assert found == rerun


def test_a_new_algorithm_in_a_suite_of_its_own_runs_alone(copied: Path) -> None:
    package = copied / "src/dpol/experts"
    text = (package / "follow_the_leader.py").read_text()
    (package / "newest.py").write_text(text.replace("FollowTheLeader", "Newest"))
    registry = package / "registry.py"
    text = registry.read_text()
    line = '    "follow-the-leader": "dpol.experts.follow_the_leader:FollowTheLeader",\n'
    registry.write_text(text.replace(line, line + '    "newest": "dpol.experts.newest:Newest",\n'))
    suites = {**DEMO["suites"], "new": {"algorithms": ["newest"]}}
    write_config(copied, DEMO, suites=suites)
    found = rules_to_run(copied)
    assert {"run_suite", "aggregate_runs"} <= found
    # Of the studies only the ledger reads the results of the run.
    assert {rule for rule in found if rule.endswith("_point")} <= {"claims_point"}
