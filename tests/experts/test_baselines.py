"""Leaders, weights and the discounted mean: by hand, and beside plain implementations."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import dpol
import experts_plain as plain
from dpol.config.experiment import load_experiment
from dpol.core.randomness import ReplicateGenerators
from dpol.data.cleaning import clean_table
from dpol.data.stream import build_stream
from dpol.experts.discounted_mean import DiscountedMean
from dpol.experts.follow_the_leader import FollowTheLeader
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.multiplicative_weights import MultiplicativeWeights
from dpol.experts.play import RawGains, play_rounds
from lazy_plain import Tape
from pipeline import ROOT

GAINS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]])


def tapes(*numbers):
    """Return generators with given uniform numbers, a list for each replicate."""
    return ReplicateGenerators(tuple(map(Tape, numbers)))


def test_follow_the_leader_by_hand(make_stream, crowd):
    source = RawGains(make_stream(GAINS), math.inf, 2)
    assert play_rounds(FollowTheLeader(), source, crowd(2)).tolist() == [[0, 0, 0, 1]] * 2


@pytest.mark.parametrize("gain_range", [1.0, 2.0])
def test_every_quantile_draws_the_plain_distribution(make_stream, gain_range):
    """A uniform grid of 10,000 numbers draws each expert in proportion, up to one grid step."""
    grid = [[(k + 0.5) / 10_000] * 4 for k in range(10_000)]
    source = RawGains(make_stream(GAINS, gain_range=gain_range), math.inf, 10_000)
    actions = play_rounds(MultiplicativeWeights(), source, tapes(*grid))
    for t in range(4):
        expected = plain.weights_distribution(GAINS[:t], 4, gain_range)
        frequencies = np.bincount(actions[:, t], minlength=3) / 10_000
        np.testing.assert_allclose(frequencies, expected, atol=1.01e-4)


def test_actions_of_different_rounds_are_drawn_afresh(make_stream, crowd, checks):
    """Pairs of rounds 1 and 2 are tested with error probability 1e-6; a reused draw is rejected."""
    source = RawGains(make_stream(GAINS), math.inf, 20_000)
    first, second, *_ = play_rounds(MultiplicativeWeights(), source, crowd(20_000)).T
    one, two = (plain.weights_distribution(GAINS[:t], 4, 1.0) for t in (0, 1))
    both = np.outer(one, two).ravel()
    assert checks.frequencies(np.bincount(3 * first + second, minlength=9), both)
    assert not checks.frequencies(np.bincount(4 * first, minlength=9), both)


def test_large_totals_do_not_overflow_and_an_expert_without_weight_is_never_drawn():
    state = np.array([[0.0, 1e6, 0.0]]), 1.0
    for uniform in (0.0, 0.5, 1 - 2**-53):
        _, actions = MultiplicativeWeights().step(state, None, tapes([uniform]))
        assert actions.tolist() == [1]


# ---- RW-FTPL -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        ([0.0, 0.0, 0.0], [0, 0, 0, 1]),  # Ties in rounds 1 and 3 go to the lowest index.
        ([0.0, 0.0, 0.5], [2, 0, 0, 1]),
        ([0.0, 0.5, 0.5], [1, 0, 1, 1]),
    ],
)
def test_the_leader_of_a_short_game_by_hand(make_noisy, crowd, initial, expected):
    gains = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [9.0, 9.0, 9.0]]
    noisy = make_noisy([gains], initial=initial)
    assert play_rounds(RandomWalkFTPL(), noisy, crowd(1)).tolist() == [expected]


# ---- the discounted mean -------------------------------------------------------------------------


DECAYS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CAUTIONS = (0, 0.5, 1, 1.5, 2, 2.5, 3)


def scores(gains: np.ndarray, scale: np.ndarray, decay: float, caution: float) -> np.ndarray:
    """The score of each expert after (..., t, n) noisy gains with (t, n) standard deviations."""
    weight = decay ** np.arange(len(scale) - 1.0, -1.0, -1.0)[:, None]
    error = np.sqrt((weight**2 * scale**2).sum(axis=0))
    return ((weight * gains).sum(axis=-2) - caution * error) / weight.sum()


@pytest.mark.parametrize(("decay", "caution"), [(0, 0), (0, 2), (0.6, 2), (0.9, 0.5), (1, 1)])
def test_the_discounted_mean_equals_the_plain_one(draw_noisy, crowd, decay, caution):
    noisy = draw_noisy(np.random.default_rng(1).random((40, 5)), 0.3, 3)
    actions = play_rounds(DiscountedMean(decay, caution), noisy, crowd(3))
    for t in range(1, 40):
        expected = scores(noisy.gains[:, :t], noisy.noise_scale[:t], decay, caution)
        assert actions[:, t].tolist() == expected.argmax(axis=1).tolist()
    assert (actions[:, 0] == 0).all()


def test_the_defaults_are_the_best_of_their_grid_on_the_training_weeks():
    """As the docstring of `DiscountedMean` says."""
    config = load_experiment(ROOT / "config/beyond.yaml")
    table, _ = clean_table(ROOT / config.dataset.source.file, config.dataset, config.streams)
    shares = np.zeros((len(CAUTIONS), len(DECAYS)))
    for state in config.streams:
        whole = build_stream(table, state, 1.0, {}, gain=config.gain)
        stream = replace(
            whole, gains=whole.gains[:20], capacity=whole.capacity[:20], periods=whole.periods[:20]
        )
        for mu in (1, 0.5, 0.25, 0.1):
            noisy = dpol.privatize(stream, "capacity", mu, seed=1, replicates=60)
            for (k, caution), (j, decay) in itertools.product(
                enumerate(CAUTIONS), enumerate(DECAYS)
            ):
                games = dpol.play(DiscountedMean(decay, caution), noisy)
                shares[k, j] += games.share(stream)
    caution, decay = np.unravel_index(shares.argmax(), shares.shape)
    assert DiscountedMean() == DiscountedMean(DECAYS[decay], CAUTIONS[caution])
