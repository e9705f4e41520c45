"""Checks of the lemmas behind L2P, on distributions with few outcomes.

Source: "Private Online Learning via Lazy Algorithms", sections 2 to 4 and appendix A. Distributions
are (N, outcomes) or (outcomes,). All numbers are computed; randomness only chooses distributions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpol.core.randomness import Floats
from dpol.lazy.accounting import ACCOUNTANTS, NORMALISERS, LazyGame
from dpol.lazy.exact import exact_delta, neighbours, output_masses, worst_epsilon
from dpol.lazy.transform import LazyParameters
from dpol.studies.ledger.claims.core import DELTA, At, Finding, Findings, generator, stated


def random_masses(seed: int, purpose: str, n: int, outcomes: int) -> Floats:
    """Draw random distributions (2, n, outcomes)."""
    return generator(seed, purpose).dirichlet(np.ones(outcomes), (2, n))


def either_way(one: Floats, other: Floats, epsilon: float | Floats) -> Floats:
    """Return the smallest delta (N,) at `epsilon` of pairs (N, outcomes), in both orders."""
    level = np.broadcast_to(epsilon, len(one))
    return np.maximum(exact_delta(one, other, level), exact_delta(other, one, level))


# ---- lemmas on the way to Theorem 3.2 ------------------------------------------------------------


def disagreement(one: Floats, other: Floats) -> float:
    """Return P(X != Y) if X and Y win one exponential race, each at its distribution's rates."""
    both = (one > 0) & (other > 0)
    faster = np.maximum(one / one[both][:, None], other / other[both][:, None]).sum(axis=1)
    return 1 - float((1 / faster).sum())


def coupling(seed: int) -> Findings:
    """Check Lemma 3.5: one race couples all distributions of a collection, pair by pair."""
    near = np.exp(-0.1 * np.arange(8.0))
    pairs = {
        "random laws": random_masses(seed, "coupling", 200, 5).swapaxes(0, 1),
        "weights of one loss": np.array([[np.ones(8) / 8, near / near.sum()]]),
        "three of four outcomes each": np.array([[[1, 1, 1, 0], [0, 1, 1, 1]]]) / 3,
    }
    for case, some in pairs.items():
        for number, (one, other) in enumerate(some):
            distance = float(np.abs(one - other).sum() / 2)
            claimed = 2 * distance / (1 + distance)
            at: At = {"laws": f"{case}, {number}"}
            yield Finding("coupling", claimed, disagreement(one, other), at=at)


ADVANTAGE = 4.0
"""Ratio of the probabilities of a bad first answer in the two worlds."""


def conditional_composition(seed: int) -> Findings:
    """Check Lemma 3.8 as stated, if the good sets are likely in both worlds, and mended."""
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
    yield Finding("conditional-composition", 2 * often + slack, measured, numbers=numbers)
    first = random_masses(seed, "first answers", 200, 3) + np.array([0.0, 1.0, 1.0])
    first /= first.sum(axis=2, keepdims=True)
    second = random_masses(seed, "second answers", 400, 3).reshape(2, 200, 2, 3)
    # After a bad first answer the second reveals the world. One answer is bad in both worlds, or
    # two rare ones are, each in the world that has it less rarely.
    tells = np.broadcast_to(np.eye(3)[:2, None, None], (2, 200, 1, 3))
    rare = first * (1e-3, 1.0, 1e-3)
    rare /= rare.sum(axis=2, keepdims=True)
    texts, of = {"bound": stated(mended_delta)}, "conditional-composition-both"
    for law, good in ((first, second), (rare, second[:, :, :1])):
        answers = np.concatenate([tells, good, tells], axis=2)[:, :, :3]
        joint = (law[..., None] * answers).reshape(2, 200, 9)
        epsilons = np.abs(np.log(law[0] / law[1])).max(axis=1)
        epsilons += np.abs(np.log(good[0] / good[1])).max(axis=(1, 2))
        claimed = law[..., 0].max(axis=0)
        if law is rare:
            of, often = "conditional-composition-mended", np.maximum(law[0, :, 0], law[1, :, 2])
            claimed = mended_delta(often, 0.0, epsilons)
        exact = either_way(joint[0], joint[1], epsilons)
        for number, pair in enumerate(zip(claimed.tolist(), exact.tolist(), strict=True)):
            at: At = {"laws": f"draw {number}"}
            yield Finding(of, *pair, at=at, trivial=1.0, numbers=texts)


