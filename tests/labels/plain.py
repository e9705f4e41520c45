"""Distribution learning in plain Python, cell by cell and round by round, for comparison.

Source: "Online Distribution Learning with Local Privacy Constraints", sections 4 and 5.
"""

import math

import numpy as np
from hypothesis import strategies as st

from dpol.labels.clients import Messages
from dpol.labels.clipping import Clipping
from dpol.labels.game import LabelGame
from dpol.labels.hypotheses import HypothesisClass

# N' = 7 > KM = 6: the ranges exceed the published log(KT).
COUNTEREXAMPLE = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
# Two features, three hypotheses; none gives label 3 any mass at feature 1.
TWO_FEATURES = [
    [[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1], [0.0, 0.25, 0.5, 0.25]],
    [[0.6, 0.3, 0.1, 0.0], [0.05, 0.05, 0.9, 0.0], [0.2, 0.8, 0.0, 0.0]],
]
HYPOTHESES = HypothesisClass(TWO_FEATURES)
LAST = 1 - 2.0**-53  # the largest uniform number that NumPy draws


def clipping(masses, rounds, rule="exact"):
    return Clipping(HypothesisClass(masses), rounds, rule)


def constant_game(hypotheses, law, rounds, replicates):
    """Return a game of one feature, whose labels follow the law (M,)."""
    features, truth = np.zeros(rounds, dtype=int), np.zeros(replicates, dtype=int)
    return LabelGame(
        hypotheses=hypotheses, features=features, truths=np.array([[law]]), truth=truth
    )


def about(values):
    """Return messages about no hypothesis, or about all."""
    return Messages(values, np.zeros(values.shape[:2], dtype=int))


def random_masses(rng, K, M, concentration=1.0):
    masses = rng.dirichlet(np.full(M, concentration), size=K)
    masses[~np.isfinite(masses).all(axis=1)] = 1 / M
    return masses


@st.composite
def cases(draw, most_features=3):
    """Return (masses (X, K, M), T); some labels have no mass under any hypothesis."""
    X, K, M = draw(st.integers(1, most_features)), draw(st.integers(2, 5)), draw(st.integers(2, 11))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    concentration = draw(st.sampled_from([0.05, 0.2, 1.0]))
    masses = np.stack([random_masses(rng, K, M, concentration) for _ in range(X)])
    if M > 2 and draw(st.booleans()):
        masses[:, :, 0] = 0.0
        masses[masses.sum(axis=2) < 1e-6, 1] = 1.0
        masses /= masses.sum(axis=2, keepdims=True)
    return masses, draw(st.integers(2, 300))


def cells_of(F):
    """Return the number of cells of each label, for (K, M) masses."""
    M, cells = len(F[0]), []
    for y in range(M):
        value = M * max(row[y] for row in F)
        whole = round(value)
        rounding = whole > 0 and abs(value - whole) < 1e-13 * whole
        cells.append(whole if rounding else math.ceil(value))
    return cells


def owners_of(F):
    """Return the label that owns each of the N' cells."""
    return [y for y, count in enumerate(cells_of(F)) for _ in range(count)]


def clipped(F, T):
    """Return pbar_j of each of the N' cells, (K, N')."""
    c, owners = cells_of(F), owners_of(F)
    return [[(1 - 1 / T) * row[y] / c[y] + 1 / (T * len(owners)) for y in owners] for row in F]


def chances_of_cells(F, T, label):
    """Return the probabilities of the N' cells to which h maps the label."""
    owners, c = owners_of(F), cells_of(F)
    keep = 1 - 1 / T if c[label] else 0.0
    return [keep * (y == label) / max(c[label], 1) + (1 - keep) / len(owners) for y in owners]


def laplace_cdf(values, scale):
    tail = np.exp(-np.abs(values) / scale) / 2
    return np.where(values < 0, tail, 1 - tail)


def message_cdf(values, F, T, j, scale, chances):
    """Return the CDF of log pbar_j(cell) + Laplace(scale), with the cell drawn by `chances`."""
    logs = np.log(clipped(F, T)[j])
    parts = zip(chances, logs, strict=True)
    return sum(p * laplace_cdf(np.asarray(values) - a, scale) for p, a in parts)


def message_density(value, F, T, j, scale, chances):
    logs = np.log(clipped(F, T)[j])
    parts = zip(chances, logs, strict=True)
    return sum(p * math.exp(-abs(value - a) / scale) / (2 * scale) for p, a in parts)


def kl(p, q):
    return sum(a * (math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True) if a > 0)


def tv(p, q):
    return sum(max(a - b, 0.0) for a, b in zip(p, q, strict=True))


def softmax(logs):
    top = max(logs)
    raised = [math.exp(value - top) for value in logs]
    return [value / sum(raised) for value in raised]


def draw(law, uniform):
    """Return the first label whose cumulative mass exceeds the number."""
    total = 0.0
    for y, mass in enumerate(law):
        total += mass
        if uniform < total:
            return y
    raise AssertionError("the masses sum to less than the number")


def play(scores, masses, features, law):
    """Return the risks of one replicate from its (T, K) changes of log-weights, round by round.

    Args:
        scores: Changes after each round.
        masses: (X, K, M) distributions that a prediction mixes.
        features: (T,) feature of each round.
        law: (X, M) true distributions.

    Returns:
        The sums of KL and TV, the weights of the T predictions, and the final weights.
    """
    logs, kls, tvs, used = [0.0] * len(scores[0]), 0.0, 0.0, []
    for change, x in zip(scores, features, strict=True):
        weights = softmax(logs)
        used.append(weights)
        predicted = [
            sum(w * row[y] for w, row in zip(weights, masses[x], strict=True))
            for y in range(len(law[x]))
        ]
        kls += kl(law[x], predicted)
        tvs += tv(law[x], predicted)
        logs = [a + b for a, b in zip(logs, change, strict=True)]
    return kls, tvs, used, softmax(logs)
