"""Interface of an algorithm: its base classes, and the numbers that it may see.

`Algorithm` describes a game from start to end. A bank of learners is an algorithm without
generators that acts for all its learners at once.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpol.core.plugins import is_foreign
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.noise import ISOTROPIC, find_noise
from dpol.privacy.chains import Chains, MemoryKind
from dpol.privacy.guarantee import PERSONS, Guarantee, Model, Neighbours, Origin
from dpol.privacy.losses import Loss

Actions = NDArray[np.int32]
"""Array of experts, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Size of a game, which every algorithm knows before round 1.

    Args:
        n_replicates: R, number of replicates.
        n_rounds: T, number of rounds.
        n_experts: n, number of experts.
        gain_range: r, upper end of the gains' range.
    """

    n_replicates: int
    n_rounds: int
    n_experts: int
    gain_range: float


@dataclass(frozen=True, kw_only=True)
class LocalSetup(Setup):
    """Setup of a local game, with the initial noise draw and the public noise scale.

    `initial` is z_0, (R, n); `noise_scale` is (T, n). `memory` says how noise depends on earlier
    noise, None for independent noise. `capacity` is (T, n), None if gains are not shares of people.
    """

    initial: Floats
    noise_scale: Floats
    memory: Chains | None = None
    capacity: Floats | None = None


@dataclass(frozen=True, kw_only=True)
class CuratorSetup(Setup):
    """Setup of a game on raw gains, with the changes that the curator must hide.

    `sensitivity` is the largest L2 sensitivity of a round, `largest_change` how far one person can
    move one gain, and `mu` the privacy level. `changes` (T, n) is how far one person can move each
    gain; None if whole rounds change instead of people. `noise` names the scale of the noise.
    `stay` is the longest stay of one person, in rounds in a row. `neighbours` says which inputs
    must be hard to tell apart.
    """

    sensitivity: float
    largest_change: float
    mu: float
    changes: Floats | None = None
    noise: str = ISOTROPIC.name
    neighbours: Neighbours = PERSONS
    stay: int = 1

    @property
    def by_capacity(self) -> bool:
        """Whether an expert's noise is scaled to the change that one person makes there.

        Raises:
            ValueError: the noise needs these changes, but they are unknown.
        """
        needed = find_noise(self.noise).needs_capacities
        if needed and self.changes is None:
            raise ValueError(f"the noise {self.noise} needs gains with capacities")
        return needed

    def guarantee(
        self, mechanism: str, loss: float | Loss, of_rounds: Callable[[int], float | Loss]
    ) -> Guarantee:
        """Return the record of noise with the scale that the game asks for.

        Args:
            mechanism: name of the mechanism that adds the noise.
            loss: loss of a person of the unit, or mu of Gaussian noise.
            of_rounds: maps a number of rounds, in a row or not, to a person's loss, or mu, in them.
        """
        scaled = self.by_capacity
        return Guarantee(
            mechanism=mechanism + (f", {self.noise} noise" if scaled else ""),
            **self.neighbours.as_fields(lambda v: _loss(of_rounds(v))),
            sensitivity=math.sqrt(2.0) if scaled else self.sensitivity,
            sensitivity_unit="L2, gain over its largest change" if scaled else "L2, gain",
            loss=_loss(loss),
            model="central",
        )


def _loss(value: float | Loss) -> Loss:
    return value if isinstance(value, Loss) else Loss(gaussian=value)


@dataclass(frozen=True)
class Observation:
    """Gains of one round as the algorithm sees them.

    Args:
        gains: (R, n) gains, noisy for local algorithms.
        noise_scale: (n,) standard deviation of the noise.
        fresh_scale: (n,) standard deviation of the fresh part of correlated noise; None: all fresh.
    """

    gains: Floats
    noise_scale: Floats
    _: KW_ONLY
    fresh_scale: Floats | None = None

    @property
    def fresh(self) -> Floats:
        """Standard deviation of the noise's fresh part, (n,); independent noise is all fresh."""
        return self.noise_scale if self.fresh_scale is None else self.fresh_scale


ReadsNoise = Literal["independent", "chains"]
"""Noise that may be played: only independent between rounds, or also correlated by `Chains`."""


def can_read(reads: ReadsNoise, memory: MemoryKind) -> bool:
    """Return whether an algorithm that reads `reads` may be given noise with this memory."""
    return memory in ("none", reads)


AnySetup = TypeVar("AnySetup", LocalSetup, CuratorSetup)
State = TypeVar("State")


