"""Functions behind the checks of L2P's lemmas, by hand, simulation and brute force."""

from __future__ import annotations

import itertools

import numpy as np

from dpol.lazy.exact import exact_epsilon
from dpol.studies.ledger.claims import lemmas

ERROR = 1e-6


def test_the_exact_epsilon_is_the_divergence_over_all_events():
    """Definition 2.2: the supremum of log((P(S) - δ) / Q(S)) over events of six outcomes."""
    one, other = np.random.default_rng(0).dirichlet(np.ones(6), (2, 100))
    events = np.array(list(itertools.product((0, 1), repeat=6)))[1:]
    for delta in (0.0, 0.01, 0.2):
        ratios = np.maximum(one @ events.T - delta, 0) / (other @ events.T)
        expected = np.log(np.maximum(ratios.max(axis=1), 1))
        np.testing.assert_allclose(exact_epsilon(one, other, delta), expected, atol=1e-9)


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
        measured = float(lemmas.either_way(one, other, float(epsilon))[0])
        assert measured <= lemmas.mended_delta(often, 0.0, float(epsilon))
