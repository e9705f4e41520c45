"""The client side of distribution learning: private messages about one person's label.

A client is a frozen dataclass of public parameters, with a method `privatize` that turns labels
into messages. A message depends only on its round's label and public feature, never on a learner.

All coordinates of a message depend on the same label, so K noisy numbers lose as much privacy as
K Laplace mechanisms on the same data.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.labels.clipping import Clipping, SensitivityRule
from dpol.labels.hypotheses import HypothesisClass, Ints
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import NOTHING_KEPT, Draw, Loss, Promise, one_draw, pure
from dpol.privacy.noise_laws import LAPLACE


@dataclass(frozen=True, eq=False)
class Messages:
    """Messages of the clients, one for each replicate and round.

    Args:
        values: (R, B) labels, answers or noisy log-likelihoods; (R, B, K) if each message is
            about all hypotheses.
        index: (R, B) index J of the hypothesis or set of a message; 0 if it has none.
    """

    values: NDArray[Any]
    index: Ints


class LabelClient(ABC):
    """The program that a person runs: public parameters and the privatisation of labels.

    Raises:
        ValueError: epsilon is not above 0.
    """

    epsilon: float
    """Claimed privacy of a message, above 0; inf for no privacy."""
    delta: float = 0.0
    """Delta of this claim."""

    def __post_init__(self) -> None:
        check_number("epsilon", self.epsilon, "(0, inf]")

    @abstractmethod
    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Return messages for (R, B) labels at (B,) features, independent across rounds.

        Raises:
            ValueError: a label is not an integer in 0..M-1.
        """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of one message."""


@dataclass(frozen=True, eq=False)
class VectorClient(LabelClient):
    """A client that sends log pbar_j(h(Y)) + Laplace noise for every hypothesis j.

    Args:
        clipping: clipped class; its sensitivity rule is also the rule of composition.
        epsilon: claimed privacy of a message, above 0.
        delta: delta of the guarantee, in (0, 1).

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    clipping: Clipping
    epsilon: float
    delta: float = 1e-6

    @property
    def factor(self) -> float:
        """b / s: Laplace scale over sensitivity."""
        n = self.clipping.hypotheses.n_hypotheses
        return scale_factor(n, self.epsilon, self.delta, self.clipping.rule)

    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Return (R, B, K) messages; see `LabelClient`."""
        clipping, sizes = self.clipping, self.clipping.hypotheses
        uniforms = round_uniforms(labels, sizes.n_labels, generators, 1 + sizes.n_hypotheses)
        blocks = clipping.draw_blocks(labels, features, uniforms[..., 0])
        values = laplace(uniforms[..., 1:])
        values *= self.factor * clipping.sensitivity[features]
        values += clipping.log_cells[features, :, blocks]
        return Messages(values, np.zeros_like(labels))

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of one message: of a Laplace release of every log-likelihood."""
        clipping, n = self.clipping, self.clipping.hypotheses.n_hypotheses
        strength = clipping.excess / self.factor if self.factor else math.inf
        mechanism = "Laplace noise on all clipped log-likelihoods"
        mechanism += f", {clipping.rule} sensitivity, {clipping.rule} composition"
        largest = clipping.sensitivity.max()
        loss = LAPLACE.loss(strength, n)
        return _guarantee(mechanism, largest, "every log-likelihood", loss)


