"""Checks of "Private Online Learning via Lazy Algorithms": L2P, its proofs, and its regret.

L2P plays every batch by the measure at its start (Lemma 3.4), so its expected loss for experts is
computed, not sampled. The paper's O-notation hides constants, so only rates of growth are checked.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from dpol.core.randomness import Floats
from dpol.core.words import at_most
from dpol.lazy.accounting import LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.convex.accounting import ConvexGame, theorem_3_12
from dpol.lazy.parameters import AccountedParameters, theorem_3_10
from dpol.lazy.weights import WeightsMeasure
from dpol.studies.ledger.claims.core import DELTA, At, Finding, Findings, generator

# ---- multiplicative weights ------------------------------------------------------------------


def log_ratios(seed: int) -> Findings:
    """Check the log ratio of two redraws by multiplicative weights after another loss."""
    eta, rng = 0.1, generator(seed, "cumulative losses")
    measure = WeightsMeasure(3, eta)
    corners = np.array(list(itertools.product((0, 1), repeat=3)), dtype=float)
    for state in rng.uniform(0, 20 / eta, (400, 3)):
        logs = np.log([measure.probabilities(measure.absorb(state, loss)) for loss in corners])
        each = float(np.abs(logs[:, None] - logs[None]).max())
        yield Finding("later-batches", eta, 2 * each, numbers={"eta": eta, "each": each})


# ---- privacy ---------------------------------------------------------------------------------


def published_over_sound(_: int) -> Findings:
    """Check epsilon of Theorem 3.2 over a sound epsilon, on a grid within its preconditions."""
    for T, delta, B in itertools.product((10**3, 10**4, 10**6), (1e-3, 1e-6), (1, 3, 10, 30)):
        game = LazyGame(T, delta, normaliser=2.0)
        for eta, p in itertools.product(np.geomspace(1e-5, 0.1, 9), (0.003, 0.03, 0.2, 0.5, 0.9)):
            published = published_epsilon(game, B, float(eta), p)
            if published < math.inf:
                # The conversion gives 0 if delta alone covers the loss.
                sound = max(sound_epsilon(game, B, float(eta), p), 1e-9)
                at: At = {"T": T, "delta": delta, "B": B, "eta": float(eta), "p": p}
                yield Finding("published-over-sound", 1.0, published / sound, at=at)


# ---- batches ---------------------------------------------------------------------------------


def expected_loss(losses: Floats, eta: float, batch_size: int) -> float:
    """Return the exact expected loss of L2P over multiplicative weights on losses (T, d)."""
    measure = WeightsMeasure(losses.shape[1], eta)
    state, total = measure.initial(), 0.0
    for start in range(0, len(losses), batch_size):
        batch = losses[start : start + batch_size].sum(axis=0)
        total += float(measure.probabilities(state) @ batch)
        state = measure.absorb(state, batch)
    return total


def batching(_: int) -> Findings:
    """Check how the regret that batches add grows with eta; the paper claims a power of 2.

    Proposition 3.3 claims it, and the regret clause of Theorem 3.2 repeats it. At p = 1/2 and
    delta_1 = 1/4 the conditions of both are met.
    """
    T, B, etas = 10_000, 10, np.geomspace(1e-5, 1e-2, 7)
    # One expert loses a whole batch, the other the next one. Then the weights are back.
    two = np.repeat(np.eye(2), B, axis=0)
    each = [expected_loss(two, eta, B) - expected_loss(two, eta, 1) for eta in etas.tolist()]
    added = T / (2 * B) * np.array(each)
    exponents = np.diff(np.log(added)) / np.diff(np.log(etas))
    at = int(np.abs(etas - 1e-3).argmin())
    over = added / (T * (B * etas) ** 2)
    numbers = {"B": B, "added": added[at], "eta": etas[at], "over": over[at]}
    numbers |= {"first_eta": etas[0], "first_over": over[0]}
    numbers["needed"] = at_most(float(etas[-1]) * B * math.log(4) / 0.5)
    for name in ("cost-of-batches", "regret-of-transformation"):
        least = float(exponents.min())
        yield Finding(name, 2.0, least, numbers=numbers, settings=len(etas))


_ORDERS_OF_T = 16, 24
"""Powers of ten between which the growth of regret over rate is computed."""


def rate_of_experts(_: int) -> Findings:
    """Check the growth of regret over the rate of Theorem 3.10 at eps = T^(-a), logarithms apart.

    By hand: two experts that take turns to lose, batch by batch, cost eta T B / 8. With the
    theorem's B = 1/eps and eta this is T^((1 - a)/3) / (8 log 2 log^2(T / delta)) times the rate,
    for 1/4 <= a < 1.
    """
    low, high = (10.0**k for k in _ORDERS_OF_T)
    for a in (1 / 4, 1 / 2, 3 / 4):
        growth = _over_rate(high, a) / _over_rate(low, a)
        growth *= (math.log(high / DELTA) / math.log(low / DELTA)) ** 2
        numbers = {"a": a, "low": low, "high": high, "at_low": _over_rate(low, a)}
        numbers["at_high"] = _over_rate(high, a)
        power = round(math.log(growth) / math.log(high / low), 2)  # logarithms still move it
        yield Finding("rate-of-experts", 0.0, power, f"ε = T^(-{a:g})", numbers=numbers)


def _over_rate(T: float, a: float) -> float:
    """Return exact regret over the rate of Theorem 3.10 with constant 1."""
    epsilon = T**-a
    private = math.pow(T, 1 / 3) * math.log(2) * math.log(T / DELTA) / math.pow(epsilon, 2 / 3)
    return in_turn(T, epsilon, 2) / (math.sqrt(T * math.log(2)) + private)


def in_turn(T: float, epsilon: float, n_experts: int, delta: float = DELTA) -> float:
    """Return the exact regret of Theorem 3.10's parameters if halves of the experts lose in turn.

    The first batch has moved the weights of the second half to e^(-eta B) and 1.
    """
    game = LazyGame(int(T), delta, normaliser=2.0)
    parameters = theorem_3_10(game, epsilon=epsilon, n_experts=n_experts)
    return T / 4 * math.tanh(parameters.eta * parameters.batch_size / 2)


def free_privacy(_: int) -> Findings:
    """Check the growth of regret over sqrt(T log d) at eps = T^(-1/4), d = T, logarithms apart.

    Once for one instance, and once for each of K = sqrt(T) instances that are (1, delta)-DP
    together by advanced composition: 1 = K eps^2 / 2 + sqrt(2 K log(2 / delta)) eps.
    """
    log_term = math.log(2 / DELTA)
    each = math.sqrt(2 * log_term + 2) - math.sqrt(2 * log_term)
    for name, share, power in (("free-epsilon", 1.0, 0.0), ("free-instances", each, 0.5)):
        over, free = [], []
        for T in (10.0**k for k in _ORDERS_OF_T):
            delta = DELTA / (2 * T**power)
            over.append(in_turn(T, share * T**-0.25, int(T), delta) / math.sqrt(T * math.log(T)))
            free.append(over[-1] * math.log(T / delta) * math.sqrt(math.log(T)))
        grown = math.log10(free[1] / free[0]) / (_ORDERS_OF_T[1] - _ORDERS_OF_T[0])
        numbers = {"share": share, "at_low": over[0], "at_high": over[1]}
        yield Finding(name, 0.0, round(grown, 2), numbers=numbers)


EPOCHS_POWER = 4 / 3
"""The adversary of Theorem 4.2 changes the best expert (T epsilon)^(4/3) times."""


def rate_of_lower_bound(_: int) -> Findings:
    """Check the growth of the best expert's lead in games of Theorem 4.2's adversary."""
    horizons = [10**4, 10**5, 10**6, 10**7]
    for d in (2, 10, 300):
        epochs = [round((T * T**-0.5) ** EPOCHS_POWER) for T in horizons]
        leads = [T / E * mean_lead(E, d) for T, E in zip(horizons, epochs, strict=True)]
        slope = float(np.polyfit(np.log(horizons), np.log(leads), 1)[0])
        at: At = {"T": frozenset(horizons), "d": d}
        numbers = {"over": leads[-1] / horizons[-1] ** (2 / 3)}
        yield Finding("rate-of-lower-bound", 2 / 3, slope, at=at, numbers=numbers, settings=4)


def mean_lead(epochs: int, d: int) -> float:
    """Return E[epochs / 2 - the smallest of d binomials(epochs, 1/2)]."""
    reach = math.ceil(10 * math.sqrt(epochs))
    k = np.arange(max(0, epochs // 2 - reach), min(epochs, epochs // 2 + reach) + 1)
    above = special.bdtrc(k, epochs, 0.5)  # P(binomial > k)
    return float(epochs / 2 - (k[0] + (above**d).sum()))


EPSILONS = (0.1, 0.25, 1.0)
DELTAS = (1e-3, 1e-12)
"""Other delta of rows on our accounting, beside `DELTA`."""


def _value(
    name: str, parameters: AccountedParameters, B: float, T: int, epsilon: float, at: At
) -> Finding:
    """Compute Theorem 3.2 on the parameters of another theorem, which promises `epsilon`.

    With delta_0 = 0, whether or not its preconditions hold.
    """
    eta, p, log_term = parameters.eta, parameters.fake_switch, math.log(2 * T / DELTA)
    spread, first = T * eta**2 * p / B, 2 * eta / p
    value = first + eta + 1.5 * spread * log_term + log_term * math.sqrt(6 * spread)
    return Finding(
        name, 1.0, value / epsilon, at=at, numbers={"own": value, "first": first / epsilon}
    )


# ---- experts ---------------------------------------------------------------------------------


def preset_of_experts(_: int) -> Findings:
    """Check the parameters of Theorem 3.10 on a grid; by Theorem 3.2 at one delta."""
    grid = (10**3, 10**4, 10**6), EPSILONS, (10, 300, 10_000), (DELTA, *DELTAS)
    for T, epsilon, d, delta in itertools.product(*grid):
        parameters = theorem_3_10(LazyGame(T, delta, normaliser=2.0), epsilon=epsilon, n_experts=d)
        at: At = {"T": T, "epsilon": epsilon, "d": d, "delta": delta}
        yield Finding("experts-privacy", 1.0, parameters.epsilon / epsilon, at=at)
        if delta == DELTA:
            B, log_term = parameters.batch_size, math.log(2 * T / delta)
            needed = parameters.eta * B * log_term / parameters.fake_switch
            yield Finding("experts-precondition", 1.0, needed, at=at)
            yield _value("experts-value", parameters, B, T, epsilon, at)


# Probabilities p of a fake switch; 0 is the limit of small p.
_SWITCHES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.99)


def experts_as_stated(_: int) -> Findings:
    """Check Theorem 3.10 with the eta of its statement, which lacks a factor of its proof.

    The statement names no p, so the p most favourable to it counts. The losses of two experts
    differ in round 1 only. The number of plays of the second expert after the first batch is a
    function of the outputs, so its exact epsilon is at most theirs.
    """
    T, delta = 10**4, DELTA
    for epsilon in EPSILONS:
        parameters = theorem_3_10(LazyGame(T, delta, normaliser=2.0), epsilon=epsilon, n_experts=2)
        B, eta = parameters.batch_size, parameters.eta * math.log(T / delta)
        of_proof = min(10 * eta / epsilon, 1.0)
        lowers = {}
        for p in (*_SWITCHES, of_proof):
            one, other = (times_played(T // B, B, eta, p, loser)[None] for loser in (0, 1))
            both = exact_epsilon(one, other, delta), exact_epsilon(other, one, delta)
            lowers[p] = float(np.max(both))
        p = min(lowers, key=lambda switch: lowers[switch])
        numbers = {
            "delta": delta,
            "lower": lowers[p],
            "p": p,
            "switches": len(lowers),
            "at": ", ".join(f"{lowers[switch]:.3g} at p = {switch:g}" for switch in _SWITCHES),
            "at_proof": f"{lowers[of_proof]:.3g} at p = 10η/ε = {of_proof:.3f}",
        }
        case = f"ε = {epsilon:g}, B = {B}, η = {eta:.4f}"
        yield Finding("experts-as-stated", 1.0, lowers[p] / epsilon, case, numbers=numbers)


def times_played(batches: int, B: int, eta: float, p: float, loser: int) -> Floats:
    """Return the distribution of plays of expert 1 in batches 2, 3, ... if `loser` lost round 1."""
    weights = np.exp(-eta * (np.arange(2) == loser))
    # Redraws keep this law, also the first, from the uniform shadow point of batch 1. Later losses
    # are equal, so they do not change it.
    fresh = weights / weights.sum()
    keep = (1 - p) * math.exp(-2 * B * eta)
    first, second = (1 - keep) * fresh
    # Index: number of plays of expert 1. The last expert played was 0, or 1.
    last_0, last_1 = np.zeros(batches), np.zeros(batches)
    last_0[0], last_1[1] = fresh
    for t in range(2, batches):
        both = last_0[:t] + last_1[:t]
        last_0[:t] = keep * last_0[:t] + first * both
        last_1[1 : t + 1] = keep * last_1[:t] + second * both
        last_1[0] = 0.0
    return last_0 + last_1


# ---- convex losses ---------------------------------------------------------------------------


def preset_of_convex(_: int) -> Findings:
    """Check the parameters of Theorem 3.12 by Theorem 3.2 and Lemma 3.11.

    Uses B = 1/(2 eps log(1/delta)) as printed, where B is at least 1 and 2 T <= 1/delta.
    Elsewhere there is no such batch, or delta_1 is smaller than delta^2.
    """
    for T, epsilon in itertools.product((10**3, 10**4, 10**5), (0.001, 0.01, 0.03)):
        game = ConvexGame(n_rounds=T, dimension=3, diameter=1.0, lipschitz=1.0, delta=DELTA)
        parameters = theorem_3_12(game, epsilon=epsilon)
        printed = 1 / (2 * epsilon * math.log(1 / DELTA))
        at: At = {"T": T, "epsilon": epsilon, "B": printed}
        yield _value("convex-value", parameters, printed, T, epsilon, at)
        rate = parameters.beta / parameters.regulariser
        # eta = 2 rate + sqrt(8 rate log(2 / delta_0)), solved for delta_0.
        smallest = 2 * math.exp(-(max(parameters.eta - 2 * rate, 0.0) ** 2) / (8 * rate))
        yield Finding("convex-temperature", DELTA, smallest, at=at)


def accounting_of_convex(_: int) -> Findings:
    """Check Theorem 3.12 by our own accounting, for balls of two dimensions d."""
    sizes = (10, 50), (10**3, 10**4, 10**5)
    for d, T, delta, epsilon in itertools.product(*sizes, (DELTA, *DELTAS), EPSILONS):
        game = ConvexGame(n_rounds=T, dimension=d, diameter=1.0, lipschitz=1.0, delta=delta)
        reached = theorem_3_12(game, epsilon=epsilon).epsilon
        at: At = {"d": d, "T": T, "delta": delta, "epsilon": epsilon}
        yield Finding("convex-privacy", 1.0, reached / epsilon, at=at)


def exact_epsilon(first: Floats, second: Floats, delta: float) -> Floats:
    """Return the (N,) smallest epsilon >= 0 with sum max(0, P - e^epsilon Q) <= delta, or 50.

    Args:
        first: (N, outcomes) distributions P.
        second: (N, outcomes) distributions Q.
        delta: delta, in [0, 1]; an epsilon above 50 is returned as 50.
    """
    low, high = np.zeros(len(first)), np.full(len(first), 50.0)
    good_at_zero = exact_delta(first, second, low) <= delta
    for _ in range(48):
        middle = (low + high) / 2
        good = exact_delta(first, second, middle) <= delta
        low, high = np.where(good, low, middle), np.where(good, middle, high)
    return np.where(good_at_zero, 0.0, high)


def exact_delta(first: Floats, second: Floats, epsilon: Floats) -> Floats:
    """Return the (N,) hockey-stick divergences sum max(0, P - e^epsilon Q); epsilon is (N,)."""
    excess = np.maximum(first - np.exp(epsilon)[:, None] * second, 0.0)
    return np.asarray(excess.sum(axis=1))


# ---- lemmas, on distributions (N, outcomes) or (outcomes,) with few outcomes -----------------


def either_way(one: Floats, other: Floats, epsilon: float | Floats) -> Floats:
    """Return the smallest delta (N,) at `epsilon` of pairs (N, outcomes), in both orders."""
    level = np.broadcast_to(epsilon, len(one))
    return np.maximum(exact_delta(one, other, level), exact_delta(other, one, level))


ADVANTAGE = 4.0
"""Ratio of the probabilities of a bad first answer in the two worlds."""


def conditional_composition(_: int) -> Findings:
    """Check Lemma 3.8: a bad first answer is rare in each world, and tells them apart."""
    often, slack = 0.01, DELTA
    # The first answer is bad or good. After a bad one, the second reveals the world.
    one = np.array([[ADVANTAGE * often, 0.0, 1 - ADVANTAGE * often]])
    other = np.array([[0.0, often, 1 - often]])
    # Equation (1) with another first term; `slack` is its delta.
    most = math.log(ADVANTAGE)
    logs = math.log(math.e + most / slack), math.log(1 / slack)
    epsilon = most + most * math.sqrt(2 * min(logs))
    measured = float(either_way(one, other, epsilon)[0])
    numbers = {"often": often, "more": ADVANTAGE * often, "epsilon": epsilon, "slack": slack}
    numbers["mended"] = mended_delta(often, slack, epsilon)
    yield Finding("conditional-composition", 2 * often + slack, measured, numbers=numbers)


def mended_delta(often: float, delta: float, epsilon: float) -> float:
    """Return delta of Lemma 3.8, mended: `δ + (1 + e^ε) ((1 + e^ε) Σλ + δ)`.

    Σλ, `often`, is that of the probabilities of bad answers; ε and δ are of composition. Let the
    answers stop when they leave the good set of either world. Stopped, they are (ε, δ)-DP, as each
    step meets condition (2). They leave in one world through its own set with probability at most
    Σλ, so through the other's with at most e^ε Σλ + δ. Stopping changes the answers of either world
    with probability at most the sum of both.
    """
    more = 1 + math.exp(epsilon)
    return delta + more * (more * often + delta)


RANGE = 2.0
"""The ratio of Lemmas A.1 and 3.7 lies within e^(-RANGE B eta) and e^(RANGE B eta)."""
BEYOND = 1.1
"""The counterexample's log ratio over the lemmas' bound: a tenth beyond it."""


def normalised_ratios(_: int) -> Findings:
    """Check Lemmas A.1 and 3.7 for delta_0 > 0: one round, two points, batches of one round."""
    eta, p, delta_1 = 0.04, 0.5, 0.01
    move = math.tanh(BEYOND * eta)
    now, following = np.array([[0.5, 0.5]]), np.array([[1 + move, 1 - move]]) / 2
    delta_0 = float(either_way(now, following, eta)[0])
    ratios = np.log(following / now)[0]
    outside = np.abs(ratios[:, None] - ratios) > RANGE * eta
    measured = float(now[0] @ outside @ now[0])
    allowed = 6 * math.exp(eta) * delta_0 / eta
    of_lemma = (2 / eta + math.log(1 / delta_1) / p) * math.e * delta_0 + delta_1
    numbers = {"eta": eta, "delta_0": delta_0, "move": move / 2, "beyond": BEYOND - 1}
    numbers |= {"allowed": allowed, "p": p, "delta_1": delta_1, "of_lemma": of_lemma}
    yield Finding("normalised-ratio", max(allowed, of_lemma), measured, numbers=numbers)


RESAMPLES = (1.0, 0.0)
"""Probability of a second draw after each of the two points of the first."""
_ORDERS = np.geomspace(1.0, 100.0, 400)


def renyi(one: Floats, other: Floats) -> Floats:
    """Return Rényi divergences of `_ORDERS` of (outcomes,) with one support; order 1 is KL."""
    one, other = one[one > 0], other[one > 0]
    ratio = np.log(one) - np.log(other)
    above = np.maximum(_ORDERS - 1, 1e-300)
    moments = np.log((one * np.exp((_ORDERS - 1)[:, None] * ratio)).sum(axis=1)) / above
    return np.where(_ORDERS == 1, float(one @ ratio), moments)


def concentrated(one: Floats, other: Floats) -> float:
    """Bound the smallest rho with D_alpha <= alpha rho for all alpha >= 1, in both orders.

    D_alpha rises with alpha, so between two orders the value at the larger one is an upper bound.
    """
    most = 0.0
    for p, q in ((one, other), (other, one)):
        largest = float(np.log(p[p > 0] / q[p > 0]).max())
        after = np.append(renyi(p, q)[1:], largest)
        most = max(most, float((after / _ORDERS).max()))
    return most


def two_draws(first: Floats, second: Floats, again: Sequence[float]) -> Floats:
    """Return the joint distribution of a point and, if drawn, a second; first (2,), second (2,)."""
    rows = [
        [chance * (1 - more), *(chance * more * second)]
        for chance, more in zip(first, again, strict=True)
    ]
    return np.concatenate(rows)


def switch_budget(_: int) -> Findings:
    """Check Lemma 4.3, with conditional divergences that are means over the resampling rounds."""
    firsts = np.array([[0.96, 0.04], [0.99, 0.01]])
    seconds = np.array([[0.04, 0.96], [0.012, 0.988]])
    masses = [two_draws(*draws, RESAMPLES) for draws in zip(firsts, seconds, strict=True)]
    rho = concentrated(*masses)
    parts = renyi(*firsts) + float(firsts[0] @ RESAMPLES) * renyi(*seconds)
    at = int((parts / _ORDERS).argmax())
    order, most = float(_ORDERS[at]), float(parts[at])
    numbers = {"rho": rho, "order": order, "parts": most}
    yield Finding("switch-budget", 1.0, most / (order * rho), numbers=numbers)