def mended_delta(often: Floats, delta: float, epsilon: Floats) -> Floats:
    """Return delta of Lemma 3.8, mended: `δ + (1 + e^ε) ((1 + e^ε) λ + δ)`.

    λ is the sum of the probabilities of bad answers; ε and δ are of composition. Let the answers
    stop when they leave the good set of either world. Stopped, they are (ε, δ)-DP, as each step
    meets condition (2). They leave in one world through its own set with probability at most λ, so
    through the other's with at most e^ε λ + δ. Stopping changes the answers of either world with
    probability at most the sum of both.
    """
    more = 1 + np.exp(epsilon)
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


# ---- the lower bound -----------------------------------------------------------------------------

RESAMPLES = (1.0, 0.0)
"""Probability of a second draw after each of the two points of the first."""
_ORDERS = np.geomspace(1.0, 100.0, 400)


def renyi(one: Floats, other: Floats, orders: Floats = _ORDERS) -> Floats:
    """Return Rényi divergences (orders,) of (outcomes,) with one support; order 1 is KL."""
    one, other = one[one > 0], other[one > 0]
    ratio = np.log(one) - np.log(other)
    above = np.maximum(orders - 1, 1e-300)
    moments = np.log((one * np.exp((orders - 1)[:, None] * ratio)).sum(axis=1)) / above
    return np.where(orders == 1, float(one @ ratio), moments)


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


EXPONENTS = (0.1, 1.0, 5.0)
"""(alpha - 1) alpha rho of normal models, of which a public coin chooses one."""


def over_a_coin(exponent: float) -> float:
    """Return a sum of two divergences over the alpha rho of all outputs.

    A public coin chooses which of two normal models depends on the data: D_alpha = alpha rho.
    Each model and the coin together have log((1 + e^exponent) / 2) / (alpha - 1).
    """
    return 2 * math.log((1 + math.exp(exponent)) / 2) / exponent


def switch_budget(seed: int) -> Findings:
    """Check Lemma 4.3, with conditional divergences that are means over the resampling rounds.

    The divergence of round and model together is at least that mean. With it, a public coin refutes
    the lemma even where no model moves a round; the first finding says by how much.
    """
    firsts = np.array([[0.96, 0.04], [0.99, 0.01]])
    seconds = np.array([[0.04, 0.96], [0.012, 0.988]])
    masses = [two_draws(*draws, RESAMPLES) for draws in zip(firsts, seconds, strict=True)]
    rho = concentrated(*masses)
    parts = renyi(*firsts) + float(firsts[0] @ RESAMPLES) * renyi(*seconds)
    at = int((parts / _ORDERS).argmax())
    order = float(_ORDERS[at])
    drawn = float(firsts[0] @ RESAMPLES)
    with_round = (np.append(1 - drawn, drawn * other) for other in seconds)
    numbers = {
        "rho": rho,
        "order": order,
        "parts": float(parts[at]),
        "together": float((renyi(*firsts) + renyi(*with_round))[at]),
        "coins": ", ".join(f"{over_a_coin(exponent):.2f}" for exponent in EXPONENTS),
        "exponents": ", ".join(f"{exponent:g}" for exponent in EXPONENTS),
    }
    yield Finding("switch-budget", 1.0, float(parts[at]) / (order * rho), numbers=numbers)
    rng = generator(seed, "draws")
    for case in range(100):
        p, q, u, v, *more = rng.uniform(0.02, 0.98, 6)
        if case % 2:
            more = [1.0, 1.0]  # the second draw is certain
        firsts, seconds = np.array([[p, 1 - p], [q, 1 - q]]), np.array([[u, 1 - u], [v, 1 - v]])
        masses = [
            two_draws(first, second, [chance] * 2)
            for first, second, chance in zip(firsts, seconds, more, strict=True)
        ]
        parts = renyi(*firsts) + more[0] * renyi(*seconds)
        ratio = float((parts / renyi(*masses)).max())
        yield Finding("switch-budget-blind", 1.0, ratio, at={"laws": f"draw {case}"})


