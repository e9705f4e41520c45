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
from dpol.lazy import LazyParameters, play_measure
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.dartboard import theorem_5_epsilon
from dpol.lazy.leaders import doubling_edges, play_blocks, play_leaders
from dpol.lazy.parameters import theorem_3_10
from dpol.lazy.stochastic_losses import GapLosses, PairedLosses, TurnLosses
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import epsilon_of_delta, mu_of_epsilon
from dpol.privacy.losses import pure
from dpol.studies.paper2.lazy import compute as module
from dpol.studies.paper2.lazy.regrets import compared
from dpol.studies.paper2.lazy.settings import LEADER, LEADERS, LIMITED, ONE_ROUND, WEIGHTS, Lazy
from dpol.studies.paper2.lazy.study import STUDY
from in_process import compute

# A sound sample is rejected with at most this probability, in every statistical test.
DARTBOARDS = "dartboard-sound", "dartboard-published"
PLAYED = "l2p", "dartboard"
"""Beginnings of the names of lazy algorithms."""
FREE = WEIGHTS, LEADER
LONGEST = [
    *(("close stochastic", 24, 3, 4.0), ("close stochastic", 24, 3, 1.0)),
    *(("alternating", 24, 3, 4.0), ("alternating", 24, 3, 0.5)),
]
"""Only the longest games; epsilons are in the order of both settings."""


# ---- multiplicative weights ----------------------------------------------------------------------


def expected_by_hand(rounds, weigh):
    """Return the expected total loss of weights on rounds (T, d) of losses."""
    expected, totals = 0.0, [0.0] * rounds.shape[1]
    for loss in rounds:
        weights = weigh(totals)
        expected += sum(w * x for w, x in zip(weights, loss, strict=True))
        totals = [before + x for before, x in zip(totals, loss, strict=True)]
    return expected


def leaders(totals):
    """Return equal weights of all leaders."""
    ahead = [total == min(totals) for total in totals]
    return [own / sum(ahead) for own in ahead]


# ---- the study -----------------------------------------------------------------------------------


def computed(**fields: object) -> dict[str, pd.DataFrame]:
    facts = {"n_rounds": [24, 12], "n_experts": [3], "epsilons": [4.0, 1.0], "replicates": 4}
    facts["alternating_epsilons"] = [0.5, 4.0]
    return compute(STUDY, Lazy.model_validate({**facts, **fields}), seed=5)


both = functools.cache(computed)


def small() -> pd.DataFrame:
    return both()["lazy"]


def test_every_setting_has_its_rows_in_order_with_their_record_of_privacy():
    table = small().set_index("algorithm")
    lazy = ("l2p-sound", "l2p-published", ONE_ROUND, "l2p-theorem-3.10", *DARTBOARDS, *FREE)
    names = (*lazy, LIMITED, *LEADERS)
    games = [*itertools.product(["stochastic"], (24, 12), [3], (4.0, 1.0)), *LONGEST]
    settings = table[["adversary", "T", "d", "epsilon"]].itertuples(name=None)
    assert list(settings) == [(name, *game) for game in games for name in names]
    assert (table["model"] == np.where(table.index.isin(FREE), "none", "central")).all()
    leaders = table.loc[list(LEADERS)]
    reached = [epsilon_of_delta(1e-6, mu) for mu in leaders["guaranteed_mu"]]
    assert reached == pytest.approx(leaders["epsilon"].tolist())
    assert leaders["sensitivity"].tolist() == pytest.approx(np.sqrt(leaders["d"]).tolist())
    lazy = table.loc[table.index.str.startswith(PLAYED), "guaranteed_mu"]
    assert (lazy == math.inf).all()  # their (epsilon, delta) keeps no mu
    limited = table.loc[LIMITED]
    assert limited["guaranteed_mu"].tolist() == pytest.approx(
        [pure(epsilon).mu for epsilon in limited["epsilon"]]
    )


def losses_of(row, replicate):
    if row.adversary == "alternating":
        return TurnLosses(row.T, row.d, 100)
    gap = {"stochastic": 0.1, "close stochastic": math.sqrt(math.log(3) / 24)}[row.adversary]
    return GapLosses(row.T, row.d, gap, 5, replicate)


def by_hand(row, replicate):
    """Return total loss and redraws of a replicate that plays alone on its own losses."""
    losses, name = losses_of(row, replicate), f"algorithm {row.algorithm}"
    key = (row.adversary, row.T, row.d, row.epsilon)
    coins = replicate_generators(5, key, [replicate], name)
    if row.algorithm.startswith(PLAYED):
        sound = row.algorithm in ("l2p-sound", ONE_ROUND)
        shadow = row.algorithm not in DARTBOARDS
        parameters = LazyParameters(
            int(row.batch_size),
            row.eta,
            row.fake_switch,
            normaliser=1.0 if sound else 2.0,
            shadow=shadow,
            limit=math.inf if math.isnan(row.limit) else row.limit,
        )
        return play_measure(WeightsMeasure(row.d, row.eta), parameters, losses, coins)
    paired = PairedLosses((losses,))
    if row.algorithm in LEADERS:
        coins = replicate_generators(5, (row.T, row.d), [replicate], name)
        games = [(paired, mu_of_epsilon(row.epsilon, 1e-6))]
        return play_leaders(row.algorithm, games, coins)[0]
    if row.algorithm == LIMITED:
        blocks = list(paired.between(doubling_edges(row.T)))
        return play_blocks(blocks, row.epsilon, coins)
    eta = math.sqrt(8 * math.log(row.d) / row.T)  # the rate for adversaries, losses in [0, 1]
    weigh = functools.partial(plain.weights, eta=eta) if row.algorithm == WEIGHTS else leaders
    return [expected_by_hand(plain.matrix(losses), weigh)], [math.nan]


