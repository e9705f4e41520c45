"""Interface of an algorithm: its base classes, and the numbers that it is given and may see.

`Algorithm` tells the life of a game. A bank of learners is an algorithm without generators, which
acts for all its learners at once.
"""

# Live games
# ----------
# A live game is played while its rounds happen: each step reads what was reported so far, nobody
# knows how many rounds are to come, and an expert may report nothing in a round, or join late. The
# package for weekly decisions (weekly/ in the repository) plays such games; nothing in this package
# does. What only they need stands last in its class, below the line "For live games".

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, is_dataclass
from inspect import isabstract
from typing import Any, ClassVar, Generic, Literal, NoReturn, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from dpol.core.plugins import is_foreign
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.core.words import one_line
from dpol.noise import ISOTROPIC, find_noise
from dpol.privacy.chains import MemoryKind, NoiseMemory
from dpol.privacy.guarantee import PERSONS, Guarantee, Model, Neighbours, Origin
from dpol.privacy.mixtures import BatchMixture

Actions = NDArray[np.int32]
"""An array of experts, counted from 0."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The size of the game, which every algorithm knows before round 1.

    Args:
        n_replicates: R, the number of replicates.
        n_rounds: T, the number of rounds; 0 in a live game, which has no end.
        n_experts: n, the number of experts.
        gain_range: r, upper end of the gains' range.
    """

    n_replicates: int
    n_rounds: int
    n_experts: int
    gain_range: float


@dataclass(frozen=True, kw_only=True)
class LocalSetup(Setup):
    """The setup of a local game: also the initial noise draw z_0 and the public noise.

    `initial` is (R, n), `noise_scale` (T, n). `memory` says how noise depends on earlier noise; it
    is None for independent noise. `capacity` (T, n) is None where gains are not shares of people.
    """

    initial: Floats
    noise_scale: Floats
    memory: NoiseMemory | None = None
    capacity: Floats | None = None

    __repr__ = one_line


@dataclass(frozen=True, kw_only=True)
class CuratorSetup(Setup):
    """The setup of a game on raw gains: also the changes that the curator must protect.

    `sensitivity` is the largest L2 sensitivity of a round, `largest_change` how far one person
    can move one gain, `mu` the privacy level, and `changes` (T, n) how far one person can move
    each gain; None where whole rounds change, not people. `noise` names how noise is scaled, and
    `stay` is in how many rounds in a row one person may be counted.
    `neighbours` says which inputs must be hard to tell apart.
    """

    sensitivity: float
    largest_change: float
    mu: float
    changes: Floats | None = None
    noise: str = ISOTROPIC.name
    neighbours: Neighbours = PERSONS
    stay: int = 1

    __repr__ = one_line

    @property
    def expert_changes(self) -> Floats | None:
        """(n,) how far one person can move each expert's gain in any round."""
        return None if self.changes is None else np.asarray(self.changes.max(axis=0))

    @property
    def by_capacity(self) -> bool:
        """True if the noise of an expert follows the change that one person makes there.

        Raises:
            ValueError: it must, but the changes are unknown.
        """
        own = find_noise(self.noise).needs_capacities
        if own and self.changes is None:
            raise ValueError(f"the noise {self.noise} needs gains with capacities")
        return own

    def guarantee(
        self, mechanism: str, mu: float, mu_of_rounds: Callable[[int], float]
    ) -> Guarantee:
        """The record of Gaussian noise that is scaled as the game says.

        Args:
            mechanism: what adds the noise.
            mu: what the noise achieves.
            mu_of_rounds: the mu of a person counted in so many rounds, in a row or not.
        """
        own = self.by_capacity
        return Guarantee(
            mechanism=mechanism + (f", {self.noise} noise" if own else ""),
            **self.neighbours.as_fields(mu_of_rounds),
            sensitivity=math.sqrt(2.0) if own else self.sensitivity,
            sensitivity_unit="L2, gain over its largest change" if own else "L2, gain",
            mu=mu,
            model="central",
            sampler="seeded",
        )


@dataclass(frozen=True)
class Observation:
    """One round's gains as the algorithm sees them: `gains` (R, n), `noise_scale` (n,).

    Where noise has a memory, `fresh_scale` (n,) is the standard deviation of what is fresh in it.

    For live games: `reported` (n,) is 1 for experts that reported in this round, and 0 for the
    others, whose gain is made up; `joined` (n,) says who has ever reported. None: all.
    """

    gains: Floats
    noise_scale: Floats
    _: KW_ONLY
    fresh_scale: Floats | None = None
    # For live games:
    reported: Floats | None = None
    joined: NDArray[np.bool_] | None = None

    __repr__ = one_line

    @property
    def fresh(self) -> Floats:
        """(n,) standard deviation of what is fresh in the noise: all of it without a memory."""
        return self.noise_scale if self.fresh_scale is None else self.fresh_scale

    # For live games:

    @property
    def known(self) -> Floats | float:
        """1 where a gain was reported, 0 where it was not."""
        return 1.0 if self.reported is None else self.reported

    @property
    def silent(self) -> bool:
        """True if nobody reported anything."""
        return self.reported is not None and not self.reported.any()


