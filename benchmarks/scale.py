"""Scaling of the library: experts, rounds, replicates, learners; memory and start of a job."""

from __future__ import annotations

import ast
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from exp3 import peak_mb

from dpol.core.randomness import replicate_generators
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream, read_stream, write_stream
from dpol.experts.games import play
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta, largest_eigenvalues
from dpol.experts.play import RawGains, rounds
from dpol.experts.registry import Member, make_members
from dpol.noise import privatize
from dpol.noise.noises import EVENT_STREAMS
from dpol.studies.games.compute import parts, play_suite
from dpol.studies.games.scores import rounds_of

ROOT = Path(__file__).parents[1]

EVERY_LEARNER = ["ridge", "random-effects", "rw-ftpl"]
SUITE = (
    *("rw-ftpl", "rw-meta", "ridge", "random-effects"),
    {"algorithm": "rw-meta", "label": "rw-meta-every-learner", "learners": EVERY_LEARNER},
)
"""RW-Meta and all learners, alone and together: 16 algorithms on the same noisy gains."""

LEVELS = (np.inf, 1.0, 0.5, 0.25)
MEMORY_MB = 1_500
ROUNDS, REPLICATES = 100, 50
"""Length and number of the games of one algorithm."""

BANKS = {
    13: RidgeBank(),
    50: RidgeBank((4, 8, 12, 16, 24, 32, 64), {f"{k:.2f}": k for k in np.geomspace(0.1, 10, 7)}),
    200: RidgeBank(tuple(range(5, 60, 6)), {f"{k:.2f}": k for k in np.geomspace(0.1, 10, 20)}),
}
"""Ridge learners by the approximate number of learners, RW-FTPL included."""


def suite() -> list[Member]:
    return [member for spec in SUITE for member in make_members(spec)]


def simulated(n: int, n_rounds: int) -> GainStream:
    """Waves shared by hospitals of different level and size."""
    rng = np.random.default_rng(1)
    wave = 0.5 + 0.5 * np.sin(np.arange(n_rounds)[:, None] / 9 + rng.uniform(0, 2, n))
    noise = rng.normal(0, 0.02, size=(n_rounds, n))
    return GainStream(
        label="country",
        gains=np.clip(rng.beta(2, 18, n) * (0.5 + wave) + noise, 0, 1),
        capacity=np.tile(rng.lognormal(4.5, 0.8, n) + 5, (n_rounds, 1)),
        entities=tuple(map(str, range(n))),
        periods=np.datetime64("2020-08-07") + 7 * np.arange(n_rounds),
    )


