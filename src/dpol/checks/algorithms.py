"""Conformance checks of algorithms.

The games are small: 12 rounds of 4 experts whose gains are random.
"""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import stats

from dpol.checks import CheckError
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.data.stream import GainStream
from dpol.experts.alone import played_alone
from dpol.experts.games import play, seeds_of
from dpol.experts.interface import Actions, AnyAlgorithm, Member, can_read
from dpol.experts.play import (
    RawGains,
    Source,
    guarantee_of,
    observations,
    play_rounds,
    setup_of,
)
from dpol.noise import NOISES, NoisyGains, privatize
from dpol.privacy.auditing.bounds import AuditResult, audit_runs, with_fitted_direction
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import GIVEN_CHANGE, ONE_PERSON, ONE_ROUND, UNIT

Check = Callable[[Member], None]

ERROR = 1e-6
"""Probability with which a statistical check refuses what is sound, at most."""
MU = 0.5
ROUNDS, EXPERTS, REPLICATES = 12, 4, 7
_BEDS = 5.0, 17.0, 30.0, 44.0, 21.0
_ROUNDING = 1 + 1e-12
# As many games tell Gaussian noise of half the scale from sound noise, if one round shows it.
_AUDITED = 4000
_MANY = 2000


def stream_of(gains: Floats, beds: float | Floats) -> GainStream:
    """A stream of gains (T, n) and capacities that fit them."""
    rounds, n = gains.shape
    return GainStream(
        label="checks",
        gains=gains,
        capacity=np.broadcast_to(beds, gains.shape),
        entities=tuple(f"expert-{i}" for i in range(n)),
        periods=np.datetime64("2020-01-05") + 7 * np.arange(rounds),
    )


def random_stream(rounds: int = ROUNDS, n: int = EXPERTS) -> GainStream:
    """A stream of random gains and unlike capacities; rounds have the same noise scale."""
    return stream_of(np.random.default_rng(0).random((rounds, n)), np.array(_BEDS[:n]))


def source_for(
    algorithm: AnyAlgorithm,
    stream: GainStream,
    mu: float = MU,
    *,
    replicates: range = range(REPLICATES),
    seed: int = 1,
) -> Source:
    """The gains that an algorithm of this model plays."""
    if algorithm.model == "local":
        return privatize(stream, "isotropic", mu, seed=seed, replicates=replicates)
    return RawGains(stream, mu, replicates, seed=seed)


def game(member: Member, source: Source) -> Actions:
    """The actions (R, T) of a member of a suite."""
    return play(member.algorithm, source, label=member.label).actions


def draws(member: Member, source: Source) -> bool:
    """True if it uses random numbers of its own."""
    own = seeds_of(member.algorithm, source).algorithm(member.label)
    before = pickle.dumps(own)
    play_rounds(member.algorithm, source, own)
    return pickle.dumps(own) != before


def plays_small_games(member: Member) -> None:
    """It plays one round and two experts; one expert alone is chosen, or the game refused."""
    for shape in ((1, 2), (1, 3), (2, 2)):
        for mu in (MU, math.inf):
            game(member, source_for(member.algorithm, random_stream(*shape), mu))
    try:
        game(member, source_for(member.algorithm, random_stream(3, 1)))
    except ValueError as error:
        if "needs at least 2 experts" not in str(error):
            raise


def seed_decides(member: Member) -> None:
    """A game is the same for the same seed, and another for another, unless nothing is random."""
    algorithm, stream = member.algorithm, random_stream()
    noisy = algorithm.model == "local" or draws(member, source_for(algorithm, stream))
    if algorithm.model == "central" and not noisy:
        raise CheckError("it is central, but draws no noise")
    one, same, other = (
        game(member, source_for(algorithm, stream, seed=seed)) for seed in (1, 1, 2)
    )
    if (one != same).any() or (one == other).all() == noisy:
        raise CheckError(
            "the seed does not decide its actions: it takes random numbers from elsewhere than the"
            " generators that step is given, or its noise moves no action"
        )


Player = Callable[[AnyAlgorithm, Source, ReplicateGenerators], Actions]