@dataclass(frozen=True)
class Forecast:
    """A local algorithm's forecast of the next round.

    Args:
        scores: (R, n) what the action is the largest of.
        level: for live games, (R, 1) of the last round, if scores are how far the next gains will
            lie above it.
        variance: for live games, (R, n) of the gains around that, without noise; None if there is
            no level.
    """

    scores: Floats
    # For live games:
    level: Floats | None = None
    variance: Floats | None = None

    __repr__ = one_line


ReadsNoise = Literal["independent", "chains", "any"]
"""The noise that may be played: independent from round to round, also that of `Chains`, or any."""


def can_read(reads: ReadsNoise, memory: MemoryKind) -> bool:
    """True if an algorithm that reads such noise may be given noise with this memory."""
    return memory == "none" or reads in ("any", memory)


AnySetup = TypeVar("AnySetup", LocalSetup, CuratorSetup)
State = TypeVar("State")


class Algorithm(ABC, Generic[AnySetup, State]):
    """Parameters plus the two functions of an algorithm; derive from a class for its model.

    An algorithm is a frozen dataclass of parameters: it never changes, and one object plays any
    number of games. All that a game changes is in its state, a value that `step` leaves as it was.
    The life of a game with R replicates, as `dpol.play` leads it:

    1. **Privatize.** `dpol.privatize` adds noise to the raw gains. It makes `NoisyGains`, which
       hold no raw gain, and the guarantee of every noisy gain. A central algorithm skips this:
       its curator holds `RawGains`, and a level mu that the algorithm has to reach.
    2. **Setup.** What is known before round 1 becomes a setup. A `LocalSetup` has the scale of the
       noise; a `CuratorSetup` says how far one person can move the gains. `init` makes the first
       state of it.
    3. **Step**, once a round. `step` takes the state and what was observed in the round before:
       None in round 1, then noisy gains for a local algorithm, raw ones for the others. It returns
       the next state, and an expert for each replicate. The gains of a round are handed over after
       its action, so no algorithm looks ahead. Draws come from the generators it is given.
    4. **Guarantee.** The actions of a local algorithm are made from noisy gains alone, so the
       guarantee of these holds for them too. A central algorithm states its own (`guarantee`); a
       non-private one protects nobody.

    `dpol.experts.play` is this loop. `dpol.check` runs the conformance checks: blocks of
    replicates, pickling, look-ahead, states that are values.
    """

    model: ClassVar[Model]
    """`local` plays `NoisyGains`; `central` and `none` play `RawGains`."""
    constant_noise: ClassVar[bool] = False
    """True if it needs noise of one scale for all rounds and experts."""
    one_round: ClassVar[bool] = False
    """True if its guarantee holds for a person in one round only, not for stays."""

    @property
    def origin(self) -> Origin:
        """`paper`, `standard` (textbook baselines) or `ours`; `other` for another package's."""
        return "other"

    @property
    def reads_noise(self) -> ReadsNoise:
        """Kind of local noise that it may be given."""
        return "independent"

    @property
    def n_learners(self) -> int:
        """Number of learners of which it keeps square arrays; memory is planned by it."""
        return 1

    @abstractmethod
    def init(self, setup: AnySetup) -> State:
        """The state before round 1."""

    @abstractmethod
    def step(
        self, state: State, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[State, Actions]:
        """The state and the (R,) actions of the next round."""


AnyAlgorithm = Algorithm[Any, Any]
"""An algorithm of any model, with any state."""


class LocalAlgorithm(Algorithm[LocalSetup, State]):
    """An algorithm that sees noisy gains only; their guarantee holds for its actions."""

    model = "local"

    def forecast(self, state: State) -> Forecast | None:
        """The forecast of the next round; None if the state holds none."""
        return None

    # For live games:
    needs_all_rounds: ClassVar[bool] = False
    """True if `init` reads the number of rounds, or the noise of rounds after the first."""


class BatchedAlgorithm(LocalAlgorithm[State]):
    """A local algorithm whose batches amplify the central guarantee of its actions."""

    one_round = True
    needs_all_rounds = True

    @abstractmethod
    def amplification(self, setup: LocalSetup, mu: float) -> BatchMixture | None:
        """A distribution of batch sizes that holds for every round; None without noise."""


class CentralAlgorithm(Algorithm[CuratorSetup, State]):
    """An algorithm of the central model, which sees raw gains and makes its own noise."""

    model = "central"

    scales_noise: ClassVar[bool] = True
    """True if its own noise is scaled as the game says; otherwise it is like no other."""

    @abstractmethod
    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """The privacy of its actions."""


class NonPrivateAlgorithm(Algorithm[CuratorSetup, State]):
    """An algorithm that sees raw gains and protects nobody: a yardstick."""

    model = "none"


class LearnerBank(ABC, Generic[State]):
    """Parameters plus the functions of a set of learners, which share work and draw nothing."""

    @property
    def origin(self) -> Origin:
        """Origin of its learners, when they are played alone."""
        return "ours"

    @property
    def reads_noise(self) -> ReadsNoise:
        """Kind of local noise that its learners may be given."""
        return "independent"

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the m learners, in the order of the columns of the actions."""

    @abstractmethod
    def init(self, setup: LocalSetup) -> State:
        """The state before round 1."""

    @abstractmethod
    def step(self, state: State, observation: Observation | None) -> tuple[State, Actions]:
        """The state and the (R, m) actions of the next round."""

    def forecast(self, state: State, place: int) -> Forecast | None:
        """The forecast of the next round by one of its learners; None if the state holds none."""
        return None

    def single(self, place: int) -> tuple[LearnerBank[Any], int]:
        """A bank that holds one of its learners, and the learner's place in it.

        A bank that can play one learner with less work than all overrides it.
        """
        return self, place


@dataclass(frozen=True)
class Member:
    """An algorithm with its label and the registered name it came from (its family).

    `spec` is the entry of a suite that `make_members` made it of; `foreign` says that code of
    another package plays, also if it is only a learner.
    """

    label: str
    family: str
    algorithm: AnyAlgorithm
    spec: Any = None
    foreign: bool = False

    @property
    def origin(self) -> Origin:
        """The origin of the algorithm; that of another package is `other`."""
        played = getattr(self.algorithm, "bank", self.algorithm)
        return "other" if is_foreign(type(played).__module__) else self.algorithm.origin


LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Labels are parts of file names."""


def check_class(name: str, kind: Any) -> None:
    """Refuse a registered class that is not a whole algorithm or bank of learners.

    Raises:
        ValueError: what is wrong, with the remedy.
    """
    if not (isinstance(kind, type) and issubclass(kind, Algorithm | LearnerBank)):
        wrong = "must derive from an algorithm or from a bank of learners"
        _refuse(name, kind, wrong, f"class {getattr(kind, '__name__', 'Mine')}(LocalAlgorithm)")
    if not is_dataclass(kind) or not getattr(kind, "__dataclass_params__").frozen:  # noqa: B009
        _refuse(name, kind, "must be a frozen dataclass", "@dataclass(frozen=True)")
    if isabstract(kind):
        missing = sorted(kind.__abstractmethods__)
        _refuse(name, kind, f"lacks {', '.join(missing)}", f"def {missing[0]}(self, ...)")
    for attribute in {"model", "origin"} & {field.name for field in fields(kind)}:
        wrong = f"{attribute} must not be a parameter, which a config could set"
        _refuse(name, kind, wrong, f'{attribute}: ClassVar[{attribute.title()}] = "..."')


def check_made(name: str, made: AnyAlgorithm | LearnerBank[Any]) -> None:
    """Refuse an algorithm or bank of unknown origin, or learners without labels or with equal ones.

    Raises:
        ValueError: what is wrong, with the remedy.
    """
    if made.origin not in (allowed := get_args(Origin)):
        wrong = f"origin must be one of {', '.join(allowed)}, got {made.origin!r}"
        _refuse(name, type(made), wrong, f'origin: ClassVar[Origin] = "{allowed[0]}"')
    if isinstance(made, Algorithm):
        return
    labels: Any = made.labels
    sound = isinstance(labels, tuple) and labels and len(set(labels)) == len(labels)
    if not sound or not all(isinstance(it, str) and LABEL.fullmatch(it) for it in labels):
        wrong = f"labels must be a tuple of different names, one for each learner, got {labels!r}"
        _refuse(name, type(made), wrong, f'return ("{name}",)')


def _refuse(name: str, kind: Any, wrong: str, remedy: str) -> NoReturn:
    shown = f"class {kind.__qualname__} ({kind.__module__})" if isinstance(kind, type) else kind
    raise ValueError(f"{name}: {shown}: {wrong}; `{remedy}`")
