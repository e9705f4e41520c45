"""Numbers behind rows of the ledger, by closed forms, enumeration and brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from dpol.studies.ledger.claims import experts, lazy

SEED = 2


def test_dips_of_one_step_by_the_normal_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """The 99.99% interval holds the truth, but not 1.2 times it.

    Two experts differ by a normal with twice the variance, and a swap may jump over the dip.
    """
    k, eta = 2.0, 1.5
    monkeypatch.setattr(experts, "_WALKS", ((k, 2, 1, eta),))
    (finding,) = (each for each in experts.switching(SEED) if each.name == "dips-borell-tis")
    low, high = -3 * k / (math.sqrt(2) * eta), -k / (math.sqrt(2) * eta)
    expected = stats.norm.cdf(high) - stats.norm.cdf(low)
    assert finding.bounds[0] < expected < finding.bounds[1]
    assert not finding.bounds[0] < 1.2 * expected < finding.bounds[1]


def test_gaps_by_quadrature() -> None:
    means, x = np.random.default_rng(SEED).normal(size=4), 0.7

    def leads(z: float, i: int) -> float:
        """Density of the leader i at z, with all others x behind."""
        others = stats.norm.cdf(z - x - np.delete(means, i))
        return float(stats.norm.pdf(z - means[i]) * others.prod())

    expected = sum(quad(leads, -12, 12, args=(i,))[0] for i in range(4))
    assert experts.survival(means[None], x)[0] == pytest.approx(expected, rel=1e-6)


def test_the_mended_lemma_3_8_holds_where_rare_answers_tell_the_worlds_apart():
    """Two first answers are rare, one bad in each world; after them the second tells the world."""
    rng = np.random.default_rng(0)
    first = rng.dirichlet(np.ones(3), (200, 2)) * (1e-3, 1.0, 1e-3)
    for law in first / first.sum(axis=2, keepdims=True):
        good, tells = rng.dirichlet(np.ones(3), 2), np.eye(3)
        answers = [np.stack([tells[world], good[world], tells[world]]) for world in (0, 1)]
        one, other = (law[:, :, None] * answers).reshape(2, 1, 9)
        epsilon = np.abs(np.log(law[0] / law[1])).max() + np.abs(np.log(good[0] / good[1])).max()
        often = max(law[0, 0], law[1, 2])
        measured = float(lazy.either_way(one, other, float(epsilon))[0])
        assert measured <= lazy.mended_delta(often, 0.0, float(epsilon))
