"""Exact laws of small games of L2P and the dartboard, by enumerating all outputs.

The output is the expert played in every batch; the shadow point stays hidden. Below, `sums`
(N, S - 1, d) are the batch losses of N sequences; the last of the S batches is left out, since its
losses come after the last choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.lazy.transform import LazyParameters


def output_masses(sums: Floats, rule: LazyParameters) -> Floats:
    """Return the (N, d^S) distributions of (x_1, ..., x_S); x_S varies fastest."""
    if not rule.shadow:
        return _dartboard_masses(sums, rule)
    n, rest, d = sums.shape
    eta, p = rule.eta, rule.fake_switch
    masses = np.full((n, 1, d, d), 1 / d**2)  # sequences, (x_1..x_{s-1}), x_s, y_s
    total = np.zeros((n, d))
    for s in range(rest):
        batch = sums[:, s]
        total = total + batch
        nu = _weights(total, eta)
        gap = batch[:, :, None] - batch[:, None, :]
        ratio = np.exp(rule.log_scale - eta * gap)[..., None]  # n, x, y, .
        keep = (1 - p) * np.minimum(1.0, ratio)
        move_x = keep * np.eye(d)[None, :, None] + (1 - keep) * nu[:, None, None]
        move_y = (1 - p) * np.eye(d)[None] + p * nu[:, None]  # n, y, y'
        masses = np.einsum("nhxy,nxyz,nyw->nhxzw", masses, move_x, move_y).reshape(n, -1, d, d)
    return np.asarray(masses.sum(axis=-1).reshape(n, -1))


def _dartboard_masses(sums: Floats, rule: LazyParameters) -> Floats:
    """Return the same of the private shrinking dartboard, which has no shadow point.

    Source: "Private Online Prediction from Experts", Algorithm 1.
    """
    n, rest, d = sums.shape
    limit = int(min(rule.limit, rest))
    masses = np.zeros((n, 1, d, limit + 1))  # sequences, (x_1..x_{s-1}), x_s, redraws so far
    masses[..., 0] = 1 / d
    for s in range(rest):
        nu = _weights(sums[:, : s + 1].sum(axis=1), rule.eta)
        keep = (1 - rule.fake_switch) * np.exp(-rule.eta * sums[:, s])
        kept = masses * keep[:, None, :, None]
        kept[..., limit] = masses[..., limit]
        after = np.einsum("nhxk,xz->nhxzk", kept, np.eye(d))
        after[..., 1:] += np.einsum("nhxk,nx,nz->nhxzk", masses[..., :-1], 1 - keep, nu)
        masses = after.reshape(n, -1, d, limit + 1)
    return np.asarray(masses.sum(axis=-1).reshape(n, -1))


def _weights(total: Floats, eta: float) -> Floats:
    nu = np.exp(-eta * (total - total.min(axis=1, keepdims=True)))
    return np.asarray(nu / nu.sum(axis=1, keepdims=True))


def neighbours(
    n_experts: int,
    rest: int,
    values: Sequence[float],
) -> tuple[Floats, list[tuple[NDArray[np.int64], NDArray[np.int64]]]]:
    """Return loss sequences and the pairs of sequences that differ in one round.

    These are all (N, rest, n_experts) sequences of batch sums from `values`; and for each of the
    `rest` batches, the row numbers of the pairs that differ in that batch only, by at most 1 for
    every expert.

    Args:
        n_experts: d, the number of experts.
        rest: batches with a successor, S - 1.
        values: losses of a batch that an expert may have, from 0 to B.
    """
    cells = np.array(list(itertools.product(values, repeat=n_experts)), dtype=float)
    indices = np.array(list(itertools.product(range(len(cells)), repeat=rest)))
    place = len(cells) ** np.arange(rest)[::-1]
    gaps = np.abs(cells[:, None] - cells[None]).max(axis=2)
    close = np.argwhere((gaps > 0) & (gaps <= 1 + 1e-12))
    pairs = []
    for s in range(rest):
        first = [np.flatnonzero(indices[:, s] == a) for a, _ in close]
        second = [rows + (b - a) * place[s] for rows, (a, b) in zip(first, close, strict=True)]
        pairs.append((np.concatenate(first), np.concatenate(second)))
    return cells[indices], pairs
