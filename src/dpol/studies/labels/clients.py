"""Messages about a label that a person sends: the client side of distribution learning.

A client is a frozen dataclass: what is public, and `privatize`, which turns labels into
messages. Messages depend on one round's label and public features only, never on a learner.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.privacy.guarantee import Guarantee
from dpol.studies.labels.clipping import Clipping
from dpol.studies.labels.composition import Composition, scale_factor
from dpol.studies.labels.hypotheses import HypothesisClass, Ints, check_labels

ONE_LABEL = "two labels of the same round"
LABEL_UNIT = "one person's label in one round"

Messages = TypeVar("Messages")
"""What a client sends: a dataclass of arrays with leading axes (R, B), replicates and rounds."""


class LabelClient(ABC, Generic[Messages]):
    """What a person runs: parameters that are public, and the privatisation of labels."""

    @abstractmethod
    def privatize(self, labels: Ints, features: Ints, generators: ReplicateGenerators) -> Messages:
        """Messages for (R, B) labels at (B,) features, independent over rounds.

        Raises:
            ValueError: a label is not an integer in 0..M-1.
        """

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The privacy of one message."""


@dataclass(frozen=True, eq=False)
class VectorMessages:
    """A noisy log-likelihood for every hypothesis: `values` (R, B, K)."""

    values: Floats


@dataclass(frozen=True, eq=False)
class SampledMessages:
    """A noisy log-likelihood of one hypothesis: `index` J and `value`, both (R, B)."""

    index: Ints
    value: Floats


@dataclass(frozen=True, eq=False)
class LabelMessages:
    """A label that may be another than the true one: `labels` (R, B)."""

    labels: Ints


@dataclass(frozen=True, eq=False)
class MembershipMessages:
    """Whether the label lies in a public set, or the opposite: `index` of the set, `member`."""

    index: Ints
    member: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LikelihoodClient(LabelClient[Messages]):
    """Base of the clients that send clipped log-likelihoods with Laplace noise.

    Args:
        clipping: the clipped class, with its sensitivity.
        epsilon: claimed privacy of a message, above 0.

    Raises:
        ValueError: epsilon is not above 0.
    """

    clipping: Clipping
    epsilon: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    @property
    @abstractmethod
    def factor(self) -> float:
        """b / s: Laplace scale over sensitivity."""


