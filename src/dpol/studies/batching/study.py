"""Gain in privacy and cost in regret of batching: the data of the paper's Figure 1."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from dpol.core.intervals import add_intervals, standard_error
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.data.stream import GainStream
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import containing_batch, observed_batches
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import LocalSetup
from dpol.experts.play import play_rounds, setup_of
from dpol.noise import CONSTANT, NoisyGains, privatize
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Frames, Inputs, Point

UNAMPLIFIED, ANALYTIC, MONTE_CARLO = "un-amplified", "analytic", "monte-carlo"
NOISE = CONSTANT.name
# Runs that are held in memory at once, times rounds, times experts.
_LARGEST_BLOCK = 25_000_000
# Log likelihood ratios of the curves, in units of mu: far into both tails.
_THRESHOLDS = np.linspace(-6.0, 6.0, 241)
_BATCHING_MEANS = ("ftpl", "adabatch", "extra")


def synthetic_gains(n_rounds: int, n_experts: int) -> dict[str, Floats]:
    """Gains (T, n) on which batching is judged: no expert, one, or two experts stand out."""
    zero = np.zeros((n_rounds, n_experts))
    one_good, rivals = zero.copy(), zero.copy()
    one_good[:, 0] = rivals[::2, 0] = rivals[1::2, 1] = 1.0
    return {"all-zero": zero, "one-good-expert": one_good, "two-rivals": rivals}


def noisy_game(
    stream: GainStream, mu: float, seed: int, replicates: range
) -> tuple[NoisyGains, ReplicateGenerators]:
    """A stream with the noise of the study, and generators for algorithms that draw nothing."""
    noisy = privatize(stream, NOISE, mu, seed=seed, replicates=replicates)
    return noisy, replicate_generators(seed, ("unused",), replicates, "none")


def run(study: Batching, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Rows of both tables for one number of experts, at every mu."""
    n, seed = point["n"], inputs.seed
    curves = [amplified_curves(study, n, mu, delta=inputs.delta, seed=seed) for mu in study.mus]
    regrets = [batching_regrets(study, n, mu, seed=seed) for mu in study.mus]
    return {
        "amplification": pd.concat(curves, ignore_index=True),
        "batching": pd.concat(regrets, ignore_index=True),
    }


def collect(frames: Frames, study: Batching, facts: Facts) -> dict[str, pd.DataFrame]:
    """The tables with the intervals of all regrets together."""
    errors = {f"{name}_standard_error": f"{name}_half_width" for name in _BATCHING_MEANS}
    regrets = add_intervals(frames["batching"], errors, facts.confidence)
    return {**frames, "batching": regrets}


def amplified_curves(
    study: Batching, n: int, mu: float, *, delta: float, seed: int
) -> pd.DataFrame:
    """Trade-off curves and (eps, delta) of RW-AdaBatch on all-zero gains, the worst case.

    One row per bound, round, kind and test: `threshold` (log likelihood ratio, also epsilon where
    it is not negative), `false_positive`, `false_negative`, `epsilon`, `delta` at that epsilon,
    `epsilon_at_delta` at the given delta, and `mean_batch`.

    Args:
        study: the settings.
        n: number of experts.
        mu: Gaussian-DP parameter of one round.
        delta: where `epsilon_at_delta` is taken.
        seed: root seed of the Monte Carlo runs.
    """
    frames = []
    zeros = synthetic_stream("all-zero", np.zeros((study.n_rounds, n)))
    alone, columns = BatchMixture(mu, np.array([1]), np.array([1.0])), np.array(study.rounds) - 1
    for bound in study.bounds:
        algorithm = RWAdaBatch(study.alpha, bound)
        games = _blocks(zeros, mu, study.replicates, seed)
        sizes = np.concatenate([play_batches(algorithm, *game)[1][:, columns] for game in games])
        for t, observed in zip(study.rounds, sizes.T, strict=True):
            kinds = {
                UNAMPLIFIED: alone,
                ANALYTIC: analytic_mixture(algorithm, zeros, mu, t),
                MONTE_CARLO: observed_batches(observed, mu),
            }
            for kind, mixture in kinds.items():
                frames.append(_curve(mixture, delta).assign(t=t, bound=bound, kind=kind))
    setting = {"T": study.n_rounds, "n": n, "mu": mu, "alpha": study.alpha}
    return pd.concat(frames, ignore_index=True).assign(**setting)


