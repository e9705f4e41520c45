"""Checks of the same paper as `lazy`: its theorems with parameters, experts and convex losses."""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy

from dpol.core.randomness import Floats
from dpol.lazy.accounting import LazyGame
from dpol.lazy.exact import exact_epsilon
from dpol.lazy.parameters import AccountedParameters, theorem_3_10
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.studies.claims.core import Findings, generator, of_number
from dpol.studies.lazy.convex.accounting import ConvexGame, theorem_3_12

EPSILONS, DELTA = (0.1, 0.25, 1.0), 1e-6


def formula(T: int, delta: float, B: int, eta: float, p: float) -> float:
    """epsilon by Theorem 3.2 with delta_0 = 0, whether or not its preconditions hold."""
    log_term = math.log(2 * T / delta)
    spread = T * eta**2 * p / B
    return 2 * eta / p + eta + 1.5 * spread * log_term + log_term * math.sqrt(6 * spread)


def by_theorem_3_2(
    name: str, parameters: AccountedParameters, T: int, delta: float, epsilon: float, case: str
) -> Findings:
    """Findings of Theorem 3.2 on the parameters of another theorem, which promises `epsilon`."""
    B, eta, p = parameters.batch_size, parameters.eta, parameters.fake_switch
    needed = eta * B * math.log(2 * T / delta) / p
    own, first = formula(T, delta, B, eta, p), 2 * eta / p
    yield of_number(f"{name}-precondition", 1.0, needed, case)
    facts = {"own": own, "first": first / epsilon}
    yield of_number(f"{name}-value", 1.0, own / epsilon, case, facts=facts)


# ---- experts ---------------------------------------------------------------------------------


def preset_of_experts(_: int) -> Findings:
    """The parameters of Theorem 3.10 on a grid."""
    for T, epsilon, d in itertools.product((10**3, 10**4, 10**6), EPSILONS, (10, 300, 10_000)):
        yield from of_theorem_3_10(T, epsilon, d, DELTA)


def of_theorem_3_10(T: int, epsilon: float, d: int, delta: float) -> Findings:
    """Theorem 3.2's precondition and value for the parameters of Theorem 3.10, and our own."""
    found = theorem_3_10(LazyGame(T, delta, normaliser=2.0), epsilon=epsilon, n_experts=d)
    case = f"T = {T:,}, ε = {epsilon:g}, d = {d:,}"
    yield from by_theorem_3_2("experts", found, T, delta, epsilon, case)
    facts = {"own": found.epsilon}
    yield of_number("experts-privacy", 1.0, found.epsilon / epsilon, case, facts=facts)


# Probabilities p of a fake switch; 0 is what small p come near to.
_SWITCHES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.99)


def experts_as_stated(_: int) -> Findings:
    """Theorem 3.10 with the eta of its statement, which lacks a factor of its proof.

    The statement names no p, so of several p the one counts at which the least is proved against
    it. Two experts whose losses differ in round 1 only. How often the second one is played in all
    batches after the first is one function of the outputs: its exact epsilon is at most theirs.
    """
    T, delta = 10**4, DELTA
    for epsilon in EPSILONS:
        found = theorem_3_10(LazyGame(T, delta, normaliser=2.0), epsilon=epsilon, n_experts=2)
        B, eta = found.batch_size, found.eta * math.log(T / delta)
        of_proof = min(10 * eta / epsilon, 1.0)
        lowers = {p: _of_plays(T, B, eta, p, delta) for p in (*_SWITCHES, of_proof)}
        p = min(lowers, key=lambda it: lowers[it])
        facts = {
            "delta": delta,
            "lower": lowers[p],
            "p": p,
            "switches": len(lowers),
            "at": ", ".join(f"{lowers[it]:.3g} at p = {it:g}" for it in _SWITCHES),
            "at_proof": f"{lowers[of_proof]:.3g} at p = 10η/ε = {of_proof:.3f}",
        }
        case = f"ε = {epsilon:g}, B = {B}, η = {eta:.4f}"
        yield of_number("experts-as-stated", 1.0, lowers[p] / epsilon, case, facts=facts)


