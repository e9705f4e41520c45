"""Private EXP3 at full size, and compared with a loop over rounds and replicates."""

from __future__ import annotations

import re
import time
from pathlib import Path

import numpy as np

from dpol.labels.game import label_generators, play_labels, realisable
from dpol.labels.hypotheses import HypothesisClass, random_class
from dpol.labels.learners import PrivateEXP3, Terms
from dpol.labels.registry import make_learner

REPLICATES = 10


def time_labels(rounds: int = 1_000_000) -> dict[str, float]:
    """K = 16, M = 1,000, 10 replicates in one process; cost per round over plain."""
    hypotheses = random_class(16, 1_000, seed=1)
    full = play(hypotheses, rounds)
    short = min(rounds, 3_000)
    ours = min(play(hypotheses, short) for _ in range(3)) / REPLICATES
    start = time.perf_counter()
    plain_exp3(hypotheses, short, epsilon=1.0, rng=np.random.default_rng(1))
    plain = time.perf_counter() - start
    return {
        "wall_s": full,
        "peak_mb": peak_mb(),
        "speedup_over_loop": plain / ours,
    }


def peak_mb() -> float:
    """Largest memory of this process so far (Linux).

    `ru_maxrss` would begin with the peak of the process that started this one.
    """
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) / 1024


def play(hypotheses: HypothesisClass, rounds: int) -> float:
    """Seconds of one game, all replicates."""
    game = realisable(hypotheses, np.zeros(rounds, dtype=np.int64), REPLICATES)
    start = time.perf_counter()
    learner = make_learner("exp3", hypotheses, Terms(rounds, epsilon=1.0))
    play_labels(learner, game, label_generators(1, ("bench",), REPLICATES, "exp3"))
    return time.perf_counter() - start


def plain_exp3(
    hypotheses: HypothesisClass, rounds: int, *, epsilon: float, rng: np.random.Generator
) -> float:
    """One replicate as one would first write it: label, message, weights, risk, round by round."""
    learner = make_learner("exp3", hypotheses, Terms(rounds, epsilon))
    assert isinstance(learner, PrivateEXP3)
    clipping = learner.client.clipping
    masses, truth = learner.masses[0], hypotheses.masses[0, 0]
    K, M = masses.shape
    logs, risk = np.zeros(K), 0.0
    any_block = clipping.cells[0] / clipping.n_cells[0]
    for _ in range(rounds):
        weights = np.exp(logs - logs.max())
        prediction = weights / weights.sum() @ masses
        risk += float(truth @ np.log(truth / prediction))
        label = rng.choice(M, p=truth)
        block = label if rng.random() < clipping.keep else rng.choice(M, p=any_block)
        j = int(rng.integers(K))
        value = clipping.log_cells[0, j, block] + rng.laplace(scale=learner.client.scales[0, j])
        logs[j] -= learner.rate * learner.losses(np.array(value))
    return risk
