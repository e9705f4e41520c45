"""Algorithms: against plain implementations, and by how their time grows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from machine import Measured, cpu_seconds
from plain import adabatch_by_root_finding, plain_rw_meta

from dpol.core.randomness import replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.games import play
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import PENALTIES, WINDOWS, RidgeBank
from dpol.experts.meta import RWMeta, largest_eigenvalues
from dpol.experts.play import play_rounds
from dpol.experts.registry import make_members
from dpol.lazy.accounting import LazyGame
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.stochastic_losses import GapLosses
from dpol.lazy.transform import play_measure
from dpol.lazy.weights import WeightsMeasure
from dpol.noise import privatize
from dpol.studies.games.compute import play_suite
from dpol.studies.paper2.convex.compute import run
from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.study import Inputs

REPEATS = 5
N, WEEKS = 293, 148
"""Hospitals of California in the first paper, and its weeks."""
SUITE = "rw-ftpl", "rw-meta", "ridge", "random-effects"
"""RW-Meta, and all its learners alone."""
LONG_SUITE = "rw-meta", "rw-ftpl", "discounted-mean"
"""Algorithms that play many rounds."""
SLOWER = 4
"""Most times as long that a round may take in a long game, whose noise no cache holds."""
BANKS = {
    13: RidgeBank(),
    50: RidgeBank((4, 8, 12, 16, 24, 32, 64), {f"{k:.2f}": k for k in np.geomspace(0.1, 10, 7)}),
    200: RidgeBank(tuple(range(5, 60, 6)), {f"{k:.2f}": k for k in np.geomspace(0.1, 10, 20)}),
}
"""Ridge learners by the approximate number of learners, RW-FTPL included."""
SIZES: dict[str, tuple[tuple[int, int, int], ...]] = {
    "experts n": tuple((n, WEEKS, 16) for n in (625, 1_250, 2_500, 5_000)),
    "rounds T": tuple((625, T, 16) for T in (148, 296, 592, 1_184)),
    "replicates R": tuple((625, WEEKS, R) for R in (24, 48, 96, 192)),
}
"""(n, T, R) of every point; one of them doubles."""
LINEAR = 1.05
"""Largest slope of log time against log size that counts as linear."""


def simulated(n: int, n_rounds: int) -> GainStream:
    """Return waves shared by hospitals of different level and size."""
    rng = np.random.default_rng(1)
    wave = 0.5 + 0.5 * np.sin(np.arange(n_rounds)[:, None] / 9 + rng.uniform(0, 2, n))
    noise = rng.normal(0, 0.02, size=(n_rounds, n))
    return GainStream(
        label="country",
        gains=np.clip(rng.beta(2, 18, n) * (0.5 + wave) + noise, 0, 1),
        capacity=np.tile(rng.lognormal(4.5, 0.8, n) + 5, (n_rounds, 1)),
        periods=np.datetime64("2020-08-07") + 7 * np.arange(n_rounds),
    )


def slope(of: str, sizes: Sequence[int], works: Sequence[Callable[[], Any]]) -> Measured:
    """Measure the slope of log processor time against log size: 1 where time is linear."""
    # Size by size in turn, so that a slow spell of the machine hits all of them.
    times = np.min([[cpu_seconds(work, 1) for work in works] for _ in range(2)], axis=0)
    found = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return Measured(f"slope in {of}", found, most=LINEAR)


def time_meta(n: int = N, replicates: int = 100) -> list[Measured]:
    """Measure RW-Meta, a plain implementation, and the drawing of the noise alone."""
    stream, found = simulated(n, WEEKS), list[Measured]()
    for mu in (math.inf, 1.0, 0.25):
        one = privatize(stream, "isotropic", mu, seed=1, replicates=[0])

        def noise_alone() -> None:
            for replicate in range(replicates):
                rng = np.random.default_rng(replicate)
                rng.standard_normal((stream.n_rounds + 1, stream.n_experts))

        def ours(mu: float = mu) -> None:
            noisy = privatize(stream, "isotropic", mu, seed=1, replicates=range(replicates))
            own = replicate_generators(1, ("bench",), range(replicates), "own")
            play_rounds(RWMeta(), noisy, own)

        def plain(rng: np.random.Generator | None, one: Any = one) -> np.ndarray:
            game = stream, one.noise_scale, one.gains[0], one.initial[0]
            return plain_rw_meta(*game, WINDOWS, tuple(PENALTIES.values()), 2.0, rng)[0]

        own = replicate_generators(1, ("bench",), [0], "own")
        without_fresh_noise = play_rounds(RWMeta(decorrelate=False), one, own)[0]
        assert (plain(None) == without_fresh_noise).all(), "the two play different games"
        times: dict[str, list[float]] = {"noise": [], "ours": [], "plain": []}
        for _ in range(REPEATS):
            times["noise"].append(cpu_seconds(noise_alone, 1) / replicates)
            times["ours"].append(cpu_seconds(ours, 1) / replicates)
            times["plain"].append(cpu_seconds(partial(plain, np.random.default_rng(0)), 1))
        noise, own_time, theirs = (statistics.median(each) for each in times.values())
        at = f", μ = {'∞' if mu == math.inf else f'{mu:g}'}"
        found += [
            Measured(f"a replicate and round{at}", 1e6 * own_time / stream.n_rounds, "μs"),
            Measured(f"over the drawing of the noise{at}", own_time / noise, most=5),
            Measured(f"a plain implementation over it{at}", theirs / own_time, least=1),
        ]
    return found


def time_adabatch(rounds: int = 20_000) -> list[Measured]:
    """Measure RW-AdaBatch against a root finder, and how its time grows, noise included."""
    n, mu, alpha, replicates = 100, 1.0, 0.1, range(4)

    def game(n_rounds: int, n_experts: int) -> None:
        stream = synthetic_stream("long", np.zeros((n_rounds, n_experts)))
        noisy = privatize(stream, "isotropic-constant", mu, seed=1, replicates=replicates)
        none = replicate_generators(1, ("bench",), replicates, "none")
        play_batches(RWAdaBatch(alpha), noisy, none)

    short = synthetic_stream("long", np.zeros((rounds // 10, n)))
    noisy = privatize(short, "isotropic-constant", mu, seed=1, replicates=range(20))
    none = replicate_generators(1, ("bench",), range(20), "none")
    ours = cpu_seconds(lambda: play_batches(RWAdaBatch(alpha), noisy, none)) / 20
    one = {"alpha": alpha, "eta": math.sqrt(n) / mu}
    plain = cpu_seconds(partial(adabatch_by_root_finding, noisy.gains[0], noisy.initial[0], **one))
    sizes = [k * rounds // 20 for k in (1, 2, 4, 8)]
    return [
        Measured("a root finder over it", plain / ours, least=1),
        slope("n", sizes, [partial(game, rounds // 40, size) for size in sizes]),
        slope("T", sizes, [partial(game, size, n) for size in sizes]),
    ]


def time_lazy(rounds: int = 100_000) -> list[Measured]:
    """Measure L2P with 20 replicates: experts at d = 300, and convex losses at d = 10."""
    numbers = range(20)
    found = choose_parameters(LazyGame(rounds, 1e-6), epsilon=4.0, n_experts=300)
    measure = WeightsMeasure(300, found.eta)

    def game(T: int) -> None:
        own = replicate_generators(1, ("b",), numbers, "x")
        play_measure(measure, found, GapLosses(T, 300, 0.1, 1), own)

    study = Convex(n_rounds=[rounds // 50], dimensions=[10], epsilons=[1.0], replicates=20)
    sizes = [rounds // k for k in (8, 4, 2, 1)]
    return [
        Measured(f"experts, T = {rounds:,}", cpu_seconds(partial(game, rounds), 1), "s"),
        slope("T", sizes, [partial(game, size) for size in sizes]),
        Measured(
            f"convex losses, T = {rounds // 50:,}, with competitors",
            cpu_seconds(partial(run, study, Inputs(seed=1)), 1),
            "s",
        ),
    ]


def time_learners(n: int = N) -> list[Measured]:
    """Measure RW-Meta at mu = 0.25 by its number of learners, and the eigenvalue step in it."""
    stream, found = simulated(n, WEEKS), list[Measured]()
    for m, bank in BANKS.items():
        algorithm, replicates = RWMeta(learners=(bank, LeaderBank())), range(100 if m < 200 else 20)
        noisy = privatize(stream, "isotropic", 0.25, seed=1, replicates=replicates)
        steps: list[float] = []

        def timed(star: np.ndarray, steps: list[float] = steps) -> np.ndarray:
            steps.append(cpu_seconds(partial(largest_eigenvalues, star), 1))
            return largest_eigenvalues(star)

        whole = cpu_seconds(partial(play, algorithm, noisy, label="rw-meta"), 1)
        with mock.patch("dpol.experts.meta.largest_eigenvalues", timed):
            play(algorithm, noisy, label="rw-meta")
        us = 1e6 * whole / noisy.gains[:, :, 0].size
        found.append(Measured(f"a replicate and round, m = {algorithm.n_learners}", us, "μs"))
        found.append(
            Measured(f"share of eigenvalues, m = {algorithm.n_learners}", sum(steps) / whole)
        )
    return found


def time_long(n: int = 300, rounds: int = 15_000) -> list[Measured]:
    """Measure a job that plays many rounds, and one that plays the paper's weeks."""
    found = []
    for name in LONG_SUITE:

        def of_round(n_rounds: int, replicates: int, name: str = name) -> float:
            stream, members = simulated(n, n_rounds), make_members(name)
            settings = {"noise": "isotropic", "mu": 0.25, "seed": 1}
            work = partial(play_suite, stream, members, replicates=range(replicates), **settings)
            return 1e6 * cpu_seconds(work, 1) / (n_rounds * replicates)

        long, short = of_round(rounds, 12), of_round(WEEKS, 100)
        found += [
            Measured(f"a replicate and round, {name}", long, "μs"),
            Measured(f"over that of {WEEKS} rounds, {name}", long / short, most=SLOWER),
        ]
    return found


def time_scaling() -> list[Measured]:
    """Measure how the time of a job that plays grows, without reading and writing."""
    members = [member for name in SUITE for member in make_members(name)]
    settings = {"noise": "capacity", "mu": 0.25, "seed": 1}
    found = []
    for axis, (name, points) in enumerate(SIZES.items()):
        works = [
            partial(play_suite, simulated(n, T), members, replicates=range(R), **settings)
            for n, T, R in points
        ]
        found.append(slope(name, [point[axis] for point in points], works))
    return found
