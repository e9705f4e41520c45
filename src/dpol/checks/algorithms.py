"""Conformance checks of algorithms.

The games are small: 12 rounds of 4 experts with random gains.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from dpol.checks import CheckError
from dpol.checks.audits import LEVELS, audit, long_settings, short_settings, stream_of
from dpol.core.randomness import Floats, ReplicateGenerators, seed_sequence
from dpol.data.stream import GainStream
from dpol.experts.games import play, seeds_of
from dpol.experts.interface import Actions, AnyAlgorithm, Member
from dpol.experts.play import RawGains, Source, guarantee_of, observations, play_rounds, setup_of
from dpol.noise import privatize
from dpol.noise.neighbours import neighbours_of
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import Guarantee, Model
from dpol.privacy.settings import LEAST_MU
from dpol.studies.ledger.audits.actions import Play, Setting, delta_of

Check = Callable[[Member, int], str | None]
"""A check of a member of a suite, whose games have a root seed; it may return what it found."""
MU = 0.5
ROUNDS, EXPERTS, REPLICATES = 12, 4, 7
_LONG, _EXPERTS = 60, 12
SEED = 1
"""Root seed of the games of the checks, if none is given."""
_HASH_SEEDS = "1", "2", "3"
"""Seeds by which Python orders sets of texts in the processes that play a game again."""
# What a step prints does not mix with the actions.
_REPLAY = """import pickle, sys
printed, sys.stdout = sys.stdout.buffer, sys.stderr
pickle.load(sys.stdin.buffer)().actions.dump(printed)"""
_BEDS = 5.0, 17.0, 30.0, 44.0, 21.0
_ROUNDING = 1 + 1e-12


def random_stream(rounds: int = ROUNDS, n: int = EXPERTS) -> GainStream:
    """Make a stream of random gains and unequal capacities; all rounds have one noise scale."""
    return stream_of(np.random.default_rng(0).random((rounds, n)), np.resize(_BEDS, n))


def source_for(
    algorithm: AnyAlgorithm,
    stream: GainStream,
    mu: float = MU,
    *,
    replicates: range = range(REPLICATES),
    seed: int = SEED,
) -> Source:
    """Return the gains that an algorithm plays, noisy or raw by its model."""
    if algorithm.model == "local":
        return privatize(stream, "isotropic", mu, seed=seed, replicates=replicates)
    return RawGains(stream, mu, replicates, seed=seed)


def game(member: Member, source: Source) -> Actions:
    """Return the actions (R, T) of a member of a suite."""
    return play(member.algorithm, source, label=member.label).actions


def played_elsewhere(member: Member, source: Source, hash_seed: str) -> Actions:
    """Return the actions (R, T) of `game` in a process of its own.

    Args:
        member: who plays.
        source: gains that it plays.
        hash_seed: seed by which Python orders a set of texts there.

    Raises:
        CheckError: the process ends without actions.
    """
    games = partial(play, member.algorithm, source, label=member.label)
    changed = {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-P", "-c", _REPLAY],
        env={**os.environ, **changed},
        input=pickle.dumps(games),
        capture_output=True,
        check=False,
    )
    if not done.stdout:
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        wrong = f"its game ends the process, with exit code {done.returncode}, not with actions"
        raise CheckError(f"{wrong}: {said or 'let step return them'}")
    return np.asarray(pickle.loads(done.stdout))


def draws(member: Member, source: Source) -> bool:
    """Return whether it draws random numbers of its own."""
    generators = seeds_of(member.algorithm, source).algorithm(member.label)
    before = pickle.dumps(generators)
    play_rounds(member.algorithm, source, generators)
    return pickle.dumps(generators) != before


def plays_small_games(member: Member, seed: int = SEED) -> None:
    """Check that it plays one round and two experts, and chooses or refuses a single expert."""
    for shape in ((1, 2), (1, 3), (2, 2), (_LONG, EXPERTS)):
        for mu in (LEAST_MU, MU, math.inf):
            game(member, source_for(member.algorithm, random_stream(*shape), mu, seed=seed))
    try:
        game(member, source_for(member.algorithm, random_stream(3, 1), seed=seed))
    except ValueError as error:
        if "needs at least 2 experts" not in str(error):
            raise


def seed_decides(member: Member, seed: int = SEED) -> None:
    """Check that equal seeds give equal games, and other seeds others unless nothing is random.

    The equal games are played in processes of their own, where Python orders sets otherwise.
    """
    algorithm, stream = member.algorithm, random_stream(_LONG, _EXPERTS)
    source = source_for(algorithm, stream, seed=seed)
    same = [played_elsewhere(member, source, hash_seed) for hash_seed in _HASH_SEEDS]
    noisy = algorithm.model == "local" or draws(member, source)
    if algorithm.model == "central" and not noisy:
        raise CheckError("it is central but draws no noise; draw some from the given generators")
    one, other = (game(member, source_for(algorithm, stream, seed=it)) for it in (seed, seed + 1))
    if any((one != each).any() for each in same) or (one == other).all() == noisy:
        raise CheckError(
            "the seed does not decide its actions; draw all random numbers from the generators"
            " given to step, with enough noise to move an action, and order no texts by their hash,"
            " as a set does"
        )


def _changed_in_round(source: Source, s: int) -> Source:
    """Return the source with other gains in round s, but the same public values."""
    other = np.random.default_rng(s).permutation(np.linspace(0, 1, EXPERTS))
    if isinstance(source, RawGains):
        gains = source.stream.gains.copy()
        gains[s] = other
        return replace(source, stream=replace(source.stream, gains=gains))
    gains = source.gains.copy()
    gains[:, s] = 10 * other
    return replace(source, gains=gains)


def looks_at_the_past_only(member: Member, seed: int = SEED) -> None:
    """Check that the gains of a round change only later actions, and some of them."""
    algorithm = member.algorithm
    source = source_for(algorithm, random_stream(), seed=seed)
    games = [source, *(_changed_in_round(source, s) for s in range(ROUNDS))]
    seeds = seeds_of(algorithm, source)
    before, *after = (play_rounds(algorithm, each, seeds.algorithm(member.label)) for each in games)
    # For each round s, the rounds whose actions change with its gains.
    moved = [np.flatnonzero((actions != before).any(axis=0)) for actions in after]
    for s, rounds in enumerate(moved):
        if (rounds <= s).any():
            raise CheckError(
                f"changing the gains of round {s + 1} changes its action in round"
                f" {rounds.min() + 1}; a step may use only its state and its observation's values"
            )
    if not any(len(rounds) for rounds in moved):
        raise CheckError("it learns nothing: no gains change any action")


def step_is_pure(member: Member, seed: int = SEED) -> None:
    """Check that a step changes no argument and keeps no hidden state; parameters must pickle."""
    algorithm = member.algorithm
    if pickle.loads(pickle.dumps(algorithm)) != algorithm:
        raise CheckError(
            "a pickled copy differs from the algorithm; make its parameters plain values"
        )
    source = source_for(algorithm, random_stream(), seed=seed)
    setup: Any = setup_of(source)
    state, observation = algorithm.init(setup), None
    for t, revealed in enumerate(observations(source)):
        before = pickle.dumps((state, observation))
        steps = []
        for given in ((state, observation), (state, observation), pickle.loads(before)):
            generators = seeds_of(algorithm, source).algorithm(f"round {t}")
            steps.append(algorithm.step(given[0], given[1], generators))
        if pickle.dumps((state, observation)) != before:
            raise CheckError(
                f"step changes its state or its observation in round {t + 1}; make new arrays:"
                " `total = total + gains`, not `total += gains`"
            )
        (following, actions), (again, same), (_, restored) = steps
        equal = pickle.dumps(following) == pickle.dumps(again)
        if not equal or (actions != same).any() or (actions != restored).any():
            raise CheckError(
                f"repeating the step of round {t + 1} gives another result; keep everything that"
                " changes in the state"
            )
        state, observation = following, revealed


def blocks_do_not_matter(member: Member, seed: int = SEED) -> None:
    """Check that a replicate plays the same game in any block of replicates."""
    algorithm, stream = member.algorithm, random_stream()
    whole = game(member, source_for(algorithm, stream, seed=seed))
    for size in (1, 3):
        for first in range(0, REPLICATES, size):
            block = range(REPLICATES)[first : first + size]
            alone = game(member, source_for(algorithm, stream, replicates=block, seed=seed))
            if (alone != whole[block.start : block.stop]).any():
                raise CheckError(
                    f"replicates {block.start} to {block.stop - 1} play differently in a block of"
                    f" {len(block)} and in one of {REPLICATES}; none may depend on another"
                )


def record_is_complete(member: Member, seed: int = SEED) -> None:
    """Check that its record has its model and unit, and a level of at most mu."""
    stream = random_stream()
    given = replace(stream, capacity=None, given_sensitivity=np.full(stream.n_rounds, 0.3))
    for played in (stream, given):
        for mu in (MU, math.inf):
            source = source_for(member.algorithm, played, mu, seed=seed)
            game(member, source)
            record, model = guarantee_of(member.algorithm, source), member.algorithm.model
            noisy = model == "central" and mu == math.inf and draws(member, source)
            if wrong := wrong_in_record(record, played, mu, model=model, noisy=noisy):
                raise CheckError(f"its record at mu = {mu:g} {wrong}")


def wrong_in_record(
    record: Guarantee, stream: GainStream, mu: float, *, model: Model, noisy: bool
) -> str:
    """Return what a record of games on a stream contradicts; empty if nothing.

    Args:
        record: the record.
        stream: what was played.
        mu: the level that was asked for.
        model: the trust model of the algorithm.
        noisy: whether it draws noise where mu is inf, as some do.
    """
    near, values = neighbours_of(stream), record.as_row()
    if record.model != model:
        return f"has the model {record.model}, but the algorithm's model is {model}"
    neighbours = record.adjacency, record.unit
    if neighbours != (near.adjacency, near.unit) or (near.stay is None and "person" in str(values)):
        return f"protects {record.unit}, not {near.unit}; take setup.neighbours"
    if record.taken_as_public != (near.taken_as_public if model != "none" else ""):
        return "takes private data as public"
    if repr(json.loads(json.dumps(values))) != repr(values):
        return f"must hold only plain text and numbers: {values}"
    if model == "none" or mu == math.inf:
        return "" if noisy or record.mu == math.inf else f"claims mu = {record.mu:g} without noise"
    delta = delta_of(record)
    claim, most = (record.epsilon(delta), epsilon_of_delta(delta, mu)) if delta else (record.mu, mu)
    if not 0 < claim <= most * _ROUNDING:
        return f"claims {'epsilon' if delta else 'mu'} = {claim:g} but {most:g} was requested"
    guesses = [it.guess for it in record.stays or ()]
    if any(one > other * _ROUNDING for one, other in pairwise(guesses)):
        return f"says that longer stays lose less: the guesses are {guesses}"
    return ""


class _Together(ReplicateGenerators):
    """Replicates that draw in turn from one generator: equally independent, and faster."""

    def standard_normal(self, *shape: int) -> Floats:
        return self.generators[0].standard_normal((self.n_replicates, *shape))

    def of(self, rows: Iterable[int]) -> ReplicateGenerators:
        return _Together(self.generators[:1] * len([*rows]))

    def uniforms(self, count: int) -> Floats:
        return self.generators[0].random((self.n_replicates, count))

    def uniform(self) -> Floats:
        return self.generators[0].random(self.n_replicates)


def _audited(algorithm: AnyAlgorithm) -> Play:
    """Return the audited games of a central algorithm; outputs say which expert was chosen."""
    records: dict[Setting, Guarantee] = {}

    def games(
        setting: Setting, stream: GainStream, count: int, seed: int
    ) -> tuple[Floats, Guarantee]:
        key = (setting.stream.label, setting.mu, setting.noise)
        generator = np.random.default_rng(seed_sequence(seed, key))
        source = RawGains(stream, setting.mu, count, noise=setting.noise)
        actions = play_rounds(algorithm, source, _Together((generator,) * count))
        if setting not in records:
            records[setting] = guarantee_of(algorithm, source)
        return (actions[..., None] == np.arange(stream.n_experts)).astype(float), records[setting]

    return games


def actions_do_not_refute_the_record(member: Member, seed: int = SEED) -> str:
    """Check that the actions of a central algorithm prove no more about a person than its record.

    A sound algorithm is refused with probability 1e-6. `dpol.checks.audits` says what an audit
    cannot see.
    """
    stays = not member.algorithm.one_round
    asked = [*long_settings(stays=stays)], [*short_settings(seed, stays=stays)]
    return audit(_audited(member.algorithm), *asked, seed=seed)


CHECKS: Mapping[str, Check] = {
    "the seed decides the game": seed_decides,
    "plays small games": plays_small_games,
    "looks at the past only, and learns": looks_at_the_past_only,
    "a step changes and hides nothing": step_is_pure,
    "blocks of replicates do not matter": blocks_do_not_matter,
    "the record is complete": record_is_complete,
}
"""Checks of every algorithm, by printed title."""


def checks_of(algorithm: AnyAlgorithm) -> Mapping[str, Check]:
    """Return the checks for an algorithm's model."""
    if algorithm.model != "central":
        return CHECKS
    levels = " and ".join(f"{mu:g}" for mu in LEVELS)
    title = f"actions do not refute the record, at levels such as {levels}"
    return {**CHECKS, title: actions_do_not_refute_the_record}
