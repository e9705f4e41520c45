"""Plain reference implementations: one replicate, loops, everything recomputed in every round.

They are written from the definitions and share no code with the library. Arrays are
`noisy_gains` (T, n), `initial` (n,), `noise_scale` (T, n); actions are lists of T experts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

Learner = Callable[[np.ndarray, np.ndarray], int]
"""A learner maps the noisy gains so far, (t - 1, n), and the initial noise to an action."""


def leader(history: np.ndarray, initial: np.ndarray) -> int:
    """Return the first expert with the largest noisy total."""
    totals = [initial[i] + sum(gains[i] for gains in history) for i in range(len(initial))]
    return totals.index(max(totals))


def ridge_prediction(values: Sequence[float], window: int, penalty: float) -> float:
    """Predict the next value by a penalised least squares line through the last `window` values.

    The penalty on the slope is one more row of the least squares problem.
    """
    values = list(values)[-window:]
    k = len(values)
    rows = [[1.0, (j - k) / window] for j in range(k)] + [[0.0, math.sqrt(penalty)]]
    return float(np.linalg.lstsq(np.array(rows), np.array([*values, 0.0]))[0][0])


def ridge_learner(history: np.ndarray, initial: np.ndarray, *, window: int, penalty: float) -> int:
    if len(history) == 0:
        return 0
    predictions = [ridge_prediction(column, window, penalty) for column in history.T]
    return predictions.index(max(predictions))


def play_learner(learner: Learner, noisy_gains: np.ndarray, initial: np.ndarray) -> list[int]:
    return [learner(noisy_gains[:t], initial) for t in range(len(noisy_gains))]


def paper_learners(windows: Sequence[int], penalties: Sequence[float]) -> list[Learner]:
    """Return a ridge learner for every window and penalty, and RW-FTPL."""
    ridges = [
        partial(ridge_learner, window=window, penalty=penalty)
        for window in windows
        for penalty in penalties
    ]
    return [*ridges, leader]


def learner_covariance(actions: Sequence[Sequence[int]], noise_scale: np.ndarray) -> np.ndarray:
    """Return the sum over rounds of X diag(eta^2) X', X the 0/1 matrix of learners' actions."""
    n = noise_scale.shape[1]
    total = np.zeros((len(actions[0]), len(actions[0])))
    for chosen, scale in zip(actions, noise_scale, strict=False):
        matrix = np.zeros((len(chosen), n))
        for learner, action in enumerate(chosen):
            matrix[learner, action] = 1.0
        total += matrix @ np.diag(scale**2) @ matrix.T
    return total


def fresh_covariance(covariance: np.ndarray, least: float) -> tuple[float, np.ndarray]:
    """Return tau = max(least, lambda_max(Sigma*)), and tau I - Sigma* made semi-definite."""
    m = len(covariance)
    ones = np.ones((m, m))
    centred = covariance - (ones * covariance).sum() / m**2 * ones
    values, vectors = np.linalg.eigh(centred)
    tau = max(least, values[-1])
    return tau, vectors @ np.diag(np.maximum(tau - values, 0.0)) @ vectors.T


def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower factor of a semi-definite matrix; pivots near zero count as zero."""
    m = len(matrix)
    factor = np.zeros((m, m))
    for j in range(m):
        pivot = matrix[j, j] - factor[j, :j] @ factor[j, :j]
        if pivot <= 1e-10 * matrix.diagonal().max():
            continue
        factor[j, j] = math.sqrt(pivot)
        for i in range(j + 1, m):
            factor[i, j] = (matrix[i, j] - factor[i, :j] @ factor[j, :j]) / factor[j, j]
    return factor


def rw_meta(
    noisy_gains: np.ndarray,
    initial: np.ndarray,
    noise_scale: np.ndarray,
    learners: Sequence[Learner],
    *,
    exploration_floor: float,
    decorrelate: bool,
    rng: np.random.Generator,
) -> list[int]:
    """Play RW-Meta; y is the Cholesky factor of its covariance times standard normals."""
    m = len(learners)
    past: list[list[int]] = []
    played = []
    for t in range(len(noisy_gains)):
        actions = [learner(noisy_gains[:t], initial) for learner in learners]
        totals = np.array([sum(noisy_gains[s][past[s][i]] for s in range(t)) for i in range(m)])
        if decorrelate:
            covariance = learner_covariance(past, noise_scale[:t]) if past else np.zeros((m, m))
            tau, fresh = fresh_covariance(covariance, exploration_floor * (t + 1))
            normals = rng.standard_normal(m)
            if tau > 1e-12 * covariance.sum(axis=1).max():  # otherwise only rounding is left
                totals = totals + cholesky(fresh) @ normals
        played.append(actions[list(totals).index(max(totals))])
        past.append(actions)
    return played


