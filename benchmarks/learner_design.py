"""Search on simulated streams that set the defaults of our learners.

Each row is a candidate; each number its mean gain as a share of what the best expert of every
round would have gained, a mean over streams and replicates, at mu = inf, 1, 0.5, 0.25, 0.15, 0.1.
Three kinds of streams: weeks of the package's simulator; streams of eight other processes,
which break the assumptions in their own ways; and the simulator's with gains a tenth as large,
for data on another scale. Run: python benchmarks/learner_design.py (about a minute).
"""

from __future__ import annotations

import dataclasses
import datetime
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dpol.config.experiment import load_experiment
from dpol.core.randomness import Floats, replicate_generators
from dpol.data.cleaning import clean_panel
from dpol.data.settings import Stream
from dpol.data.simulator import simulate_hospitals
from dpol.data.stream import GainStream, build_stream
from dpol.data.table import read_table
from dpol.experts.interface import AnyAlgorithm
from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank
from dpol.experts.learners.joined import LearnerAlone
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.learners.state_space import MODELS, StateSpaceModel
from dpol.experts.meta import RWMeta
from dpol.experts.play import play_rounds
from dpol.noise import privatize

DEMO = Path(__file__).parents[1] / "config" / "demo.yaml"
MUS = (math.inf, 1.0, 0.5, 0.25, 0.15, 0.1)
SIZES = {"A": 12, "B": 24, "C": 33, "E": 60, "F": 150, "G": 300, "H": 33, "I": 100}
SLICES = {"67 weeks": (25, 92), "20 weeks": (65, 85)}
SHAPES = ((10, 60), (30, 67), (150, 67), (300, 120), (40, 20))


def simulated(seeds: tuple[int, ...], weeks: slice) -> Iterator[GainStream]:
    """Cleaned streams of the package's simulator, cut to some weeks."""
    dataset = load_experiment(DEMO).config.dataset
    streams = {label: Stream(groups=[label]) for label in SIZES}
    for seed in seeds:
        table = simulate_hospitals(SIZES, 148, datetime.date(2020, 8, 7), seed)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "table.csv"
            table.to_csv(path, index=False)
            raw = read_table(path, dataset.columns.needed())
        panel = clean_panel(raw, dataset, streams)
        for label in SIZES:
            whole = build_stream(panel.table, label, 1.0, {})
            yield dataclasses.replace(
                whole,
                gains=whole.gains[weeks],
                capacity=whole.capacity[weeks],
                periods=whole.periods[weeks],
                label=f"{label}{seed}",
            )