# ---- adaptive adversaries ------------------------------------------------------------------------


def adaptive_delta(masses: Floats, epsilon: float) -> float:
    """Return the largest delta at `epsilon` over adversaries that see each play before a loss.

    For each batch an adversary chooses a loss, or once in a game a pair of different losses, one
    for each world. L2P reads only the past, so a path has the same probability as under the fixed
    sequence that the adversary plays on it. So the worst choice is found from the last batch
    backwards.

    Args:
        masses: (c, ..., c, outcomes) distributions for the sequences of S - 1 losses, each one of
            c; outcomes are (x_1, ..., x_S) of two experts, x_S fastest.
        epsilon: epsilon of the guarantee.
    """
    rest, c = masses.ndim - 1, masses.shape[0]
    choices = [(a, b) for a in range(c) for b in range(c)]
    worlds = [[pair[world] for pair in choices] for world in (0, 1)]
    one, other = (masses[np.ix_(*[world] * rest)] for world in worlds)
    excess = np.maximum(one - math.exp(epsilon) * other, 0.0)
    unlike = np.array([a != b for a, b in choices], dtype=int)
    changes = sum(np.ix_(*[unlike] * rest))
    excess[changes > 1] = 0.0  # so the maximum never takes them
    value = excess.reshape([len(choices)] * rest + [2] * (rest + 1))
    for batch in range(rest, 0, -1):
        # After x_batch the adversary chooses; then x_(batch + 1) is drawn.
        value = value.sum(axis=-1).max(axis=batch - 1)
    return float(value.sum())


def adaptive_epsilon(rule: LazyParameters, rest: int) -> float:
    """Return the smallest epsilon at `DELTA` for `rest` + 1 batches of two experts."""
    sequences, _ = neighbours(2, rest, range(rule.batch_size + 1))
    cells = round(len(sequences) ** (1 / rest))
    masses = output_masses(sequences, rule).reshape([cells] * rest + [-1])
    low, high = 0.0, 50.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if adaptive_delta(masses, middle) <= DELTA else (middle, high)
    return high


def adaptive(_: int) -> Findings:
    """Check footnote 2: exact epsilon of small games against adversaries that see the plays."""
    edge = 0.499 / math.log(2 * 4 / DELTA)  # of Theorem 3.2's preconditions, for p = 1/2
    games = {
        "published": [(share * edge, share / 2) for share in (0.5, 1.0, 1.5)],
        "sound": [(0.01, 0.05), (0.1, 0.05), (0.1, 0.5), (0.5, 0.5)],
    }
    for name, settings in games.items():
        for eta, p in settings:
            game = LazyGame(4, DELTA, normaliser=NORMALISERS[name])
            rule = LazyParameters(batch_size=1, eta=eta, fake_switch=p, normaliser=game.normaliser)
            claimed = ACCOUNTANTS[name](game, 1, eta, p)
            at: At = {"accountants": f"{name} accountant", "eta": eta, "p": p, "losses": range(64)}
            exact = adaptive_epsilon(rule, 3)
            numbers = {"oblivious": worst_epsilon(2, 3, rule, (0, 1), delta=DELTA), "own": exact}
            yield Finding("adaptive-games", claimed, exact, at=at, numbers=numbers)


CHECKS = (
    coupling, conditional_composition, normalised_ratios,
    switch_budget, adaptive,
)  # fmt: skip
