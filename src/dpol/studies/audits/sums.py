"""Audits of the matrix mechanism: sums that a curator releases, and hospitals by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.experts.matrix_discounted import MatrixDiscounted
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, guarantee_of, rounds, setup_of
from dpol.experts.released_sums import ReleasedSums
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import CAPACITY, CENTRAL_NOISES, MEMORY, SUMS
from dpol.privacy.matrix_mechanism import Silo
from dpol.studies.audits.core import Audited, gaussian_audits, replicates_of
from dpol.studies.audits.experts import (
    BEDS,
    FIRST,
    LAST,
    audit_noise,
    audit_tree,
    changes_of,
    one_moved,
    subject_of,
)
from dpol.studies.audits.settings import Audits

_OTHERS: Mapping[str, ReleasedSums] = {
    "decayed sums": MatrixDiscounted(decay=0.8),
    "fresh window sums": NoisyMax(window=3),
}


def audit_sums(settings: Audits, seed: int) -> Iterator[Audited]:
    """All factorisations, prefix sums with both noises, and prefix sums without a curator."""
    for noise in CENTRAL_NOISES:
        yield from audit_released(settings, seed, MatrixFTPL(), "prefix sums", noise)
    for name, algorithm in _OTHERS.items():
        yield from audit_released(settings, seed, algorithm, name)
    yield from audit_silos(settings, seed, MatrixFTPL())


def audit_stays(settings: Audits, seed: int) -> Iterator[Audited]:
    """Audits of stays of three rounds: local noise, a tree, and factorised prefix sums."""
    for noise in (CAPACITY, MEMORY, SUMS):
        yield from audit_noise(settings, seed, noise.name, stay=3)
    yield from audit_tree(settings, seed, TreeFTPL(), CAPACITY.name, stay=3)
    yield from audit_released(settings, seed, MatrixFTPL(), stay=3)


def audit_released(
    settings: Audits,
    seed: int,
    algorithm: ReleasedSums,
    name: str = "prefix sums",
    noise: str = CAPACITY.name,
    stay: int = 1,
) -> Iterator[Audited]:
    """The sums that a curator releases and the actions, of two streams that differ in one person.

    Args:
        settings: of the study.
        seed: root of all randomness.
        algorithm: what releases the sums.
        name: of the sums.
        noise: how their noise is scaled.
        stay: how many rounds the person stays.
    """
    streams = one_moved(*BEDS, stay)
    sources = [RawGains(it, settings.mu, settings.runs, noise=noise) for it in streams]
    released, lead = [], []
    for source, replicates in zip(sources, replicates_of(settings), strict=True):
        key = ("audit: sums", streams[0].label, float(settings.mu))
        generators = replicate_generators(seed, key, replicates, f"algorithm {name}, {noise}")
        played = list(rounds(algorithm, source, generators))
        released.append(np.stack([state.released for state, _ in played[1:]], axis=1))
        actions = np.stack([chosen for _, chosen in played], axis=1)
        lead.append((actions == LAST).sum(axis=1) - (actions == FIRST).sum(axis=1))
    workload = algorithm.factorization(streams[0].n_rounds).workload[:-1]
    made, code = guarantee_of(algorithm, sources[0]), f"{type(algorithm).__name__}.step"
    subject = subject_of("factorised sums", f"{name}, {noise}", code, streams[0], made, settings)
    yield from gaussian_audits(
        subject,
        released,
        direction=workload @ (streams[1].gains - streams[0].gains),
        changes=workload @ changes_of(streams[0]),
        settings=settings,
        actions=lead,
    )


def audit_silos(settings: Audits, seed: int, algorithm: ReleasedSums) -> Iterator[Audited]:
    """Prefix sums that every hospital releases by itself, from its own gains and noise."""
    streams = one_moved(*BEDS)
    source = RawGains(streams[0], settings.mu, settings.runs, noise=CAPACITY.name)
    mechanism = algorithm.mechanism(setup_of(source))
    released = [
        _released_alone(mechanism.silos, stream, seed, replicates)
        for stream, replicates in zip(streams, replicates_of(settings), strict=True)
    ]
    made, code = guarantee_of(algorithm, source), "dpol.privacy.matrix_mechanism.Silo"
    variant = f"prefix sums without a curator, {CAPACITY.name}"
    yield from gaussian_audits(
        subject_of("factorised sums", variant, code, streams[0], made, settings),
        released,
        direction=mechanism.factorization.workload @ (streams[1].gains - streams[0].gains),
        changes=mechanism.factorization.workload @ changes_of(streams[0]),
        settings=settings,
    )


def _released_alone(
    silos: Sequence[Silo], stream: GainStream, seed: int, replicates: range
) -> Floats:
    """(R, T, n): what each hospital releases in each round."""
    generators = replicate_generators(seed, ("audit: silos",), replicates, "own noise")
    normals = generators.standard_normal(*stream.gains.shape)
    out = np.empty(normals.shape)
    for i, silo in enumerate(silos):
        for t, gain in enumerate(stream.gains[:, i]):
            silo, out[:, t, i] = silo.release(np.full(len(out), gain), normals[:, t, i])
    return out