def wave(rounds: int, rng: np.random.Generator) -> Floats:
    """A level with a few waves, exponential up and down."""
    level = np.full(rounds, 0.02)
    for _ in range(max(1, rounds // 25)):
        after = np.arange(rounds) - rng.uniform(0, rounds)
        height, up, down = rng.uniform(0.05, 0.25), rng.uniform(2, 5), rng.uniform(2, 5)
        level += height * np.where(after < 0, np.exp(after / up), np.exp(-after / down))
    return level


def walk(rng: np.random.Generator, shape: tuple[int, int], scale: float | Floats) -> Floats:
    return np.asarray(np.cumsum(scale * rng.standard_normal(shape), axis=0))


Process = Callable[[np.random.Generator, Floats, Floats], Floats]


def _additive(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    shape = (len(level), len(beds))
    own = 0.03 * rng.standard_normal(len(beds))
    return np.abs(level + own + walk(rng, shape, 0.008 * volatility(beds)))


def _slow_shares(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    own = 0.5 * rng.standard_normal(len(beds))
    return level * np.exp(own + walk(rng, (len(level), len(beds)), 0.03))


def _fast_shares(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    drift = np.zeros((len(level), len(beds)))
    for t in range(1, len(level)):
        drift[t] = 0.7 * drift[t - 1] + 0.4 * volatility(beds) * rng.standard_normal(len(beds))
    return level * np.exp(0.3 * rng.standard_normal(len(beds)) + drift)


def _jumps(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    shares = np.exp(0.6 * rng.standard_normal((len(level), len(beds))))
    kept = rng.random(shares.shape) < 0.95
    for t in range(1, len(level)):
        shares[t] = np.where(kept[t], shares[t - 1], shares[t])
    return level * shares


def _regions(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    levels = np.stack([wave(len(level), rng) for _ in range(4)], axis=1)
    own = 0.3 * rng.standard_normal(len(beds))
    shares = np.exp(own + walk(rng, (len(level), len(beds)), 0.02))
    return levels[:, rng.integers(0, 4, len(beds))] * shares


def _sizes(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    own = 0.3 * rng.standard_normal(len(beds))
    drift = walk(rng, (len(level), len(beds)), 0.08 * volatility(beds))
    return level * (beds / 100) ** 0.3 * np.exp(own + drift)


def _trends(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    slopes = walk(rng, (len(level), len(beds)), 0.018)
    return level * np.exp(0.3 * rng.standard_normal(len(beds)) + 0.5 * slopes.cumsum(axis=0))


def _scatter(rng: np.random.Generator, level: Floats, beds: Floats) -> Floats:
    weekly = 0.3 * volatility(beds) * rng.standard_normal((len(level), len(beds)))
    return 0.1 * np.exp(0.3 * rng.standard_normal(len(beds)) + weekly)


PROCESSES: tuple[Process, ...] = (
    *(_additive, _slow_shares, _fast_shares, _jumps),
    *(_regions, _sizes, _trends, _scatter),
)


def volatility(beds: Floats) -> Floats:
    """Factor by which a small hospital moves more than one of 100 beds."""
    return np.clip((beds / 100) ** -0.25, 0.3, 2)


def adversarial(seed: int) -> Iterator[GainStream]:
    """Streams of every process and shape; counts are Poisson, and hidden below 4 as in HHS."""
    rng = np.random.default_rng(seed)
    for process in PROCESSES:
        for n, rounds in SHAPES:
            beds = np.maximum(np.rint(100 * np.exp(0.85 * rng.standard_normal(n))), 4.0)
            level = wave(rounds, rng)[:, None]
            density = np.clip(process(rng, level, beds), 0, 1)
            count = rng.poisson(7 * density * beds) / 7
            count = np.where((count > 0) & (count < 4), 2, count)
            yield GainStream(
                label=f"{process.__name__}-{n}-{rounds}",
                gains=np.clip(count / beds, 0, 1),
                capacity=np.tile(beds, (rounds, 1)),
                entities=tuple(map(str, range(n))),
                periods=np.datetime64("2021-01-01") + 7 * np.arange(rounds),
            )


def candidates() -> Mapping[str, AnyAlgorithm]:
    """The default, and what it was compared with."""

    def bank(models: tuple[StateSpaceModel, ...] = MODELS, **parameters: float) -> AnyAlgorithm:
        return LearnerAlone(EmpiricalBayesBank(models, **parameters))  # type: ignore[arg-type]

    scatter = (
        StateSpaceModel(1e-3, 0.9, transient_variance=1e-3),
        StateSpaceModel(1e-2, 0.9, transient_variance=1e-2),
    )
    narrow = tuple(
        StateSpaceModel(q, f) for q in (3e-4, 1e-3, 3e-3, 1e-2) for f in (0.9, 0.95, 1.0)
    )
    return {
        "default": bank(),
        "forgetting 1": bank(forgetting=1.0),
        "forgetting 0.8": bank(forgetting=0.8),
        "one model for all": LearnerAlone(EmpiricalBayesBank(MODELS, "common", 1.0)),
        "12 models of one scale": bank(narrow),
        "no transient": bank(MODELS[:-1]),
        "more transients": bank(MODELS + scatter),
        "ridge, RW-Meta floor 0": RWMeta(0.0),
    }


def readers() -> Mapping[str, AnyAlgorithm]:
    """Learners that read noise with memory, and what the default was compared with."""

    def bank(**parameters: Any) -> AnyAlgorithm:
        return LearnerAlone(RandomEffectsBank(**parameters))

    return {
        "empirical-bayes": LearnerAlone(EmpiricalBayesBank()),
        "random-effects": bank(),
        "four scales": bank(scales=(0.1, 0.3, 0.8, 2.0)),
        "no wide scale": bank(scales=(0.15, 0.5)),
        "persistence 0.7": bank(persistence=0.7),
        "persistence 0.93": bank(persistence=0.93),
        "effects half as large": bank(effect=0.25),
    }


def shares(
    algorithm: AnyAlgorithm, streams: list[GainStream], noise: str, replicates: int
) -> list[float]:
    """Mean gain over that of the best expert of every round, at every level of privacy."""
    found = []
    for mu in MUS:
        count = 1 if math.isinf(mu) else replicates
        total = []
        for stream in streams:
            noisy = privatize(stream, noise, mu, seed=1, replicates=range(count))
            own = replicate_generators(1, (), range(count), "design")
            actions = play_rounds(algorithm, noisy, own)
            gains = stream.gains[np.arange(stream.n_rounds), actions].sum(axis=1)
            total.append(gains.mean() / stream.gains.max(axis=1).sum())
        found.append(float(np.mean(total)))
    return found


def main() -> None:
    levels = ", ".join(f"{mu:g}" for mu in MUS)
    sets = {
        name: list(simulated((21, 22, 23, 24), slice(*weeks))) for name, weeks in SLICES.items()
    }
    sets["other processes"] = list(adversarial(5))
    sets["a tenth"] = [
        dataclasses.replace(stream, gains=stream.gains / 10)
        for stream in simulated((11,), slice(*SLICES["67 weeks"]))
    ]
    independent = {**candidates(), "random-effects": LearnerAlone(RandomEffectsBank())}
    for noise, rows in (("capacity", independent), ("capacity-memory", readers())):
        print(f"\n| noise {noise} |", " | ".join(f"{it}, mu = {levels}" for it in sets), "|")
        print("|---|" + "---|" * len(sets))
        for label, algorithm in rows.items():
            cells = [
                " ".join(f"{share:.3f}" for share in shares(algorithm, streams, noise, 3))
                for streams in sets.values()
            ]
            print(f"| {label} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
