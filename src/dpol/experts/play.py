"""The one loop that plays games.

It hands over the gains of a round only after the action, as a copy of that round, so no algorithm
looks ahead.
`play_rounds` and `rounds` take the algorithm's generators; `dpol.experts.games.play` makes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from dpol.core.arguments import check_choice, check_kind, check_mu, check_whole
from dpol.core.errors import needs_pipeline
from dpol.core.logs import progress
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_numbers
from dpol.core.words import html_table, short_repr
from dpol.data.stream import MAKE_STREAM, GainStream
from dpol.experts.interface import (
    Actions,
    AnyAlgorithm,
    CentralAlgorithm,
    CuratorSetup,
    LocalAlgorithm,
    LocalSetup,
    Observation,
    Setup,
    can_read,
)
from dpol.noise import CENTRAL_NOISES, ISOTROPIC, NoisyGains
from dpol.noise.neighbours import neighbours_of
from dpol.privacy.guarantee import NO_PRIVACY, Guarantee
from dpol.privacy.noise_laws import GAUSSIAN

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RawGains:
    """A raw stream in the hands of a trusted curator, at a privacy level.

    Args:
        stream: raw gains.
        mu: privacy level to reach; inf for no privacy.
        replicates: number of independent plays, or their numbers.
        seed: root seed of the algorithms that play the stream; `dpol.play` needs one.
        noise: scale of the noise of central algorithms: a key of `NOISES` that is `central`.

    Raises:
        TypeError: `stream` is not a `GainStream`.
        ValueError: mu is not above 0, there is no replicate, the seed is below 0, or the noise is
            not one that curators use.
    """

    stream: GainStream
    mu: float
    replicates: int | Sequence[int] = 1
    _: KW_ONLY
    seed: int | None = None
    noise: str = ISOTROPIC.name

    def __post_init__(self) -> None:
        check_kind("stream", self.stream, GainStream, MAKE_STREAM)
        object.__setattr__(self, "mu", check_mu(self.mu))
        check_choice("noise", self.noise, CENTRAL_NOISES)
        replicate_numbers(self.replicates)  # refuses an empty sequence
        if self.seed is not None:
            check_whole("seed", self.seed, 0)

    def __repr__(self) -> str:
        rounds, experts = self.stream.gains.shape
        size = f"{self.n_replicates} replicates x {rounds} rounds x {experts} experts"
        label = repr(self.stream.label)
        return short_repr(self, label, f"{self.noise} noise", f"mu {self.mu:.4g}", size)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of the replicates."""
        return replicate_numbers(self.replicates)

    @property
    def n_replicates(self) -> int:
        """Number of replicates R."""
        return len(self.numbers)


Source = NoisyGains | RawGains
"""Gains that a game is played on."""


@overload
def setup_of(source: NoisyGains) -> LocalSetup: ...
@overload
def setup_of(source: RawGains) -> CuratorSetup: ...
def setup_of(source: Source) -> LocalSetup | CuratorSetup:
    """Return the setup that an algorithm gets before round 1 of a game on `source`."""
    if isinstance(source, NoisyGains):
        return LocalSetup(
            n_replicates=source.n_replicates,
            n_rounds=source.n_rounds,
            n_experts=source.n_experts,
            gain_range=source.gain_range,
            initial=source.initial,
            noise_scale=source.noise_scale,
            memory=source.memory,
            capacity=source.capacity,
        )
    stream, beds = source.stream, source.stream.capacity
    return CuratorSetup(
        n_replicates=source.n_replicates,
        n_rounds=stream.n_rounds,
        n_experts=stream.n_experts,
        gain_range=stream.gain_range,
        sensitivity=float(stream.sensitivity.max()),
        largest_change=stream.largest_change,
        mu=source.mu,
        changes=None if beds is None else stream.count_sensitivity / beds,
        noise=source.noise,
        neighbours=neighbours_of(stream),
        stay=stream.stay,
    )


def observations(source: Source) -> Iterator[Observation]:
    """Yield the observation of every round, in order.

    Gains are read-only copies: a view would lead to the gains of later rounds through its `base`.
    """
    if isinstance(source, NoisyGains):
        for t in range(source.n_rounds):
            fresh = None if source.fresh_scale is None else source.fresh_scale[t]
            gains, scale = _copy(source.gains[:, t]), source.noise_scale[t]
            yield Observation(gains, scale, fresh_scale=fresh)
    else:
        shape = (source.n_replicates, source.stream.n_experts)
        silence = np.broadcast_to(0.0, shape[1:])  # read-only too
        for gains in source.stream.gains:
            yield Observation(np.broadcast_to(_copy(gains), shape), silence)


def _copy(gains: Floats) -> Floats:
    own = gains.copy()
    own.flags.writeable = False
    return own


