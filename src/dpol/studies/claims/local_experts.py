"""Checks of "Prediction with Expert Advice under Local Differential Privacy": noise and regret."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from scipy import special

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.stream import GainStream
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import CuratorSetup
from dpol.experts.play import play_rounds
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import noise_scale, privatize
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.show.papers import EXPERTS
from dpol.studies.batching.study import NOISE, synthetic_gains, synthetic_stream
from dpol.studies.claims.core import Claim, Row, generator, mean_interval, shared, worst

# ---- the local mechanism ---------------------------------------------------------------------


def local_noise(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """The Gaussian mechanism on gain vectors, with `share` of the noise that it asks for."""
    stream, mu = _hospitals(seed), 0.5
    for name, ours in (("isotropic", False), ("capacity", True)):
        scale = share * noise_scale(stream, name, mu)
        shift = 1 / (stream.capacities_for("the claim") * scale)
        # One person leaves hospital i for j: the two coordinates move by independent noises.
        pairs = np.sqrt(shift[:, :, None] ** 2 + shift[:, None, :] ** 2)
        pairs[:, np.eye(stream.n_experts, dtype=bool)] = 0.0
        yield Claim(
            EXPERTS,
            "section 2.2" if not ours else "capacity noise",
            f"the noise of the {name} calibration gives every round μ-Gaussian DP",
            f"hockey-stick divergence by quadrature at the worst of {pairs.size:,} moves of one"
            f" person ({stream.n_experts} hospitals, {stream.n_rounds} rounds)",
            claimed=mu,
            relation="<=",
            measured=_mu_of_shift(float(pairs.max())),
            rounding=1e-5,
            witness=f"a move shifts the noisy gains by {pairs.max():.4f} standard deviations",
            ours=ours,
        )


def _hospitals(seed: int) -> GainStream:
    rng = generator(seed, "hospitals")
    capacity = rng.integers(5, 100, (20, 24)).astype(float)
    capacity[0, :2] = 4.0  # two smallest ones of the same size: the worst move
    gains = rng.random(capacity.shape)
    return GainStream(
        label="claims: hospitals",
        gains=gains,
        capacity=capacity,
        entities=tuple(f"hospital {i}" for i in range(24)),
        periods=np.datetime64("2000-01-01") + np.arange(20),
    )


def _mu_of_shift(shift: float, epsilon: float = 0.5) -> float:
    """mu of the delta at which N(0, 1) and N(shift, 1) are (epsilon, delta)-close, integrated."""
    z = np.linspace(-10.0, 10.0 + shift, 200_001)
    excess = np.exp(-((z - shift) ** 2) / 2) - np.exp(epsilon - z**2 / 2)
    delta = float(np.maximum(excess, 0).sum() * (z[1] - z[0]) / math.sqrt(2 * math.pi))
    return mu_of_epsilon(epsilon, delta)


# ---- regret ----------------------------------------------------------------------------------

_ROUNDS, _REPLICATES = 1000, 100


def regrets(seed: int, alpha: float = 4.0, allowed: float = 1.0) -> Iterator[Claim]:
    """Regret of RW-FTPL and RW-AdaBatch, and what batching adds; bounds times `allowed`."""
    plain, batched, extra = [], [], []
    confidence = shared(16)
    for n in (2, 10):
        games = itertools.product(_streams(seed, n).items(), (0.5, 1.0))
        for (label, gains), mu in games:
            eta = math.sqrt(n) / mu
            bound = (eta + 2 / eta) * math.sqrt(2 * _ROUNDS * math.log(n)) * allowed
            own, other = _regrets(seed, label, gains, mu, alpha)
            case = f"{label}, n = {n}, η = {eta:.3g}"
            random = float(gains.sum(axis=0).max() - gains.sum(axis=0).mean())
            batches = (1 + alpha / 2) * bound
            plain.append(_regret_claim("ftpl", own, bound, random, case, confidence))
            batched.append(_regret_claim("adabatch", other, batches, random, case, confidence))
            added, most = other - own, random - float(own.mean())
            extra.append(_regret_claim("extra", added, alpha / 2 * bound, most, case, confidence))
    yield from (worst(claims) for claims in (plain, batched, extra))


_Kind = Literal["ftpl", "adabatch", "extra"]
_REGRETS: dict[_Kind, tuple[str, str]] = {
    "ftpl": (
        "section 3, regret of RW-FTPL",
        "expected regret is at most (η + 2/η) sqrt(2 T log n) for gains in [0, 1]",
    ),
    "adabatch": (
        "Corollary 2",
        "expected regret of RW-AdaBatch is at most 1 + α/2 times the bound of RW-FTPL",
    ),
    "extra": (
        "Corollary 2, factor",
        "batching adds at most α/2 times the bound of RW-FTPL to the expected regret",
    ),
}


def _regret_claim(
    kind: _Kind, sample: Floats, bound: float, random: float, case: str, confidence: float
) -> Claim:
    """`random` is the same number of an algorithm that plays a random expert in every round."""
    statement, claim = _REGRETS[kind]
    case = f"{case}; a random expert has {random:.0f}"
    return Claim(
        EXPERTS,
        statement,
        claim,
        f"{_REPLICATES} runs of {_ROUNDS:,} rounds on each of 16 games (adversarial and random"
        " streams, n = 2 and 10, two noise scales); the worst game",
        claimed=bound,
        relation="<=",
        measured=float(sample.mean()),
        trivial=random,
        interval=mean_interval(sample, confidence) if sample.any() else None,
        confidence=confidence if sample.any() else 1.0,
        witness=f"{case}: mean {sample.mean():.1f}, bound {bound:.1f}",
        note=f"{case}; α = 4" if kind != "ftpl" else case,
    )


def _streams(seed: int, n: int) -> dict[str, Floats]:
    """Adversarial and random gains (T, n)."""
    rng = generator(seed, "gains", n)
    adversarial = synthetic_gains(_ROUNDS, n)
    coins = (rng.random((_ROUNDS, n)) < 0.5).astype(float)
    return {
        "one good expert": adversarial["one-good-expert"],
        "two that alternate": adversarial["two-rivals"],
        "fair coins": coins,
        "uniform with a gap": 0.8 * rng.random((_ROUNDS, n)) + np.where(np.arange(n) == 0, 0.2, 0),
    }


def _regrets(
    seed: int, label: str, gains: Floats, mu: float, alpha: float
) -> tuple[Floats, Floats]:
    """Regrets (R,) of RW-FTPL and RW-AdaBatch on the same noisy gains."""
    stream = synthetic_stream(f"claims: {label}, n = {gains.shape[1]}", gains)
    noisy = privatize(stream, NOISE, mu, seed=seed, replicates=range(_REPLICATES))
    none = replicate_generators(seed, ("unused",), range(_REPLICATES), "none")
    time, best = np.arange(len(gains)), gains.sum(axis=0).max()
    plain = play_rounds(RandomWalkFTPL(), noisy, none)
    batched, _ = play_batches(RWAdaBatch(alpha), noisy, none)
    return best - gains[time, plain].sum(axis=1), best - gains[time, batched].sum(axis=1)


def expected_maximum(seed: int, factor: float = 2.0) -> Iterator[Claim]:
    """The mean of the largest of N standard normals against sqrt(factor log N)."""
    del seed
    z = np.linspace(-12.0, 12.0, 24_001)
    step = z[1] - z[0]
    claims: list[Claim] = []
    for N in (2, 3, 10, 100, 10**4, 10**6):
        below = np.exp(N * special.log_ndtr(z))
        mean = float(((z > 0) - below).sum() * step)
        claims.append(
            Claim(
                EXPERTS,
                "Lemma 5",
                "the mean of the largest of N standard normals is at most sqrt(2 log N)",
                "quadrature for six N from 2 to 1,000,000; the worst N",
                claimed=math.sqrt(factor * math.log(N)),
                relation="<=",
                measured=mean,
                rounding=1e-3,
                witness=f"N = {N:,}: mean {mean:.4f}",
                note=f"N = {N:,}",
            )
        )
    yield worst(claims)


# ---- the central baseline --------------------------------------------------------------------


def tree(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """The binary tree with `share` of its noise."""
    del seed
    mu, sensitivity = 0.5, math.sqrt(2.0)
    claims = []
    for T in (2, 3, 5, 8, 9, 100, 148, 500):
        setup = CuratorSetup(1, T, 2, 1.0, sensitivity, 1.0, mu)
        scale = share * TreeFTPL("min-noise").init(setup).node_scale
        entered = np.zeros(T + 1, dtype=int)
        for t in range(1, T):  # the node that round t closes
            entered[t - (t & -t) + 1 : t + 1] += 1
        measured = sensitivity * math.sqrt(entered.max()) / scale
        claims.append(
            Claim(
                EXPERTS,
                "section 4, tree baseline",
                "node noise Δ sqrt(L)/μ makes all noisy prefix sums together μ-Gaussian DP",
                "all nodes that a round enters, counted, for eight T from 2 to 500",
                claimed=mu,
                relation="<=",
                measured=measured,
                witness=f"T = {T}: a round enters {entered.max()} nodes, μ = {measured:.4f}",
            )
        )
    yield worst(claims)


ROWS: tuple[Row, ...] = (local_noise, regrets, expected_maximum, tree)