def _blocks(
    stream: GainStream, mu: float, replicates: int, seed: int
) -> Iterator[tuple[NoisyGains, ReplicateGenerators]]:
    size = max(1, _LARGEST_BLOCK // stream.gains.size)
    for start in range(0, replicates, size):
        yield noisy_game(stream, mu, seed, range(start, min(start + size, replicates)))


def analytic_mixture(algorithm: RWAdaBatch, stream: GainStream, mu: float, t: int) -> BatchMixture:
    """The lower bound on the batch that contains round t of a game like `stream`."""
    nothing = privatize(stream, NOISE, mu, seed=0, replicates=[0])
    setup = setup_of(nothing)
    assert isinstance(setup, LocalSetup)
    return containing_batch(t, algorithm.rule(setup), mu)


def _curve(mixture: BatchMixture, delta: float) -> pd.DataFrame:
    threshold = _THRESHOLDS * mixture.mu
    false_positive, false_negative = mixture.trade_off_at(threshold)
    reported = threshold >= 0
    return pd.DataFrame(
        {
            "threshold": threshold,
            "false_positive": false_positive,
            "false_negative": false_negative,
            "epsilon": np.where(reported, threshold, np.nan),
            "delta": np.where(reported, mixture.delta(np.maximum(threshold, 0.0)), np.nan),
            "delta_reported": delta,
            "epsilon_at_delta": mixture.epsilon(delta),
            "mean_batch": mixture.mean(),
        }
    )


def batching_regrets(study: Batching, n: int, mu: float, *, seed: int) -> pd.DataFrame:
    """Regret of RW-AdaBatch and of RW-FTPL on synthetic streams, with the same noise.

    One row per stream and bound: mean regrets and the mean of their paired difference with
    standard errors, the factor 1 + alpha/2 of Corollary 2, the bounds
    (eta + 2/eta) sqrt(2 T log n) without and with that factor, and the mean batch size.

    Args:
        study: the settings.
        n: number of experts.
        mu: Gaussian-DP parameter of one round.
        seed: root seed.
    """
    rows = []
    for label, gains in synthetic_gains(study.n_rounds, n).items():
        stream = synthetic_stream(label, gains)
        best = gains[:, stream.best_static_expert()].sum()
        plain, batched = _regrets(stream, mu, study, seed)
        for bound, (total, batch) in batched.items():
            row = {"stream": label, "bound": bound, "mean_batch": batch}
            row |= {"ftpl_regret": best - plain.mean(), "adabatch_regret": best - total.mean()}
            row["extra_regret"] = (plain - total).mean()
            for name, sample in zip(_BATCHING_MEANS, (plain, total, plain - total), strict=True):
                row[f"{name}_standard_error"] = float(standard_error(sample))
            rows.append(row)
    eta, factor = math.sqrt(n) / mu, 1 + study.alpha / 2
    limit = (eta + 2 / eta) * math.sqrt(2 * study.n_rounds * math.log(n))
    setting = {"n": n, "T": study.n_rounds, "mu": mu, "alpha": study.alpha}
    bounds = {"factor": factor, "ftpl_bound": limit, "adabatch_bound": factor * limit}
    return pd.DataFrame(rows).assign(**setting, replicates=study.replicates, **bounds)


def _regrets(
    stream: GainStream, mu: float, study: Batching, seed: int
) -> tuple[Floats, dict[str, tuple[Floats, float]]]:
    """Total gains (R,) of RW-FTPL, and of RW-AdaBatch with its mean batch size, by bound."""
    time, plain = np.arange(stream.n_rounds), []
    batched: dict[str, list[tuple[Floats, Floats]]] = {bound: [] for bound in study.bounds}
    for game in _blocks(stream, mu, study.replicates, seed):
        plain.append(stream.gains[time, play_rounds(RandomWalkFTPL(), *game)].sum(axis=1))
        for bound in study.bounds:
            actions, planned = play_batches(RWAdaBatch(study.alpha, bound), *game)
            outcome = stream.gains[time, actions].sum(axis=1), planned.mean(axis=1)
            batched[bound].append(outcome)
    joined = {bound: np.concatenate(outcome, axis=1) for bound, outcome in batched.items()}
    means = {bound: (total, float(sizes.mean())) for bound, (total, sizes) in joined.items()}
    return np.concatenate(plain), means