def rounds_moved(member: Member, player: Player = play_rounds) -> list[Any]:
    """The rounds whose actions move if the gains of round s do, for each s."""
    source = source_for(member.algorithm, random_stream())
    games = [source, *(_changed_in_round(source, s) for s in range(ROUNDS))]
    before, *after = (
        player(member.algorithm, it, seeds_of(member.algorithm, source).algorithm(member.label))
        for it in games
    )
    return [np.flatnonzero((it != before).any(axis=0)) for it in after]


def _changed_in_round(source: Source, s: int) -> Source:
    """The source with other gains in round s; capacities and noise scales are public."""
    raw = isinstance(source, RawGains)
    gains = (source.stream if isinstance(source, RawGains) else source).gains.copy()
    other = np.random.default_rng(s).permutation(np.linspace(0, 1, EXPERTS))
    gains[..., s, :] = other if raw else 10 * other
    if isinstance(source, RawGains):
        return dataclasses.replace(source, stream=dataclasses.replace(source.stream, gains=gains))
    return dataclasses.replace(source, gains=gains)


def looks_at_the_past_only(member: Member) -> None:
    """The gains of a round move later actions only, and some of them."""
    moved = rounds_moved(member)
    for s, rounds in enumerate(moved):
        if (rounds <= s).any():
            raise CheckError(
                f"other gains in round {s + 1} move its action in round {rounds.min() + 1}; a step"
                " may use the state and the values of its observation only"
            )
    if not any(len(rounds) for rounds in moved):
        raise CheckError("no gains of any round move any action: it learns nothing")


def step_is_pure(member: Member) -> None:
    """A step changes nothing it is given, and keeps nothing elsewhere; parameters pickle."""
    algorithm = member.algorithm
    if pickle.loads(pickle.dumps(algorithm)) != algorithm:
        raise CheckError(
            "a pickled copy of it is another algorithm; parameters must be plain values"
        )
    source = source_for(algorithm, random_stream())
    setup: Any = setup_of(source)
    state, observation = algorithm.init(setup), None
    for t, revealed in enumerate(observations(source)):
        before = pickle.dumps((state, observation))
        found = []
        for given in ((state, observation), (state, observation), pickle.loads(before)):
            own = seeds_of(algorithm, source).algorithm(f"round {t}")
            found.append(algorithm.step(given[0], given[1], own))
        if pickle.dumps((state, observation)) != before:
            raise CheckError(
                f"step changes the state or the observation in round {t + 1}; make new arrays,"
                " `total = total + gains` in place of `total += gains`"
            )
        (following, actions), (again, same), (_, restored) = found
        equal = pickle.dumps(following) == pickle.dumps(again)
        if not equal or (actions != same).any() or (actions != restored).any():
            raise CheckError(
                f"the same step twice differs in round {t + 1}: something is kept outside the state"
            )
        state, observation = following, revealed


def blocks_do_not_matter(member: Member) -> None:
    """A replicate plays the same game in any block of replicates."""
    algorithm, stream = member.algorithm, random_stream()
    whole = game(member, source_for(algorithm, stream))
    for size in (1, 3):
        for first in range(0, REPLICATES, size):
            block = range(REPLICATES)[first : first + size]
            alone = game(member, source_for(algorithm, stream, replicates=block))
            if (alone != whole[block.start : block.stop]).any():
                raise CheckError(
                    f"replicates {block.start} to {block.stop - 1} play another game in a block of"
                    f" {len(block)} than in one of {REPLICATES}: one depends on the others"
                )


def plays_any_noise(member: Member) -> None:
    """It plays each noise of dpol, or is refused because it says that it cannot read that noise."""
    rng, algorithm = np.random.default_rng(0), member.algorithm
    stream = stream_of(rng.random((9, 3)), rng.integers(5, 50, size=(9, 3)).astype(float))
    for name, noise in NOISES.items():
        source = privatize(stream, name, MU, seed=1, replicates=2)
        constant = (source.noise_scale == source.noise_scale[0, 0]).all()
        if not can_read(algorithm.reads_noise, noise.memory):
            refusal = "takes noise as independent"
        elif algorithm.constant_noise and not constant:
            refusal = "isotropic-constant"
        else:
            game(member, source)
            continue
        try:
            game(member, source)
        except ValueError as error:
            if refusal not in str(error):
                raise
        else:
            raise CheckError(f"it plays {name} noise, which it says it cannot read")


