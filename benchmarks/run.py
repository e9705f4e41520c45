"""Speed, as ratios measured side by side in this run: `make bench`.

1. RW-Meta (n = 293, m = 13) against a plain implementation of the paper (one replicate at a time,
   a warm-started LOBPCG, learners refitted every round), and against drawing the noise alone,
   which no implementation can avoid.
2. How a whole country, and how more learners, rounds and replicates scale (scale.py).
3. How far a run goes (far.py), and whole runs on two cores (whole.py).

What the numbers mean: benchmarks/README.md. Writes results.json and results.md next
to this file.

    python run.py                   # every part of a few minutes
    python run.py rw_meta states    # these parts; the others keep their numbers
"""

from __future__ import annotations

import datetime
import json
import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from exp3 import time_labels
from far import time_collecting, time_planning
from machine import ROOT, in_own_process
from matrix import time_matrix
from page import renew_page
from plain_rw_meta import plain_rw_meta
from scale import (
    cpu_seconds,
    time_country,
    time_filter,
    time_learners,
    time_rivals,
    time_scaling,
    time_starts,
)
from scipy import optimize
from whole import time_grid, time_states

from dpol.config.experiment import load_experiment
from dpol.core.files import write_json
from dpol.core.randomness import replicate_generators
from dpol.data.cleaning import clean_table
from dpol.data.simulator import simulate_hospitals
from dpol.data.stream import GainStream, build_stream
from dpol.data.synthetic import synthetic_stream
from dpol.data.table import write_raw_table
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.learners.ridge import PENALTIES, WINDOWS
from dpol.experts.meta import RWMeta
from dpol.experts.play import play_rounds
from dpol.experts.switching import BOUNDS
from dpol.lazy.accounting import LazyGame
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.stochastic_losses import GapLosses
from dpol.lazy.transform import play_measure
from dpol.lazy.weights import WeightsMeasure
from dpol.noise import privatize
from dpol.studies.jobs import compute
from dpol.studies.paper1.batching.compute import analytic_mixture
from dpol.studies.paper2.convex.settings import Convex
from dpol.studies.paper2.convex.study import STUDY as CONVEX

SIMULATED = ROOT / "config" / "simulated.yaml"
REPEATS = 5


def simulated_california() -> GainStream:
    """The stream CA of config/simulated.yaml: n = 293, T = 148."""
    config = load_experiment(SIMULATED).config
    source = config.dataset.source
    assert source.kind == "simulated"
    cells = simulate_hospitals(source.hospitals, source.weeks, source.first_week, config.seed)
    with TemporaryDirectory() as folder:
        file = Path(folder, "simulated.csv.gz")
        write_raw_table(cells, file)
        panel, _ = clean_table(file, config.dataset, {"CA": config.streams["CA"]})
    return build_stream(panel, "CA", config.privacy.count_sensitivity, {})


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_meta(stream: GainStream, mu: float, replicates: int = 100) -> dict[str, float]:
    """Medians of CPU time over interleaved repeats, per replicate and round, and ratios."""
    one = privatize(stream, "isotropic", mu, seed=1, replicates=[0])

    def noise_alone() -> None:
        for replicate in range(replicates):
            rng = np.random.default_rng(replicate)
            rng.standard_normal((stream.n_rounds + 1, stream.n_experts))

    def ours() -> None:
        noisy = privatize(stream, "isotropic", mu, seed=1, replicates=range(replicates))
        play_rounds(RWMeta(), noisy, replicate_generators(1, ("bench",), range(replicates), "own"))

    def plain(rng: np.random.Generator | None) -> np.ndarray:
        game = stream, one.noise_scale, one.gains[0], one.initial[0]
        return plain_rw_meta(*game, WINDOWS, tuple(PENALTIES.values()), 2.0, rng)[0]

    own = replicate_generators(1, ("bench",), [0], "own")
    without_fresh_noise = play_rounds(RWMeta(decorrelate=False), one, own)[0]
    assert (plain(None) == without_fresh_noise).all(), (
        "the two implementations play different games"
    )
    times: dict[str, list[float]] = {"noise": [], "ours": [], "plain": []}
    for _ in range(REPEATS):
        times["noise"].append(cpu_seconds(noise_alone, 1) / replicates)
        times["ours"].append(cpu_seconds(ours, 1) / replicates)
        times["plain"].append(cpu_seconds(lambda: plain(np.random.default_rng(0)), 1))
    median = {name: statistics.median(values) for name, values in times.items()}
    return {
        **{f"{name}_us": 1e6 * value / stream.n_rounds for name, value in median.items()},
        "speedup_over_plain": median["plain"] / median["ours"],
        "cost_over_noise_alone": median["ours"] / median["noise"],
    }


