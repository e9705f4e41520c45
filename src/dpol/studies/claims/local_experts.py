"""Checks of "Prediction with Expert Advice under Local Differential Privacy": noise and regret."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import scipy

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import Actions, CuratorSetup, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import MetaState, RWMeta, shared_noise
from dpol.experts.play import play_rounds, rounds
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import noise_scale, privatize
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.batching.study import NOISE, noisy_game, synthetic_gains
from dpol.studies.claims.core import Finding, Findings, generator, of_mean, of_number

# ---- the local mechanism ---------------------------------------------------------------------


def local_noise(seed: int) -> Findings:
    """The Gaussian mechanism on gain vectors: what one person who moves can tell."""
    stream, mu = _hospitals(seed), 0.5
    for name in ("isotropic", "capacity"):
        shift = 1 / (stream.capacities_for("the claim") * noise_scale(stream, name, mu))
        # One person leaves hospital i for j: the two coordinates move by independent noises.
        moves = np.sqrt(shift[:, :, None] ** 2 + shift[:, None, :] ** 2)
        moves[:, np.eye(stream.n_experts, dtype=bool)] = 0.0
        largest = float(moves.max())
        facts = {"moves": moves.size, "n": stream.n_experts, "T": stream.n_rounds, "shift": largest}
        yield of_number(f"{name}-noise", mu, _mu_of_shift(largest), facts=facts)


def _hospitals(seed: int) -> GainStream:
    rng = generator(seed, "hospitals")
    capacity = rng.integers(5, 100, (20, 24)).astype(float)
    capacity[0, :2] = 4.0  # two smallest ones of the same size: the worst move
    names = tuple(f"hospital {i}" for i in range(24))
    periods = np.datetime64("2000-01-01") + np.arange(20)
    gains = rng.random(capacity.shape)
    return GainStream("claims: hospitals", gains, capacity, names, periods)


def _mu_of_shift(shift: float, epsilon: float = 0.5) -> float:
    """mu of the delta at which N(0, 1) and N(shift, 1) are (epsilon, delta)-close, integrated."""
    z = np.linspace(-10.0, 10.0 + shift, 200_001)
    excess = np.exp(-((z - shift) ** 2) / 2) - np.exp(epsilon - z**2 / 2)
    delta = float(np.maximum(excess, 0).sum() * (z[1] - z[0]) / math.sqrt(2 * math.pi))
    return mu_of_epsilon(epsilon, delta)


# ---- regret ----------------------------------------------------------------------------------

_ROUNDS, _REPLICATES, _ALPHA = 1000, 100, 4.0


def regrets(seed: int) -> Findings:
    """Regret of RW-FTPL and RW-AdaBatch, and what batching adds, against random experts."""
    for n in (2, 10):
        for (label, gains), mu in itertools.product(game_streams(seed, n).items(), (0.5, 1.0)):
            eta = math.sqrt(n) / mu
            bound = (eta + 2 / eta) * math.sqrt(2 * _ROUNDS * math.log(n))
            own, other = _regrets(seed, label, gains, mu)
            random = float(gains.sum(axis=0).max() - gains.sum(axis=0).mean())
            facts = {"R": _REPLICATES, "T": _ROUNDS, "alpha": _ALPHA}
            for name, factor, sample, trivial in (
                ("ftpl", 1.0, own, random),
                ("adabatch", 1 + _ALPHA / 2, other, random),
                ("batches", _ALPHA / 2, other - own, random - float(own.mean())),
            ):
                case = f"{label}, n = {n}, η = {eta:.3g}; a random expert has {trivial:.0f}"
                of_name = f"regret-of-{name}"
                yield of_mean(
                    of_name, factor * bound, sample, 16, case=case, facts=facts, trivial=trivial
                )


@lru_cache(maxsize=2)
def game_streams(seed: int, n: int) -> dict[str, Floats]:
    """Adversarial and random gains (T, n)."""
    rng = generator(seed, "gains", n)
    adversarial = synthetic_gains(_ROUNDS, n)
    return {
        "one good expert": adversarial["one-good-expert"],
        "two that alternate": adversarial["two-rivals"],
        "fair coins": (rng.random((_ROUNDS, n)) < 0.5).astype(float),
        "uniform with a gap": 0.8 * rng.random((_ROUNDS, n)) + np.where(np.arange(n) == 0, 0.2, 0),
    }


def _regrets(seed: int, label: str, gains: Floats, mu: float) -> tuple[Floats, Floats]:
    """Regrets (R,) of RW-FTPL and RW-AdaBatch on the same noisy gains."""
    stream = synthetic_stream(f"claims: {label}, n = {gains.shape[1]}", gains)
    game = noisy_game(stream, mu, seed, range(_REPLICATES))
    time, best = np.arange(len(gains)), gains.sum(axis=0).max()
    plain = play_rounds(RandomWalkFTPL(), *game)
    batched, _ = play_batches(RWAdaBatch(_ALPHA), *game)
    return best - gains[time, plain].sum(axis=1), best - gains[time, batched].sum(axis=1)


def expected_maximum(_: int) -> Findings:
    """The mean of the largest of N standard normals."""
    z = np.linspace(-12.0, 12.0, 24_001)
    for N in (2, 3, 10, 100, 10**4, 10**6):
        below = np.exp(N * scipy.special.log_ndtr(z))
        mean = float(((z > 0) - below).sum() * (z[1] - z[0]))
        yield of_number("expected-maximum", math.sqrt(2 * math.log(N)), mean, f"N = {N:,}")


# ---- the central baseline --------------------------------------------------------------------


def tree(_: int) -> Findings:
    """The binary tree: what one round can tell by all nodes that it enters."""
    mu, sensitivity = 0.5, math.sqrt(2.0)
    for T in (2, 3, 5, 8, 9, 100, 148, 500):
        setup = CuratorSetup(1, T, 2, 1.0, sensitivity, 1.0, mu)
        scale = TreeFTPL("min-noise").init(setup).node_scale
        entered = np.zeros(T + 1, dtype=int)
        for t in range(1, T):  # the node that round t closes
            entered[t - (t & -t) + 1 : t + 1] += 1
        measured = sensitivity * math.sqrt(entered.max()) / scale
        yield of_number("tree-noise", mu, measured, f"T = {T}", facts={"nodes": entered.max()})


# ---- RW-Meta: Theorem 3 ----------------------------------------------------------------------

_RUNS = 50


@dataclass(frozen=True)
class TurncoatBank(LearnerBank[tuple[Floats, Actions]]):
    """Two learners: who leads by noisy gains takes action 1, the other 0.

    Args:
        blind: whether they see nothing, so that the second one leads for ever.
    """

    blind: bool = False
    labels: ClassVar[tuple[str, ...]] = ("one", "two")

    def init(self, setup: LocalSetup) -> tuple[Floats, Actions]:
        gains = np.tile((0.0, float(self.blind)), (setup.n_replicates, 1))
        return gains, np.zeros(gains.shape, dtype=np.int32)

    def step(
        self, state: tuple[Floats, Actions], observation: Observation | None
    ) -> tuple[Any, Actions]:
        gains, actions = state
        if observation is not None and not self.blind:
            gains = gains + np.take_along_axis(observation.gains, actions, axis=1)
        actions = (np.arange(2) == gains.argmax(axis=1)[:, None]).astype(np.int32)
        return (gains, actions), actions


def _play(
    name: str,
    algorithm: RWMeta,
    raw: Floats,
    mu: float,
    seed: int,
    *,
    stream: str,
    learners_are: str,
) -> Finding:
    """Play RW-Meta on gains (T, n) and follow what the bound of Theorem 3 depends on."""
    T, n = raw.shape
    made = synthetic_stream(f"claims: {stream}", raw)
    noisy = privatize(made, NOISE, mu, seed=seed, replicates=range(_RUNS))
    generators = replicate_generators(seed, ("claims", learners_are), range(_RUNS), "RW-Meta")
    own, largest = np.zeros((2, _RUNS))
    learners = np.zeros((_RUNS, algorithm.n_learners))
    state: MetaState
    for t, (state, chosen) in enumerate(rounds(algorithm, noisy, generators)):
        own += raw[t, chosen]
        learners += raw[t, state.actions]
        covariance = state.covariance + shared_noise(state.actions, noisy.noise_scale[t])
        centred = covariance - covariance.mean(axis=(1, 2))[:, None, None]
        largest = np.maximum(largest, np.linalg.eigvalsh(centred)[:, -1])
    eta = np.sqrt(np.maximum(largest, 0.0) / T)
    factor = np.maximum(math.sqrt(2), eta) + math.sqrt(2)
    bound = factor * math.sqrt(2 * T * math.log(algorithm.n_learners))
    best = learners.max(axis=1)
    # Without learning: who follows a random learner.
    random = float((best - learners.mean(axis=1)).mean())
    facts = {"R": _RUNS, "T": T, "n": n, "mu": mu, "random": random}
    return of_mean(name, float(bound.mean()), best - own, trivial=random, facts=facts)


def meta_of_two(seed: int) -> Findings:
    """Two learners on gains (1, 0) in every round, noise scale 2: they see the noise, or do not.

    The proof needs learners who are independent of the noise.
    """
    raw, mu = np.tile([1.0, 0.0], (1000, 1)), math.sqrt(2) / 2
    for name, blind, bank in (
        ("meta-of-turncoats", False, "TurncoatBank"),
        ("meta-of-constants", True, "ConstantBank"),
    ):
        algorithm = RWMeta(learners=(TurncoatBank(blind),))
        yield _play(name, algorithm, raw, mu, seed, stream=bank, learners_are=bank)


def meta_of_thirteen(seed: int) -> Findings:
    """The paper's thirteen learners on gains that drift."""
    rng, T, n = generator(seed, "drifting gains"), 150, 12
    phase = 2 * math.pi * (np.arange(T)[:, None] / 60 + rng.random(n))
    raw = 0.5 + 0.4 * np.sin(phase) + rng.uniform(-0.1, 0.1, (T, n))
    algorithm = RWMeta(learners=(RidgeBank(), LeaderBank()))
    name, stream = "meta-of-thirteen", "drifting gains"
    yield _play(name, algorithm, raw, 0.5, seed, stream=stream, learners_are="ridge")