@dataclass(frozen=True, eq=False)
class SampledClient(LabelClient):
    """A client that sends log pbar_J(h(Y)) + Laplace noise and its uniform random index J.

    Args:
        clipping: clipped class with its sensitivity.
        epsilon: claimed privacy of a message, above 0.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.

    >>> from dpol.core.randomness import replicate_generators
    >>> clipping = Clipping(HypothesisClass([[0.5, 0.5, 0], [0, 0, 1]]), n_rounds=10)
    >>> client = SampledClient(clipping, epsilon=1.0)
    >>> labels, features = np.array([[0, 1, 2]]), np.array([0, 0, 0])
    >>> generators = replicate_generators(1, ("example",), range(1), "clients")
    >>> client.privatize(labels, features, generators).values.shape
    (1, 3)
    >>> client.guarantee.epsilon(0.0)
    1.0
    """

    clipping: Clipping
    epsilon: float

    @property
    def factor(self) -> float:
        """b / s: Laplace scale over sensitivity."""
        return 1 / self.epsilon

    @property
    def scales(self) -> Floats:
        """(X, K) Laplace scales."""
        return self.clipping.sensitivity / self.epsilon

    @property
    def exact_loss(self) -> float:
        """Exact pure epsilon of a message at feature 0, the largest over the indices."""
        clipping, scales = self.clipping, self.scales[0]
        logs, cells = clipping.log_cells[0], clipping.cells[0]
        return float(laplace_message_loss(logs, cells, keep=clipping.keep, scales=scales).max())

    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Return (R, B) messages; see `LabelClient`."""
        clipping = self.clipping
        uniforms = round_uniforms(labels, clipping.hypotheses.n_labels, generators, 3)
        blocks = clipping.draw_blocks(labels, features, uniforms[..., 0])
        index = uniform_index(uniforms[..., 1], clipping.hypotheses.n_hypotheses)
        values = laplace(uniforms[..., 2])
        values *= self.scales[features, index]
        values += clipping.log_cells[features, index, blocks]
        return Messages(values, index)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of one message."""
        clipping = self.clipping
        mechanism = f"Laplace noise on one clipped log-likelihood, {clipping.rule} sensitivity"
        loss = LAPLACE.loss(self.epsilon * clipping.excess, 1)
        return _guarantee(mechanism, clipping.sensitivity.max(), "log-likelihood", loss)


@dataclass(frozen=True, eq=False)
class ResponseClient(LabelClient):
    """Randomised response: send the label, or another label drawn uniformly at random.

    The label is sent with probability e^eps / (e^eps + M - 1), and always if epsilon = inf.
    Source: "Online Distribution Learning with Local Privacy Constraints", section 3, after Wu et
    al., "Learning functional distributions with private labels".

    Args:
        n_labels: M, the number of labels.
        epsilon: privacy of a message, above 0.
    """

    n_labels: int
    epsilon: float

    @property
    def keep(self) -> float:
        """Probability that the message is the label."""
        return 1 / (1 + (self.n_labels - 1) * math.exp(-self.epsilon))

    def chances(self, masses: Floats) -> Floats:
        """Return the (X, 1, M, L) chances of each message, for labels drawn by (X, L, M) masses."""
        other = (1 - self.keep) / (self.n_labels - 1)
        return np.asarray(other + (self.keep - other) * masses.transpose(0, 2, 1)[:, None])

    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Return (R, B) labels; see `LabelClient`."""
        uniforms = round_uniforms(labels, self.n_labels, generators, 2)
        others = uniform_index(uniforms[..., 1], self.n_labels - 1)
        others += others >= labels
        values = np.where(uniforms[..., 0] < self.keep, labels, others)
        return Messages(values, np.zeros_like(labels))

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of one message."""
        mechanism = f"randomised response on {self.n_labels} labels"
        # Other labels say nothing. The two labels have e^eps times and once the chance of one.
        others = math.log(self.n_labels - 2) if self.n_labels > 2 else -math.inf
        draw = Draw(e=self.epsilon, ends=0.0, middle=others - self.epsilon / 2)
        return _guarantee(mechanism, 1.0, "label", one_draw(draw))