def time_adabatch(rounds: int = 100_000) -> dict[str, float]:
    """n = 100, 100 replicates on two processes, and rounds per second over plain."""
    n, mu, alpha = 100, 1.0, 0.1
    with ProcessPoolExecutor(2) as pool:
        wall = seconds(lambda: list(pool.map(partial(_play_long, rounds), range(0, 100, 20))))
    stream = synthetic_stream("long", np.zeros((rounds // 50, n)))
    noisy = privatize(stream, "isotropic-constant", mu, seed=1, replicates=range(20))
    none = replicate_generators(1, ("bench",), range(20), "none")
    ours = cpu_seconds(lambda: play_batches(RWAdaBatch(alpha), noisy, none)) / 20
    eta = math.sqrt(n) / mu
    gains, initial = noisy.gains[0], noisy.initial[0]
    plain = cpu_seconds(lambda: adabatch_by_root_finding(gains, initial, alpha=alpha, eta=eta))
    curve = synthetic_stream("curve", np.zeros((1_000, 10)))
    return {
        "wall_s": wall,
        "speedup_over_root_finding": plain / ours,
        "curve_s": statistics.median(seconds(lambda: _curve_of(curve)) for _ in range(REPEATS)),
        **_growth_of_adabatch(rounds // 100),
    }


def _growth_of_adabatch(least: int) -> dict[str, float]:
    """Slopes of log CPU time in n and in T, noise included: 1 where time is linear."""
    sizes = {
        "slope_in_n": [(least // 2, k * least) for k in (1, 2, 4, 8)],
        "slope_in_T": [(k * least, 100) for k in (1, 2, 4, 8)],
    }
    found = {}
    for axis, (name, shapes) in enumerate(reversed(sizes.items())):
        # Size by size in turn, so that a slow spell of the machine hits all of them.
        each = [[cpu_seconds(lambda s=s: _play_all_zero(s), 1) for s in shapes] for _ in range(3)]
        steps = [shape[axis] for shape in shapes]
        found[name] = float(np.polyfit(np.log(steps), np.log(np.min(each, axis=0)), 1)[0])
    return found


def _play_long(rounds: int, first: int) -> float:
    return _play_all_zero((rounds, 100), range(first, first + 20))


def _play_all_zero(shape: tuple[int, int], numbers: range = range(4)) -> float:
    stream = synthetic_stream("long", np.zeros(shape))
    noisy = privatize(stream, "isotropic-constant", 1.0, seed=1, replicates=numbers)
    none = replicate_generators(1, ("bench",), numbers, "none")
    return float(play_batches(RWAdaBatch(0.1), noisy, none)[1].mean())


def _curve_of(stream: GainStream) -> float:
    return analytic_mixture(RWAdaBatch(0.1), stream.gains.shape, 0.25, 500).epsilon(1e-6)


def time_lazy(rounds: int = 1_000_000) -> dict[str, float]:
    """L2P: experts at d = 300, and convex at T / 100 rounds, d = 10, 20 replicates each."""
    numbers = range(20)
    found = choose_parameters(LazyGame(rounds, 1e-6), epsilon=4.0, n_experts=300)
    measure = WeightsMeasure(300, found.eta)
    long, short = (
        seconds(
            lambda T=T: play_measure(
                measure,
                found,
                GapLosses(T, 300, 0.1, 1),
                replicate_generators(1, ("b",), numbers, "x"),
            )
        )
        for T in (rounds, rounds // 10)
    )
    study = Convex(n_rounds=[rounds // 100], dimensions=[10], epsilons=[1.0], replicates=20)
    return {
        "experts_s": long,
        "cost_per_round_long_over_short": long / short / 10,
        "convex_s": seconds(lambda: compute(CONVEX, study, seed=1)),
    }


def adabatch_by_root_finding(
    gains: np.ndarray, initial: np.ndarray, *, alpha: float, eta: float
) -> list[int]:
    """One replicate of RW-AdaBatch as one would first write it: a root is found for every batch."""
    rounds, n = gains.shape
    total, t, actions = initial.copy(), 1, []
    while t <= rounds:
        runner_up, best = np.sort(total)[-2:]

        def excess(size: float, gap: float = best - runner_up, t: int = t) -> float:
            target = alpha * math.sqrt(math.log(n) / (t + size))
            z = np.asarray(max(gap - size, 0.0) / (eta * math.sqrt(2 * size)))
            return float(BOUNDS["borell-tis"].tail(z, n)) - target

        size = 1
        if excess(1.0) < 0:
            size = rounds if excess(rounds) < 0 else int(optimize.brentq(excess, 1.0, rounds))
        actions += [int(total.argmax())] * size
        total = total + gains[t - 1 : t - 1 + size].sum(axis=0)
        t += size
    return actions[:rounds]


PARTS: Mapping[str, Callable[[], Any]] = {
    "rw_meta": lambda: {
        f"{mu:g}": time_meta(simulated_california(), mu) for mu in (np.inf, 1.0, 0.5, 0.25)
    },
    "adabatch": time_adabatch,
    "matrix": time_matrix,
    "lazy": time_lazy,
    "labels": lambda: in_own_process(time_labels),
    "starts": time_starts,
    "learners": lambda: time_learners(simulated_california()),
    "filter": time_filter,
    "rivals": time_rivals,
    "country": lambda: in_own_process(partial(time_country, 5_000, 148)),
    "scaling": time_scaling,
    "grid": time_grid,
    "collecting": time_collecting,
    "planning": time_planning,
}
"""Benchmarks by name."""
LONG: Mapping[str, Callable[[], Any]] = {
    "states": time_states,
    "largest": lambda: in_own_process(partial(time_country, 20_000, 520, 3_000)),
}
"""Benchmarks that run only by name."""


def main(wanted: Sequence[str]) -> None:
    """Measure the parts that are named, or all, and keep what is known of the others."""
    parts = {**PARTS, **LONG}
    if unknown := set(wanted) - set(parts):
        sys.exit(f"error: no part {', '.join(unknown)}; parts are {', '.join(parts)}")
    results = ROOT / "benchmarks" / "results.json"
    known = json.loads(results.read_text(encoding="utf-8"))
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    machine = {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    found = {**known, **machine, "dates": dict(known.get("dates", {}))}
    for name in wanted or PARTS:
        start = time.perf_counter()
        found[name] = parts[name]()
        found["dates"][name] = today
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        write_json(results, found)  # what is measured stays if a later part fails
    print(renew_page(json.loads(results.read_text(encoding="utf-8"))))  # in the order of the file


if __name__ == "__main__":
    main(sys.argv[1:])