def record_is_complete(member: Member) -> None:
    """Its record has its model, the unit, the sensitivity, and a level that is at most mu."""
    stream = random_stream()
    given = dataclasses.replace(
        stream, capacity=None, given_sensitivity=np.full(stream.n_rounds, 0.3)
    )
    for own in (stream, given):
        for mu in (MU, math.inf):
            source = source_for(member.algorithm, own, mu)
            game(member, source)
            if wrong := _wrong_in_record(member, own, source, mu):
                raise CheckError(f"its record at mu = {mu:g}: {wrong}")


def _wrong_in_record(member: Member, stream: GainStream, source: Source, mu: float) -> str:
    record, model = guarantee_of(member.algorithm, source), member.algorithm.model
    by_round = stream.capacity is None
    unit = (GIVEN_CHANGE, ONE_ROUND) if by_round else (ONE_PERSON, UNIT)
    values = record.as_dict()
    plain = {key: it for key, it in values.items() if key not in ("epsilon_delta", "mu")}
    known = {"L2, gain": stream.sensitivity.max(), "L-infinity, gain": stream.largest_change}
    expected = known.get(record.sensitivity_unit, record.sensitivity)
    private = model != "none" and mu != math.inf
    if record.model != model:
        return f"is of the model {record.model}, and it is {model}"
    if (record.adjacency, record.unit) != unit or (by_round and "person" in str(values)):
        return f"protects {record.unit}, and the gains {unit[1]}; take setup.neighbours"
    if plain.pop("taken_as_public"):
        return "takes private data as public"
    if not all(isinstance(it, float) or it for it in plain.values()):
        return f"lacks a field: {plain}"
    if repr(json.loads(json.dumps(values))) != repr(values):
        return f"is not plain text and numbers: {values}"
    if record.sampler != ("none" if model == "none" else "seeded"):
        return f"names the sampler {record.sampler}"
    if not private:
        # Some have noise at any mu.
        noisy = model == "central" and draws(member, source)
        return "" if noisy or record.mu == math.inf else f"claims mu = {record.mu:g} without noise"
    if record.epsilon_delta is not None:
        epsilon, delta = record.epsilon_delta
        if not (math.isnan(record.mu) and 0 < epsilon <= epsilon_of_delta(delta, mu)):
            return f"claims epsilon = {epsilon:g}, more than the level that is asked"
    elif not 0 < record.mu <= mu * _ROUNDING:
        return f"claims mu = {record.mu:g}, more than the level that is asked"
    if not (0 < record.sensitivity < math.inf and math.isclose(record.sensitivity, expected)):
        return f"has the sensitivity {record.sensitivity:g} in place of {expected:g}"
    return ""


def limits(
    algorithm: AnyAlgorithm, *, replicates: int = REPLICATES, seed: int = 1
) -> tuple[Source, Source]:
    """Games at mu = 1e12 and at mu = inf.

    With noisy gains the initial noise is the same in both: without any, round 1 is a tie.
    """
    made = []
    for mu in (1e12, math.inf):
        source = source_for(
            algorithm, random_stream(30, 4), mu, replicates=range(replicates), seed=seed
        )
        if isinstance(source, NoisyGains):
            initial = 0.1 * np.random.default_rng(0).random(source.initial.shape[1])
            source = dataclasses.replace(
                source, initial=np.broadcast_to(initial, source.initial.shape)
            )
        made.append(source)
    return made[0], made[1]


def no_privacy_is_the_limit(member: Member) -> None:
    """The games at mu = 1e12 and at mu = inf agree from round 2 on, where raw gains leave no ties.

    One that is random at mu = inf must play each expert as often in each round: a chi-squared test
    of 2,000 games at each mu, which refuses a sound one with probability 1e-6. It finds a
    difference of 0.2 in the probability of an expert with probability 0.999 or more.
    """
    scale = (
        "; is a scale of its noise not proportional to 1 / mu, or is it not 0 at mu = inf? Read"
        " the noise from the setup or the observation"
    )
    near, limit = (game(member, it)[:, 1:] for it in limits(member.algorithm))
    if (near == limit).all():
        return
    _, other = limits(member.algorithm, seed=2)
    if (game(member, other)[:, 1:] == limit).all():
        raise CheckError(f"it plays otherwise at mu = 1e12 than at mu = inf{scale}")
    near_source, _ = limits(member.algorithm, replicates=_MANY, seed=3)
    _, limit_source = limits(member.algorithm, replicates=_MANY, seed=4)
    near, limit = game(member, near_source), game(member, limit_source)
    for t in range(1, near.shape[1]):
        counts = np.array([np.bincount(it[:, t], minlength=4) for it in (near, limit)])
        seen = counts[:, counts.any(axis=0)]
        if seen.shape[1] > 1 and stats.chi2_contingency(seen).pvalue < ERROR / near.shape[1]:
            raise CheckError(
                f"in round {t + 1} it plays experts as often as {counts[0] / _MANY} at mu = 1e12,"
                f" and as {counts[1] / _MANY} at mu = inf{scale}"
            )


