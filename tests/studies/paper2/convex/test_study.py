from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest

from dpol.core.intervals import half_width
from dpol.core.randomness import replicate_generators
from dpol.lazy import LazyParameters, play
from dpol.lazy.convex.accounting import (
    ConvexGame,
    choose_convex_parameters,
    convex_epsilon,
    theorem_3_12,
)
from dpol.lazy.convex.bodies import BODIES, Ball
from dpol.lazy.convex.comparators import NOISES, best_regulariser, private_ftrl
from dpol.lazy.convex.lazy_weights import lazy_weights_epsilon, play_lazy_weights
from dpol.lazy.convex.leader import CoupledLeader, choose_coupled
from dpol.lazy.convex.losses import drifting_losses, linked_losses, total_loss
from dpol.lazy.convex.measure import RegularisedWeights
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.jobs import compute
from dpol.studies.paper2.convex import compute as module
from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.paper2.convex.study import STUDY

NAMES = ["l2p-sound", "l2p-one-round", "l2p-theorem-3.12", "lazy-regularised-weights", "dp-ftrl"]
NAMES += ["mf-dp-ftrl", "gradient-descent"]
LAZY = NAMES[:4]


# ---- L2P -----------------------------------------------------------------------------------------


def test_regret_is_below_its_bound():
    """lambda D^2/4 + B T L^2/(2 lambda) + (d/beta) (1 + log(beta R/d)), R = D L T + lambda D^2/4.

    The last term is -log(mass of nu around the best point) / beta. The true mean is above the value
    used here with probability at most 1e-6 (normal).
    """
    game = ConvexGame(n_rounds=1000, dimension=2, diameter=2.0, lipschitz=1.0, delta=1e-2)
    best = choose_convex_parameters(game, epsilon=8.0)
    losses = drifting_losses(1000, 2, 1.0, 3)
    measure = RegularisedWeights(body=Ball(2, 2.0), beta=best.beta, regulariser=best.regulariser)
    coins = replicate_generators(0, ("test",), range(15), "algorithm")
    regret = play(measure, best, losses, coins)[0] - losses.least_total(Ball(2, 2.0))
    R = 2.0 * game.n_rounds + best.regulariser
    spread = best.batch_size * game.n_rounds / (2 * best.regulariser)
    logarithm = 1 + math.log(best.beta * R / game.dimension)
    bound = best.regulariser + spread + game.dimension / best.beta * logarithm
    of_zero = -losses.least_total(Ball(2, 2.0))
    assert regret.mean() + 4.75 * np.std(regret, ddof=1) / math.sqrt(15) < bound < 0.7 * of_zero
    assert regret.mean() > 0


# ---- the study -----------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _scale(monkeypatch):
    monkeypatch.setattr(module, "DIAMETER", 3.0)
    monkeypatch.setattr(module, "LIPSCHITZ", 0.5)


def config(**fields: object) -> Convex:
    facts = {"n_rounds": [3], "dimensions": [2], "epsilons": [4.0], "replicates": 3}
    return Convex.model_validate({**facts, **fields})


def study_convex(settings: Convex, *, seed: int) -> pd.DataFrame:
    return compute(STUDY, settings, seed=seed)["convex"]


@functools.lru_cache
def small() -> pd.DataFrame:
    return study_convex(config(), seed=5)


def test_every_setting_has_its_rows():
    table = small()
    assert table["algorithm"].tolist() == NAMES
    assert table["accountant"].tolist() == ["sound"] * 4 + [""] * 3
    assert table["redraws"].isna().tolist() == [False] * 4 + [True] * 3
    assert table["limit"].notna().tolist() == [name == LAZY[3] for name in NAMES]
    parameters = ["batch_size", "eta", "fake_switch", "beta", "regulariser", "accounted_epsilon"]
    private = table["algorithm"].isin(LAZY)
    assert table.loc[private, parameters].notna().all(axis=None)
    assert table.loc[~private, parameters].isna().all(axis=None)


def test_accounted_epsilons_agree_with_the_parameters():
    game = ConvexGame(n_rounds=3, dimension=2, diameter=3.0, lipschitz=0.5, delta=1e-6)
    sound, preset = small().itertuples(index=False), theorem_3_12(game, epsilon=4.0)
    for row, c in zip(sound, (1.0, 1.0, 2.0), strict=False):
        point = int(row.batch_size), row.eta, row.fake_switch, row.beta, row.regulariser
        assert row.accounted_epsilon == convex_epsilon(game, *point, c)
    row = small().loc[3]
    point = row.fake_switch, row.beta, row.regulariser, row.limit
    assert row.accounted_epsilon == lazy_weights_epsilon(game, *point)
    assert small()["accounted_epsilon"][[0, 3]].between(3.6, 4.0).all()
    assert small()["beta"][2] == preset.beta


def by_hand(row, replicate):
    """Return regret and redraws of a replicate; the best point's loss is -D/2 |sum of a_t|."""
    losses, key = drifting_losses(3, 2, 0.5, 5, replicate), ("convex", "linear", 3, 2, 4.0)
    best = -1.5 * float(np.linalg.norm(losses.vectors.sum(axis=0)))
    coins = replicate_generators(5, key, [replicate], f"algorithm {row.algorithm}")
    if row.algorithm in LAZY:
        normaliser = 2.0 if row.algorithm == "l2p-theorem-3.12" else 1.0
        one_point = row.algorithm == LAZY[3]
        parameters = LazyParameters(
            int(row.batch_size),
            row.eta,
            row.fake_switch,
            normaliser=normaliser,
            limit=row.limit if one_point else math.inf,
        )
        measure = RegularisedWeights(body=Ball(2, 3.0), beta=row.beta, regulariser=row.regulariser)
        rule = play_lazy_weights if one_point else play
        total, redraws = rule(measure, parameters, losses, coins)
        return float(total[0]) - best, float(redraws[0])
    if row.algorithm in NOISES:
        mu, noise, body = mu_of_epsilon(4.0, 1e-6), NOISES[row.algorithm], Ball(2, 3.0)
        weight = best_regulariser(losses, body, noise, mu)
        points = private_ftrl(losses, body, noise, mu=mu, regulariser=weight, generators=coins)
        return float(total_loss(losses, points)[0]) - best, math.nan
    x, total = np.zeros(2), 0.0
    for t, gradient in enumerate(losses.vectors, start=1):
        total += float(gradient @ x)
        x = x - 3.0 / (0.5 * math.sqrt(t)) * gradient
        x *= min(1.0, 1.5 / float(np.linalg.norm(x)))
    return total - best, math.nan