def test_a_row_is_what_its_parameters_give():
    """Each replicate by hand, with the row's parameters: all algorithms play on its losses."""
    for row in small().itertuples():
        totals = np.array([plain.matrix(losses_of(row, r)).sum(axis=0) for r in range(4)])
        played = [by_hand(row, r) for r in range(4)]
        regret = np.array([total[0] for total, _ in played]) - totals.min(axis=1)
        uniform = (totals.mean(axis=1) - totals.min(axis=1)).mean()
        assert row.uniform_regret == pytest.approx(uniform, rel=1e-12)
        assert row.regret_runs == pytest.approx(regret.tolist(), rel=1e-9)
        assert row.mean_regret == pytest.approx(regret.mean(), rel=1e-9)
        assert (row.confidence, row.ci_comparisons) == (0.95, len(small()))
        expected = float(half_width(regret, 0.95, len(small())))
        assert row.ci_half_width == pytest.approx(expected, rel=1e-9)
        redraws = np.mean([moved[0] for _, moved in played])
        assert row.redraws == pytest.approx(redraws, nan_ok=True)


def test_parts_of_the_sums_do_not_change_the_study(monkeypatch):
    """The sums of 12 rounds of all 4 replicates are kept, those of 24 are made in parts."""
    monkeypatch.setattr("dpol.lazy.stochastic_losses.MOST_SUMS", 18 * 4 * 3)
    pd.testing.assert_frame_equal(computed()["lazy"], small())


def test_pairs_are_compared_on_the_same_losses():
    """All pairs of private algorithms of a game, and all intervals together."""
    rows = small().set_index(["adversary", "T", "epsilon", "algorithm"])
    pairs = both()["lazy_pairs"]
    assert len(pairs) == (2 * 2 + len(LONGEST)) * (9 * 8 // 2)  # of 9 private algorithms
    assert set(pairs["ci_comparisons"]) == {len(pairs)}
    assert not {*FREE} & {*pairs["algorithm"], *pairs["other_algorithm"]}
    for pair in pairs.itertuples():
        game = pair.adversary, pair.T, pair.epsilon
        one, other = (
            np.array(rows.loc[(*game, name), "regret_runs"])
            for name in (pair.algorithm, pair.other_algorithm)
        )
        assert pair.difference == pytest.approx((one - other).mean())
        half = float(half_width(one - other, 0.95, len(pairs)))
        assert pair.difference_half_width == pytest.approx(half)


def test_pairing_tells_apart_what_two_samples_cannot():
    """A lead of 1 in each of three runs, whose regrets differ by 100."""
    runs = {"one": [0.0, 100.0, 201.0], "other": [1.0, 101.0, 202.5]}
    about = {"T": 5, "model": "central", "standard_error": 100.0, "replicates": 3}
    rows = [about | {"algorithm": name, "regret_runs": own} for name, own in runs.items()]
    (pair,) = compared("l2p", pd.DataFrame(rows), ["T"], 0.9)["l2p_pairs"].itertuples()
    assert (pair.difference, pair.verdict) == (pytest.approx(-3.5 / 3), "below")
    # By hand: t(0.95, 2) = 2.92, and the deviation of (-1, -1, -1.5) is 0.289.
    assert pair.difference_half_width == pytest.approx(2.92 * 0.28868 / math.sqrt(3), rel=1e-3)


def test_accounted_epsilons_agree_with_the_parameters():
    table = small()
    lazy, columns = table["algorithm"].str.startswith(PLAYED), ["batch_size", "accounted_epsilon"]
    assert table.loc[~lazy, [*columns, "eta", "fake_switch"]].isna().all(axis=None)
    assert (table["limit"].notna() == (table["algorithm"] == "dartboard-published")).all()
    for row in table[lazy].itertuples():
        sound = row.algorithm in ("l2p-sound", ONE_ROUND)
        game = LazyGame(row.T, 1e-6, largest_change=1.0, normaliser=1.0 if sound else 2.0)
        account = {
            "l2p-published": published_epsilon,
            "dartboard-sound": functools.partial(sound_epsilon, shadow=False),
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
            assert row.limit == math.ceil(4 * row.T * row.fake_switch / row.batch_size) - 1


def test_what_is_too_large_or_cannot_be_reached_has_no_row(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_TREE", 40)
    table = computed(epsilons=[4.0])["lazy"]
    assert set(table.loc[table["algorithm"] == LEADERS[0], "T"]) == {12}
    monkeypatch.setattr(module, "LARGEST_TREE", 1)
    monkeypatch.setattr(module, "DELTA", 1e-12)
    small = computed(n_rounds=[3], epsilons=[1e-13, 1.0], alternating_epsilons=[])["lazy"]
    table = small.set_index("epsilon")["algorithm"]
    assert set(table[1e-13]) == {"l2p-theorem-3.10", *FREE, LIMITED}
    reached = {"l2p-sound", "l2p-published", ONE_ROUND, "l2p-theorem-3.10", *FREE}
    reached |= {*DARTBOARDS, LIMITED}
    assert set(table[1.0]) == reached
