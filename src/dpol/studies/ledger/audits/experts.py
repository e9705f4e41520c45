"""Audits of noise on gains, nodes of a tree and sums of a matrix mechanism, and of RW-AdaBatch.

Those of noise play two streams with one person at either of two hospitals, as `dpol check` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from dpol.core.randomness import Floats, SeedKey, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import largest_changes, synthetic_stream
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, guarantee_of, play_rounds, rounds
from dpol.experts.released_sums import ReleasedSums
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import CAPACITY, ISOTROPIC, MEMORY, NOISES, NoisyGains, privatize
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.tree_noise import tree_nodes
from dpol.studies.ledger.audits.actions import Setting
from dpol.studies.ledger.audits.core import (
    Audit,
    Subject,
    by_event,
    combinations,
    gaussian_audits,
    replicates_of,
)
from dpol.studies.ledger.audits.settings import MU, Audits
from dpol.studies.paper1.batching.compute import analytic_mixture, noisy_game

FIRST, LAST = 0, 5
"""One person moves between these two of six hospitals."""
BEDS = "audit: beds", [[2, 2, 2, 2, 4, 2]] * 5, 2.0
"""Five rounds of six hospitals. One is larger than the others, so that the noises differ."""
CURATORS: tuple[tuple[TreeFTPL | ReleasedSums, str, str], ...] = (
    (TreeFTPL(), "prefix sums", ISOTROPIC.name),
    (MatrixFTPL(decay=0.8), "decayed sums", CAPACITY.name),
    (NoisyMax(window=3), "fresh window sums", CAPACITY.name),
)
"""Curators that release sums: the algorithm, the sums, and the noise."""


def audit_noises(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit every noise, and what curators release; some also for stays of three rounds."""
    for name in NOISES:
        yield from audit_noise(settings, seed, name)
    for algorithm, sums, noise_of_sums in CURATORS:
        yield from audit_curator(settings, seed, algorithm, sums, noise_of_sums)
    for noise in (CAPACITY, MEMORY):
        yield from audit_noise(settings, seed, noise.name, stay=3)
    for curator in (TreeFTPL(), MatrixFTPL()):
        yield from audit_curator(settings, seed, curator, stay=3)


# ---- noise on gains ------------------------------------------------------------------------------


