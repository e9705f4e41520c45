"""Comparison of runs: by hand, and refusals."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.intervals import student_factor, welch_half_width
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream, write_stream
from dpol.report.compare import RunComparison, compare_runs
from dpol.report.door import CONFIG, CRATE
from dpol.reruns.code_hashes import code_of_results
from dpol.studies.games import collect as summaries
from dpol.studies.games.scores import Played
from game_tables import joined
from in_process import command
from report.run_by_hand import (
    CLEANING,
    PARAMS,
    PROVENANCE,
    audits,
    claims,
    config,
    note_sums,
    write_files,
)
from runs_by_hand import played as played_by_hand
from streams_by_hand import given_stream, stream

SETTINGS: dict[str, Any] = {
    "dataset": {"source": {"kind": "local"}},
    "suites": {"local": {"algorithms": ["meta", "tree"]}},
    "report": {"confidence": 0.95},
}
META, TREE, LEADER = [1.0, 2.0, 4.0], [3.0, 3.0, 6.0], [5.0, 5.0, 5.0]
BASE = {"meta": META, "tree": TREE, "leader": LEADER}


def write(
    folder: Path,
    played: Mapping[str, Sequence[float]] | Sequence[Played] = BASE,
    *,
    data: GainStream | None = None,
    seed: int = 7,
    tables: Mapping[str, pd.DataFrame] = MappingProxyType({}),
    code: str = PARAMS.code,
    table: str = "ab" * 32,
    guaranteed: Mapping[float, float] = MappingProxyType({}),
    provenance: Mapping[str, Any] = MappingProxyType({}),
    **settings: Any,
) -> Path:
    """Write a finished run of algorithms with these total gains, or of these runs.

    `guaranteed` has the guaranteed mu of a requested mu, if they differ; NaN: epsilon is 4.
    """
    if isinstance(played, Mapping):
        played = [played_by_hand(label, "isotropic", 1.0, own) for label, own in played.items()]
    data = stream(label="nm", provenance={}) if data is None else data
    rows = [
        {
            **{"stream": runs.stream, "noise": runs.noise, "mu": runs.mu, "algorithm": runs.label},
            **{"replicates": len(runs.totals), "mean_gain": runs.totals.mean()},
            "std_gain": runs.totals.std(ddof=1) if len(runs.totals) > 1 else math.nan,
            **{"guaranteed_mu": guaranteed.get(runs.mu, runs.mu), "epsilon": 4.0},
        }
        for runs in played
    ]
    for name in ("data", "streams", "report"):
        (folder / name).mkdir(parents=True)
    write_stream(data, folder / "streams/nm.parquet")
    own = {"summary": pd.DataFrame(rows), "totals": totals_of(played)}
    for name, frame in {**own, **tables}.items():
        write_frame(frame, folder / f"{name}.parquet")
    source = CLEANING["provenance"] | {"sha256": table}
    (folder / "data/cleaning.json").write_text(json.dumps(CLEANING | {"provenance": source}))
    (folder / "report/index.html").write_text("the page")
    text = yaml.safe_dump({"run": folder.name, "seed": seed} | SETTINGS | settings)
    params = dataclasses.replace(PARAMS, config_text=text, code=code)
    origin = dataclasses.replace(PROVENANCE, params=params, **provenance)
    files = ["data/cleaning.json", "streams/nm.parquet", "report/index.html", *own, *tables]
    write_files(folder, config(seed=seed), origin, files)
    return folder


def totals_of(played: Sequence[Played]) -> pd.DataFrame:
    """Return the total gains of runs, with numbers as labels of levels."""
    labels = {runs.mu: str(runs.mu) for runs in played}
    scores, cells = joined([it] for it in played)
    return summaries.totals_of(cells.assign(level=cells["mu"].map(labels)), scores)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("results") / "base")


def rows(result: RunComparison) -> dict[str, dict[str, Any]]:
    return {row["algorithm"]: row for row in result.cells.to_dict("records")}


def verdicts(result: RunComparison) -> dict[str, str]:
    return {label: row["verdict"] for label, row in rows(result).items()}


# --- By hand ---


@pytest.mark.parametrize("confidence", [-1, 0, math.nan, math.inf, -math.inf, True, 1e308, 10**400])
def test_a_confidence_that_is_none_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match=r"confidence must be a number in \(0, 1\), got"):
        compare_runs("old", "new", confidence=confidence)


def test_equal_runs_have_no_differences(base: Path, tmp_path: Path) -> None:
    result = compare_runs(base, write(tmp_path / "again"))
    assert (result.settings, result.verdicts, result.differs) == ((), (), False)
    assert set(verdicts(result).values()) == {"same"}


def test_runs_of_one_seed_are_paired_by_replicate(base: Path, tmp_path: Path) -> None:
    """Differences 1, 2, 3, and -2 for a deterministic algorithm; three joint intervals."""
    new = write(tmp_path / "new", BASE | {"meta": [2.0, 4.0, 7.0], "leader": [3.0] * 3})
    result = compare_runs(base, new, confidence=0.9)
    meta, leader = rows(result)["meta"], rows(result)["leader"]
    assert (meta["difference"], meta["interval"]) == (pytest.approx(2.0), "paired")
    assert meta["difference_half_width"] == pytest.approx(student_factor(0.9, 3, 3) / 3**0.5)
    assert (meta["verdict"], meta["ci_comparisons"], meta["confidence"]) == ("within noise", 3, 0.9)
    assert (leader["difference_half_width"], leader["verdict"]) == (0.0, "lower")
    assert verdicts(result)["tree"] == "same"
    assert verdicts(compare_runs(base, new, confidence=0.5))["meta"] == "higher"
    assert list(result.cells["algorithm"]) == ["leader", "meta", "tree"], "the largest first"


@pytest.mark.parametrize("why", ["seed", "replicates"])
def test_other_runs_are_not_paired(base: Path, tmp_path: Path, why: str) -> None:
    """The intervals of all three algorithms hold together."""
    totals = [9.0, 10.0, 12.0, 13.0] if why == "replicates" else [9.0, 10.0, 13.0]
    played = dict.fromkeys(BASE, totals)
    row = rows(compare_runs(base, write(tmp_path / "new", played, seed=7 + (why == "seed"))))[
        "meta"
    ]
    deviations = [float(np.std(gains, ddof=1)) for gains in (META, totals)]
    half = welch_half_width(deviations, [3, len(totals)], 0.95, 3)
    assert (row["interval"], row["difference_half_width"]) == ("Welch", half)
    assert row["difference"] == pytest.approx(np.mean(totals) - np.mean(META))
    assert row["verdict"] == ("higher" if row["difference"] > half else "within noise")


def test_one_replicate_decides_nothing(tmp_path: Path) -> None:
    one, two = (write(tmp_path / str(gain), {"meta": [gain]}) for gain in (1.0, 5.0))
    row = rows(compare_runs(one, two))["meta"]
    assert (row["verdict"], row["difference_half_width"]) == ("within noise", math.inf)


def test_other_data_have_no_interval_but_count_as_a_difference(base: Path, tmp_path: Path) -> None:
    """Other numbers of beds scale the noise differently; other names change nothing."""
    more = {"meta": [2.0, 4.0, 7.0]}
    data = stream(label="nm", capacity=np.full((3, 2), 30.0))
    result = compare_runs(base, write(tmp_path / "other", more, data=data))
    row = rows(result)["meta"]
    assert (row["verdict"], row["interval"]) == ("other data", "")
    assert math.isnan(row["difference_half_width"])
    assert result.differs
    renamed = stream(label="nm", names=("A", "B"))
    assert rows(compare_runs(base, write(tmp_path / "n", more, data=renamed)))["meta"]["interval"]


def test_other_sensitivities_are_other_data(tmp_path: Path) -> None:
    """They scale the noise as capacities do; equal ones are the same data."""
    one = given_stream(label="nm")
    other = given_stream(label="nm", given_sensitivity=[0.5, 0.25, 1.0])
    old = write(tmp_path / "old", BASE, data=one)
    for name, data, said in (("same", one, "same"), ("other", other, "other data")):
        assert {*verdicts(compare_runs(old, write(tmp_path / name, BASE, data=data))).values()} == {
            said
        }


def at(mu: float, totals: Sequence[float], label: str = "meta") -> Played:
    return played_by_hand(label, "isotropic", mu, totals)


def test_a_noise_at_twice_its_mu_is_not_compared_with_the_requested_mu(tmp_path: Path) -> None:
    """What is asked for at 0.5 gives 1, and is compared with 1 of the other run."""
    good = write(tmp_path / "good", [at(1.0, META), at(0.5, TREE)])
    played = [at(0.5, LEADER), at(0.25, LEADER), at(1.0, META)]
    faulty = write(tmp_path / "faulty", played, guaranteed={0.5: 1.0, 1.0: 2.0})
    cells = compare_runs(good, faulty, confidence=0.5).cells.set_index("guaranteed_mu")
    assert cells.loc[1.0, "difference"] == pytest.approx(5 - 7 / 3)
    assert (cells.loc[1.0, "mu_old"], cells.loc[1.0, "mu_new"]) == (1.0, 0.5)
    assert cells.loc[1.0, "interval"] == "Welch", "at another requested mu the noise is another"
    new = "only in the new run"
    alone = {0.5: "only in the old run", 0.25: new, 2.0: new}
    assert cells["verdict"].to_dict() == {1.0: "higher", **alone}
    assert cells["difference"].notna().tolist() == [True, False, False, False]


@pytest.mark.parametrize("guarantee", [0.2, math.inf])
def test_cells_with_one_guarantee_are_told_apart_by_the_requested_mu(
    tmp_path: Path, guarantee: float
) -> None:
    """Prefix sums may have noise for the strictest level at all; the theorem of L2P keeps no mu."""
    same = dict.fromkeys((1.0, 0.5, 0.25), guarantee)
    one = write(tmp_path / "one", [at(1.0, META), at(0.5, TREE)], guaranteed=same)
    two = write(tmp_path / "two", [at(0.5, TREE), at(0.25, LEADER)], guaranteed=same)
    cells = compare_runs(one, two).cells
    found = cells.set_index("verdict")[["mu_old", "mu_new"]].to_dict("index")
    assert found["same"] == {"mu_old": 0.5, "mu_new": 0.5}
    assert found["only in the old run"]["mu_old"] == 1.0
    assert found["only in the new run"]["mu_new"] == 0.25


def test_numbers_of_one_run_only_are_listed(base: Path, tmp_path: Path) -> None:
    less = write(tmp_path / "less", {"meta": META, "tree": TREE})
    fewer, more = compare_runs(base, less), compare_runs(less, base)
    assert (verdicts(fewer)["leader"], fewer.differs) == ("only in the old run", True)
    assert (verdicts(more)["leader"], more.differs) == ("only in the new run", False)


# --- What else differs ---


def test_settings_that_differ_are_named(base: Path, tmp_path: Path) -> None:
    suites = {"local": {"algorithms": [{"algorithm": "meta", "floor": 0}, "tree"]}}
    facts = {"versions": (("Python", "3.11.0"), ("dpol", "0.2.0")), "commit": "4567def"}
    report = {"confidence": 0.9, "width": 5.0}
    blocks: dict[str, Any] = {"suites": suites, "report": report, "audits": {}}
    new = write(tmp_path / "new", seed=8, code="fedcba9876543210", provenance=facts, **blocks)
    result = compare_runs(base, new)
    assert set(result.settings) == {
        "report.confidence: 0.95 → 0.9",
        "seed: 7 → 8",
        "suites.local.algorithms: - meta, + {algorithm: meta, floor: 0}",
        "report.width: not set → 5.0",
        "audits: not set → {}",
    }
    assert set(result.provenance) == {
        "versions: - dpol 0.1.0, + dpol 0.2.0",
        f"hash of the code of dpol: {code_of_results()} → fedcba9876543210",
        "commit: 0123abc → 4567def",
    }


def test_another_table_of_data_is_named(base: Path, tmp_path: Path) -> None:
    result = compare_runs(base, write(tmp_path / "new", table="cd" * 32))
    assert result.provenance == (f"checksum of the data: {'ab' * 32} → {'cd' * 32}",)


def test_verdicts_that_changed_are_named(tmp_path: Path) -> None:
    tables = {"claims": (ledger := claims()), "audits": audits()}
    one = write(tmp_path / "one", tables=tables)
    changed = ledger.assign(verdict=["undecided", *ledger["verdict"][1:]])
    two = write(tmp_path / "two", tables=tables | {"claims": changed})
    result = compare_runs(one, two)
    (change,) = result.verdicts
    assert change.startswith("claims: One, ")
    assert change.endswith(f": {ledger['verdict'][0]} → undecided")
    assert result.differs
    assert compare_runs(one, write(tmp_path / "none")).verdicts == ()


# --- The command ---


def test_the_command_writes_all_rows_and_fails_on_a_difference_if_told_to(
    base: Path, tmp_path: Path
) -> None:
    new, file = write(tmp_path / "new", BASE | {"leader": [3.0] * 3}), tmp_path / "all.csv"
    code, out, _ = command("compare", base, new, "--output", file)
    assert code == 0
    assert "leader" in out
    assert "meta" not in out, "its number is the same"
    assert "cells in both runs: 2 same, 1 lower\n" in out
    written = pd.read_csv(file)
    assert written["verdict"].tolist() == ["lower", "same", "same"]
    assert written.columns.tolist() == compare_runs(base, new).cells.columns.tolist()
    assert command("compare", base, new, "--fail-on-difference")[0] == 1
    assert command("compare", base, write(tmp_path / "b"), "--fail-on-difference")[0] == 0


def test_the_command_shows_the_guaranteed_mu_and_counts_cells_of_one_run(tmp_path: Path) -> None:
    old = write(tmp_path / "old", [at(1.0, META), at(0.5, TREE)], guaranteed={0.5: 0.4})
    more = [at(1.0, META), at(0.5, LEADER), *(at(0.5, META, label) for label in ("a", "b"))]
    new = write(tmp_path / "new", [at(0.5, LEADER), *more[2:]], guaranteed={0.5: 0.4})
    _, out, _ = command("compare", old, new, "--confidence", "0.5", "--output", tmp_path / "csv")
    (line,) = (line for line in out.splitlines() if "isotropic" in line)
    assert line.split()[3:6] == ["0.4", "0.5", "0.5"], "guaranteed and requested"
    assert f"at another guaranteed μ: 1 in {old}, 2 in {new}\n" in out
    assert "nan" not in out.lower()
    assert len(pd.read_csv(tmp_path / "csv")) == 4


def damage(folder: Path, what: str) -> None:
    summary, crate = folder / "summary.parquet", folder / CRATE
    if what == "unfinished":
        crate.unlink()
    elif what == "no summary":
        summary.unlink()
    elif what == "another schema":
        before = sha256(summary)
        write_frame(pd.read_parquet(summary).drop(columns="mean_gain"), summary)
        crate.write_text(crate.read_text().replace(before, sha256(summary)))
        note_sums(folder, [summary, crate])  # as another version may have
    else:
        (folder / what).write_text("{")


def test_the_command_warns_of_a_file_that_is_not_of_the_run_and_does_not_read_it(
    base: Path, tmp_path: Path
) -> None:
    new = write(tmp_path / "new")
    write_frame(claims(), new / "claims.parquet")
    code, out, error = command("compare", base, new)
    told = f"warning: {new} was changed after the run: {{}}; see dpol verify {new}\n"
    assert (code, error) == (0, told.format("claims.parquet (new)"))
    assert "Verdicts\n  no difference\nThese numbers are computed from raw counts" in out
    summary = new / "summary.parquet"
    frame = pd.read_parquet(summary)
    write_frame(frame.assign(mean_gain=frame["mean_gain"] + 1), summary)
    code, out, error = command("compare", base, new)
    assert (code, out) == (1, "")
    refused = f"error: {summary} is not as a job of this run wrote it; delete it and run snakemake"
    assert refused in error


@pytest.mark.filterwarnings("ignore:.* was changed after the run")
@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("unfinished", "new/ro-crate-metadata.json is missing.*finish it with dpol run CONFIG"),
        ("no summary", "summary.parquet is missing; run snakemake again"),
        ("another schema", "summary.parquet: lacks column mean_gain; delete it and run snakemake"),
        (CRATE, "ro-crate-metadata.json cannot be read.*delete it and run snakemake again"),
        (CONFIG, "config.yaml cannot be read.*delete it and run snakemake again"),
        ("claims.parquet", "claims.parquet is not as a job of this run wrote it; delete it and"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(tmp_path: Path, what: str, message: str) -> None:
    old, new = (write(tmp_path / name, tables={"claims": claims()}) for name in ("old", "new"))
    damage(new, what)
    for pair in ((old, new), (new, old)):
        with pytest.raises(DataError, match=message):
            compare_runs(*pair)


def test_wrong_arguments_are_refused(base: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(base)
    for arguments, message in (
        ([base, tmp_path / "nope"], "is missing: not a finished run; name another folder"),
        ([base, link], "are the same folder; name different runs"),
        ([base, link, "--confidence", "1"], "argument --confidence: must lie from 0.5 to"),
    ):
        code, out, error = command("compare", *arguments)
        assert (code, out) == (2 if "argument" in message else 1, "")
        assert message in error
        assert error.count("\n") == 1