class Algorithm(ABC, Generic[AnySetup, State]):
    """Parameters and the two functions of an algorithm; derive from the subclass for its model.

    An algorithm is a frozen dataclass of parameters: it never changes, and one object plays any
    number of games. Everything that changes in a game is in its state; `step` returns a new state
    and leaves the old one unchanged. A game with R replicates, as `dpol.play` plays it:

    1. **Privatize.** `dpol.privatize` adds noise to the raw gains. It returns `NoisyGains`, which
       hold no raw gain, with the guarantee of every noisy gain. A central algorithm skips this
       step: its curator holds `RawGains` and a level mu that the algorithm has to reach.
    2. **Setup.** A setup holds everything that is known before round 1. A `LocalSetup` has the
       scale of the noise; a `CuratorSetup` says how far one person can move the gains. `init`
       makes the first state from it.
    3. **Step**, once a round. `step` takes the state and the observation of the previous round:
       None in round 1, then noisy gains for a local algorithm and raw gains for the others. It
       returns the next state and an expert for each replicate. It gets the gains of a round after
       its action, so it cannot look ahead. It draws from the given generators.
    4. **Guarantee.** The actions of a local algorithm are made from noisy gains alone, so the
       guarantee of the noisy gains holds for them too. A central algorithm states its own
       (`guarantee`); a non-private algorithm protects nobody.

    `dpol.experts.play` is this loop. `dpol.check` runs the conformance checks: blocks of
    replicates, pickling, look-ahead, states that are values.
    """

    model: ClassVar[Model]
    """`local` plays `NoisyGains`; `central` and `none` play `RawGains`."""
    constant_noise: ClassVar[bool] = False
    """Whether the algorithm needs noise of one scale for all rounds and experts."""
    one_round: ClassVar[bool] = False
    """Whether the guarantee holds for a person in one round only, not for stays."""

    @property
    def origin(self) -> Origin:
        """`paper`, `standard` (textbooks), `dpol`, or `other` (another package)."""
        return "other"

    @property
    def reads_noise(self) -> ReadsNoise:
        """Kind of local noise that the algorithm can read."""
        return "independent"

    @property
    def n_learners(self) -> int:
        """Number of learners m; memory is planned for arrays of m x m."""
        return 1

    @abstractmethod
    def init(self, setup: AnySetup) -> State:
        """Return the state before round 1."""

    @abstractmethod
    def step(
        self, state: State, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[State, Actions]:
        """Return the state and the (R,) actions of the next round."""


AnyAlgorithm = Algorithm[Any, Any]
"""Algorithm of any model, with any state."""


class LocalAlgorithm(Algorithm[LocalSetup, State]):
    """Algorithm that sees noisy gains only; their guarantee holds for its actions."""

    model = "local"


class CentralAlgorithm(Algorithm[CuratorSetup, State]):
    """Algorithm of the central model: it sees raw gains and makes its own noise."""

    model = "central"

    scales_noise: ClassVar[bool] = True
    """Whether the game sets the scale of its noise; otherwise it has a kind of its own."""

    @abstractmethod
    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """Return the privacy guarantee of the actions."""


class NonPrivateAlgorithm(Algorithm[CuratorSetup, State]):
    """Algorithm that sees raw gains and protects nobody: a yardstick."""

    model = "none"


class LearnerBank(ABC, Generic[State]):
    """Parameters and functions of a set of learners that share work and draw no random numbers."""

    @property
    def origin(self) -> Origin:
        """Origin of the learners when they are played alone."""
        return "dpol"

    @property
    def reads_noise(self) -> ReadsNoise:
        """Kind of local noise that the learners can read."""
        return "independent"

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the m learners, in the order of the columns of the actions."""

    @abstractmethod
    def init(self, setup: LocalSetup) -> State:
        """Return the state before round 1."""

    @abstractmethod
    def step(self, state: State, observation: Observation | None) -> tuple[State, Actions]:
        """Return the state and the (R, m) actions of the next round."""

    def single(self, place: int) -> tuple[LearnerBank[Any], int]:
        """Return a bank with one of the learners, and the learner's place in that bank.

        Override this in a bank that can play one learner with less work than all.
        """
        return self, place


@dataclass(frozen=True)
class Member:
    """Algorithm with its label and its family, the registered name that it came from.

    `foreign` says whether code of another package plays, even if only as a learner.
    """

    label: str
    family: str
    algorithm: AnyAlgorithm
    foreign: bool = False

    @property
    def origin(self) -> Origin:
        """Origin of the algorithm; `other` for an algorithm of another package."""
        played = getattr(self.algorithm, "bank", self.algorithm)
        return "other" if is_foreign(type(played).__module__) else self.algorithm.origin


LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Pattern of labels, which become parts of file names."""
