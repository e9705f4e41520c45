from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from dpol.core.intervals import half_width
from dpol.core.randomness import replicate_generators
from dpol.lazy import LazyParameters, play_measure
from dpol.lazy.convex.accounting import ConvexGame, convex_epsilon, theorem_3_12
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.comparators import NOISES, best_regulariser, private_ftrl
from dpol.lazy.convex.losses import LogisticLosses, drifting_losses, total_loss
from dpol.lazy.convex.measure import measure_for
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.paper2.convex import compute as module
from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.paper2.convex.study import STUDY
from in_process import compute

NAMES = ["l2p-sound", "l2p-one-round", "l2p-theorem-3.12", "dp-ftrl", "mf-dp-ftrl"]
NAMES += ["gradient-descent"]
LAZY = NAMES[:3]


# ---- the study -----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _scale(monkeypatch):
    monkeypatch.setattr(module, "DIAMETER", 3.0)
    monkeypatch.setattr(module, "LIPSCHITZ", 0.5)


def computed(**fields: object) -> dict[str, pd.DataFrame]:
    facts = {"n_rounds": [6], "dimensions": [2], "epsilons": [4.0], "replicates": 3}
    facts["losses"] = ["linear", "logistic"]
    return compute(STUDY, Convex.model_validate({**facts, **fields}), seed=5)


both = functools.cache(computed)


def small() -> pd.DataFrame:
    return both()["convex"]


def test_accounted_epsilons_agree_with_the_parameters():
    game = ConvexGame(n_rounds=6, dimension=2, diameter=3.0, lipschitz=0.5, delta=1e-6)
    sound, preset = small().itertuples(index=False), theorem_3_12(game, epsilon=4.0)
    for row, c in zip(sound, (1.0, 1.0, 2.0), strict=False):
        point = int(row.batch_size), row.eta, row.fake_switch, row.beta, row.regulariser
        assert row.accounted_epsilon == convex_epsilon(game, *point, c)
    assert 3.6 < small()["accounted_epsilon"][0] <= 4.0
    assert small()["beta"][2] == preset.beta


def losses_of(row, replicate):
    losses = drifting_losses(6, 2, 0.5, 5, replicate)
    return losses if row.loss == "linear" else LogisticLosses(losses.vectors, 0.5)


def descend(vectors, slope):
    """Return the point of each round of gradient descent; losses of <a_t, x> have this slope."""
    x = np.zeros(2)
    for t, vector in enumerate(vectors, start=1):
        yield x[None]
        x = x - 3.0 / (0.5 * math.sqrt(t)) * slope(vector @ x) * vector
        x *= min(1.0, 1.5 / float(np.linalg.norm(x)))


def by_hand(row, replicate):
    """Return the total loss and redraws of a replicate."""
    losses, key, ball = losses_of(row, replicate), ("convex", row.loss, 6, 2, 4.0), Ball(2, 3.0)
    coins = replicate_generators(5, key, [replicate], f"algorithm {row.algorithm}")
    if row.algorithm in LAZY:
        normaliser = 2.0 if row.algorithm == "l2p-theorem-3.12" else 1.0
        parameters = LazyParameters(
            int(row.batch_size), row.eta, row.fake_switch, normaliser=normaliser
        )
        measure = measure_for(losses, ball, beta=row.beta, regulariser=row.regulariser)
        total, redraws = play_measure(measure, parameters, losses, coins)
        return float(total[0]), float(redraws[0])
    if row.algorithm in NOISES:
        mu, noise = mu_of_epsilon(4.0, 1e-6), NOISES[row.algorithm]
        weight = best_regulariser(losses, ball, noise, mu)
        points = private_ftrl(losses, ball, noise, mu=mu, regulariser=weight, generators=coins)
    else:
        slope = (lambda product: 1.0) if row.loss == "linear" else expit
        points = descend(losses.vectors, slope)
    return float(total_loss(losses, points)[0]), math.nan


def test_a_row_is_what_its_parameters_give():
    """Each replicate by hand: all algorithms play on its losses, with draws of their own.

    The best point's linear loss is -D/2 |sum of a_t|. Gradient descent meets its bound.
    """
    ball = Ball(2, 3.0)
    for row in small().itertuples():
        every = [losses_of(row, replicate) for replicate in range(3)]
        best = np.array([losses.least_total(ball) for losses in every])
        if row.loss == "linear":
            norms = [np.linalg.norm(losses.vectors.sum(axis=0)) for losses in every]
            assert best.tolist() == pytest.approx([-1.5 * float(norm) for norm in norms])
        still = np.array([total_loss(losses, [ball.centre[None]] * 6)[0] for losses in every])
        assert row.still_regret == pytest.approx(np.mean(still - best), rel=1e-12)
        total, redraws = np.array([by_hand(row, replicate) for replicate in range(3)]).T
        regret = total - best
        assert row.regret_runs == pytest.approx(regret.tolist(), rel=1e-9)
        assert row.mean_regret == pytest.approx(regret.mean(), rel=1e-9)
        if row.algorithm == "gradient-descent":
            assert row.mean_regret <= 1.5 * 3.0 * 0.5 * math.sqrt(6)
        assert row.redraws == pytest.approx(redraws.mean(), nan_ok=True)
        expected = float(half_width(regret, 0.95, 12))
        assert row.ci_half_width == pytest.approx(expected, rel=1e-9)
        lazy, parameters = row.algorithm in LAZY, ("batch_size", "regulariser", "accounted_epsilon")
        assert row.accountant == "sound" * lazy
        assert all(math.isnan(getattr(row, it)) != lazy for it in parameters)
        mechanism = "lazy resampling from regularised multiplicative weights (L2P)"
        assert (row.mechanism == mechanism) == lazy
    assert small()["algorithm"].tolist() == 2 * NAMES
    assert len(both()["convex_pairs"]) == 2 * (5 * 4 // 2)


def test_an_epsilon_that_no_parameters_reach_has_no_row(monkeypatch):
    monkeypatch.setattr(module, "DELTA", 1e-9)
    played = computed(epsilons=[1e-12], losses=["linear"])["convex"]
    assert played["algorithm"].tolist() == [LAZY[2], *NAMES[3:]]