def _of_plays(T: int, B: int, eta: float, p: float, delta: float) -> float:
    """The exact epsilon of how often expert 1 is played, if expert 0 or 1 lost round 1."""
    laws = [times_played(T // B, B, eta, p, loser)[None] for loser in (0, 1)]
    return _distance(laws[0], laws[1], delta)


def times_played(batches: int, B: int, eta: float, p: float, loser: int) -> Floats:
    """The law of how often expert 1 is played in batches 2, 3, ..., if `loser` lost round 1."""
    weights = np.exp(-eta * (np.arange(2) == loser))
    fresh = weights / weights.sum()
    # The shadow point is uniform in batch 1; later losses are equal, so it plays no role.
    kept = (1 - p) * math.exp(-2 * B * eta) * weights * (1 / weights).mean()
    start = kept / 2 + (1 - kept).mean() * fresh
    keep = (1 - p) * math.exp(-2 * B * eta)
    first, second = (1 - keep) * fresh
    # By the number of plays of expert 1; the last played was expert 0, or expert 1.
    last_0, last_1 = np.zeros(batches), np.zeros(batches)
    last_0[0], last_1[1] = start
    for t in range(2, batches):
        both = last_0[:t] + last_1[:t]
        last_0[:t] = keep * last_0[:t] + first * both
        last_1[1 : t + 1] = keep * last_1[:t] + second * both
        last_1[0] = 0.0
    return last_0 + last_1


# ---- convex losses ---------------------------------------------------------------------------


def preset_of_convex(_: int) -> Findings:
    """The parameters of Theorem 3.12 by Theorem 3.2 and Lemma 3.11."""
    for T, epsilon in itertools.product((10**3, 10**4, 10**6), (0.01, 0.1, 1.0)):
        found = theorem_3_12(
            ConvexGame(n_rounds=T, dimension=3, diameter=1.0, lipschitz=1.0, delta=DELTA),
            epsilon=epsilon,
        )
        case = f"T = {T:,}, ε = {epsilon:g}"
        yield from by_theorem_3_2("convex", found, T, DELTA, epsilon, case)
        rate = found.beta / found.regulariser
        # eta = 2 rate + sqrt(8 rate log(2 / delta_0)), solved for delta_0.
        smallest = 2 * math.exp(-(max(found.eta - 2 * rate, 0.0) ** 2) / (8 * rate))
        yield of_number("convex-temperature", DELTA, smallest, case)


def accounting_of_convex(_: int) -> Findings:
    """Theorem 3.12 by our own accounting, in two dimensions of the ball."""
    for d, T in itertools.product((10, 50), (10**3, 10**4, 10**5)):
        found = theorem_3_12(
            ConvexGame(n_rounds=T, dimension=d, diameter=1.0, lipschitz=1.0, delta=DELTA),
            epsilon=1.0,
        )
        yield of_number(f"convex-privacy-{d}", 1.0, found.epsilon, f"T = {T:,}")


def redraw_of_convex(seed: int) -> Findings:
    """Densities on an interval with one loss more, or with another loss."""
    rng = generator(seed, "convex losses")
    for _ in range(30):
        beta, weight = math.exp(rng.uniform(-2, 1)), math.exp(rng.uniform(-1, 3))
        half = float(math.exp(rng.uniform(-1, 2)))
        x = np.linspace(-half, half, 4001)
        base = beta * (_convex(rng, x) + weight * x**2)
        losses = [_convex(rng, x), x, -x]
        laws = scipy.special.softmax(
            -np.array([base + beta * loss for loss in (0 * x, *losses)]), axis=1
        )
        rate, case = beta / weight, f"β = {beta:.3g}, λ = {weight:.3g}, D = {2 * half:.3g}, L = 1"
        for delta in (1e-2, 1e-5):
            limit = 2 * rate + math.sqrt(8 * rate * math.log(2 / delta))
            added = _distance(laws[:1].repeat(3, axis=0), laws[1:], delta)
            yield of_number("convex-one-more-loss", limit, added, f"{case}, δ0 = {delta:g}")
            replaced = _distance(laws[[1, 2]], laws[[2, 3]], delta)
            mu = mu_of_epsilon(replaced, delta) if replaced > 0 else 0.0
            yield of_number("convex-redraw", math.sqrt(2 * rate), mu, case)


def _convex(rng: np.random.Generator, x: Floats) -> Floats:
    """A convex loss of Lipschitz constant 1: the largest of three lines."""
    slopes, offsets = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    return np.asarray((slopes[:, None] * x + offsets[:, None]).max(axis=0))


def _distance(one: Floats, other: Floats, delta: float) -> float:
    """The largest epsilon at delta of pairs of laws, either way round."""
    both = exact_epsilon(one, other, delta), exact_epsilon(other, one, delta)
    return float(np.max(both))
