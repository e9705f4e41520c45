"""The study of privacy gained and regret added by batching."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from dpol.core.intervals import half_width
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.play import play_rounds
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta
from dpol.studies.paper1.batching import compute as study
from dpol.studies.paper1.batching.settings import Batching
from dpol.studies.paper1.batching.study import STUDY
from in_process import compute

DELTA = 1e-5
SEED = 7
TINY = Batching(n_experts=[2, 3], mus=[0.2, 1.0], n_rounds=40, alpha=0.4, replicates=30)
KINDS = ("un-amplified", "analytic", "monte-carlo", "heuristic")
SETTING = ["n", "mu", "bound"]


@pytest.fixture(scope="module")
def tables():
    return compute(STUDY, TINY, seed=SEED, delta=DELTA)


@pytest.fixture
def curves(tables):
    return tables["amplification"]


@pytest.fixture
def costs(tables):
    return tables["batching"]


def of_kind(curves, kind):
    return curves[curves["kind"] == kind].reset_index(drop=True)


def test_curves_have_every_setting_once_per_kind_and_are_complete(curves):
    assert tuple(curves["kind"].unique()) == KINDS
    rows = curves.groupby([*SETTING, "kind"]).size()
    # The heuristic is about the bound of the paper.
    assert len(rows) == 2 * 2 * (4 + 3)
    assert set(curves["t"]) == {20}
    assert set(of_kind(curves, "heuristic")["bound"]) == {"borell-tis"}
    known = curves["threshold"] >= 0
    for name in ("epsilon", "delta"):
        np.testing.assert_array_equal(curves[name].notna(), known)
    assert (curves.loc[known, "epsilon"] == curves.loc[known, "threshold"]).all()


def test_the_unamplified_kind_is_the_guarantee_of_one_round(curves):
    plain = of_kind(curves, "un-amplified")
    assert (plain["mean_batch"] == 1).all()
    for mu, rows in plain.groupby("mu"):
        assert rows["epsilon_at_delta"].unique() == pytest.approx([epsilon_of_delta(DELTA, mu)])
        held = rows["epsilon"].notna()
        expected = delta_of_epsilon(rows.loc[held, "epsilon"], mu)
        np.testing.assert_allclose(rows.loc[held, "delta"], expected, rtol=1e-12)


def least_false_negatives(curves: pd.DataFrame) -> pd.Series:
    """Return G_mu at the rates of false positives of the curves."""
    return pd.Series(norm.sf(norm.ppf(curves["false_positive"]) + curves["mu"]), curves.index)


def test_a_curve_that_is_not_amplified_is_gaussian_and_no_amplified_curve_is_below(curves):
    plain = of_kind(curves, "un-amplified")
    np.testing.assert_allclose(plain["false_negative"], least_false_negatives(plain), atol=1e-12)
    for kind in ("analytic", "monte-carlo"):
        amplified = of_kind(curves, kind)
        rise = amplified["false_negative"] - least_false_negatives(amplified)
        assert (rise >= -1e-12).all()
        largest = rise.groupby([amplified[name] for name in SETTING]).max()
        assert (largest > 1e-3).all()


@pytest.mark.parametrize(("n", "mu", "bound"), [(2, 0.2, "borell-tis"), (3, 1.0, "reflection")])
def test_the_simulated_mean_is_for_the_round_of_the_row(curves, n, mu, bound):
    rows = curves.set_index([*SETTING, "kind"]).loc[(n, mu, bound, "monte-carlo")]
    game = study.noisy_game(synthetic_stream("all-zero", np.zeros((40, n))), mu, SEED, range(30))
    expected = play_batches(RWAdaBatch(0.4, bound), *game)[1][:, 19].mean()
    assert rows["mean_batch"].unique() == pytest.approx([expected])


def test_results_do_not_depend_on_the_block_size(tables, monkeypatch):
    """They do not depend on earlier runs either."""
    monkeypatch.setattr(study, "_LARGEST_BLOCK", 7 * 40 * 2)
    stream = synthetic_stream("all-zero", np.zeros((40, 2)))
    assert len(list(study._blocks(stream, 1.0, 30, SEED))) == 5
    for name, again in compute(STUDY, TINY, seed=SEED, delta=DELTA).items():
        pd.testing.assert_frame_equal(again, tables[name], check_exact=True)


def test_a_row_by_hand(costs):
    gains = np.zeros((40, 3))
    gains[::2, 0] = gains[1::2, 1] = 1
    stream = synthetic_stream("two-rivals", gains)
    game = study.noisy_game(stream, 0.2, SEED, range(30))
    played, sizes = play_batches(RWAdaBatch(0.4, "reflection"), *game)
    totals = [
        np.array([sum(gains[t, row[t]] for t in range(40)) for row in actions])
        for actions in (play_rounds(RandomWalkFTPL(), *game), played)
    ]
    row = costs.set_index(["stream", "n", "mu", "bound"]).loc[("two-rivals", 3, 0.2, "reflection")]
    regrets = row[["ftpl_regret", "adabatch_regret"]].tolist()
    assert regrets == pytest.approx([20 - total.mean() for total in totals])
    assert row["ci_comparisons"] == 3 * len(costs)
    samples = {"ftpl": totals[0], "adabatch": totals[1], "extra": totals[0] - totals[1]}
    for name, values in samples.items():
        expected = float(half_width(values, 0.95, 3 * len(costs)))
        assert row[f"{name}_half_width"] == pytest.approx(expected)
    eta = math.sqrt(3) / 0.2
    bound = (eta + 2 / eta) * math.sqrt(2 * 40 * math.log(3))
    assert (row["ftpl_bound"], row["adabatch_bound"]) == pytest.approx((bound, 1.2 * bound))
    assert row["mean_batch"] == pytest.approx(sizes.mean())
