"""Exact laws of small games of L2P and the dartboard, by enumerating all outputs.

The output is the expert played in every batch; the shadow point stays hidden. Below, `sums`
(N, S - 1, d) are the batch losses of N sequences; the last of the S batches is left out, since its
losses come after the last choice.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpol.core.randomness import Floats
from dpol.lazy.transform import LazyParameters

Rows = NDArray[np.int64]


def output_masses(sums: Floats, rule: LazyParameters) -> Floats:
    """Return the (N, d^S) distributions of (x_1, ..., x_S); x_S varies fastest.

    The dartboard ("Private Online Prediction from Experts", Algorithm 1) keeps x whatever its
    shadow point is.
    """
    n, rest, d = sums.shape
    eta, p = rule.eta, rule.fake_switch
    masses = np.full((n, 1, d, d), 1 / d**2)  # sequences, (x_1..x_{s-1}), x_s, y_s
    total = np.zeros((n, d))
    for s in range(rest):
        batch = sums[:, s]
        total = total + batch
        nu = special.softmax(-eta * total, axis=1)
        gap = batch[:, :, None] - rule.shadow * batch[:, None, :]
        ratio = np.exp(rule.log_scale - eta * gap)[..., None]  # n, x, y, .
        keep = (1 - p) * np.minimum(1.0, ratio)
        move_x = keep * np.eye(d)[None, :, None] + (1 - keep) * nu[:, None, None]
        move_y = (1 - p) * np.eye(d)[None] + p * nu[:, None]  # n, y, y'
        masses = np.einsum("nhxy,nxyz,nyw->nhxzw", masses, move_x, move_y).reshape(n, -1, d, d)
    return np.asarray(masses.sum(axis=-1).reshape(n, -1))


def neighbours(n_experts: int, rest: int) -> tuple[Floats, list[tuple[Rows, Rows]]]:
    """Return loss sequences and the pairs of sequences that differ in one round.

    These are all (N, rest, n_experts) sequences of batch sums of 0 and 1; and for each of the
    `rest` batches, the row numbers of the pairs that differ in that batch only.

    Args:
        n_experts: d, the number of experts.
        rest: batches with a successor, S - 1.
    """
    cells = np.array(list(itertools.product((0.0, 1.0), repeat=n_experts)))
    indices = np.array(list(itertools.product(range(len(cells)), repeat=rest)))
    place = len(cells) ** np.arange(rest)[::-1]
    changes = [*itertools.permutations(range(len(cells)), 2)]
    pairs = []
    for s in range(rest):
        first = [np.flatnonzero(indices[:, s] == a) for a, _ in changes]
        second = [rows + (b - a) * place[s] for rows, (a, b) in zip(first, changes, strict=True)]
        pairs.append((np.concatenate(first), np.concatenate(second)))
    return cells[indices], pairs
