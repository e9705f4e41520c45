"""Leaders of released sums, against loops over rounds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, play_rounds, setup_of
from dpol.noise import CENTRAL_NOISES
from dpol.privacy.matrix_mechanism import decayed_sums
from replicates import many

T, N, R = 12, 4, 50


def scores_of(algorithm, gains, noise):
    """Return the (T, R, n) scores that choose the leader of rounds 2, ..., T + 1, by rounds."""
    prefix = gains.cumsum(axis=0)[:, None] + noise
    if isinstance(algorithm, NoisyMax):
        sums = [gains[max(0, t + 1 - algorithm.window) : t + 1].sum(axis=0) for t in range(T)]
        return np.array(sums)[:, None] + noise
    if algorithm.decay < 1:
        powers = [algorithm.decay ** np.arange(t + 1)[::-1] for t in range(T)]
        return np.array([p @ gains[: t + 1] for t, p in enumerate(powers)])[:, None] + noise
    window = algorithm.window or T + 1
    return np.array([prefix[t] - (prefix[t - window] if t >= window else 0) for t in range(T)])


ALGORITHMS = {
    "prefix": MatrixFTPL(),
    "window 1": MatrixFTPL(window=1),
    "window 4": MatrixFTPL(window=4),
    "window 20": MatrixFTPL(window=20),
    "discounted": MatrixFTPL(decay=0.8),
    "noisy max": NoisyMax(window=3),
    "noisy max of one": NoisyMax(window=1),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
@pytest.mark.parametrize("mu", [2.0, math.inf])
@pytest.mark.parametrize("noise", CENTRAL_NOISES)
def test_fast_equals_plain(random_stream, algorithm, noise, mu):
    source = RawGains(random_stream(T, N), mu, R, noise=noise)
    noise = algorithm.mechanism(setup_of(source)).noise(many(R))
    scores = scores_of(algorithm, source.stream.gains, noise)
    expected = np.vstack([np.zeros((1, R), int), scores[:-1].argmax(axis=2)])
    np.testing.assert_array_equal(play_rounds(algorithm, source, many(R)), expected.T)


def test_each_has_its_factorization():
    for made, expected in (
        (MatrixFTPL(window=5).factorization(7), decayed_sums(7)),
        (MatrixFTPL(decay=0.7).factorization(7), decayed_sums(7, 0.7)),
    ):
        np.testing.assert_array_equal(made.left, expected.left)
    assert NoisyMax(window=3).factorization(7).column_norms[0] == pytest.approx(math.sqrt(3))


def test_a_window_with_decay_is_refused():
    with pytest.raises(ValueError, match="not both"):
        MatrixFTPL(window=2, decay=0.9)