def cpu_seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """Least CPU time of this process: what other processes do counts for little."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def play_all(n: int, n_rounds: int, replicates: int) -> Callable[[], Any]:
    """The suite of a job, without reading and writing."""
    stream, members = simulated(n, n_rounds), suite()
    settings = {"noise": "capacity", "mu": 0.25, "seed": 1, "memory_mb": MEMORY_MB}
    return lambda: play_suite(stream, members, **settings, replicates=range(replicates))


SWEEPS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "experts n": tuple((n, 148, 16) for n in (1_250, 2_500, 5_000, 10_000)),
    "rounds T": tuple((1_250, T, 16) for T in (148, 296, 592, 1_184)),
    "replicates R": tuple((1_250, 148, R) for R in (24, 48, 96, 192)),
}
"""(n, T, R) of every point; one of them doubles."""


def time_scaling() -> dict[str, Any]:
    """Return the CPU time of the suite and its log-log slope in n, T and R."""
    found: dict[str, Any] = {}
    for axis, (name, points) in enumerate(SWEEPS.items()):
        # Point by point in turn, so that a slow spell of the machine hits all of them.
        times = np.min(
            [[cpu_seconds(play_all(*point), 1) for point in points] for _ in range(2)], axis=0
        )
        steps = [point[axis] for point in points]
        slope = np.polyfit(np.log(steps), np.log(times), 1)[0]
        found[name] = {"values": steps, "cpu_s": times.tolist(), "slope": float(slope)}
    return found


def time_country(n: int, n_rounds: int, memory_mb: int = MEMORY_MB) -> dict[str, float]:
    """Measure one job with 100 replicates in a fresh process."""
    members, numbers = suite(), range(100)
    settings = {"noise": "capacity", "mu": 0.25, "seed": 1, "memory_mb": memory_mb}
    with tempfile.TemporaryDirectory() as folder:
        file, runs = Path(folder) / "stream.parquet", Path(folder) / "runs.parquet"
        write_stream(simulated(n, n_rounds), file)

        def job() -> None:
            stream = read_stream(file)
            write_frame(
                rounds_of(play_suite(stream, members, **settings, replicates=numbers)), runs
            )

        spent = cpu_seconds(job, repeats=1)
    played, drawn = n_rounds * 100 * n, 10_000_000
    noise = cpu_seconds(lambda: np.random.default_rng(1).standard_normal(drawn)) / drawn
    return {
        "hospitals": n,
        "weeks": n_rounds,
        "algorithms": len(members),
        "memory_mb": memory_mb,
        "replicates_at_a_time": max(
            map(len, parts(simulated(n, n_rounds), members, numbers, memory_mb))
        ),
        "peak_mb": peak_mb(),
        "cpu_s": spent,
        "cost_per_algorithm_over_noise": spent / len(members) / (played * noise),
        "ns_per_algorithm_and_gain": 1e9 * spent / len(members) / played,
    }


def time_learners(stream: GainStream) -> dict[str, dict[str, float]]:
    """RW-Meta with m learners at n = 293, mu = 0.25: the share of the eigenvalue step."""
    return {str(m): _time_bank(stream, bank, 100 if m < 200 else 20) for m, bank in BANKS.items()}


def _time_bank(stream: GainStream, bank: RidgeBank, replicates: int) -> dict[str, float]:
    algorithm = RWMeta(learners=(bank, LeaderBank()))

    def game() -> None:
        noisy = privatize(stream, "isotropic", 0.25, seed=1, replicates=range(replicates))
        own = replicate_generators(1, ("bench",), range(replicates), "own")
        for _ in rounds(algorithm, noisy, own):
            pass

    steps: list[float] = []

    def timed(star: np.ndarray) -> np.ndarray:
        start = time.process_time()
        found = largest_eigenvalues(star)
        steps.append(time.process_time() - start)
        return found

    with mock.patch("dpol.experts.meta.largest_eigenvalues", timed):
        whole = cpu_seconds(game, 1)
    return {
        "learners": algorithm.n_learners,
        "us": 1e6 * cpu_seconds(game) / replicates / stream.n_rounds,
        "eigenvalue_share": sum(steps) / whole,
    }


def time_filter() -> list[dict[str, Any]]:
    """CPU time of the filter at mu = 0.25, per replicate and round, and over that of the noise."""
    rows = []
    for n in (33, 300):
        stream, replicates = simulated(n, ROUNDS), range(REPLICATES)
        draw = partial(privatize, stream, "capacity", 0.25, seed=1, replicates=replicates)
        noise, noisy = cpu_seconds(draw), draw()
        played = cpu_seconds(partial(play, "random-effects", noisy))
        row = {"experts": n, "us": 1e6 * played / noisy.gains[:, :, 0].size}
        rows.append({**row, "over_noise": played / noise})
    return rows


def time_rivals() -> list[dict[str, Any]]:
    """CPU time of games of curators' rivals, and of releases under w-event privacy.

    n = 300 at mu = 0.25, and w = 4 for releases. Also over the drawing of
    `capacity` noise.
    """
    stream, replicates = replace(simulated(300, ROUNDS), stay=4), range(REPLICATES)
    draw = partial(privatize, stream, mu=0.25, seed=1, replicates=replicates)
    raw = RawGains(replace(stream, stay=1), 0.25, replicates, seed=1)
    works = {name: partial(play, name, raw) for name in ("l2p", "dartboard", "limited-updates")}
    works |= {noise.name: partial(draw, noise.name) for noise in EVENT_STREAMS}
    noise = cpu_seconds(partial(draw, "capacity"))
    times = {name: cpu_seconds(work) for name, work in works.items()}
    return [
        {"rival": name, "ms": 1e3 * took, "over_noise": took / noise}
        for name, took in times.items()
    ]


def time_starts() -> dict[str, Any]:
    """Return the CPU seconds that the imports of each script take, and NumPy's alone."""
    numpy_alone = _start("import numpy")
    scripts = {
        path.stem: _start(_imports(path)) for path in (ROOT / "workflow/scripts").glob("*.py")
    }
    slowest = max(scripts, key=lambda name: scripts[name])
    return {
        "numpy_alone_s": numpy_alone,
        "study_point_s": scripts["study_point"],
        "study_point_over_numpy": scripts["study_point"] / numpy_alone,
        "slowest": slowest,
        "slowest_s": scripts[slowest],
        "slowest_over_numpy": scripts[slowest] / numpy_alone,
    }


def _imports(script: Path) -> str:
    """The imports of a script, also those below `with job_log`."""
    every = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    return "\n".join(
        ast.unparse(line) for line in every if isinstance(line, ast.Import | ast.ImportFrom)
    )


def _start(code: str) -> float:
    """Least CPU time of three processes that run `code`."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, **ONE_THREAD})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
