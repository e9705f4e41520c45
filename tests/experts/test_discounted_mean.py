"""The discounted mean: by hand, beside a plain implementation, and the choice of its constants."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import dpol
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from dpol.data.stream import build_stream
from dpol.experts.discounted_mean import DiscountedMean
from dpol.experts.play import play_rounds
from pipeline import ROOT

DECAYS = (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CAUTIONS = (0, 0.5, 1, 1.5, 2, 2.5, 3)


def scores(gains: np.ndarray, scale: np.ndarray, decay: float, caution: float) -> np.ndarray:
    """The score of each expert after (..., t, n) noisy gains with (t, n) standard deviations."""
    weight = decay ** np.arange(len(scale) - 1.0, -1.0, -1.0)[:, None]
    error = np.sqrt((weight**2 * scale**2).sum(axis=0))
    return ((weight * gains).sum(axis=-2) - caution * error) / weight.sum()


@pytest.mark.parametrize(("decay", "caution"), [(0, 0), (0, 2), (0.6, 2), (0.9, 0.5), (1, 1)])
def test_fast_equals_plain(draw_noisy, crowd, decay, caution):
    noisy = draw_noisy(np.random.default_rng(1).random((40, 5)), 0.3, 3)
    actions = play_rounds(DiscountedMean(decay, caution), noisy, crowd(3))
    for t in range(1, 40):
        plain = scores(noisy.gains[:, :t], noisy.noise_scale[:t], decay, caution)
        assert actions[:, t].tolist() == plain.argmax(axis=1).tolist()
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