@dataclass(frozen=True, eq=False)
class VectorClient(LikelihoodClient[VectorMessages]):
    """log pbar_j(h(Y)) + Laplace noise for every hypothesis j (Algorithm 1).

    Args:
        clipping: the clipped class, with its sensitivity.
        epsilon: claimed privacy of a message, above 0.
        delta: of the guarantee, in (0, 1).
        composition: how the scale of the noise follows from the K coordinates; see
            `dpol.studies.labels.composition.scale_factor`.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    delta: float = 1e-6
    composition: Composition = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.factor  # Refuses a delta or composition that is out of range.

    @cached_property
    def factor(self) -> float:
        """b / s: Laplace scale over sensitivity."""
        n = self.clipping.hypotheses.n_hypotheses
        return scale_factor(n, self.epsilon, self.delta, self.composition)

    def privatize(
        self, labels: Ints, features: Ints, generators: ReplicateGenerators
    ) -> VectorMessages:
        """Messages (R, B, K); see `LabelClient`."""
        clipping = self.clipping
        each = 1 + clipping.hypotheses.n_hypotheses
        uniforms = round_uniforms(generators, labels.shape[1], each)
        blocks = clipping.draw_blocks(labels, features, uniforms[..., 0])
        values = laplace(uniforms[..., 1:])
        values *= self.factor * self.clipping.sensitivity[features]
        values += self._by_block[features, blocks]
        return VectorMessages(values)

    @cached_property
    def _by_block(self) -> Floats:
        return np.ascontiguousarray(self.clipping.log_cells.transpose(0, 2, 1))

    @property
    def guarantee(self) -> Guarantee:
        """The privacy of one message; what basic composition gives if epsilon is not covered."""
        clipping, n = self.clipping, self.clipping.hypotheses.n_hypotheses
        reached = self.factor / clipping.excess
        covered = scale_factor(n, self.epsilon, self.delta, "exact") <= reached
        epsilon = self.epsilon if covered else n / reached
        mechanism = (
            f"Laplace noise on all clipped log-likelihoods, {clipping.rule} sensitivity,"
            f" {self.composition} composition"
        )
        largest = clipping.sensitivity.max()
        return _guarantee(mechanism, largest, "every log-likelihood", epsilon, self.delta)


@dataclass(frozen=True, eq=False)
class SampledClient(LikelihoodClient[SampledMessages]):
    """J and log pbar_J(h(Y)) + Laplace noise for a uniform index J (Algorithm 2).

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.

    >>> from dpol.core.randomness import replicate_generators
    >>> clipping = Clipping(HypothesisClass([[0.5, 0.5, 0], [0, 0, 1]]), n_rounds=10)
    >>> client = SampledClient(clipping, epsilon=1.0)
    >>> labels, features = np.array([[0, 1, 2]]), np.array([0, 0, 0])
    >>> generators = replicate_generators(1, ("example",), range(1), "clients")
    >>> client.privatize(labels, features, generators).value.shape
    (1, 3)
    >>> client.guarantee.epsilon_delta
    (1.0, 0.0)
    """

    @property
    def factor(self) -> float:
        """b / s: Laplace scale over sensitivity."""
        return 1 / self.epsilon

    @property
    def scales(self) -> Floats:
        """(X, K) Laplace scales."""
        return self.clipping.sensitivity / self.epsilon

    def privatize(
        self, labels: Ints, features: Ints, generators: ReplicateGenerators
    ) -> SampledMessages:
        """Messages (R, B); see `LabelClient`."""
        clipping = self.clipping
        uniforms = round_uniforms(generators, labels.shape[1], 3)
        blocks = clipping.draw_blocks(labels, features, uniforms[..., 0])
        index = uniform_index(uniforms[..., 1], clipping.hypotheses.n_hypotheses)
        value = laplace(uniforms[..., 2])
        value *= self.scales[features, index]
        value += clipping.log_cells[features, index, blocks]
        return SampledMessages(index, value)

    @property
    def guarantee(self) -> Guarantee:
        """The privacy of one message."""
        clipping = self.clipping
        mechanism = f"Laplace noise on one clipped log-likelihood, {clipping.rule} sensitivity"
        epsilon = self.epsilon * clipping.excess
        return _guarantee(mechanism, clipping.sensitivity.max(), "log-likelihood", epsilon)


@dataclass(frozen=True, eq=False)
class ResponseClient(LabelClient[LabelMessages]):
    """Randomised response: the label, or any other one with equal probabilities.

    The label is kept with probability e^eps / (e^eps + M - 1). epsilon = inf sends labels as
    they are. Source: "Online Distribution Learning with Local Privacy Constraints", section 3,
    after Wu et al., "Learning functional distributions with private labels".

    Args:
        n_labels: M, the number of labels.
        epsilon: privacy of a message, above 0.

    Raises:
        ValueError: epsilon is not above 0.
    """

    n_labels: int
    epsilon: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    @property
    def keep(self) -> float:
        """Probability that the message is the label."""
        return 1 / (1 + (self.n_labels - 1) * math.exp(-self.epsilon))

    def privatize(
        self, labels: Ints, features: Ints, generators: ReplicateGenerators
    ) -> LabelMessages:
        """Messages (R, B); see `LabelClient`."""
        check_labels(labels, self.n_labels)
        uniforms = round_uniforms(generators, labels.shape[1], 2)
        others = uniform_index(uniforms[..., 1], self.n_labels - 1)
        others += others >= labels
        return LabelMessages(np.where(uniforms[..., 0] < self.keep, labels, others))

    @property
    def guarantee(self) -> Guarantee:
        """The privacy of one message."""
        mechanism = f"randomised response on {self.n_labels} labels"
        return _guarantee(mechanism, 1.0, "label", self.epsilon)


@dataclass(frozen=True, eq=False)
class MembershipClient(LabelClient[MembershipMessages]):
    """Randomised response to one question: is the label in A_J? (ours)

    J is uniform and public, A_j the labels to which hypothesis j gives more mass than the
    average hypothesis does. One bit does not get harder to hide with more labels, and its
    loss is eps exactly, with no clipping and no unbounded noise.

    Args:
        hypotheses: the class.
        epsilon: privacy of a message, above 0.

    Raises:
        ValueError: epsilon is not above 0.
    """

    hypotheses: HypothesisClass
    epsilon: float

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    @property
    def keep(self) -> float:
        """Probability of the true answer."""
        return 1 / (1 + math.exp(-self.epsilon))

    @cached_property
    def sets(self) -> NDArray[np.bool_]:
        """(X, K, M): whether A_j contains the label."""
        masses = self.hypotheses.masses
        return np.asarray(masses > masses.mean(axis=1, keepdims=True))

    def privatize(
        self, labels: Ints, features: Ints, generators: ReplicateGenerators
    ) -> MembershipMessages:
        """Messages (R, B); see `LabelClient`."""
        check_labels(labels, self.hypotheses.n_labels)
        uniforms = round_uniforms(generators, labels.shape[1], 2)
        index = uniform_index(uniforms[..., 1], self.hypotheses.n_hypotheses)
        member = self.sets[features, index, labels]
        return MembershipMessages(index, member == (uniforms[..., 0] < self.keep))

    @property
    def guarantee(self) -> Guarantee:
        """The privacy of one message."""
        mechanism = "randomised response on membership of a public random set"
        return _guarantee(mechanism, 1.0, "membership", self.epsilon)


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless epsilon is above 0."""
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")


def round_uniforms(generators: ReplicateGenerators, rounds: int, each: int) -> Floats:
    """Uniform numbers in [0, 1), shape (R, rounds, each): the same for any cut into chunks."""
    return generators.uniforms(rounds * each).reshape(generators.n_replicates, rounds, each)


def uniform_index(uniforms: Floats, size: int) -> Ints:
    """Uniform integers in 0..size-1 from uniform numbers in [0, 1)."""
    return (uniforms * size).astype(np.int64)


def laplace(uniforms: Floats) -> Floats:
    """Standard Laplace numbers from uniform ones in [0, 1), by inversion; a new array."""
    # NumPy's uniforms are multiples of 2^-53: the shift makes them symmetric about 1/2.
    centred = uniforms - (0.5 - 2.0**-54)
    size = np.abs(centred)
    size *= -2
    np.log1p(size, out=size)
    np.negative(size, out=size)
    return np.copysign(size, centred, out=size)


def _guarantee(
    mechanism: str, sensitivity: float, quantity: str, epsilon: float, delta: float = 0.0
) -> Guarantee:
    private = math.isfinite(epsilon)
    return Guarantee(
        mechanism=mechanism if private else "none",
        adjacency=ONE_LABEL,
        unit=LABEL_UNIT,
        sensitivity=float(sensitivity),
        sensitivity_unit=f"largest change, {quantity}",
        mu=math.nan if private else math.inf,
        model="local" if private else "none",
        sampler="seeded" if private else "none",
        epsilon_delta=(epsilon, delta) if private else None,
    )