def audit_noise(settings: Audits, seed: int, noise: str, stay: int = 1) -> Iterator[Audit]:
    """Audit all that a local algorithm is given: z_0 and the noisy gains of every round.

    The event separates two streams that differ in one person. The covariance comes from the same
    runs. Its changes are all moves of one person between two hospitals, or in or out of one, in
    any round, or in all rounds of any stay.
    """
    # Chains are made for any length, so they have noise to spare in a short game.
    setting = hospitals(noise, stay, 1 if NOISES[noise].memory == "none" else 3)
    one, other = streams = setting.streams()
    noisy = [
        privatize(stream, noise, MU, seed=seed, replicates=replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    made, code = noisy[0].guarantee, "dpol.noise.privatize"
    z_0 = (1, 0)  # No change moves it.
    yield from gaussian_audits(
        subject_of("Gaussian noise on gains", noise, code, one, made),
        [np.concatenate([each.initial[:, None], each.gains], axis=1) for each in noisy],
        direction=np.pad(_matched(noisy[0], other.gains - one.gains), (z_0, (0, 0))),
        changes=np.pad(changes_of(one), ((0, 0), z_0, (0, 0))),
    )


def _matched(noisy: NoisyGains, moved: Floats) -> Floats:
    """Return the weights (T, n) that detect a move best, given the correlation of the noise."""
    if noisy.memory is None or noisy.fresh_scale is None:
        return moved
    draws = np.repeat(np.eye(len(moved))[:, :, None], moved.shape[1], axis=2)
    noise = noisy.memory.noise(draws) * noisy.fresh_scale[:, None]
    matrices = noise.transpose(2, 0, 1)
    precision = np.linalg.pinv(matrices @ matrices.transpose(0, 2, 1), hermitian=True)
    return np.asarray((precision @ moved.T[:, :, None])[:, :, 0].T)


def hospitals(noise: str, stay: int = 1, times: int = 1) -> Setting:
    """Make three rounds of six hospitals, and the same with one person moved in the first ones.

    Each hospital is one of the two smallest in one of the rounds, so that none has noise to spare
    in all of them. The rounds' capacities are repeated `times` times.
    """
    capacity = [[4, 8, 10, 12, 16, 4], [8, 4, 12, 16, 4, 10], [10, 12, 4, 4, 8, 16]] * times
    return one_moved("audit: hospitals", capacity, 4.0, noise, stay)


# ---- sums that a curator releases ----------------------------------------------------------------


def audit_curator(
    settings: Audits,
    seed: int,
    algorithm: TreeFTPL | ReleasedSums,
    sums: str = "prefix sums",
    noise: str = CAPACITY.name,
    stay: int = 1,
) -> Iterator[Audit]:
    """Audit the sums that a curator releases, on two streams that differ in one person.

    The person moves in the first round, which enters as many nodes of a tree as any other. Sums are
    read from the algorithm's state. The event may also be about the actions, which follow from the
    sums and fresh noise.

    Args:
        settings: settings of the study.
        seed: root of all randomness.
        algorithm: the algorithm that releases the sums.
        sums: name of the sums.
        noise: name of the noise on the sums.
        stay: number of rounds that the person stays.
    """
    one, other = streams = one_moved(*BEDS, noise, stay).streams()
    if isinstance(algorithm, TreeFTPL):
        mechanism, variant = f"tree-aggregated {sums}", f"{algorithm.objective}, {noise}"
        matrix, purpose = tree_nodes(one.n_rounds), f"algorithm tree {variant}"
        key: SeedKey = one.label, MU
    else:
        mechanism, variant = "factorised sums", f"{sums}, {noise}"
        matrix = algorithm.factorization(one.n_rounds).workload[:-1]
        purpose = f"algorithm {variant}"
        key = "audit: sums", one.label, MU
    released, lead = [], []
    for stream, numbers in zip(streams, replicates_of(settings), strict=True):
        source = RawGains(stream, MU, numbers, noise=noise)
        generators = replicate_generators(seed, key, numbers, purpose)
        states, actions = zip(*rounds(algorithm, source, generators), strict=True)
        if isinstance(algorithm, TreeFTPL):
            noisy = [state.prefix + sum(state.nodes.values()) for state in states]
            # The node that each round closes, from the sums of its open nodes.
            outputs = [noisy[t] - noisy[t & (t - 1)] for t in range(1, len(noisy))]
        else:
            outputs = [state.released for state in states[1:]]
        released.append(np.stack(outputs, axis=1))
        chosen = np.stack(actions, axis=1)
        lead.append((chosen == LAST).sum(axis=1) - (chosen == FIRST).sum(axis=1))
    code, made = f"{type(algorithm).__name__}.step", guarantee_of(algorithm, source)
    yield from gaussian_audits(
        subject_of(mechanism, variant, code, one, made),
        released,
        direction=matrix @ (other.gains - one.gains),
        changes=matrix @ changes_of(one),
        actions=lead,
    )


# ---- actions of RW-AdaBatch ----------------------------------------------------------------------

ALGORITHM = RWAdaBatch(alpha=3.0)
"""RW-AdaBatch with a tolerance that makes the size of its first batch certain."""
_EXPERTS, _ROUNDS = 6, 40


def audit_adabatch(settings: Audits, seed: int) -> Iterator[Audit]:
    """Audit RW-AdaBatch on gains that are zero except in the first round.

    By the analytic bound the first batch holds B rounds, whatever the noise. With noise at
    mu sqrt(B) in every round, mu is claimed for the actions of the whole game. An algorithm that
    acts within a batch, or plays a shorter one, reveals more. The second batch depends on the gap.
    """
    mixture = analytic_mixture(ALGORITHM, (_ROUNDS, _EXPERTS), 1.0, 1)
    size = int(mixture.sizes[mixture.weights.argmax()])
    halves = []  # rounds in which one half of the experts leads
    one, other = np.zeros((2, _ROUNDS, _EXPERTS))
    one[0, : _EXPERTS // 2], other[0, _EXPERTS // 2 :] = 1.0, 1.0
    for gains, replicates in zip((one, other), replicates_of(settings), strict=True):
        stream = synthetic_stream("audit: vectors", gains)
        noisy, unused = noisy_game(stream, MU * math.sqrt(size), seed, replicates)
        actions = play_rounds(ALGORITHM, noisy, unused)
        halves.append((actions >= _EXPERTS // 2).astype(float))
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
    event = "an event of the rounds in which one half of the experts lead"
    yield by_event(subject, event, [combinations(halves, np.ones(_ROUNDS))])


# ---- shared parts --------------------------------------------------------------------------------


def one_moved(
    label: str, capacity: list[list[int]], persons: float, noise: str, stay: int
) -> Setting:
    """Make rounds of six hospitals, and the same with one person moved in the first `stay` rounds.

    The move is the largest change that one person can cause, whatever the noise.
    """
    beds = np.array(capacity, dtype=float)
    gains = np.full(beds.shape, 0.5)
    gains[:stay, [FIRST, LAST]] -= persons / beds[:stay, [FIRST, LAST]] / 2
    periods = np.datetime64("2000-01-01") + np.arange(len(gains))
    stream = GainStream(
        label=label if stay == 1 else f"{label}, stays of {stay}",
        gains=gains,
        capacity=beds,
        entities=tuple("abcdef"),
        periods=periods,
        count_sensitivity=persons,
        stay=stay,
    )
    at = tuple(range(stay))
    return Setting(stream=stream, mu=MU, noise=noise, rounds=at, experts=(FIRST, LAST))


def changes_of(stream: GainStream) -> Floats:
    """Return the changes (k, T, n) of the gains when one person moves, arrives or departs.

    The person does so in each round, or in all rounds of each stay.
    """
    one, sizes = np.eye(stream.n_experts), largest_changes(stream)
    first, second = np.triu_indices(stream.n_experts, k=1)
    moves = np.concatenate([one, one[first] - one[second]])
    t, starts = np.arange(stream.n_rounds)[:, None], range(stream.n_rounds - stream.stay + 1)
    stays = [sizes * ((start <= t) & (t < start + stream.stay)) for start in starts]
    return np.concatenate([moves[:, None] * moved for moved in stays])


def subject_of(
    mechanism: str, variant: str, code: str, stream: GainStream, made: Guarantee
) -> Subject:
    """Return the subject of an audit on the streams of `one_moved`."""
    when = "round 1" if stream.stay == 1 else f"rounds 1 to {stream.stay}"
    return Subject(
        mechanism=mechanism,
        variant=variant if stream.stay == 1 else f"{variant}, stays of {stream.stay} rounds",
        code=code,
        inputs=f"6 hospitals, {stream.n_rounds} rounds; one person moves from the first to the"
        f" last in {when}",
        adjacency=made.adjacency,
        unit=made.unit,
        requested=MU,
        recorded=made.mu,
    )
