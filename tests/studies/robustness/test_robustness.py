"""The study of robustness: its jobs, and small games of each block beside plain ones."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpol
from dpol.config.experiment import load_experiment
from dpol.data.stream import ZERO_OR_HIDDEN
from dpol.show.reported import FILLINGS
from dpol.studies.comparison.standings import OUR_METHOD, THE_LEVEL
from dpol.studies.jobs import write_points
from dpol.studies.registry import load_study
from dpol.studies.robustness import unmeasured, worlds
from dpol.studies.robustness.settings import Robustness, RobustnessPoint
from dpol.studies.study import Inputs, Job

ROOT = Path(__file__).parents[3]
CONFIG = load_experiment(ROOT / "config/robustness.yaml")
BLOCK: Any = CONFIG.block("robustness")


def played(
    name: str, changes: dict[str, Any], suites: Mapping[str, Any] | None = None, **at: Any
) -> pd.DataFrame:
    """Return what the job of a point of the shipped config writes, with smaller settings."""
    part = getattr(BLOCK, name).model_copy(update=changes)
    of = {"ours": BLOCK.ours, "suites": BLOCK.suites if suites is None else suites, name: part}
    settings = Robustness.model_validate(of)
    point = RobustnessPoint(settings=settings, confidence=0.95, **at)
    with TemporaryDirectory() as folder:
        files = {it: Path(folder, f"{it}.parquet") for it in load_study("robustness").results}
        inputs = Inputs(seed=CONFIG.seed)
        write_points("dpol.studies.robustness", Job(points=(point,)).plain, inputs, files)
        tables = {it: pd.read_parquet(file) for it, file in files.items()}
    assert all(own.empty for other, own in tables.items() if other != name)
    return tables[name]


def test_each_job_has_a_place_and_plays_one_table() -> None:
    study = load_study("robustness")
    jobs = study.jobs(BLOCK, CONFIG.facts)
    zeros = {f"zeros/states/{it}/mu-0.25" for it in ("share", "large")}
    assert {"worlds/mu-0.5", "fillings/drop-2"} < {*jobs}
    assert {*zeros, "zeros/held-out/mu-0.25"} < {*jobs}
    for job in jobs.values():
        (asked,) = job.points
        assert sum(getattr(asked.settings, it) is not None for it in study.results) == 1


@pytest.mark.parametrize("noise", ["capacity", "fast"])
def test_a_run_of_a_world_is_a_stream_with_noise_of_its_own(noise: str) -> None:
    empty, gains = worlds.streams_of("heavy waves", 8)
    games = worlds.noisy_world("heavy waves", 0.5, 8, noise)
    stream = dataclasses.replace(empty, gains=gains[7])
    alone = dpol.privatize(stream, noise, 0.5, seed=worlds.SEED, replicates=[7])
    np.testing.assert_array_equal(games.gains[7], alone.gains[0])
    np.testing.assert_array_equal(games.noise_scale, alone.noise_scale)


@pytest.mark.parametrize("part", ["wave", "lasting", "fading"])
def test_a_part_of_the_log_shares_has_its_deviation_and_kind(part: str) -> None:
    """Of 5,000 streams, within five standard errors: a wave is one for all, an effect lasts."""
    alone = {"wave": 0.0, "lasting": 0.0, "fading": 0.0} | {part: 0.3}
    shares = worlds.hospitals(np.random.default_rng(1), 5000, **alone)
    logs = np.log(shares[:, [10, 11], :2] / 0.12)
    assert np.std(logs[:, 0, 0]) == pytest.approx(0.3, rel=0.05)
    (first, later), (_, other) = logs[:, :, 0].T, logs[:, :, 1].T
    kept = {"wave": None, "lasting": 1.0, "fading": 0.85}[part]
    assert kept is None or np.corrcoef(first, later)[0, 1] == pytest.approx(kept, abs=0.02)
    assert np.corrcoef(later, other)[0, 1] == pytest.approx(float(part == "wave"), abs=0.07)


def test_a_wave_takes_weeks_and_a_tenth_of_the_beds_has_patients() -> None:
    """Of three sines of 15 weeks or more, each moves by at most 2 sin(pi / 15) in a week."""
    quick = worlds.hospitals(np.random.default_rng(1), 100, wave=1.0, lasting=0, fading=0)
    moves = np.abs(np.diff(np.log(quick), axis=1))
    assert 0.5 < moves.max() / (np.sqrt(2 / 3) * 3 * 2 * np.sin(np.pi / 15)) <= 1
    _, gains = worlds.streams_of("beds from 13 to 400", 100)
    assert np.median(gains) == pytest.approx(0.12, rel=0.15)


def test_the_smallest_leads_the_second_half_alone() -> None:
    made, beds = worlds.WORLDS["the smallest is best in the second half"]
    shares = made(np.random.default_rng(1), 200).mean(axis=0)
    leads = shares[:, beds.argmin()] - shares.mean(axis=1)
    half = worlds.WEEKS // 2
    assert leads[:half].max() < 0.05 < 0.15 < leads[half:].min()


def test_a_hospital_is_full_while_it_is_small() -> None:
    shares = worlds.full(np.random.default_rng(1), 2)
    small = worlds.SHRINKING[:, worlds.SHRINKS] == 3
    assert 0 < small.sum() < worlds.WEEKS
    assert ((shares[:, :, worlds.SHRINKS] == 1) == small).all()


def test_the_lead_in_a_world_is_the_mean_over_streams_of_the_plain_shares() -> None:
    suites = {
        "batched": {"noises": ["isotropic-constant"], "algorithms": ["rw-adabatch"]},
        "ours": {"noises": ["capacity"], "algorithms": ["random-effects"]},
        "non-private": BLOCK.suites["non-private"],
    }
    rows = played("worlds", {"replicates": 3, "mus": [1.0]}, suites, mu=1.0)
    assert {*rows["stream"]} == {*worlds.WORLDS}
    rows = rows[rows["stream"] == "heavy waves"].set_index("algorithm")
    assert rows["role"].to_dict() == {"rw-adabatch": "", "random-effects": "our method"}
    _, gains = worlds.streams_of("heavy waves", 3)
    games = worlds.noisy_world("heavy waves", 1.0, 3)
    actions = dpol.play("random-effects", games).actions
    own = sum(gains[r, t, actions[r, t]] for r in range(3) for t in range(worlds.WEEKS))
    chance, best = gains.mean(axis=2).sum(), gains.max(axis=2).sum()
    share = rows.loc["random-effects", "gain_share"]
    assert share == pytest.approx((own - chance) / (best - chance))
    assert rows["to_ours"].tolist() == pytest.approx(rows["gain_share"] - share)


def test_hidden_zeros_play_as_recorded() -> None:
    """Without hidden zeros one draw plays; the intervals hold together for all levels."""
    held_out = BLOCK.zeros.tables["held-out"]
    two = {it: held_out.streams[it] for it in ("AL", "MN")}
    tables = {"held-out": held_out.model_copy(update={"streams": two})}
    changes = {"hidden": [0.0], "tables": tables}
    rows = played("zeros", changes, of="held-out", mu=0.25).set_index("stream")
    recorded = pd.read_csv(ROOT / "verify/runs/robustness/zeros.csv")
    expected = recorded.query("run == 'held-out' and hidden == 0 and mu == 0.25")
    expected = expected.set_index("stream")
    for state, name in itertools.product(two, ("ours", "rival_share", "lead")):
        assert rows.loc[state, name] == pytest.approx(expected.loc[state, name], rel=1e-4), state
        assert rows.loc[state, "rival"] == expected.loc[state, "rival"]
    assert rows.loc["", "ours"] == pytest.approx(rows.loc[[*two], "ours"].mean())


def test_a_filling_reads_the_sums_and_capacities_that_its_treatment_says() -> None:
    """Bounds are exact; the columns that sums tell are read only where the treatment reads them."""
    suites = {"ours": {"noises": ["capacity"], "algorithms": ["random-effects"]}}
    changes = {"mus": [np.inf, 1.0], "replicates": 2}
    ours = "algorithm == 'random-effects' and noise == 'capacity' and mu == inf"
    expected = pd.read_csv(FILLINGS).query(ours)
    exact = ["n_experts", "uniform_gain", "best_fixed_gain", "oracle_gain", "unmeasured_periods"]
    for of, read_as in (("averages", 1.0), ("absent", 3.0)):
        rows = played("fillings", changes, suites, of=of, read_as=read_as)
        row, private = rows.sort_values("mu", ascending=False).to_dict("records")
        assert (row["mu"], private["mu"]) == (np.inf, 1.0)
        same = (expected["treatment"] == row["treatment"]) & (expected["read_as"] == read_as)
        (there,) = expected[same].to_dict("records")
        for name in (*exact, "mean_gain", "gain_share"):
            assert row[name] == pytest.approx(there[name], rel=1e-5), name


# ---- zeros that may hide counts: what a draw hides, and which verdict all draws give ------------

PERIODS = pd.date_range("2021-01-01", periods=52, freq="7D")
KNOWN = np.array([2.0, 4.0, 8.0, 12.0, 27.0]) / 7


def test_a_hidden_average_is_told_by_its_sum_and_its_days(tmp_path: Path) -> None:
    """A sum of 1 to 3 is hidden too, and read as 2; a count that is shown tells nothing."""
    rows = {"n_avg": [-999999, -999999, -999999, 5.0], "n_sum": [14, -999999, 9, 35]}
    pd.DataFrame(rows | {"n_coverage": [7, 4, 0, 7]}).to_parquet(tmp_path / "table.parquet")
    assert unmeasured.hidden_averages(tmp_path / "table.parquet", "n_avg").tolist() == [2.0, 0.5]


def panel(source: str) -> pd.DataFrame:
    """Return a year of 40 hospitals with 2 beds; every third count is 0, every fourth carried."""
    count = np.tile(np.arange(52) % 3, 40).astype(float)
    kind = np.where(np.arange(len(count)) % 4 == 0, "carried", source)
    return pd.DataFrame(
        {"stream": "NM", "entity": np.repeat(np.arange(40), 52), "period": np.tile(PERIODS, 40)}
        | {"count": count, "capacity": 2.0, "density": count / 2, "count_source": kind}
    )


@pytest.mark.parametrize("source", ["reported", ZERO_OR_HIDDEN])
def test_all_zeros_of_a_hidden_quarter_and_nothing_else_take_a_hidden_average(source: str) -> None:
    rows = panel(source)
    made = unmeasured.with_hidden(rows, KNOWN, 0.3, 0)
    moved = made["count"] != rows["count"]
    zero = (rows["count"] == 0) & (rows["count_source"] == source)
    assert not moved[~zero].any()
    quarter = [rows["entity"], rows["period"].dt.quarter]
    share = moved[zero].groupby([it[zero] for it in quarter]).mean()
    assert set(share) == {0.0, 1.0}
    assert share.mean() == pytest.approx(0.3, abs=0.1)
    values = made["count"][moved]
    assert values.between(2 / 7, 27 / 7).all()
    pd.testing.assert_series_equal(
        made["density"][moved], (values / 2).clip(upper=1), check_names=False
    )
    within = np.log(values).groupby([it[moved] for it in quarter]).std().median()
    assert 0.1 < within < np.log(values).std()
    assert not unmeasured.with_hidden(rows, KNOWN, 0.3, 1)["count"].equals(made["count"])
    assert unmeasured.with_hidden(rows, KNOWN, 0.0, 0)["count"].equals(rows["count"])


@pytest.mark.parametrize(
    ("lead", "verdict"),
    [([0.2, 0.1], "above"), ([0.2, -0.1], "undecided"), ([-0.2, -0.1], "below")],
)
def test_a_verdict_needs_all_draws_each_with_its_strongest_rival(
    lead: list[float], verdict: str
) -> None:
    names = {"algorithm": [*"oab"], "family": [*"oab"], "role": [OUR_METHOD, "", ""]}
    systems = pd.DataFrame(names).assign(noise="capacity", guarantee=THE_LEVEL, mu=0.25)
    shares = np.full((3, 2, 3), 0.05)
    shares[0] = 0.5 + 0.001 * np.array([-1.0, 0.0, 1.0])
    shares[2, 0], shares[1, 1] = 0.5 - np.array(lead)[:, None]  # b, then a
    row = unmeasured.summed_up(systems, shares, 0.95, 3)
    assert row["verdict"] == verdict
    assert [row["lead_least"], row["lead_most"]] == pytest.approx(sorted(lead))
    assert row["lead"] == pytest.approx(np.mean(lead))
    assert (row["draws"], row["ours"], row["rival"]) == (2, pytest.approx(0.5), "b")