@dataclass(frozen=True, eq=False)
class MembershipClient(LabelClient):
    """Randomised response to one question: is the label in A_J? (not in the paper)

    J is uniform and public; A_j holds the labels to which hypothesis j gives more mass than the
    average of all hypotheses. One bit is no harder to hide if there are more labels, and its loss
    is exactly eps, without clipping or unbounded noise.

    Args:
        hypotheses: hypothesis class.
        epsilon: privacy of a message, above 0.
    """

    hypotheses: HypothesisClass
    epsilon: float

    @property
    def keep(self) -> float:
        """Probability that the answer is true."""
        return 1 / (1 + math.exp(-self.epsilon))

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """(X, K, M) whether A_j contains the label."""
        masses = self.hypotheses.masses
        return np.asarray(masses > masses.mean(axis=1, keepdims=True))

    def chances(self, masses: Floats) -> Floats:
        """Return the (X, J, 2, L) chances of no and yes, for labels drawn by (X, L, M) masses."""
        sets, keep = self.sets.astype(float), self.keep
        yes = (1 - keep) + (2 * keep - 1) * (sets @ masses.transpose(0, 2, 1))
        return np.stack([1 - yes, yes], axis=2)

    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Return (R, B) answers, 1 for yes and 0 for no; see `LabelClient`."""
        uniforms = round_uniforms(labels, self.hypotheses.n_labels, generators, 2)
        index = uniform_index(uniforms[..., 1], self.sets.shape[1])
        member = self.sets[features, index, labels]
        return Messages((member == (uniforms[..., 0] < self.keep)).astype(np.int64), index)

    @property
    def guarantee(self) -> Guarantee:
        """Privacy guarantee of one message."""
        mechanism = "randomised response on membership of a public random set"
        return _guarantee(mechanism, 1.0, "membership", pure(self.epsilon))


def round_uniforms(
    labels: Ints, n_labels: int, generators: ReplicateGenerators, each: int
) -> Floats:
    """Return (R, B, each) uniform numbers in [0, 1) for (R, B) labels, however rounds are split.

    Raises:
        ValueError: a label is not an integer in 0..M-1.
    """
    wrong = labels[(labels < 0) | (labels >= n_labels)].tolist()
    if wrong or not np.issubdtype(labels.dtype, np.integer):
        got = f"{wrong[0]}" if wrong else f"numbers of type {labels.dtype}"
        raise ValueError(f"labels must be integers in 0..{n_labels - 1}, got {got}")
    rounds = labels.shape[1]
    return generators.uniforms(rounds * each).reshape(generators.n_replicates, rounds, each)


def uniform_index(uniforms: Floats, size: int) -> Ints:
    """Return uniform integers in 0..size-1 from uniform numbers in [0, 1)."""
    return (uniforms * size).astype(np.int64)


def laplace(uniforms: Floats) -> Floats:
    """Turn uniform numbers in [0, 1) into a new array of standard Laplace numbers, by inversion."""
    # NumPy's uniforms are multiples of 2^-53; the shift makes them symmetric about 1/2.
    centred = uniforms - (0.5 - 2.0**-54)
    return np.asarray(np.copysign(np.log1p(-2 * np.abs(centred)), centred))


def _guarantee(mechanism: str, sensitivity: float, quantity: str, loss: Loss) -> Guarantee:
    private = loss.most < math.inf and loss.gaussian == 0
    return Guarantee(
        mechanism=mechanism if private else "none",
        adjacency="two labels of the same round",
        unit="one person's label in one round",
        sensitivity=float(sensitivity),
        sensitivity_unit=f"largest change, {quantity}",
        loss=loss if private else NOTHING_KEPT,
        model="local" if private else "none",
    )


# ---- Laplace noise: its scale, and an exact loss -------------------------------------------------


@lru_cache(maxsize=4096, typed=True)
def scale_factor(n_coordinates: int, epsilon: float, delta: float, rule: SensitivityRule) -> float:
    """Return b / s, the Laplace scale of a coordinate per unit of its sensitivity.

    `published` is (2 sqrt(2 K log(1/delta)) + sqrt(K eps)) / eps, from Algorithm 1 of "Online
    Distribution Learning with Local Privacy Constraints". `exact` is the smallest factor whose
    K Laplace releases together are (eps, delta)-private, rounded up to five digits; it is never
    above basic composition, K / eps.

    Args:
        n_coordinates: K, the number of coordinates.
        epsilon: eps, for `exact` at most 1e4; inf gives 0, no noise.
        delta: delta of the guarantee, in (0, 1).
        rule: `exact` or `published`.

    Raises:
        ValueError: epsilon is out of range.

    >>> [scale_factor(16, 1.0, 1e-6, rule) for rule in ("published", "exact")]
    [46.05217415805546, 15.173]
    """
    K = n_coordinates
    if epsilon == math.inf:
        return 0.0
    check_number("epsilon", epsilon, "(0, 1e4]" if rule == "exact" else "(0, inf)")
    if rule == "published":
        return (2 * math.sqrt(2 * K * math.log(1 / delta)) + math.sqrt(K * epsilon)) / epsilon
    high = 1 / LAPLACE.largest(Promise(epsilon=epsilon, delta=delta), K)
    # Round up to five digits.
    digits = 4 - math.floor(math.log10(high))
    return min(K / epsilon, round(math.ceil(high * 10.0**digits) / 10.0**digits, digits))


def laplace_message_loss(log_cells: Floats, cells: Ints, *, keep: float, scales: Floats) -> Floats:
    """Return the (K,) exact pure eps of a message of private EXP3 about each index j.

    The message for a label y and a public index j is a_j(B) + Laplace(b_j), where B is the block
    of y or, rarely, a random block. Its loss is the largest log ratio of two labels' densities at
    one value. Between neighbouring values a_j(.) every density is A e^(v/b) + B e^(-v/b), so the
    ratio of two densities is monotone there, and constant beyond the outermost values. Hence the
    maximum is at one of the a_j(.), and no quadrature is needed.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2; the
    computation is not in the paper.

    Args:
        log_cells: (K, M) a_j(y), the log mass of one cell of block y under hypothesis j; ignored
            for blocks without cells.
        cells: (M,) c_y, the number of cells of each block. Label y is in block y with probability
            `keep`, otherwise in a block drawn in proportion to `cells`; a label whose block has no
            cells always gets a drawn block.
        keep: probability in [0, 1]; 1 - 1/T in the paper.
        scales: (K,) Laplace scales b_j; 0 gives inf, unless all a_j(.) are equal.

    >>> values, cells = np.log([[0.9, 0.1]]), np.array([1, 1])
    >>> round(float(laplace_message_loss(values, cells, keep=1.0, scales=np.array([2.0]))[0]), 4)
    1.0986
    """
    # Labels without cells can be ignored: their density lies between the other densities.
    used = cells > 0
    values, share = log_cells.T[used], cells[used] / cells.sum()
    order = np.argsort(values, axis=0)
    knots, share = np.take_along_axis(values, order, axis=0), share[order]
    spread = knots[-1] - knots[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(spread > 0, 1 / scales, 0.0)
        farthest = np.maximum(knots - knots[0], knots[-1] - knots) * inverse
        log_random = np.log1p(-keep) + np.log(_mixture(knots, share, inverse))
        nearest = np.logaddexp(np.log(keep), log_random)
        loss = nearest - np.logaddexp(np.log(keep) - farthest, log_random)
    return np.where(np.isinf(inverse), np.inf, loss.max(axis=0))


def _mixture(knots: Floats, share: Floats, inverse: Floats) -> Floats:
    """Return (P, K) sum_z share_z e^(-|a_y - a_z| / b) at every knot, summed from both ends."""
    decay = np.exp(-np.diff(knots, axis=0) * np.where(np.isinf(inverse), 0.0, inverse))
    below, above = share.copy(), share.copy()
    for y in range(1, len(knots)):
        below[y] += decay[y - 1] * below[y - 1]
        above[-1 - y] += decay[-y] * above[-y]
    return np.asarray(below + above - share)
