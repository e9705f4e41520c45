"""Audits of RW-AdaBatch: its actions, by the amplified claim, and the sums that it reads."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.interface import Actions, Observation
from dpol.experts.play import rounds, setup_of
from dpol.noise import NoisyGains
from dpol.privacy.auditing import with_fitted_direction
from dpol.studies.ledger.audits.core import (
    Audit,
    Subject,
    by_covariance,
    by_event,
    combinations,
    replicates_of,
)
from dpol.studies.ledger.audits.settings import MU, Audits
from dpol.studies.paper1.batching.compute import analytic_mixture, noisy_game

ALGORITHM = RWAdaBatch(alpha=3.0)
"""RW-AdaBatch with a tolerance that makes the size of its first batch certain."""
_EXPERTS, _ROUNDS = 6, 40


def audit_adabatch(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit RW-AdaBatch on gains that are zero except in the first round.

    By the analytic bound the first batch holds B rounds, whatever the noise. With noise at
    mu sqrt(B) in every round, mu is claimed for the actions of the whole game. An algorithm that
    acts within a batch, or plays a shorter one, reveals more. The second batch depends on the gap.

    A batch reads the sum of the gains since the last reading. Divided by the square root of the
    recorded batch size, this sum must have the noise of one round.
    """
    mixture = analytic_mixture(ALGORITHM, (_ROUNDS, _EXPERTS), 1.0, 1)
    size = int(mixture.sizes[mixture.weights.argmax()])
    local = MU * math.sqrt(size)
    played = []
    one, other = np.zeros((2, _ROUNDS, _EXPERTS))
    one[0, : _EXPERTS // 2], other[0, _EXPERTS // 2 :] = 1.0, 1.0
    for gains, replicates in zip((one, other), replicates_of(settings), strict=True):
        stream = synthetic_stream("audit: vectors", gains)
        noisy, unused = noisy_game(stream, local, seed, replicates)
        played.append(_read_sums(noisy, unused))
    made = noisy.guarantee
    subject = Subject(
        mechanism="RW-AdaBatch, actions",
        variant=f"amplified by a batch of {size}",
        code="dpol.noise.privatize, RWAdaBatch.step",
        inputs=f"{_EXPERTS} experts, {_ROUNDS} rounds; all gains of round 1 change",
        adjacency=made.adjacency,
        unit=made.unit,
        requested=MU,
        recorded=made.mu / math.sqrt(size),
    )
    # Rounds in which one half of the experts leads, with equal or fitted weights.
    halves = [(actions >= _EXPERTS // 2).astype(float) for actions, _ in played]
    statistics = combinations(halves, np.ones(_ROUNDS))
    event = "an event of the rounds in which one half of the experts lead"
    yield by_event(subject, event, [statistics])
    # All gains of a round change over their whole range.
    signs = itertools.product((1.0, -1.0), repeat=_EXPERTS - 1)
    changes = np.array([(1.0, *others) for others in signs])
    for number, batch in enumerate(("first", "second")):
        of_batch = dataclasses.replace(
            subject,
            mechanism="RW-AdaBatch, sum of a batch",
            variant=f"{batch}, of its recorded size",
            requested=local,
            recorded=made.mu,
        )
        sums = [reads[number] for _, reads in played]
        yield by_covariance(of_batch, "the sums", sums, changes)


REACTED_TO = RWAdaBatch()
"""RW-AdaBatch as in its paper, against an adversary that reacts."""
# Rounds before the secret one, those without gains from the adversary, and rounds after.
_BEFORE, _QUIET, _AFTER = 2000, 1850, 6
# mu of a round, where gains matter as much as noise; epsilon of the claim; largest number of runs.
_LOCAL_MU, _EPSILON, _MOST_RUNS = 2.0, 0.2, 4000


def audit_reactions(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit the amplified claim against an adversary that sees the actions, and its shadow.

    Amplification needs long batches, and long batches need a lead that grows like a random walk.
    An adversary that always gives a gain to an expert that does not lead keeps the lead so small
    that a batch holds one round. Epsilon is then larger, and the paper says that it promises
    nothing there. The shadow gives the same gains in another run, without seeing the actions. It
    is an oblivious adversary, which the claim covers.

    The claim is (epsilon, delta), with delta by the analytic bound. Source: "Prediction with Expert
    Advice under Local Differential Privacy", Remark 2.
    """
    fewer = settings.model_copy(update={"runs": min(settings.runs, _MOST_RUNS)})
    games = []
    for expert, replicates in enumerate(replicates_of(fewer)):
        gains = np.zeros((_BEFORE + 1 + _AFTER, 2))
        gains[_BEFORE, expert] = 1.0
        stream = synthetic_stream("audit: reactions", gains)
        games.append(noisy_game(stream, _LOCAL_MU, seed, replicates))
    mixture = analytic_mixture(REACTED_TO, (len(gains), 2), _LOCAL_MU, _BEFORE + 1)
    delta, made = float(mixture.delta(_EPSILON)), games[0][0].guarantee
    one, other = reacting = [play_against(*game) for game in games]
    # Leaders on the other input with experts swapped: they have the distribution of the leaders on
    # this input, but are independent of its noise.
    shadows = [
        play_against(*game, 1 - leaders) for game, leaders in zip(games, (other, one), strict=True)
    ]
    for adversary, played in (("that reacts", reacting), ("oblivious", shadows)):
        subject = Subject(
            mechanism="RW-AdaBatch, actions",
            variant=f"amplified by batches of random size, adversary {adversary}",
            code="dpol.noise.privatize, RWAdaBatch.step",
            inputs=f"2 experts, {len(gains):,} rounds; all gains of round {_BEFORE + 1:,} change;"
            f" from round {_QUIET + 1:,} on, an expert that does not lead (oblivious: in another"
            " run) gains 1",
            adjacency=made.adjacency,
            unit=made.unit,
            requested=_EPSILON,
            recorded=_EPSILON,
            covered=adversary == "oblivious",
        )
        # Leaders before the secret round show the lead at its start.
        around = [actions[:, _BEFORE - _AFTER :].astype(float) for actions in played]
        event = f"an event of the leaders from {_AFTER} rounds before it to {_AFTER} after"
        statistics = [with_fitted_direction(*around)]
        yield by_event(subject, event, statistics, parameter="epsilon", delta=delta)


def play_against(
    noisy: NoisyGains, generators: ReplicateGenerators, leaders: Actions | None = None
) -> Actions:
    """Play a game in which the expert that does not lead gains 1, and return the actions (R, T).

    Args:
        noisy: noisy gains of two experts, to which the adversary's gains are added.
        generators: the algorithm's own randomness.
        leaders: (R, T) leaders that the adversary assumes; None if it sees the leaders of the game.
    """
    setup = setup_of(noisy)
    state, seen = REACTED_TO.init(setup), None
    actions = np.empty((noisy.n_replicates, noisy.n_rounds), dtype=np.int32)
    for t in range(noisy.n_rounds):
        state, actions[:, t] = REACTED_TO.step(state, seen, generators)
        gains = noisy.gains[:, t]
        if t >= _QUIET and t != _BEFORE:
            leader = (actions if leaders is None else leaders)[:, t]
            gains = gains + (leader[:, None] != np.arange(2))
        seen = Observation(gains, noisy.noise_scale[t])
    return actions


def _read_sums(noisy: NoisyGains, generators: ReplicateGenerators) -> tuple[Floats, list[Floats]]:
    """Play a game, and return its actions (R, T) and the sums that its first two batches read.

    These are (N, n): the sum of gains that the batch adds, divided by the square root of its
    recorded size, for the N replicates that read it before the game ends.
    """
    played = list(rounds(ALGORITHM, noisy, generators))
    # In round t, counted from 0, the sum holds z_0 and t rounds.
    cumulative = np.stack([state.cumulative for state, _ in played], axis=1)
    recorded = np.stack([state.planned for state, _ in played], axis=1)
    ends = np.stack([state.left == 0 for state, _ in played], axis=1)
    batch = ends.cumsum(axis=1) - ends  # number of the batch of each round
    starts = [(batch == number).argmax(axis=1) for number in range(3)]
    reads = []
    for number in range(2):
        rows = np.flatnonzero(batch[:, -1] > number)
        start, following = starts[number][rows], starts[number + 1][rows]
        added = cumulative[rows, following] - cumulative[rows, start]
        reads.append(added / np.sqrt(recorded[rows, start])[:, None])
    return np.stack([chosen for _, chosen in played], axis=1).astype(float), reads
