"""The game: what an algorithm is given, and the one loop that plays it.

An algorithm is a frozen dataclass of parameters with two functions. `init`
makes a state from what is known before round 1; `step` takes the state, the
gains revealed after the previous round (None before round 1) and generators,
and returns the next state and the action of every replicate. A state is a
value: `step` leaves it as it was. Because the gains of a round are handed over
only after its action, no algorithm can look ahead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpol.core.logs import progress
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.data.stream import GainStream
from dpol.experts.amplification import BatchMixture
from dpol.noise import NoisyGains
from dpol.privacy.guarantee import (
    NO_PRIVACY,
    PERSONS,
    Guarantee,
    Model,
    Neighbours,
    neighbours_of,
)

Actions = NDArray[np.int32]
"""An array of experts, counted from 0."""
Origin = Literal["paper", "standard", "ours"]
"""Where an algorithm comes from: a paper of the project, a textbook, or us."""


@dataclass(frozen=True)
class Setup:
    """What every algorithm knows before round 1: the size of the game.

    Args:
        n_replicates: R, the number of replicates.
        n_rounds: T, the number of rounds.
        n_experts: n, the number of experts.
        gain_range: r, upper end of the gains' range.
    """

    n_replicates: int
    n_rounds: int
    n_experts: int
    gain_range: float


@dataclass(frozen=True)
class LocalSetup(Setup):
    """Before round 1 of a local game: also the initial noise draw z_0 and the public noise.

    `initial` is (R, n), `noise_scale` (T, n).
    """

    initial: Floats
    noise_scale: Floats


@dataclass(frozen=True)
class CuratorSetup(Setup):
    """Before round 1 of a game on raw gains: also what the curator must protect.

    `sensitivity` is the largest L2 sensitivity of a round, `largest_change` how far one person
    can move one gain, `mu` the privacy level, and `expert_changes` (n,) how far one person can
    move each expert's gain in any round; None where whole rounds change, not persons.
    `neighbours` says which inputs must be hard to tell apart.
    """

    sensitivity: float
    largest_change: float
    mu: float
    expert_changes: Floats | None = None
    neighbours: Neighbours = PERSONS


@dataclass(frozen=True)
class Observation:
    """One round's gains as the algorithm sees them: `gains` (R, n), `noise_scale` (n,)."""

    gains: Floats
    noise_scale: Floats


@runtime_checkable
class Algorithm(Protocol):
    """Parameters plus the two functions of an algorithm."""

    model: ClassVar[Model]
    """`local` plays `NoisyGains`; `central` and `none` play `RawGains`."""

    @property
    def origin(self) -> Origin:
        """`paper`, `standard` (textbook baselines) or `ours`."""

    def init(self, setup: Any) -> Any:
        """The state before round 1."""

    def step(
        self, state: Any, observation: Observation | None, generators: ReplicateGenerators
    ) -> tuple[Any, Actions]:
        """The state and the (R,) actions of the next round."""


@runtime_checkable
class CentralAlgorithm(Algorithm, Protocol):
    """An algorithm of the central model, which makes its own noise."""

    def guarantee(self, setup: CuratorSetup) -> Guarantee:
        """The privacy of its actions."""


@runtime_checkable
class BatchedAlgorithm(Algorithm, Protocol):
    """A local algorithm whose batches amplify the central guarantee of its actions."""

    def amplification(self, setup: LocalSetup, mu: float) -> BatchMixture | None:
        """A distribution of batch sizes that holds for every round; None without noise."""


@dataclass(frozen=True)
class RawGains:
    """A raw stream in the hands of a trusted curator, at a privacy level.

    Args:
        stream: the raw gains.
        mu: privacy level to reach; inf for none.
        n_replicates: number of independent plays.

    Raises:
        ValueError: mu is not above 0.
    """

    stream: GainStream
    mu: float
    n_replicates: int

    def __post_init__(self) -> None:
        if not self.mu > 0:
            raise ValueError(f"mu must be above 0, got {self.mu}")


Source = NoisyGains | RawGains
"""What a game is played on."""


def setup_of(source: Source) -> LocalSetup | CuratorSetup:
    """What an algorithm is told before round 1 of a game on `source`."""
    if isinstance(source, NoisyGains):
        return LocalSetup(
            source.n_replicates,
            source.n_rounds,
            source.n_experts,
            source.gain_range,
            source.initial,
            source.noise_scale,
        )
    stream, beds = source.stream, source.stream.capacity
    return CuratorSetup(
        source.n_replicates,
        stream.n_rounds,
        stream.n_experts,
        stream.gain_range,
        float(stream.sensitivity.max()),
        stream.largest_change,
        source.mu,
        None if beds is None else stream.count_sensitivity / beds.min(axis=0),
        neighbours_of(stream),
    )


def observations(source: Source) -> Iterator[Observation]:
    """The rounds of a game, in order."""
    if isinstance(source, NoisyGains):
        for t in range(source.n_rounds):
            yield Observation(source.gains[:, t], source.noise_scale[t])
    else:
        shape = (source.n_replicates, source.stream.n_experts)
        silence = np.zeros(source.stream.n_experts)
        silence.flags.writeable = False
        for gains in source.stream.gains:
            yield Observation(np.broadcast_to(gains, shape), silence)