def test_a_row_is_what_its_parameters_give():
    """Each replicate by hand: all algorithms play on its losses."""
    for row in small().itertuples():
        played = np.array([by_hand(row, replicate) for replicate in range(3)])
        regret, redraws = played.T
        assert row.regret_runs == pytest.approx(regret.tolist(), rel=1e-9)
        assert row.mean_regret == pytest.approx(regret.mean(), rel=1e-9)
        assert row.redraws == pytest.approx(redraws.mean(), nan_ok=True)
        expected = float(half_width(regret, 0.95, 7))
        assert row.ci_half_width == pytest.approx(expected, rel=1e-9)
        rule = "ratio of densities" if row.algorithm == LAZY[3] else "L2P"
        if row.algorithm in LAZY:
            mechanism = f"lazy resampling from regularised multiplicative weights ({rule})"
            assert row.mechanism == mechanism
    assert len(compute(STUDY, config(), seed=5)["convex_pairs"]) == 6 * 5 // 2


def test_an_epsilon_that_no_parameters_reach_has_no_row():
    asked = config(epsilons=[1e-12], delta=1e-9)
    played = study_convex(asked, seed=5)["algorithm"].tolist()
    assert played == [LAZY[2], *NAMES[4:]]


# ---- other losses and bodies ---------------------------------------------------------------------

GAMES = ["logistic-box", "absolute-simplex", "linear-simplex"]


@functools.lru_cache
def games() -> pd.DataFrame:
    return study_convex(
        config(n_rounds=[60], games=["linear-ball", *GAMES], dimensions=[3]), seed=5
    )


def test_every_game_has_its_rows_and_its_own_draws() -> None:
    table = games()
    played = table.groupby(["loss", "body"], sort=False)["algorithm"].apply(list).to_dict()
    assert played == dict.fromkeys(
        [("linear", "ball"), *(tuple(game.split("-")) for game in GAMES)], NAMES
    )
    assert not table.duplicated(["algorithm", "mean_regret"]).any()
    alone = study_convex(config(n_rounds=[60], games=GAMES[:1], dimensions=[3]), seed=5)
    logistic = table[(table["loss"] == "logistic")].reset_index(drop=True)
    drop = ["ci_half_width", "ci_comparisons"]
    pd.testing.assert_frame_equal(logistic.drop(columns=drop), alone.drop(columns=drop))


def test_regrets_of_simple_play_agree_with_their_bound_and_definition() -> None:
    """Gradient descent meets its bound; staying at the centre has the regret of the table."""
    table = games()
    plain = table[table["algorithm"] == "gradient-descent"]
    assert (plain["mean_regret"] <= 1.5 * 3.0 * 0.5 * math.sqrt(60)).all()
    for row in plain.itertuples():
        body, still = BODIES[row.body](3, 3.0), []
        for r in range(3):
            losses = linear = drifting_losses(60, 3, 0.5, 5, r)
            if row.loss != "linear":
                losses = linked_losses(row.loss, linear, body, 5, r)
            total = total_loss(losses, [body.centre[None]] * 60)[0]
            still.append(total - losses.least_total(body))
        assert row.still_regret == pytest.approx(np.mean(still), rel=1e-12)
    assert (table["still_regret"] > 0).all()


def test_a_simplex_in_one_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2 dimensions; leave 1 out"):
        config(games=["linear-simplex"], dimensions=[1, 2])


# ---- CTRL ----------------------------------------------------------------------------------------


def test_ctrl_plays_smooth_losses_on_a_ball_and_a_box_if_t_is_large_enough() -> None:
    asked = config(n_rounds=[170], games=["logistic-box", "absolute-ball"])
    table = study_convex(asked, seed=5)
    assert table.loc[table["algorithm"] == "ctrl", "body"].tolist() == ["box"]
    (row,) = table[table["algorithm"] == "ctrl"].itertuples()
    game = ConvexGame(n_rounds=170, dimension=2, diameter=3.0, lipschitz=0.5, delta=1e-6)
    chosen = choose_coupled(game, 0.5**2 / 4, epsilon=4.0)
    assert (row.eta, row.sigma, row.limit) == (chosen.eta, chosen.sigma, chosen.limit)
    assert (row.accounted_epsilon, row.accountant) == (chosen.epsilon, "published")
    key, box = ("convex", "logistic-box", 170, 2, 4.0), BODIES["box"](2, 3.0)
    for r in range(3):
        losses = linked_losses("logistic", drifting_losses(170, 2, 0.5, 5, r), box, 5, r)
        leader = CoupledLeader(losses=losses, body=box, parameters=chosen)
        coins = replicate_generators(5, key, [r], "algorithm ctrl")
        total, _ = play(leader, chosen, leader, coins)
        assert row.regret_runs[r] == pytest.approx(total[0] - losses.least_total(box))
    assert (table["sigma"].notna() == (table["algorithm"] == "ctrl")).all()
