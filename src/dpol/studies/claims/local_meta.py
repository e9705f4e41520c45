"""Checks of Theorem 3 of the same paper as `local_experts`: the regret of RW-Meta."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dpol.core.randomness import Floats, replicate_generators
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import MetaState, RWMeta, shared_noise
from dpol.experts.play import rounds
from dpol.noise import NoisyGains, privatize
from dpol.show.papers import EXPERTS
from dpol.studies.batching.study import NOISE, synthetic_stream
from dpol.studies.claims.core import CONFIDENCE, Claim, Row, generator, mean_interval


@dataclass(frozen=True)
class ConstantBank(LearnerBank[int]):
    """Two learners who see nothing: each always takes its own one of two actions."""

    labels: ClassVar[tuple[str, ...]] = ("zero", "one")

    def init(self, setup: LocalSetup) -> int:
        return setup.n_replicates

    def step(self, state: int, observation: Observation | None) -> tuple[int, Actions]:
        return state, np.tile(np.arange(2, dtype=np.int32), (state, 1))


@dataclass(frozen=True)
class TurncoatBank(LearnerBank[tuple[Floats, Actions]]):
    """Two learners who see the noise: who leads by noisy gains takes action 1, the other 0."""

    labels: ClassVar[tuple[str, ...]] = ("one", "two")

    def init(self, setup: LocalSetup) -> tuple[Floats, Actions]:
        shape = (setup.n_replicates, 2)
        return np.zeros(shape), np.zeros(shape, dtype=np.int32)

    def step(
        self, state: tuple[Floats, Actions], observation: Observation | None
    ) -> tuple[Any, Actions]:
        gains, actions = state
        if observation is not None:
            gains = gains + np.take_along_axis(observation.gains, actions, axis=1)
        actions = (np.arange(2) == gains.argmax(axis=1)[:, None]).astype(np.int32)
        return (gains, actions), actions


@dataclass(frozen=True)
class MetaRun:
    """(R,) regrets against the best learner, the bounds of Theorem 3, regrets of a random one."""

    regret: Floats
    bound: Floats
    random: Floats


def play_meta(algorithm: RWMeta, noisy: NoisyGains, raw: Floats, seed: int, label: str) -> MetaRun:
    """Play RW-Meta and follow what Theorem 3 depends on."""
    replicates = range(noisy.n_replicates)
    generators = replicate_generators(seed, ("claims", label), replicates, "RW-Meta")
    own: Floats = np.zeros(noisy.n_replicates)
    learners: Floats = np.zeros((noisy.n_replicates, algorithm.n_learners))
    largest: Floats = np.zeros(noisy.n_replicates)
    state: MetaState
    for t, (state, chosen) in enumerate(rounds(algorithm, noisy, generators)):
        own += raw[t, chosen]
        learners += raw[t, state.actions]
        covariance = state.covariance + shared_noise(state.actions, noisy.noise_scale[t])
        centred = covariance - covariance.mean(axis=(1, 2))[:, None, None]
        largest = np.maximum(largest, np.linalg.eigvalsh(centred)[:, -1])
    T = noisy.n_rounds
    eta = np.sqrt(np.maximum(largest, 0.0) / T)
    factor = np.maximum(math.sqrt(2), eta) + math.sqrt(2)
    bound = factor * math.sqrt(2 * T * math.log(algorithm.n_learners))
    best = learners.max(axis=1)
    return MetaRun(best - own, bound, best - learners.mean(axis=1))


def meta_of_two(
    seed: int, bank: LearnerBank[Any] = TurncoatBank(), replicates: int = 50
) -> Iterator[Claim]:
    """Two learners on gains (1, 0) in every round, noise scale 2, T = 1,000."""
    raw = np.tile([1.0, 0.0], (1000, 1))
    stream = synthetic_stream(f"claims: {type(bank).__name__}", raw)
    mu = math.sqrt(2) / 2
    noisy = privatize(stream, NOISE, mu, seed=seed, replicates=range(replicates))
    algorithm = RWMeta(learners=(bank,))
    run = play_meta(algorithm, noisy, raw, seed, type(bank).__name__)
    sees = not isinstance(bank, ConstantBank)
    claim = _claim(run, "learners that see the noisy gains" if sees else "independent learners")
    yield replace(
        claim,
        computed=f"{replicates} runs, n = m = 2, T = 1,000, gains (1, 0), η = 2"
        + (": the learner who leads takes the bad action" if sees else ": constant learners"),
        witness=f"n = m = 2, gains (1, 0), η = 2, T = 1,000; the learner who leads by noisy gains"
        f" plays action 1, the other one action 0: mean regret {run.regret.mean():.0f},"
        f" bound {run.bound.mean():.0f}",
    )


def meta_of_constant_learners(seed: int) -> Iterator[Claim]:
    """The same game with learners who are independent of the noise, as the proof needs them."""
    return meta_of_two(seed, ConstantBank())


def meta_of_ridge_learners(seed: int, mu: float = 0.5) -> Iterator[Claim]:
    """The paper's thirteen learners on gains that drift."""
    rng = generator(seed, "drifting gains")
    T, n, replicates = 150, 12, 50
    phase = 2 * math.pi * (np.arange(T)[:, None] / 60 + rng.random(n))
    raw = 0.5 + 0.4 * np.sin(phase) + rng.uniform(-0.1, 0.1, (T, n))
    stream = synthetic_stream("claims: drifting gains", raw)
    noisy = privatize(stream, NOISE, mu, seed=seed, replicates=range(replicates))
    algorithm = RWMeta(learners=(RidgeBank(), LeaderBank()))
    run = play_meta(algorithm, noisy, raw, seed, "ridge")
    yield replace(
        _claim(run, "the thirteen learners of section 4"),
        computed=f"{replicates} runs on one drifting stream, n = {n}, T = {T}, μ = {mu:g}",
        witness=f"mean regret {run.regret.mean():.1f}, bound {run.bound.mean():.1f}",
        note=f"following a random learner has regret {run.random.mean():.1f}; the proof does not"
        " cover learners that see the noise",
    )


def _claim(run: MetaRun, whom: str) -> Claim:
    return Claim(
        EXPERTS,
        "Theorem 3",
        f"RW-Meta's expected regret against the best learner is within the bound: {whom}",
        "",
        claimed=float(run.bound.mean()),
        relation="<=",
        measured=float(run.regret.mean()),
        trivial=float(run.random.mean()),
        interval=mean_interval(run.regret),
        confidence=CONFIDENCE,
    )


ROWS: tuple[Row, ...] = (meta_of_two, meta_of_constant_learners, meta_of_ridge_learners)
