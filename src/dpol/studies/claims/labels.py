"""Checks of "Online Distribution Learning with Local Privacy Constraints": what people send."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dpol.studies.claims.core import Findings, of_number
from dpol.studies.labels.accounting import composed_delta, laplace_message_loss, scale_factor
from dpol.studies.labels.clients import ResponseClient, SampledClient
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, random_class

APART = ((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
"""The class that breaks the count of cells: K = 2 hypotheses on M = 3 labels."""
ALIKE = ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
"""A class that does not."""
# Classes of each size: the features of one class.
_DIFFERENT = 20


# ---- clipping --------------------------------------------------------------------------------


def clipping(_: int) -> Findings:
    """The number of cells, the range of clipped masses and the sensitivity that follows."""
    T, clipped = 10, Clipping(HypothesisClass(np.array(APART)), 10)
    K, M = clipped.hypotheses.n_hypotheses, clipped.hypotheses.n_labels
    least, spread = float(clipped.log_cells.min()), float(clipped.ranges.max())
    case = f"K = {K}, M = {M}, T = {T}, f1 = {APART[0]}, f2 = {APART[1]}"
    facts = {"inverse": math.exp(-least), "odds": math.exp(spread)}
    facts |= {"K": K, "M": M, "T": T, "KT": K * T, "TKM": T * K * M}
    yield of_number("cells", K * M, int(clipped.n_cells[0]), case, facts=facts)
    yield of_number("smallest-mass", 1 / (T * K * M), float(np.exp(least)), case, facts=facts)
    yield of_number("likelihood-range", math.log(K * T), spread, case, facts=facts)


def sensitivity_bound(K: int, T: int) -> float:
    """Our own bound on the range of a clipped log-likelihood."""
    return math.log((K + 1) * T)


def clipping_of_random_classes(seed: int) -> Findings:
    """The upper side of equation (7), and our own sensitivity bound."""
    grid = list(itertools.product(range(2, 6), (2, 3, 5, 11), (0.05, 0.2, 1.0), (2, 10, 49)))
    facts = {"pairs": _DIFFERENT * len(grid)}
    for K, M, alpha, T in grid:
        classes = random_class(K, M, seed=seed, concentration=alpha, n_features=_DIFFERENT)
        clipped = Clipping(classes, T)
        case = f"K = {K}, M = {M}, T = {T}, Dirichlet({alpha:g})"
        largest = M * math.exp(float(clipped.log_cells.max()))
        yield of_number("largest-mass", 1.0, largest, case, facts=facts)
        share = float(clipped.ranges.max()) / sensitivity_bound(K, T)
        yield of_number("likelihood-range-ours", 1.0, share, case, facts=facts)


# ---- messages --------------------------------------------------------------------------------


def message_loss(_: int) -> Findings:
    """The exact loss of a message of private EXP3 with the paper's sensitivity, eps = 1."""
    T, hypotheses = 300, HypothesisClass(np.array(APART))
    facts = {"T": T, "K": hypotheses.n_hypotheses, "M": hypotheses.n_labels}
    case = f"T = {T}, f1 = {APART[0]}, f2 = {APART[1]}"
    yield of_number(
        "exp3-message", 1.0, loss_of_message(hypotheses, T, "published"), case, facts=facts
    )


def message_loss_repaired(seed: int) -> Findings:
    """Loss of a message with the exact sensitivity, on classes of all kinds."""
    classes = [HypothesisClass(np.array(APART)), HypothesisClass(np.array(ALIKE))]
    uniform = np.vstack([np.full(50, 1 / 49), np.eye(50)[49]])
    uniform[0, 49] = 0.0
    classes.append(HypothesisClass(uniform))
    many = random_class(4, 10, seed=seed, concentration=0.1, n_features=_DIFFERENT)
    classes += [HypothesisClass(masses) for masses in many.masses]
    losses = [loss_of_message(it, T, "exact") for it in classes for T in (10, 300, 1000)]
    yield of_number("exp3-message-repaired", 1.0, max(losses), facts={"pairs": len(losses)})


def loss_of_message(hypotheses: HypothesisClass, T: int, rule: SensitivityRule) -> float:
    """The exact privacy loss of a message of EXP3 at eps = 1, by the rule of its sensitivity."""
    clipped = Clipping(hypotheses, T, rule)
    client = SampledClient(clipped, 1.0)
    loss = laplace_message_loss(
        clipped.log_cells[0], clipped.cells[0], keep=clipped.keep, scales=client.scales[0]
    )
    return float(loss.max())


def composition(_: int) -> Findings:
    """The Laplace scale of a WMA message."""
    K, epsilon, delta = 16, 1.0, 1e-6
    claimed = scale_factor(K, epsilon, delta, "published")
    needed = scale_factor(K, epsilon, delta, "exact")
    yield of_number("wma-scale", claimed, needed, facts={"basic": K / epsilon})


def strong_composition(K: int, each: float, delta: float) -> float:
    """epsilon by Lemma 2 of K mechanisms with epsilon' = `each`."""
    return K * each**2 / 2 + math.sqrt(2 * math.log(1 / delta) * K) * each


def composition_theorem(_: int) -> Findings:
    """Lemma 2 for Laplace mechanisms."""
    K, each, delta = 400, 0.05, 1e-6
    together = strong_composition(K, each, delta)
    found = composed_delta(K, 1 / each, together)
    yield of_number("composition", delta, found, facts={"epsilon": together})


def response(_: int) -> Findings:
    """The exact privacy loss of randomised response on M labels."""
    for M, epsilon in itertools.product((2, 10, 1000), (0.01, 0.5, 4.0)):
        keep = ResponseClient(M, epsilon).keep
        loss = math.log(keep * (M - 1) / (1 - keep))
        yield of_number("randomised-response", epsilon, loss, f"M = {M:,}, ε = {epsilon:g}")
