from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pandas as pd
import pytest

import lazy_plain as plain
from dpol.core.intervals import half_width
from dpol.core.randomness import replicate_generators
from dpol.lazy import LazyParameters, play
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.adversaries import EpochLosses, ExpertLosses, GapLosses
from dpol.lazy.dartboard import dartboard_epsilon, most_redraws, theorem_5_epsilon
from dpol.lazy.leaders import play_blocks, play_leaders
from dpol.lazy.parameters import theorem_3_10
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import epsilon_of_delta, mu_of_epsilon
from dpol.studies.jobs import compute
from dpol.studies.paper2.lazy import study as package
from dpol.studies.paper2.lazy.compute import weights_loss
from dpol.studies.paper2.lazy.settings import (
    BLOCKS,
    LEADERS,
    ONE_ROUND,
    ONLY_STOCHASTIC,
    TREE,
    WEIGHTS,
    Lazy,
)
from dpol.studies.study import Facts

# A sound sample is rejected with at most this probability, in every statistical test.
DARTBOARDS = "dartboard-sound", "dartboard-published"
PLAYED = "l2p", "dartboard"
"""Beginnings of the names of lazy algorithms."""
ADVERSARIES: list[ExpertLosses] = [GapLosses(57, 4, 0.2, 1), EpochLosses(57, 4, 0.3, 1)]


# ---- multiplicative weights ----------------------------------------------------------------------


@pytest.mark.parametrize("losses", ADVERSARIES)
def test_expected_loss_of_weights_agrees_with_brute_force(losses):
    eta, expected = math.sqrt(8 * math.log(4) / 57), 0.0
    totals = [0.0] * 4
    for loss in plain.matrix(losses):
        weights = plain.weights(totals, eta)
        expected += sum(w * x for w, x in zip(weights, loss, strict=True))
        totals = [total + x for total, x in zip(totals, loss, strict=True)]
    assert weights_loss(losses) == pytest.approx(expected, rel=1e-12)


# ---- the study -----------------------------------------------------------------------------------


def config(**fields: object) -> Lazy:
    facts = {"n_rounds": [12, 24], "n_experts": [3], "epsilons": [1.0, 4.0], "replicates": 4}
    return Lazy.model_validate({**facts, **fields})


def study_lazy(settings: Lazy, *, seed: int, confidence: float = 0.95) -> pd.DataFrame:
    return compute(package.STUDY, settings, seed=seed, confidence=confidence)["lazy"]


@functools.lru_cache
def small() -> pd.DataFrame:
    return study_lazy(config(), seed=5)


def test_every_setting_has_its_rows_with_their_record_of_privacy():
    table = small().set_index("algorithm")
    lazy = ("l2p-sound", "l2p-published", ONE_ROUND, "l2p-theorem-3.10", *DARTBOARDS, WEIGHTS)
    names = {"stochastic": (*lazy, *ONLY_STOCHASTIC, *LEADERS), "lower-bound": (*lazy, *LEADERS)}
    games = itertools.product((12, 24), [3], (1.0, 4.0), ("stochastic", "lower-bound"))
    settings = table[["T", "d", "epsilon", "adversary"]].itertuples(name=None)
    assert list(settings) == [(name, *game) for game in games for name in names[game[3]]]
    assert (table["model"] == np.where(table.index == WEIGHTS, "none", "central")).all()
    leaders = table.loc[list(LEADERS)]
    reached = [epsilon_of_delta(1e-6, mu) for mu in leaders["guaranteed_mu"]]
    assert reached == pytest.approx(leaders["epsilon"].tolist())
    assert leaders["sensitivity"].tolist() == pytest.approx(np.sqrt(leaders["d"]).tolist())
    others = table.index.isin(ONLY_STOCHASTIC) | table.index.str.startswith(PLAYED)
    assert table.loc[others, "guaranteed_mu"].isna().all()


