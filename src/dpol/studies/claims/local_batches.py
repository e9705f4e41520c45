"""Checks of the same paper as `local_experts`: how stable a leader is, and what batches hide."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpol.core.randomness import Floats, replicate_generators
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import BatchMixture, delta_of_trade_off, gap_survival
from dpol.experts.switching import BOUNDS
from dpol.noise import privatize
from dpol.privacy.gaussian_dp import delta_of_epsilon
from dpol.show.papers import EXPERTS
from dpol.studies.batching.study import NOISE, analytic_mixture, synthetic_stream
from dpol.studies.claims.core import (
    Claim,
    Row,
    generator,
    share_interval,
    shared,
    worst,
)

# ---- switching -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Walk:
    """A leader that is `gap` ahead of all others, and a Gaussian walk from there."""

    gap: float
    n: int
    steps: int
    eta: float

    def switches(self, rng: np.random.Generator, runs: int) -> int:
        """In how many runs the leader ever changed."""
        position = np.zeros((runs, self.n))
        position[:, 0] = self.gap
        switched = np.zeros(runs, dtype=bool)
        for _ in range(self.steps):
            position += self.eta * rng.standard_normal(position.shape)
            switched |= position.argmax(axis=1) != 0
        return int(switched.sum())


_WALKS = (
    _Walk(40, 20, 100, 1.0),
    _Walk(14, 2, 50, 1.0),
    _Walk(8, 2, 10, 1.0),
    _Walk(45, 50, 40, 2),
)
_RUNS = 10_000


def switching(seed: int, stretch: float = 1.0) -> Iterator[Claim]:
    """Both switching bounds against simulated walks; gaps are taken `stretch` times as large."""
    counts = [walk.switches(generator(seed, "walk", i), _RUNS) for i, walk in enumerate(_WALKS)]
    for name, bound in BOUNDS.items():
        claims = []
        for walk, count in zip(_WALKS, counts, strict=True):
            z = np.array(stretch * walk.gap / (walk.eta * math.sqrt(2 * walk.steps)))
            limit = float(bound.tail(z, walk.n))
            case = f"gap {walk.gap:g}, n = {walk.n}, B = {walk.steps}, η = {walk.eta:g}"
            confidence = shared(len(_WALKS))
            claims.append(
                Claim(
                    EXPERTS,
                    "reflection bound" if bound.ours else "Theorem 1",
                    f"the {name} bound limits the probability that the leader ever changes",
                    f"{_RUNS:,} Gaussian walks in each of {len(_WALKS)} settings; the worst one",
                    claimed=limit,
                    relation="<=",
                    measured=count / _RUNS,
                    trivial=1.0,
                    interval=share_interval(count, _RUNS, confidence),
                    confidence=confidence,
                    witness=f"{case}: {count / _RUNS:.4f} of the walks, bound {limit:.4f}",
                    note=case,
                    ours=bound.ours,
                )
            )
        yield worst(claims)


_NUMBERS_OF_EXPERTS = (2, 3, 10, 100, 10**4, 10**6, 10**7, 10**8)


def reflection_against_borell_tis(
    seed: int, largest: int = 10**7, below: float = 0.5
) -> Iterator[Claim]:
    """Our bound over theirs where theirs is small, for numbers of experts up to `largest`."""
    del seed
    z = np.linspace(0.05, 36.0, 4000)

    def ratio(n: int) -> float:
        paper = BOUNDS["borell-tis"].tail(z, n)
        useful = (paper < below) & (paper > 1e-290)
        return float((BOUNDS["reflection"].tail(z, n)[useful] / paper[useful]).max())

    sizes = [n for n in _NUMBERS_OF_EXPERTS if n <= largest]
    ratios = [ratio(n) for n in sizes]
    at = int(np.argmax(ratios))
    yield Claim(
        EXPERTS,
        "reflection bound",
        f"it is below the bound of Theorem 1 wherever that is below {below:g}, n up to {largest:,}",
        f"largest ratio of the two over {len(z):,} gaps for {len(sizes)} values of n",
        claimed=1.0,
        relation="<=",
        measured=ratios[at],
        witness=f"n = {sizes[at]:,}: {ratios[at]:.3f} times the bound of Theorem 1",
        note=f"largest at n = {sizes[at]:,}; at n = 100,000,000 the ratio is {ratio(10**8):.3f}",
        ours=True,
    )


# ---- gaps ------------------------------------------------------------------------------------


def gaps(seed: int, lead: float = 0.0) -> Iterator[Claim]:
    """Gaps of normals with random means, against means that are equal but for one `lead`."""
    rng = generator(seed, "means")
    claims: list[Claim] = []
    for n, x in itertools.product((2, 3, 5, 10), (0.2, 0.7, 1.5, 3.0)):
        means = rng.normal(size=(150, n)) * rng.uniform(0.05, 3, size=(150, 1))
        found = _survival(means, x)
        least = int(found.argmin())
        claims.append(
            Claim(
                EXPERTS,
                "Theorem 2",
                "the gap of the noisy gains is stochastically smallest when all means are equal",
                "P(gap >= x) by quadrature for 16 pairs (n, x) and 150 random means each; the"
                " smallest one",
                claimed=float(_survival(lead * np.eye(n)[:1], x)[0]),
                relation=">=",
                measured=float(found[least]),
                rounding=1e-7,
                witness=f"n = {n}, x = {x}, means {np.round(means[least], 3).tolist()}",
                note=f"n = {n}, x = {x:g}",
            )
        )
    yield worst(claims)


def _survival(means: Floats, x: float) -> Floats:
    """P(leader - runner-up >= x) of independent unit normals with means (N, n): (N,)."""
    z = np.linspace(-14.0, 14.0, 281)[:, None]
    total = np.zeros(len(means))
    for i in range(means.shape[1]):
        behind = special.log_ndtr(z[None] - x - np.delete(means, i, axis=1)[:, None]).sum(axis=2)
        density = np.exp(behind - (z[:, 0] - means[:, i : i + 1]) ** 2 / 2)
        total += density.sum(axis=1) * (z[1, 0] - z[0, 0]) / math.sqrt(2 * math.pi)
    return total


def gap_law(seed: int, n_drawn: int = 10) -> Iterator[Claim]:
    """Equation (1) for n = 10 against gaps of `n_drawn` normals."""
    runs = 200_000
    two = np.partition(generator(seed, "gaps").standard_normal((runs, n_drawn)), -2, axis=1)[:, -2:]
    sample = two[:, 1] - two[:, 0]
    points = (0.2, 0.5, 1.0)
    claims = []
    for x in points:
        count = int((sample >= x).sum())
        claims.append(
            Claim(
                EXPERTS,
                "equation (1)",
                "P(gap >= x) of equal means is n times the integral of φ(z) Φ(z - x)^(n - 1)",
                f"{runs:,} draws of 10 normals at x = 0.2, 0.5, 1; the worst x",
                claimed=float(gap_survival(x, 10)),
                relation="=",
                measured=count / runs,
                interval=share_interval(count, runs, shared(len(points))),
                confidence=shared(len(points)),
                witness=f"x = {x}: {count / runs:.4f} of the draws",
                note=f"x = {x:g}",
            )
        )
    yield worst(claims)


# ---- amplification ---------------------------------------------------------------------------


def containing_batches(seed: int, claimed_alpha: float = 1.0) -> Iterator[Claim]:
    """The analytic bound on batch sizes at tolerance `claimed_alpha`, against runs at 1."""
    runs, T, mu = 6000, 200, 0.25
    claims = []
    for n in (2, 5):
        zeros = synthetic_stream(f"claims: zeros, n = {n}", np.zeros((T, n)))
        noisy = privatize(zeros, NOISE, mu, seed=seed, replicates=range(runs))
        unused = replicate_generators(seed, ("unused",), range(runs), "none")
        sizes = play_batches(RWAdaBatch(1.0), noisy, unused)[1]
        for t, b in itertools.product((20, 100, 200), (2, 4, 8, 16)):
            mixture = analytic_mixture(RWAdaBatch(claimed_alpha), zeros, mu, t)
            count = int((sizes[:, t - 1] > b).sum())
            claims.append(_batch_claim(mixture, n, t, b, count, runs))
    yield worst(claim for claim in claims if claim.claimed > 0.02)


def _batch_claim(mixture: BatchMixture, n: int, t: int, b: int, count: int, runs: int) -> Claim:
    claimed = float(mixture.weights[mixture.sizes > b].sum())
    case = f"n = {n}, t = {t}: P(batch > {b})"
    return Claim(
        EXPERTS,
        "section 3.1.2, Figure 1",
        "the computed law of batch sizes is stochastically smaller than the true one",
        f"RW-AdaBatch on all-zero gains, T = 200, α = 1, μ = 0.25, {runs:,} runs; n = 2 and 5,"
        " t = 20, 100, 200, b = 2 to 16; the worst one",
        claimed=claimed,
        relation=">=",
        measured=count / runs,
        interval=share_interval(count, runs, shared(24)),
        confidence=shared(24),
        witness=f"{case}: {count / runs:.4f} of the runs, bound {claimed:.4f}",
        note=case,
    )


def smaller_batches(seed: int, swapped: bool = False) -> Iterator[Claim]:
    """delta(eps) of random batch sizes, and of stochastically smaller ones."""
    rng = generator(seed, "mixtures")
    sizes, epsilon = np.arange(1, 31), np.linspace(0, 3, 31)
    each = delta_of_epsilon(epsilon[:, None], 1 / np.sqrt(sizes))
    large = rng.dirichlet(np.full(30, 0.2), 500)
    kernel = np.tril(rng.random((500, 30, 30)) ** 8)
    small = np.einsum("rb,rbc->rc", large, kernel / kernel.sum(axis=2, keepdims=True))
    ratio = (small @ each.T) / (large @ each.T)
    ratio = 1 / ratio if swapped else ratio
    r, e = np.unravel_index(int(ratio.argmin()), ratio.shape)
    yield Claim(
        EXPERTS,
        "Lemma 1",
        "a stochastically smaller batch size gives a smaller trade-off function",
        "δ(ε) of the smaller over that of the larger, 500 random pairs of laws on 1..30,"
        " 31 values of ε; the smallest ratio",
        claimed=1.0,
        relation=">=",
        measured=float(ratio[r, e]),
        witness=f"ε = {epsilon[e]:.2f}: ratio {ratio[r, e]:.5f}",
    )


def conversion(seed: int, mean_only: bool = False) -> Iterator[Claim]:
    """The (eps, delta) of a mixture by its curve; with one batch of the mean size if asked."""
    del seed
    mixture = BatchMixture(1.0, np.array([1, 3, 10, 40]), np.array([0.3, 0.3, 0.2, 0.2]))
    lone = BatchMixture(1.0, np.array([round(mixture.mean())]), np.array([1.0]))
    epsilon = np.linspace(0.0, 4.0, 41)
    curve = (lone if mean_only else mixture).trade_off_at(np.linspace(-8, 8, 40_001))
    found, formula = delta_of_trade_off(*curve, epsilon), mixture.delta(epsilon)
    at = int(np.abs(found / formula - 1).argmax())
    yield Claim(
        EXPERTS,
        "Corollary 3",
        "δ(ε) of a mixture is the convex conjugate of its trade-off curve",
        "both at 41 values of ε from 0 to 4, the curve by 40,001 points; the worst ε",
        claimed=float(formula[at]),
        relation="=",
        measured=float(found[at]),
        rounding=1e-5,
        witness=f"ε = {epsilon[at]:.1f}: {found[at]:.6g} from the curve, {formula[at]:.6g}",
    )


ROWS: tuple[Row, ...] = (
    switching,
    reflection_against_borell_tis,
    gaps,
    gap_law,
    containing_batches,
    smaller_batches,
    conversion,
)
