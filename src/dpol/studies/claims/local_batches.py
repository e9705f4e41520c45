"""Checks of the same paper as `local_experts`: how stable a leader is, and what batches hide."""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy

from dpol.core.randomness import Floats
from dpol.data.synthetic import synthetic_stream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import delta_of_trade_off, gap_survival
from dpol.experts.switching import BOUNDS
from dpol.privacy.gaussian_dp import delta_of_epsilon
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.batching.study import analytic_mixture, noisy_game
from dpol.studies.claims.core import Findings, generator, of_number, of_share

# ---- switching -------------------------------------------------------------------------------

_WALKS = ((40, 20, 100, 1.0), (14, 2, 50, 1.0), (8, 2, 10, 1.0), (45, 50, 40, 2.0))
"""Gap of the leader, number of experts, steps, and noise scale of Gaussian walks."""
_RUNS = 10_000


def switching(seed: int) -> Findings:
    """Bounds on the probability that a leader changes, compared with simulated walks."""
    facts = {"R": _RUNS, "settings": len(_WALKS)}
    for i, (gap, n, steps, eta) in enumerate(_WALKS):
        count = _switches(generator(seed, "walk", i), gap, n, steps, eta)
        z = np.array(gap / (eta * math.sqrt(2 * steps)))
        case = f"gap {gap:g}, n = {n}, B = {steps}, η = {eta:g}"
        for name, bound in BOUNDS.items():
            yield of_share(
                f"switching-{name}",
                float(bound.tail(z, n)),
                count,
                _RUNS,
                len(_WALKS),
                case=case,
                facts=facts,
                trivial=1.0,
            )


def _switches(rng: np.random.Generator, gap: float, n: int, steps: int, eta: float) -> int:
    """Number of walks in which a leader that is `gap` ahead of all others ever changes."""
    position = np.zeros((_RUNS, n))
    position[:, 0] = gap
    switched = np.zeros(_RUNS, dtype=bool)
    for _ in range(steps):
        position += eta * rng.standard_normal(position.shape)
        switched |= position.argmax(axis=1) != 0
    return int(switched.sum())


NUMBERS_OF_EXPERTS = (2, 3, 10, 100, 10**4, 10**6, 10**7)


def reflection_against_borell_tis(_: int) -> Findings:
    """Our bound over theirs where theirs is useful."""
    z, below = np.linspace(0.05, 36.0, 4000), 0.5

    def ratio(n: int) -> float:
        paper = BOUNDS["borell-tis"].tail(z, n)
        useful = (paper < below) & (paper > 1e-290)
        return float((BOUNDS["reflection"].tail(z, n)[useful] / paper[useful]).max())

    facts = {"below": below, "largest": max(NUMBERS_OF_EXPERTS), "gaps": len(z)}
    facts |= {"sizes": len(NUMBERS_OF_EXPERTS), "beyond": ratio(10**8)}
    for n in NUMBERS_OF_EXPERTS:
        yield of_number("reflection-below-borell-tis", 1.0, ratio(n), f"n = {n:,}", facts=facts)


# ---- gaps ------------------------------------------------------------------------------------


def gaps(seed: int) -> Findings:
    """Gaps of normals with random means, against those of equal means."""
    rng = generator(seed, "means")
    for n, x in itertools.product((2, 3, 5, 10), (0.2, 0.7, 1.5, 3.0)):
        means = rng.normal(size=(150, n)) * rng.uniform(0.05, 3, size=(150, 1))
        found = survival(means, x)
        least = int(found.argmin())
        equal = float(survival(np.zeros((1, n)), x)[0])
        facts = {"means": np.round(means[least], 3).tolist()}
        yield of_number(
            "smallest-gap", equal, float(found[least]), f"n = {n}, x = {x:g}", facts=facts
        )


def survival(means: Floats, x: float) -> Floats:
    """P(leader - runner-up >= x) of independent unit normals with means (N, n): (N,)."""
    z = np.linspace(-14.0, 14.0, 281)[:, None]
    total = np.zeros(len(means))
    for i in range(means.shape[1]):
        behind = scipy.special.log_ndtr(z[None] - x - np.delete(means, i, axis=1)[:, None]).sum(
            axis=2
        )
        density = np.exp(behind - (z[:, 0] - means[:, i : i + 1]) ** 2 / 2)
        total += density.sum(axis=1) * (z[1, 0] - z[0, 0]) / math.sqrt(2 * math.pi)
    return total


def gap_law(seed: int) -> Findings:
    """The law of the gap of ten equal means against drawn gaps."""
    n, runs, points = 10, 200_000, (0.2, 0.5, 1.0)
    two = np.partition(generator(seed, "gaps").standard_normal((runs, n)), -2, axis=1)[:, -2:]
    sample = two[:, 1] - two[:, 0]
    for x in points:
        count, claimed = int((sample >= x).sum()), float(gap_survival(x, n))
        case, facts = f"x = {x:g}", {"R": runs, "n": n}
        yield of_share("gap-law", claimed, count, runs, len(points), case=case, facts=facts)


# ---- amplification ---------------------------------------------------------------------------


def containing_batches(seed: int) -> Findings:
    """The analytic bound on the batch that contains a round, against runs."""
    runs, T, mu, algorithm = 6000, 200, 0.25, RWAdaBatch(1.0)
    facts = {"R": runs, "T": T, "mu": mu}
    for n in (2, 5):
        zeros = synthetic_stream(f"claims: zeros, n = {n}", np.zeros((T, n)))
        sizes = play_batches(algorithm, *noisy_game(zeros, mu, seed, range(runs)))[1]
        for t, b in itertools.product((20, 100, 200), (2, 4, 8, 16)):
            mixture = analytic_mixture(algorithm, zeros, mu, t)
            claimed = float(mixture.weights[mixture.sizes > b].sum())
            if claimed > 0.02:
                count = int((sizes[:, t - 1] > b).sum())
                case = f"n = {n}, t = {t}: P(batch > {b})"
                yield of_share("containing-batch", claimed, count, runs, 24, case=case, facts=facts)


def smaller_batches(seed: int) -> Findings:
    """delta(eps) of random batch sizes, and of stochastically smaller ones."""
    rng = generator(seed, "mixtures")
    sizes, epsilon = np.arange(1, 31), np.linspace(0, 3, 31)
    each = delta_of_epsilon(epsilon[:, None], 1 / np.sqrt(sizes))
    large = rng.dirichlet(np.full(30, 0.2), 500)
    kernel = np.tril(rng.random((500, 30, 30)) ** 8)
    small = np.einsum("rb,rbc->rc", large, kernel / kernel.sum(axis=2, keepdims=True))
    ratio = (small @ each.T) / (large @ each.T)
    r, e = np.unravel_index(int(ratio.argmin()), ratio.shape)
    yield of_number("smaller-batch", 1.0, float(ratio[r, e]), f"ε = {epsilon[e]:.2f}")


def conversion(_: int) -> Findings:
    """The (eps, delta) of a mixture by its curve and by its formula."""
    mixture = BatchMixture(1.0, np.array([1, 3, 10, 40]), np.array([0.3, 0.3, 0.2, 0.2]))
    epsilon = np.linspace(0.0, 4.0, 41)
    curve = mixture.trade_off_at(np.linspace(-8, 8, 40_001))
    found, formula = delta_of_trade_off(*curve, epsilon), mixture.delta(epsilon)
    at = int(np.abs(found / formula - 1).argmax())
    yield of_number(
        "trade-off-curve", float(formula[at]), float(found[at]), f"ε = {epsilon[at]:.1f}"
    )
