"""Privacy gained and regret added by batching: also the data of the paper's Figure 1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.intervals import add_intervals, standard_error
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import (
    BatchMixture,
    containing_batch,
    heuristic_batch,
    observed_batches,
)
from dpol.experts.batches import BOUNDS, BatchRule
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.play import play_rounds, setup_of
from dpol.experts.registry import regret_bounds
from dpol.noise import CONSTANT, NoisyGains, privatize
from dpol.studies.jobs import read_points
from dpol.studies.paper1.batching.settings import Asked, Batching
from dpol.studies.study import Facts, FileLists, Inputs

if TYPE_CHECKING:
    import pandas as pd

POINT = Asked
Row = dict[str, Any]
Runs = Mapping[str, NDArray[Any]]
NOISE = CONSTANT.name
# Most runs times rounds times experts in memory at once.
_LARGEST_BLOCK = 25_000_000
# Log likelihood ratios of the curves, in units of mu, far into both tails.
_THRESHOLDS = np.linspace(-6.0, 6.0, 241)
_BATCHING_MEANS = ("ftpl", "adabatch", "extra")


def synthetic_gains(n_rounds: int, n_experts: int) -> dict[str, Floats]:
    """Return the (T, n) gains by name: no expert, one expert, or two experts stand out."""
    zero = np.zeros((n_rounds, n_experts))
    one_good, rivals = zero.copy(), zero.copy()
    one_good[:, 0] = rivals[::2, 0] = rivals[1::2, 1] = 1.0
    return {"all-zero": zero, "one-good-expert": one_good, "two-rivals": rivals}


def noisy_game(
    stream: GainStream, mu: float, seed: int, replicates: range
) -> tuple[NoisyGains, ReplicateGenerators]:
    """Return a stream with the study's noise, and generators for algorithms that draw nothing."""
    noisy = privatize(stream, NOISE, mu, seed=seed, replicates=replicates)
    unused = replicate_generators(seed, ("unused",), [0], "none")
    return noisy, unused.of([0] * len(replicates))


def run(point: Asked, inputs: Inputs) -> dict[str, list[Row]]:
    """Return the rows of both tables for every number of experts and mu."""
    settings, delta = point
    rows: dict[str, list[Row]] = {"amplification": [], "batching": []}
    for n, mu in itertools.product(settings.n_experts, settings.mus):
        shape = settings.n_rounds, n
        played = {
            label: _play_both(synthetic_stream(label, gains), mu, settings, inputs.seed)
            for label, gains in synthetic_gains(*shape).items()
        }
        rows["amplification"] += amplified_curves(shape, mu, delta, played["all-zero"])
        rows["batching"] += batching_regrets(shape, mu, played)
    return rows