def play(
    algorithm: Algorithm,
    source: Source,
    generators: ReplicateGenerators,
    *,
    name: str | None = None,
) -> Actions:
    """Play a whole game; the (R, T) actions, experts counted from 0.

    Args:
        algorithm: its `model` must fit the source.
        source: noisy gains for local algorithms, raw gains for all others.
        generators: the algorithm's own randomness, one generator per replicate.
        name: with it, the log tells the progress of the game.

    Raises:
        TypeError: a local algorithm is given raw gains, or another one noisy gains.
        ValueError: as `rounds`.

    >>> from dpol.experts.ftpl import RandomWalkFTPL
    >>> from dpol.core.randomness import replicate_generators
    >>> one_sided = np.tile([0.0, 1.0], (3, 1))
    >>> noisy = NoisyGains(np.zeros((1, 2)), one_sided[None], 0 * one_sided, 1.0, NO_PRIVACY)
    >>> play(RandomWalkFTPL(), noisy, replicate_generators(1, (), range(1), "play")).tolist()
    [[0, 1, 1]]
    """
    setup = setup_of(source)
    actions = np.empty((setup.n_replicates, setup.n_rounds), dtype=np.int32)
    played = rounds(algorithm, source, generators)
    if name is not None:
        played = progress(played, f"{name}, rounds", setup.n_rounds)
    for t, (_, chosen) in enumerate(played):
        actions[:, t] = chosen
    return actions


def rounds(
    algorithm: Algorithm, source: Source, generators: ReplicateGenerators
) -> Iterator[tuple[Any, Actions]]:
    """Play a game; the state and the (R,) actions of every round, in order.

    Args:
        algorithm: its `model` must fit the source.
        source: noisy gains for local algorithms, raw gains for all others.
        generators: the algorithm's own randomness, one generator per replicate.

    Raises:
        TypeError: a local algorithm is given raw gains, or another one noisy gains.
        ValueError: there is not one generator for each replicate (also where the algorithm draws
            nothing), or the algorithm returns something else than an expert for each replicate,
            or changes what it is given.
    """
    if (algorithm.model == "local") != isinstance(source, NoisyGains):
        raise TypeError(f"an algorithm of model {algorithm.model} cannot play {type(source)}")
    setup = setup_of(source)
    name = type(algorithm).__name__
    if generators.n_replicates != setup.n_replicates:
        raise ValueError(
            f"{name} plays {setup.n_replicates} replicates and needs one generator for each, got"
            f" {generators.n_replicates}; make them by"
            f" replicate_generators(..., range({setup.n_replicates}), ...)"
        )
    state = algorithm.init(setup)
    observation: Observation | None = None
    for t, revealed in enumerate(observations(source)):
        try:
            state, actions = algorithm.step(state, observation, generators)
        except Exception as error:
            read_only = "read-only" in str(error)  # NumPy's words
            error.add_note(f"in {name}.step, round {t + 1}{_ONLY_READ if read_only else ''}")
            raise
        if wrong := _what_is_wrong(actions, setup):
            raise ValueError(f"{name}.step, round {t + 1}: {wrong}")
        yield state, actions
        observation = revealed


_ONLY_READ = (
    ": an algorithm may only read the setup, the state and the observation; make new arrays,"
    " `total = total + gains` in place of `total += gains`"
)


def _what_is_wrong(actions: object, setup: Setup) -> str:
    """Why these cannot be the actions of a round, and what would be; empty if they can."""
    if not isinstance(actions, np.ndarray):
        found = f"are no array but of type {type(actions).__name__}"
    elif actions.shape != (setup.n_replicates,) or actions.dtype.kind not in "iu":
        found = f"have shape {actions.shape} and type {actions.dtype}"
    elif actions.min() >= 0 and actions.max() < setup.n_experts:
        return ""
    else:
        found = f"lie between {actions.min()} and {actions.max()}"
    return (
        f"the actions {found}; it must return (state, actions), the actions an array of shape"
        f" ({setup.n_replicates},), an expert from 0 to {setup.n_experts - 1} for each replicate,"
        " such as scores.argmax(axis=1).astype(np.int32)"
    )


def amplification_of(algorithm: Algorithm, source: Source) -> BatchMixture | None:
    """The batch sizes behind the amplified central guarantee of the actions, if there is one."""
    setup = setup_of(source)
    if not (isinstance(algorithm, BatchedAlgorithm) and isinstance(setup, LocalSetup)):
        return None
    return algorithm.amplification(setup, guarantee_of(algorithm, source).mu)


def guarantee_of(algorithm: Algorithm, source: Source) -> Guarantee:
    """The privacy of the actions: the noisy gains' own, the algorithm's own, or none."""
    if isinstance(source, NoisyGains):
        return source.guarantee
    if not isinstance(algorithm, CentralAlgorithm):
        it = neighbours_of(source.stream)
        return dataclasses.replace(NO_PRIVACY, adjacency=it.adjacency, unit=it.unit)
    setup = setup_of(source)
    assert isinstance(setup, CuratorSetup)
    return algorithm.guarantee(setup)
