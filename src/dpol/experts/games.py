"""Play an algorithm from the library: seed and replicates come from the source."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpol.core.arguments import check_kind
from dpol.core.plugins import is_foreign
from dpol.experts.interface import (
    Actions,
    Algorithm,
    AnyAlgorithm,
    CentralAlgorithm,
    LearnerBank,
    Member,
    Observation,
)
from dpol.experts.play import (
    Games,
    Source,
    guarantee_of,
    observations,
    play_rounds,
    refuse_source,
    setup_of,
)
from dpol.experts.registry import label_of, make_members
from dpol.noise import NO_NOISE, NoisyGains
from dpol.noise.noisy_gains import Seeds

Entry = AnyAlgorithm | str | Mapping[str, Any]
"""An algorithm, or an entry of a suite: a name, `package.module:Class`, or a block."""


def play(algorithm: Entry, source: Source, *, label: str | None = None) -> Games:
    """Play an algorithm on every replicate of a source.

    A run of the pipeline with the same seed, stream, noise, mu, replicates and label plays the
    same actions.

    Args:
        algorithm: algorithm whose `model` fits the source, or its entry in a config.
        source: noisy gains for local algorithms, raw gains for all others.
        label: key of the algorithm's own random numbers; by default its label or registered name.

    Raises:
        TypeError: `algorithm` is a class or no algorithm at all, or its model does not fit the
            source: local algorithms need noisy gains, all others raw gains.
        ValueError: the name is unknown or stands for several algorithms, the source has no seed, or
            the algorithm breaks a rule of `rounds`.

    >>> import dpol
    >>> import numpy as np
    >>> periods = np.datetime64("2021-01-01") + 7 * np.arange(20)
    >>> gains, beds = np.full((20, 3), 0.2), np.full((20, 3), 50.0)
    >>> stream = dpol.GainStream(
    ...     label="example",
    ...     gains=gains,
    ...     capacity=beds,
    ...     entities=("a", "b", "c"),
    ...     periods=periods,
    ... )
    >>> noisy = dpol.privatize(stream, "isotropic", mu=1.0, seed=1, replicates=4)
    >>> games = dpol.play(dpol.RWMeta(), noisy)
    >>> games.label, games.actions.shape, round(games.guarantee.mu, 6)
    ('rw-meta', (4, 20), 1.0)
    >>> games.gains(stream).mean().round(6).item()
    0.2
    """
    member, *others = members_of(algorithm)
    if others:
        labels = [member.label, *(other.label for other in others)]
        raise ValueError(f"{algorithm} is {len(labels)} algorithms ({', '.join(labels)}); play one")
    algorithm, label = member.algorithm, member.label if label is None else label
    refuse_source(algorithm, source)
    check_kind("label", label, str, "such as 'mine'")
    seeds = seeds_of(algorithm, source)
    actions = play_rounds(algorithm, source, seeds.algorithm(label))
    return Games(label, seeds.stream, actions, guarantee_of(algorithm, source), seeds.replicates)


def bank_actions(bank: LearnerBank[Any], noisy: NoisyGains) -> Actions:
    """Return the actions (R, T, m) of all learners of a bank."""
    state, played = bank.init(setup_of(noisy)), []
    observation: Observation | None = None
    for revealed in observations(noisy):
        state, actions = bank.step(state, observation)
        played.append(actions)
        observation = revealed
    return np.stack(played, axis=1)


def members_of(algorithm: Entry) -> tuple[Member, ...]:
    """Return the algorithms that an entry stands for.

    Raises:
        TypeError: `algorithm` is a class or no algorithm at all.
        ValueError: the name is unknown.
    """
    if isinstance(algorithm, str | Mapping):
        return make_members(algorithm)
    if isinstance(algorithm, type):
        name = algorithm.__name__
        raise TypeError(f"{name} is a class; play an instance, such as {name}()")
    if not isinstance(algorithm, Algorithm):
        raise TypeError(
            f"{type(algorithm).__name__} is not an algorithm; derive its class from"
            " dpol.LocalAlgorithm, dpol.CentralAlgorithm or dpol.NonPrivateAlgorithm"
        )
    label = label_of(algorithm)
    return (Member(label, label, algorithm, is_foreign(type(algorithm).__module__)),)


def seeds_of(algorithm: AnyAlgorithm, source: Source) -> Seeds:
    """Return the seed and names that, with its label, fix the algorithm's own random numbers.

    Raises:
        ValueError: the source has no seed.
    """
    if isinstance(source, NoisyGains):
        if source.seeds is None:
            raise ValueError("these noisy gains have no seed; make them with dpol.privatize")
        return source.seeds
    if source.seed is None:
        raise ValueError("RawGains has no seed; pass one: RawGains(stream, mu, seed=1)")
    noise = source.noise if isinstance(algorithm, CentralAlgorithm) else NO_NOISE
    return Seeds(
        seed=source.seed,
        stream=source.stream.label,
        noise=noise,
        mu=float(source.mu),
        replicates=source.numbers,
    )