@dataclass(frozen=True, eq=False)
class Games:
    """Games of one algorithm, one for each replicate.

    Args:
        label: label of the algorithm.
        stream: label of the stream that was played.
        actions: (R, T) experts, counted from 0.
        guarantee: privacy guarantee of the actions.
        replicates: numbers of the R replicates.
    """

    label: str
    stream: str
    actions: Actions
    guarantee: Guarantee
    replicates: tuple[int, ...]

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.actions.shape))
        record = self.guarantee
        level = f"mu {record.mu:.4g}" + " (numerical)" * record.loss.numerical
        if record.mu == math.inf and (delta := record.loss.told):
            level = f"epsilon {record.epsilon(delta):.4g}, delta {delta:.2g}"
        return short_repr(self, repr(self.label), f"{size} actions (replicates x rounds)", level)

    def _repr_html_(self) -> str:
        """Return a table for a notebook: the games, and the record of their guarantee."""
        replicates, rounds = self.actions.shape
        facts = {"algorithm": self.label, "stream": self.stream, "replicates": replicates}
        record = self.guarantee.as_row()
        del record["loss"]
        return html_table({**facts, "rounds": rounds, **record})

    def gains(self, stream: GainStream) -> Floats:
        """Return the (R, T) raw gains of the actions.

        Args:
            stream: stream that was played.

        Raises:
            TypeError: `stream` is not a `GainStream`.
            ValueError: the stream has another label or number of rounds, or too few experts.
        """
        check_kind("stream", stream, GainStream, "pass the one that was played")
        rounds = self.actions.shape[1]
        fits = rounds == stream.n_rounds and self.actions.max() < stream.n_experts
        if stream.label != self.stream or not fits:
            raise ValueError(
                f"{self.label} played the stream {self.stream}, of {rounds} rounds, but"
                f" {stream.label} with {stream.n_rounds} rounds and {stream.n_experts} experts was"
                " given; pass the stream that was played"
            )
        return stream.gains[np.arange(stream.n_rounds), self.actions]

    def share(self, stream: GainStream) -> float:
        """Return the mean share of the possible gain: 0 as at random, 1 for each round's best.

        Args:
            stream: stream that was played.

        Raises:
            TypeError: `stream` is not a `GainStream`.
            ValueError: `gains` refuses the stream, or all experts gain the same in every round.
        """
        played = self.gains(stream).sum(axis=1).mean()
        random, best = stream.gains.mean(axis=1).sum(), stream.gains.max(axis=1).sum()
        if (stream.gains == stream.gains[:, :1]).all():
            raise ValueError(
                f"stream {stream.label}: all experts gain the same in every round, so no share of a"
                " possible gain exists; compare gains instead"
            )
        return float((played - random) / (best - random))

    def to_frame(self, stream: GainStream | None = None) -> pd.DataFrame:
        """Return a table with a row per replicate and round.

        Its columns are `stream`, `algorithm`, `replicate`, `round` (from 1) and `action` (from 0).
        With the stream they are also `period`, `entity` and `name` of the action, and its raw
        `gain`.

        Args:
            stream: stream that was played.

        Raises:
            TypeError: `stream` is not a `GainStream`.
            ValueError: `gains` refuses the stream.
            ModuleNotFoundError: pandas is not installed.
        """
        with needs_pipeline():
            import pandas as pd
        replicates, rounds = self.actions.shape
        action = self.actions.ravel()
        columns = {
            "stream": self.stream,
            "algorithm": self.label,
            "replicate": np.repeat(np.array(self.replicates, dtype=np.int32), rounds),
            "round": np.tile(np.arange(1, rounds + 1, dtype=np.int32), replicates),
            "action": action,
        }
        if stream is not None:
            gains = self.gains(stream)  # refuses another stream
            columns |= {
                "period": np.tile(stream.periods, replicates),
                "entity": np.array(stream.entities, dtype=object)[action],
                "name": np.array(stream.names, dtype=object)[action],
                "gain": gains.ravel(),
            }
        return pd.DataFrame(columns)


def play_rounds(
    algorithm: AnyAlgorithm,
    source: Source,
    generators: ReplicateGenerators,
    *,
    name: str | None = None,
) -> Actions:
    """Play a whole game and return its (R, T) actions, experts counted from 0.

    Args:
        algorithm: algorithm whose `model` fits the source.
        source: noisy gains for local algorithms, raw gains for all others.
        generators: the algorithm's own randomness, one generator per replicate.
        name: name under which the log reports progress; None for no report.

    Raises:
        TypeError: the source does not fit the algorithm's model.
        ValueError: the algorithm or the generators break a rule of `rounds`.
    """
    played = rounds(algorithm, source, generators)
    if name is not None:
        game = source.stream if isinstance(source, RawGains) else source
        played = progress(played, f"{name}, rounds", game.n_rounds)
    return np.stack([actions for _, actions in played], axis=1)