def collect(files: FileLists, study: Batching, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the tables, with joint intervals of the regrets."""
    import pandas as pd

    frames = {name: read_points(paths) for name, paths in files.items()}
    errors = {f"{name}_standard_error": f"{name}_half_width" for name in _BATCHING_MEANS}
    bounds = [(name, *bound) for name, bound in regret_bounds().items()]
    return {
        **frames,
        "batching": add_intervals(frames["batching"], errors, facts.confidence),
        "rates": pd.DataFrame(bounds, columns=["algorithm", "regret", "against"]),
    }


def _play_both(
    stream: GainStream, mu: float, settings: Batching, seed: int
) -> dict[RWAdaBatch, Runs]:
    """Play RW-FTPL, and RW-AdaBatch with every bound, with the same noise.

    Returns:
        By algorithm (R,) arrays: the total gains of both (`plain`, `batched`), and the size of the
        batch that contains a round: the mean over rounds (`mean_batch`), and in the middle of the
        game (`middle_batch`).
    """
    time = np.arange(stream.n_rounds)
    blocks = {RWAdaBatch(settings.alpha, bound): list[Runs]() for bound in BOUNDS}
    for game in _blocks(stream, mu, settings.replicates, seed):
        plain = stream.gains[time, play_rounds(RandomWalkFTPL(), *game)].sum(axis=1)
        for algorithm, parts in blocks.items():
            actions, planned = play_batches(algorithm, *game)
            own = {
                "plain": plain,
                "batched": stream.gains[time, actions].sum(axis=1),
                "mean_batch": planned.mean(axis=1),
                "middle_batch": planned[:, _middle(stream.n_rounds) - 1],
            }
            parts.append(own)
    return {
        algorithm: {it: np.concatenate([part[it] for part in parts]) for it in parts[0]}
        for algorithm, parts in blocks.items()
    }


def _middle(n_rounds: int) -> int:
    """Return t, the round whose protection is computed, counted from 1."""
    return (n_rounds + 1) // 2


def amplified_curves(
    shape: tuple[int, int],
    mu: float,
    delta: float,
    played: Mapping[RWAdaBatch, Runs],
) -> Iterator[Row]:
    """Yield trade-off curves and (eps, delta) of RW-AdaBatch on all-zero gains, the worst case.

    There is a row per bound, kind and test, with `threshold` (log likelihood ratio,
    and also epsilon if not negative), `false_positive`, `false_negative`, `epsilon`, `delta` at
    that epsilon, `epsilon_at_delta`, and `mean_batch`.

    Args:
        shape: numbers of rounds and experts, (T, n).
        mu: Gaussian-DP parameter of one round.
        delta: delta at which epsilon is reported.
        played: runs on all-zero gains.
    """
    T, n = shape
    t = _middle(T)
    alone = BatchMixture(mu, np.array([1]), np.array([1.0]))
    for algorithm, games in played.items():
        rule = rule_of(algorithm, shape, mu)
        kinds = {
            "un-amplified": alone,
            "analytic": containing_batch(t, rule, mu),
            "monte-carlo": observed_batches(games["middle_batch"], mu),
        }
        if not rule.switching.beyond:  # The heuristic exists for the paper's bound only.
            kinds["heuristic"] = heuristic_batch(t, rule, mu)
        for kind, mixture in kinds.items():
            threshold = _THRESHOLDS * mixture.mu
            false_positive, false_negative = mixture.trade_off_at(threshold)
            reported = threshold >= 0
            curve = {
                "threshold": threshold,
                "false_positive": false_positive,
                "false_negative": false_negative,
                "epsilon": np.where(reported, threshold, np.nan),
                "delta": np.where(reported, mixture.delta(np.maximum(threshold, 0.0)), np.nan),
            }
            epsilon, mean = mixture.epsilon(delta), mixture.mean()
            for test in zip(*(it.tolist() for it in curve.values()), strict=True):
                yield {
                    "bound": algorithm.bound,
                    "alpha": algorithm.alpha,
                    "kind": kind,
                    **dict(zip(curve, test, strict=True)),
                    "delta_reported": delta,
                    "epsilon_at_delta": epsilon,
                    "mean_batch": mean,
                    "T": T,
                    "n": n,
                    "mu": mu,
                    "t": t,
                }


def _blocks(
    stream: GainStream, mu: float, replicates: int, seed: int
) -> Iterator[tuple[NoisyGains, ReplicateGenerators]]:
    size = max(1, _LARGEST_BLOCK // stream.gains.size)
    for start in range(0, replicates, size):
        yield noisy_game(stream, mu, seed, range(replicates)[start : start + size])


def analytic_mixture(
    algorithm: RWAdaBatch, shape: tuple[int, int], mu: float, t: int
) -> BatchMixture:
    """Return the lower bound on the batch that contains round t of a game of `shape`, (T, n)."""
    return containing_batch(t, rule_of(algorithm, shape, mu), mu)


def rule_of(algorithm: RWAdaBatch, shape: tuple[int, int], mu: float) -> BatchRule:
    """Return the rule by which the algorithm chooses its batches in a game of `shape`, (T, n)."""
    stream = synthetic_stream("all-zero", np.zeros(shape))
    return algorithm.rule(setup_of(privatize(stream, NOISE, mu, seed=0, replicates=[0])))


def batching_regrets(
    shape: tuple[int, int],
    mu: float,
    played: Mapping[str, Mapping[RWAdaBatch, Runs]],
) -> Iterator[Row]:
    """Yield the regret of RW-AdaBatch and RW-FTPL on synthetic streams, with the same noise.

    There is a row per stream and bound, with mean regrets and the mean of their paired
    difference, standard errors, the bounds on regret, the factor between them (Corollary 2), and
    the mean batch size.

    Args:
        shape: numbers of rounds and experts, (T, n).
        mu: Gaussian-DP parameter of one round.
        played: runs on each synthetic stream.
    """
    T, n = shape
    eta = math.sqrt(n) / mu
    limit = (eta + 2 / eta) * math.sqrt(2 * T * math.log(n))
    for label, by_algorithm in played.items():
        best = synthetic_gains(T, n)[label].sum(axis=0).max()
        for algorithm, games in by_algorithm.items():
            plain, batched = games["plain"], games["batched"]
            extra, factor = plain - batched, 1 + algorithm.alpha / 2
            row: Row = {
                "stream": label,
                "alpha": algorithm.alpha,
                "bound": algorithm.bound,
                "replicates": len(plain),
                "mean_batch": float(games["mean_batch"].mean()),
                "ftpl_regret": best - plain.mean(),
                "adabatch_regret": best - batched.mean(),
                "extra_regret": extra.mean(),
                "factor": factor,
                "adabatch_bound": factor * limit,
            }
            for name, sample in zip(_BATCHING_MEANS, (plain, batched, extra), strict=True):
                row[f"{name}_standard_error"] = float(standard_error(sample))
            yield row | {"n": n, "T": T, "mu": mu, "ftpl_bound": limit}
