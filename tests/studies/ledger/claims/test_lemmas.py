"""A mended lemma of L2P, by brute force."""

from __future__ import annotations

import numpy as np

from dpol.studies.ledger.claims import lemmas


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
