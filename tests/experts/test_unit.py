"""Local algorithms name the same experts whatever unit the gains are measured in."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.interface import LocalAlgorithm
from dpol.experts.learners.typical_level import TypicalLevel
from dpol.experts.play import play_rounds
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import privatize

ROUNDS, EXPERTS, REPLICATES = 40, 12, 10
LOCAL = {
    member.label: member.algorithm
    for name in REGISTRY
    for member in make_members(name)
    if isinstance(member.algorithm, LocalAlgorithm)
}
BY_RANGE = ["rw-meta", "rw-meta-short", "rw-adabatch"]
"""Algorithms whose noise or batches are a multiple of the gains' range by definition."""


@pytest.fixture(scope="module")
def stream(make_stream):
    """Return experts of 10 to 400 beds with lasting and fading differences of gains near 0.1."""
    rng = np.random.default_rng(11)
    wave = 0.1 * np.exp(0.5 * np.sin(np.arange(ROUNDS) / 6))[:, None]
    differences = 0.3 * rng.standard_normal(EXPERTS) + 0.3 * rng.standard_normal((ROUNDS, EXPERTS))
    return make_stream(wave * np.exp(differences), np.geomspace(10, 400, EXPERTS).round())


def share(algorithm, stream, *, mu, gains=1.0, gain_range=1.0):
    """Return the actions, and the share of the possible gain in percent, in another unit."""
    noise = "isotropic-constant" if algorithm.constant_noise else "capacity"
    noisy = privatize(stream, noise, mu, seed=1, replicates=REPLICATES)
    scaled = {name: gains * getattr(noisy, name) for name in ("initial", "gains", "noise_scale")}
    noisy = dataclasses.replace(
        noisy, **scaled, capacity=noisy.capacity / gains, gain_range=gain_range
    )
    generators = replicate_generators(1, ("unit",), range(REPLICATES), "own")
    actions = play_rounds(algorithm, noisy, generators)
    gained = stream.gains[np.arange(ROUNDS), actions].sum(axis=1).mean()
    uniform, best = stream.gains.mean(axis=1).sum(), stream.gains.max(axis=1).sum()
    return actions, 100 * (gained - uniform) / (best - uniform)


def moves(label, stream, *, mu=0.5, **unit):
    """Return how many actions another unit changes, and by how many points of the possible gain."""
    before, kept = share(LOCAL[label], stream, mu=mu)
    after, now = share(LOCAL[label], stream, mu=mu, **unit)
    return (before != after).sum(), abs(now - kept)


@pytest.mark.parametrize("times", [1e-4, 1e4])
@pytest.mark.parametrize("label", LOCAL)
def test_gains_with_their_range_and_capacities_may_be_measured_in_any_unit(label, times, stream):
    assert moves(label, stream, gains=times, gain_range=times)[1] < 1
    if label not in BY_RANGE:
        assert moves(label, stream, gains=times)[1] < 1


@pytest.mark.parametrize("label", BY_RANGE)
def test_what_is_a_multiple_of_the_range_follows_the_unit(label, stream):
    # With little noise RW-AdaBatch finds leads for batches.
    assert moves(label, stream, mu=50.0, gains=1e4)[0] > 0


def test_a_level_that_is_fixed_in_advance_is_told_apart(stream, monkeypatch):
    """The prior of a filter with a unit of its own, 0.1 of the range, is 1,000 times too wide."""
    monkeypatch.setattr(TypicalLevel, "after", lambda self, seen: self)
    assert moves("random-effects", stream, gains=1e-4)[1] > 1
