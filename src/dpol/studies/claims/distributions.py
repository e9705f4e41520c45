"""Checks of "Online Distribution Learning with Local Privacy Constraints": what people send."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from dpol.show.papers import DISTRIBUTIONS
from dpol.studies.claims.core import Claim, Row, worst
from dpol.studies.labels.classes import random_class
from dpol.studies.labels.clients import ResponseClient, SampledClient
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.composition import composed_delta, scale_factor
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.message_loss import laplace_message_loss

_of = partial(Claim, DISTRIBUTIONS)

APART = ((0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
"""The class that breaks the count of cells: K = 2 hypotheses on M = 3 labels."""
ALIKE = ((0.5, 0.3, 0.2), (0.2, 0.3, 0.5))
"""A class that does not."""
_Masses = tuple[tuple[float, ...], ...]


# ---- clipping --------------------------------------------------------------------------------


def clipping(seed: int, masses: _Masses = APART, T: int = 10) -> Iterator[Claim]:
    """The number of cells, the range of clipped masses and the sensitivity that follows."""
    del seed
    clipped = Clipping(HypothesisClass(np.array(masses)), T)
    K, M = clipped.hypotheses.n_hypotheses, clipped.hypotheses.n_labels
    cells, logs = int(clipped.n_cells[0]), clipped.log_cells
    spread = float(clipped.ranges.max())
    case = f"K = {K}, M = {M}, T = {T}, f1 = {masses[0]}, f2 = {masses[1]}"
    yield _of(
        "section 4.2, number of cells",
        "the clipped labels have N' <= K M cells",
        f"N' for one class, K = {K}, M = {M}",
        claimed=K * M,
        relation="<=",
        measured=cells,
        witness=f"{case}: N' = {cells}",
        note="the ceilings allow up to (K + 1) M",
    )
    yield _of(
        "equation (7), lower side",
        "every clipped mass is at least 1/(T K M)",
        f"smallest clipped mass of the same class, T = {T}",
        claimed=1 / (T * K * M),
        relation=">=",
        measured=float(np.exp(logs.min())),
        witness=f"{case}: 1/{math.exp(-float(logs.min())):.0f}, less than 1/{T * K * M}",
    )
    yield _of(
        "section 4.2, sensitivity",
        "a clipped log-likelihood has sensitivity log(K T)",
        f"range of the log-likelihoods of the same class, T = {T}",
        claimed=math.log(K * T),
        relation="<=",
        measured=spread,
        witness=f"{case}: log {math.exp(spread):.4g} = {spread:.3f}, log(K T) = log {K * T}",
    )


# Classes of each size: the features of one class.
_DIFFERENT = 20


def clipping_of_random_classes(seed: int, extra: int = 1) -> Iterator[Claim]:
    """The upper side of equation (7), and our own sensitivity bound log((K + extra) T)."""
    upper, ranges, cases = [], [], []
    for K, M, concentration in itertools.product(range(2, 6), (2, 3, 5, 11), (0.05, 0.2, 1.0)):
        hypotheses = random_class(
            K, M, seed=seed, concentration=concentration, n_features=_DIFFERENT
        )
        for T in (2, 10, 49):
            clipped = Clipping(hypotheses, T)
            upper.append(M * math.exp(float(clipped.log_cells.max())))
            ranges.append(float(clipped.ranges.max()) / math.log((K + extra) * T))
            cases.append(f"K = {K}, M = {M}, T = {T}, Dirichlet({concentration:g})")
    count = (
        f"{_DIFFERENT * len(cases):,} random pairs of a class and T, K = 2 to 5, M = 2 to 11,"
        " T = 2, 10, 49; the worst"
    )
    yield _of(
        "equation (7), upper side",
        "every clipped mass is at most 1/M",
        f"M times the largest clipped mass of {count}",
        claimed=1.0,
        relation="<=",
        measured=max(upper),
        witness=cases[int(np.argmax(upper))],
        note=cases[int(np.argmax(upper))],
    )
    yield _of(
        "clipping, sensitivity",
        "a clipped log-likelihood has sensitivity at most log((K + 1) T)",
        f"range of log-likelihoods over log((K + {extra}) T) for {count}",
        claimed=1.0,
        relation="<=",
        measured=max(ranges),
        witness=cases[int(np.argmax(ranges))],
        note=cases[int(np.argmax(ranges))],
        ours=True,
    )


# ---- messages --------------------------------------------------------------------------------


def message_loss(
    seed: int, rule: SensitivityRule = "published", masses: _Masses = APART, T: int = 300
) -> Iterator[Claim]:
    """The exact loss of a message of private EXP3 on one class, eps = 1."""
    del seed
    hypotheses = HypothesisClass(np.array(masses))
    found = _loss(hypotheses, T, 1.0, rule)
    yield _of(
        "Lemma 6",
        "the message of private EXP3 with Laplace scale log(K T)/ε is (ε, 0)-private",
        f"exact privacy loss at ε = 1, T = {T}, {len(masses)} hypotheses on"
        f" {len(masses[0])} labels",
        claimed=1.0,
        relation="<=",
        measured=found,
        witness=f"T = {T}, f1 = {masses[0]}, f2 = {masses[1]}: exact loss {found:.4f} ε",
        note="the proof takes log(K T) for the sensitivity",
    )


def message_loss_repaired(seed: int, rule: SensitivityRule = "exact") -> Iterator[Claim]:
    """The same with the exact sensitivity, on classes of all kinds."""
    classes = [HypothesisClass(np.array(APART)), HypothesisClass(np.array(ALIKE))]
    uniform = np.vstack([np.full(50, 1 / 49), np.eye(50)[49]])
    uniform[0, 49] = 0.0
    classes.append(HypothesisClass(uniform))
    many = random_class(4, 10, seed=seed, concentration=0.1, n_features=_DIFFERENT)
    classes += [HypothesisClass(masses) for masses in many.masses]
    losses = [_loss(hypotheses, T, 1.0, rule) for hypotheses in classes for T in (10, 300, 1000)]
    yield _of(
        "clipping, exact sensitivity",
        "with the range of each log-likelihood for log(K T) the message of EXP3 is (ε, 0)-private",
        f"exact privacy loss at ε = 1 for {len(losses)} pairs of a class and T; the largest",
        claimed=1.0,
        relation="<=",
        measured=max(losses),
        witness=f"exact loss {max(losses):.4f} ε",
        ours=True,
    )


def _loss(hypotheses: HypothesisClass, T: int, epsilon: float, rule: SensitivityRule) -> float:
    clipped = Clipping(hypotheses, T, rule)
    client = SampledClient(clipped, epsilon)
    loss = laplace_message_loss(
        clipped.log_cells[0], clipped.cells[0], keep=clipped.keep, scales=client.scales[0]
    )
    return float(loss.max())


def composition(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """The Laplace scale of a WMA message, times `share`."""
    del seed
    K, epsilon, delta = 16, 1.0, 1e-6
    needed = scale_factor(K, epsilon, delta, "exact")
    yield _of(
        "Lemma 3",
        "the message of private WMA is (ε, δ)-private with its Laplace scale",
        "Laplace scale over sensitivity that exact composition needs, K = 16, ε = 1, δ = 1e-6",
        claimed=share * scale_factor(K, epsilon, delta, "published"),
        relation="<=",
        measured=needed,
        rounding=0.01,
        witness=f"needed {needed:.2f}",
        note=f"basic composition needs {K / epsilon:g}; the slack covers the wrong log(K T)",
    )


def composition_theorem(seed: int, second_term: float = 1.0) -> Iterator[Claim]:
    """Lemma 2 for Laplace mechanisms; `second_term` scales the root in its epsilon."""
    del seed
    K, each, delta = 400, 0.05, 1e-6
    root = math.sqrt(2 * math.log(1 / delta) * K) * each
    together = K * each**2 / 2 + second_term * root
    found = composed_delta(K, 1 / each, together)
    yield _of(
        "Lemma 2",
        "K mechanisms that are ε'-private compose to (Kε'²/2 + sqrt(2 log(1/δ) K) ε', δ)",
        "exact δ of 400 Laplace mechanisms with ε' = 0.05 at this ε",
        claimed=delta,
        relation="<=",
        measured=found,
        rounding=1e-4,
        witness=f"δ = {found:.3g} at ε = {together:.3f}",
        note="one mechanism; the accountant is exact to one part in 10,000",
    )


def response(seed: int, n_claimed: int | None = None) -> Iterator[Claim]:
    """Randomised response on M labels, as if it were on `n_claimed`."""
    del seed
    losses = []
    for M, epsilon in itertools.product((2, 10, 1000), (0.01, 0.5, 4.0)):
        keep = ResponseClient(n_claimed or M, epsilon).keep
        case = f"M = {M:,}, ε = {epsilon:g}"
        losses.append(
            _of(
                "section 3, randomised response",
                "flipping with probability 1/(1 + e^ε/(M - 1)) is (ε, 0)-private, exactly",
                "exact log ratio for nine pairs (M, ε); the worst",
                claimed=epsilon,
                relation="=",
                measured=math.log(keep * (M - 1) / (1 - keep)),
                witness=case,
                note=case,
            )
        )
    yield worst(losses)


ROWS: tuple[Row, ...] = (
    clipping,
    clipping_of_random_classes,
    message_loss,
    message_loss_repaired,
    composition,
    composition_theorem,
    response,
)