def raw_gains_are_out_of_reach(member: Member) -> None:
    """A local algorithm plays the same game in a process where raw gains do not exist.

    See `dpol.experts.alone` for what this shows, and what not.
    """
    compare_with_alone([member])


def compare_with_alone(members: list[Member]) -> None:
    """`raw_gains_are_out_of_reach` for several local algorithms, in one process."""
    stream = random_stream()  # in reach of code that looks through the frames of this process
    source = privatize(stream, "isotropic", MU, seed=1, replicates=REPLICATES)
    alone = played_alone([(member, source) for member in members])
    for member, found in zip(members, alone, strict=True):
        if isinstance(found, str):
            raise CheckError(f"{member.label}, where raw gains do not exist: {found}")
        if (found != game(member, source)).any():
            raise CheckError(
                f"{member.label} plays another game where raw gains do not exist; use nothing but"
                " the setup, the observation and the generators"
            )


def audit_of(member: Member) -> AuditResult:
    """An audit of its actions, on two streams that differ in one person in the first round."""
    gains = np.full((8, 2), 0.5)
    moved = gains.copy()
    moved[0] = (0.0, 1.0)
    algorithm = member.algorithm
    sources = [
        source_for(algorithm, stream_of(it, 2.0), replicates=range(first, first + _AUDITED))
        for it, first in ((gains, 0), (moved, _AUDITED))
    ]
    actions = [game(member, it).astype(float) for it in sources]
    fitted = with_fitted_direction(*actions)
    record = guarantee_of(algorithm, sources[0])
    epsilon, delta = record.epsilon_delta or (None, 0.0)
    return audit_runs(
        *(np.hstack([own, it]) for own, it in zip(fitted, actions, strict=True)),
        parameter="mu" if epsilon is None else "epsilon",
        claimed=record.mu if epsilon is None else epsilon,
        confidence=1 - ERROR,
        delta=delta,
    )


def actions_do_not_refute_the_record(member: Member) -> None:
    """The actions of a central algorithm prove no more about a person than its record allows.

    4,000 games on each of two neighbouring streams. A sound one is refused with probability 1e-6.
    One without noise, at mu = 0.5, is found with probability 1: its actions differ for certain.
    """
    audit = audit_of(member)
    if audit.verdict == "violated":
        raise CheckError(
            f"its actions prove {audit.parameter} >= {audit.lower_bound:.3g}, its record claims"
            f" {audit.claimed:.3g}: noise is missing or too small"
        )


CHECKS: Mapping[str, Check] = {
    "plays small games": plays_small_games,
    "the seed decides the game": seed_decides,
    "looks at the past only, and learns": looks_at_the_past_only,
    "a step changes and hides nothing": step_is_pure,
    "blocks of replicates do not matter": blocks_do_not_matter,
    "the record is complete": record_is_complete,
    "no privacy is the limit": no_privacy_is_the_limit,
}
"""Checks of every algorithm, by what is printed."""
LOCAL_CHECKS: Mapping[str, Check] = {
    "plays any noise that it can read": plays_any_noise,
    "raw gains are out of reach": raw_gains_are_out_of_reach,
}
CENTRAL_CHECKS: Mapping[str, Check] = {
    "actions do not refute the record": actions_do_not_refute_the_record,
}


def checks_of(algorithm: AnyAlgorithm) -> dict[str, Check]:
    """The checks of an algorithm's model."""
    more = {"local": LOCAL_CHECKS, "central": CENTRAL_CHECKS}.get(algorithm.model, {})
    return {**CHECKS, **more}