def rounds(
    algorithm: AnyAlgorithm,
    source: Source,
    generators: ReplicateGenerators | Sequence[ReplicateGenerators],
) -> Iterator[tuple[Any, Actions]]:
    """Play a game and yield the state and the (R,) actions of every round, in order.

    Args:
        algorithm: algorithm whose `model` fits the source.
        source: noisy gains for local algorithms, raw gains for all others.
        generators: the algorithm's own randomness, one generator per replicate: for the game, or
            for each round of its beginning, after which the game stops.

    Raises:
        TypeError: the source does not fit the algorithm's model.
        ValueError: there is not one generator for each replicate (even if the algorithm draws
            nothing); a step returns anything but one expert for each replicate, or writes to its
            input; the guarantee is for one round, but a person may stay longer; or the algorithm
            cannot read the correlated noise.
    """
    refuse_source(algorithm, source)
    each = generators if isinstance(generators, Sequence) else itertools.repeat(generators)
    _refuse(algorithm, source, generators[0] if isinstance(generators, Sequence) else generators)
    setup: Any = setup_of(source)
    name = type(algorithm).__name__
    state = algorithm.init(setup)
    observation: Observation | None = None
    for t, (own, revealed) in enumerate(zip(each, observations(source), strict=False)):
        try:
            state, actions = algorithm.step(state, observation, own)
        except Exception as error:
            read_only = "read-only" in str(error)  # NumPy's words
            error.add_note(f"in {name}.step, round {t + 1}{_ONLY_READ if read_only else ''}")
            raise
        if wrong := _what_is_wrong(actions, setup):
            raise ValueError(f"{name}.step, round {t + 1}: {wrong}")
        yield state, actions
        observation = revealed


def refuse_source(algorithm: AnyAlgorithm, source: Source) -> None:
    """Refuse gains of a kind that an algorithm does not play.

    Raises:
        TypeError: a local algorithm is not given noisy gains, or another algorithm not raw gains.
    """
    name, local = type(algorithm).__name__, isinstance(algorithm, LocalAlgorithm)
    if not isinstance(source, NoisyGains if local else RawGains):
        needed = "dpol.privatize(stream, noise, mu, seed=1, replicates=100)"
        if not local:
            needed = "dpol.RawGains(stream, mu, 100, seed=1)"
        model = "without privacy" if algorithm.model == "none" else algorithm.model
        got = type(source).__name__
        raise TypeError(f"{name} is {model} and cannot play {got}; give it {needed}")


def _refuse(algorithm: AnyAlgorithm, source: Source, generators: ReplicateGenerators) -> None:
    """Refuse an algorithm whose guarantee does not hold for a source, and unfit generators."""
    name = type(algorithm).__name__
    stay = source.stay if isinstance(source, NoisyGains) else source.stream.stay
    if algorithm.one_round and stay > 1:
        raise ValueError(
            f"{name} protects a person in one round, but here a person may stay {stay} rounds;"
            " leave it out, or take a stay of 1"
        )
    noisy = source if isinstance(source, NoisyGains) else None
    if noisy and not can_read(algorithm.reads_noise, noisy.memory_kind):
        raise ValueError(
            f"{name} takes noise as independent from round to round, but this noise is"
            " correlated; leave it out, or take the noise capacity"
        )
    if algorithm.constant_noise and noisy and noisy.law_name != GAUSSIAN.name:
        raise ValueError(f"{name} needs Gaussian noise; use the noise isotropic-constant")
    if generators.n_replicates != source.n_replicates:
        raise ValueError(
            f"{name} plays {source.n_replicates} replicates and needs one generator for each, got"
            f" {generators.n_replicates}; make them with"
            f" replicate_generators(..., range({source.n_replicates}), ...)"
        )


_ONLY_READ = (
    ": an algorithm may only read the setup, the state and the observation; make new arrays, such"
    " as `total = total + gains` instead of `total += gains`"
)


def _what_is_wrong(actions: object, setup: Setup) -> str:
    """Say why these cannot be the actions of a round, with a remedy; empty if they can."""
    if not isinstance(actions, np.ndarray):
        wrong = f"are not an array, but of type {type(actions).__name__}"
    elif actions.shape != (setup.n_replicates,) or actions.dtype.kind not in "iu":
        wrong = f"have shape {actions.shape} and type {actions.dtype}"
    elif actions.min() >= 0 and actions.max() < setup.n_experts:
        return ""
    else:
        wrong = f"lie between {actions.min()} and {actions.max()}"
    return (
        f"the actions {wrong}; return (state, actions), where actions is an array of shape"
        f" ({setup.n_replicates},) with an expert from 0 to {setup.n_experts - 1} for each"
        " replicate, such as scores.argmax(axis=1).astype(np.int32)"
    )


def guarantee_of(algorithm: AnyAlgorithm, source: Source) -> Guarantee:
    """Return the guarantee of the actions: of the noisy gains, of the algorithm, or none."""
    if isinstance(source, NoisyGains):
        return source.guarantee
    if isinstance(algorithm, CentralAlgorithm):
        return algorithm.guarantee(setup_of(source))
    near = neighbours_of(source.stream)
    stays = NO_PRIVACY.stays if near.stay else None
    return replace(NO_PRIVACY, adjacency=near.adjacency, unit=near.unit, stays=stays)