def fixed_share(
    noisy_gains: np.ndarray, noise_scale: np.ndarray, *, rate: float, share: float
) -> list[int]:
    """Play the largest weight; the weights are recomputed from round 1 in every round."""
    rounds, n = noisy_gains.shape
    played = []
    for t in range(rounds):
        weights = [1 / n] * n
        for s in range(t):
            unit = typical_level(noisy_gains[: s + 1], noise_scale)
            weights = [
                w * math.exp(rate * g / unit) for w, g in zip(weights, noisy_gains[s], strict=True)
            ]
            weights = [(1 - share) * w / sum(weights) + share / n for w in weights]
        played.append(weights.index(max(weights)))
    return played


def typical_level(history: np.ndarray, noise_scale: np.ndarray) -> float:
    """Return the mean of the rounds' weighted levels, at least its standard error."""
    between, total, variance = float(np.median(noise_scale[0])), 0.0, 0.0
    for t, (gains, scale) in enumerate(zip(history, noise_scale, strict=False), start=1):
        weights = [1 / (eta**2 + between**2) for eta in scale]
        weights = [w / sum(weights) for w in weights]
        total += sum(w * g for w, g in zip(weights, gains, strict=True))
        variance += sum((w * eta) ** 2 for w, eta in zip(weights, scale, strict=True))
        between = max(total, math.sqrt(variance)) / t
    return between


def split_budget(
    noisy_gains: np.ndarray,
    initial: np.ndarray,
    noise_scale: np.ndarray,
    learners: Sequence[Learner],
    rng: np.random.Generator,
) -> list[int]:
    """Follow the best learner by a noisy vector that no learner sees."""
    m, (rounds, n) = len(learners), noisy_gains.shape
    vectors, past, played = [[] for _ in range(m + 1)], [], []
    for t in range(rounds):
        if t:
            fresh = rng.standard_normal((m + 1, n))
            for vector, own in zip(vectors, fresh - fresh.mean(axis=0), strict=True):
                wider = math.sqrt(m + 1) * noise_scale[t - 1]
                vector.append(noisy_gains[t - 1] + wider * own)
        past.append(
            [
                learner(np.array(vector).reshape(t, n), math.sqrt(m + 1) * initial)
                for learner, vector in zip(learners, vectors, strict=False)
            ]
        )
        totals = [sum(vectors[m][s][past[s][i]] for s in range(t)) for i in range(m)]
        played.append(past[t][totals.index(max(totals))])
    return played


def prefix_nodes(count: int) -> list[tuple[int, int]]:
    """Return the tree nodes (first, last round) whose union is rounds 1..count, largest first."""
    nodes, start = [], 1
    while start <= count:
        size = 1
        while start + 2 * size - 1 <= count:
            size *= 2
        nodes.append((start, start + size - 1))
        start += size
    return nodes


def most_nodes_of_a_round(rounds: int) -> tuple[int, list[int]]:
    """Return the numbers of nodes that each of the rounds 1..T-1 enters, after their maximum."""
    released = {node for count in range(1, rounds) for node in prefix_nodes(count)}
    entered = [sum(a <= s <= b for a, b in released) for s in range(1, rounds)]
    return max(entered, default=0), entered


def tree_ftpl(
    gains: np.ndarray, total_scale: np.ndarray, levels: int, rng: np.random.Generator
) -> list[int]:
    """Play the tree leader: draw a node's noise when it is first needed, then fresh padding.

    `total_scale` (n,) is the scale of the noise on every prefix.
    """
    n = gains.shape[1]
    node_scale = total_scale / math.sqrt(levels) if levels else 0.0 * total_scale
    noise: dict[tuple[int, int], np.ndarray] = {}
    played = []
    for t in range(len(gains)):
        nodes = prefix_nodes(t)
        for node in nodes:
            if node not in noise:
                noise[node] = node_scale * rng.standard_normal(n)
        missing = total_scale**2 - len(nodes) * node_scale**2
        padding = np.sqrt(np.maximum(missing, 0.0)) * rng.standard_normal(n)
        noisy = gains[:t].sum(axis=0) + sum((noise[node] for node in nodes), padding)
        played.append(int(noisy.argmax()))
    return played


def weights_distribution(gains: np.ndarray, rounds: int, gain_range: float) -> list[float]:
    """Return the probabilities of multiplicative weights after `gains`, in a game of `rounds`."""
    rate = math.sqrt(8 * math.log(gains.shape[1]) / rounds) / gain_range
    weights = [math.exp(rate * sum(column)) for column in gains.T]
    return [weight / sum(weights) for weight in weights]