def test_a_row_is_what_its_parameters_give():
    """L2P and the tree are run by hand with the row's parameters and generators."""
    for row in small().itertuples():
        losses = EpochLosses(row.T, row.d, row.epsilon, 5)
        if row.adversary == "stochastic":
            losses = GapLosses(row.T, row.d, 0.1, 5)
        key = (type(losses).__name__, row.T, row.d, row.epsilon)
        coins = replicate_generators(5, key, range(4), f"algorithm {row.algorithm}")
        redraws = np.full(4, math.nan)
        if row.algorithm.startswith(PLAYED):
            ours = row.algorithm in ("l2p-sound", ONE_ROUND)
            normaliser = 1.0 if ours else 2.0
            shadow = row.algorithm not in DARTBOARDS
            parameters = LazyParameters(
                int(row.batch_size),
                row.eta,
                row.fake_switch,
                normaliser=normaliser,
                shadow=shadow,
                limit=math.inf if shadow else row.limit,
            )
            total, redraws = play(WeightsMeasure(row.d, row.eta), parameters, losses, coins)
        elif row.algorithm in LEADERS:
            coins = replicate_generators(5, (row.T, row.d), range(4), f"algorithm {row.algorithm}")
            game = losses, mu_of_epsilon(row.epsilon, 1e-6)
            ((total, redraws),) = play_leaders(row.algorithm, [game], coins)
        elif row.algorithm in ONLY_STOCHASTIC:
            prefix = "random" if row.algorithm == BLOCKS else "whole"
            total, redraws = play_blocks(losses, row.epsilon, coins, prefix)
        else:
            total = np.full(4, weights_loss(losses))
        totals = plain.matrix(losses).sum(axis=0)
        regret = total - totals.min()
        assert row.uniform_regret == pytest.approx(totals.mean() - totals.min(), rel=1e-12)
        assert row.mean_regret == pytest.approx(regret.mean(), rel=1e-9)
        assert (row.confidence, row.ci_comparisons) == (0.95, len(small()))
        expected = float(half_width(regret, 0.95, len(small())))
        assert row.ci_half_width == pytest.approx(expected, rel=1e-9)
        assert row.redraws == pytest.approx(redraws.mean(), nan_ok=True)


def test_accounted_epsilons_agree_with_the_parameters():
    table = small()
    lazy, columns = table["algorithm"].str.startswith(PLAYED), ["batch_size", "accounted_epsilon"]
    assert table.loc[~lazy, [*columns, "eta", "fake_switch"]].isna().all(axis=None)
    assert (table["limit"].notna() == table["algorithm"].isin(DARTBOARDS)).all()
    for row in table[lazy].itertuples():
        ours = row.algorithm in ("l2p-sound", ONE_ROUND)
        game = LazyGame(row.T, 1e-6, largest_change=1.0, normaliser=1.0 if ours else 2.0)
        account = {
            "l2p-published": published_epsilon,
            "dartboard-sound": dartboard_epsilon,
            "dartboard-published": theorem_5_epsilon,
        }.get(row.algorithm, sound_epsilon)
        parameters = int(row.batch_size), row.eta, row.fake_switch
        assert row.accounted_epsilon == account(game, *parameters)
        if row.algorithm == "l2p-theorem-3.10":
            preset = theorem_3_10(game, epsilon=row.epsilon, n_experts=row.d)
            assert parameters == (preset.batch_size, preset.eta, preset.fake_switch)
        else:
            assert 0.9 * row.epsilon < row.accounted_epsilon <= row.epsilon
        if not math.isnan(row.limit):
            rule = row.algorithm.removeprefix("dartboard-")
            assert row.limit == most_redraws(rule, game, *parameters)


def test_points_do_not_change_the_study(monkeypatch):
    """Rows keep the order of the settings."""
    settings = config(n_rounds=[24, 12], epsilons=[4.0, 1.0])
    whole = study_lazy(settings, seed=5, confidence=0.9)
    facts = Facts({}, simulated=True, confidence=0.95)
    assert len(package.points(settings, facts)) == 2
    monkeypatch.setattr(package, "LONG", 20)
    assert len(package.points(settings, facts)) == 2 + 1
    pd.testing.assert_frame_equal(study_lazy(settings, seed=5, confidence=0.9), whole)
    keys = whole[["T", "epsilon", "adversary"]].drop_duplicates().itertuples(index=False, name=None)
    assert list(keys) == [*itertools.product((24, 12), (4.0, 1.0), ("stochastic", "lower-bound"))]
    assert whole["algorithm"].tolist()[:2] == ["l2p-sound", "l2p-published"]


def test_what_is_too_large_or_cannot_be_reached_has_no_row():
    table = study_lazy(config(epsilons=[4.0], largest_tree=40), seed=5)
    assert set(table.loc[table["algorithm"] == TREE, "T"]) == {12}
    study = config(n_rounds=[3], epsilons=[1e-13, 1.0], delta=1e-12, largest_tree=1)
    table = study_lazy(study, seed=5).set_index("epsilon")["algorithm"]
    assert set(table[1e-13]) == {"l2p-theorem-3.10", WEIGHTS, *ONLY_STOCHASTIC}
    reached = {"l2p-sound", "l2p-published", ONE_ROUND, "l2p-theorem-3.10", WEIGHTS}
    reached |= {*DARTBOARDS, *ONLY_STOCHASTIC}
    assert set(table[1.0]) == reached
