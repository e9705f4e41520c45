"""Numbers that refute statements, enclosed by ball arithmetic.

A ball holds the true number whatever was rounded. Each function below computes the claimed and the
measured number of a row from the formulas of its paper; dpol gives only the states of one row.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest
from flint import arb, arb_poly, ctx

from dpol.studies.ledger.claims import compute as ledger
from dpol.studies.ledger.claims.core import Claim, ClaimVerdict, Finding, decided, generator
from ledger import SEED

Numbers = tuple[arb, arb]
"""Claimed and measured number."""
STATEMENTS = ledger.statements()


def exact(number: str | int) -> arb:
    """Enclose a decimal or a fraction."""
    fraction = Fraction(number)
    return arb(fraction.numerator) / fraction.denominator


def largest(balls: Iterable[arb]) -> arb:
    return reduce(arb.max, balls)


def hockey_stick(one: Iterable[arb], other: Iterable[arb], epsilon: arb) -> arb:
    """Return the least delta at `epsilon`, in this order."""
    odds = epsilon.exp()
    parts = ((p - odds * q).nonnegative_part() for p, q in zip(one, other, strict=True))
    return sum(parts, arb(0))


ctx.prec = 250  # bits of all balls; no other test has any
DELTA = exact("1e-6")

# ---- prediction with expert advice -----------------------------------------------------------


def all_differ() -> Numbers:
    """One dissenter of 13, each in turn: the largest centred variance is 2/13. Noise of 4."""
    root = arb(2).sqrt()
    return arb(1), (4 * exact("2/13").sqrt() + root) / (4 + root)


# ---- L2P -------------------------------------------------------------------------------------


def later_batches() -> Numbers:
    """Two fresh draws after losses that differ in one round, at the states of the row."""
    eta, states = exact("0.1"), generator(SEED, "cumulative losses").uniform(0, 200, (400, 3))
    losses = list(itertools.product((0, 1), repeat=3))
    widest = []
    for state in states.tolist():
        weights = [[(-eta * (arb(s) + x)).exp() for s, x in zip(state, loss, strict=True)]
                   for loss in losses]  # fmt: skip
        laws = [[(w / sum(row, arb(0))).log() for w in row] for row in weights]
        widest += [largest(law[i] for law in laws) + largest(-law[i] for law in laws)
                   for i in range(3)]  # fmt: skip
    return eta, 2 * largest(widest)


def learning_rate(T: arb, epsilon: arb, d: int | arb) -> arb:
    """Return eta of Theorem 3.10 as stated: without the logarithm of its proof."""
    least = T ** exact("-1/4") * arb(d).log() ** exact("3/4")
    return (least.min(epsilon) ** 2 / T) ** exact("1/3")


def theorem_3_2(T: arb, B: arb, eta: arb, p: arb) -> arb:
    """Return epsilon for delta_0 = 0."""
    log, spread = (2 * T / DELTA).log(), T * eta**2 * p / B
    return 2 * eta / p + eta + 3 * spread * log / 2 + log * (6 * spread).sqrt()


def of_experts() -> Iterable[tuple[arb, ...]]:
    """Yield T, epsilon, B, eta and p of Theorem 3.10 in the 27 settings."""
    rounds, levels = (10**3, 10**4, 10**6), map(exact, ("0.1", "0.25", "1"))
    for T, level, d in itertools.product(rounds, levels, (10, 300, 10**4)):
        eta = learning_rate(arb(T), level, d) / (T / DELTA).log()
        yield arb(T), level, 1 / level, eta, 10 * eta / level


def of_convex() -> Iterable[tuple[arb, ...]]:
    """Yield T, epsilon, B, eta and p of Theorem 3.12 in the nine settings."""
    levels = map(exact, ("0.001", "0.01", "0.03"))
    for T, level in itertools.product((10**3, 10**4, 10**5), levels):
        eta = (level**2 / T) ** exact("1/3") / (T / DELTA).log()
        yield arb(T), level, -1 / (2 * level * DELTA.log()), eta, eta / level


def experts_precondition() -> Numbers:
    needed = (eta * B * (2 * T / DELTA).log() / p for T, _, B, eta, p in of_experts())
    return arb(1), largest(needed)


def value(settings: Iterable[tuple[arb, ...]]) -> Numbers:
    return arb(1), largest(theorem_3_2(T, *rest) / epsilon for T, epsilon, *rest in settings)


def convex_temperature() -> Numbers:
    """eta = 2 rate + sqrt(8 rate log(2 / delta_0)), rate = beta L²/lambda = eta²/20."""
    needed = []
    for _, _, _, eta, _ in of_convex():
        rate = eta**2 / 20
        needed.append(2 * (-((eta - 2 * rate) ** 2) / (8 * rate)).exp())
    return DELTA, largest(needed)


def plays(batches: int, stay: arb, weights: tuple[arb, arb]) -> list[arb]:
    """Return the law of the plays of expert 1 after batch 1, as powers of z.

    x and y are uniform in batch 1. `stay` is (1 - p) e^(-2 B eta). Only batch 1 has a loss, which
    leaves `weights`; a point that is not kept is drawn by them.
    """
    first, second = (w / sum(weights, arb(0)) for w in weights)
    keep = [stay * w * (1 / weights[0] + 1 / weights[1]) / 2 for w in weights]
    leave = 1 - (keep[0] + keep[1]) / 2
    start = keep[0] / 2 + leave * first, keep[1] / 2 + leave * second
    new, z = 1 - stay, arb_poly([0, 1])
    step = [[arb_poly([stay + new * first]), arb_poly([new * first])],
            [new * second * z, (stay + new * second) * z]]  # fmt: skip
    last = [arb_poly([start[0]]), start[1] * z]
    remaining = batches - 2
    while remaining:
        if remaining % 2:
            last = [a * last[0] + b * last[1] for a, b in step]
        (a, b), (c, d) = step
        step = [[a * a + b * c, a * b + b * d], [c * a + d * c, c * b + d * d]]
        remaining //= 2
    return (last[0] + last[1]).coeffs()


def epsilon_at_delta(one: list[arb], other: list[arb]) -> arb:
    """Enclose the exact epsilon at DELTA; every step of the bisection is certain."""
    low, high = arb(0), arb(4)
    for _ in range(44):
        middle = ((low + high) / 2).mid()
        found = hockey_stick(one, other, middle)
        assert (found > DELTA) != (found < DELTA)
        low, high = (middle, high) if found > DELTA else (low, middle)
    return low.union(high)


def experts_as_stated() -> Numbers:
    """T = 10,000, d = 2 and ε = 0.1; the laws mirror each other, so one order is enough."""
    T, epsilon = 10**4, exact("0.1")
    B, eta = 10, learning_rate(arb(T), epsilon, 2)
    of_proof = 10 * eta / epsilon
    found = []
    for p in (*map(exact, ("0", "0.01", "0.05", "0.1", "0.2", "0.5", "0.99")), of_proof):
        lost = arb(1), (-eta).exp()
        stay = (1 - p) * (-2 * B * eta).exp()
        one, other = (plays(T // B, stay, weights) for weights in (lost, lost[::-1]))
        found.append(epsilon_at_delta(one, other) / epsilon)
    return arb(1), reduce(arb.min, found)


def added_regret(eta: arb) -> arb:
    """Return what batches of 10 rounds add over 20 rounds: expert 0 loses ten times, then 1."""
    B = 10
    batched = B * (exact("1/2") + 1 / (1 + (-eta * B).exp()))
    first = sum((1 / (1 + (eta * k).exp()) for k in range(B)), arb(0))
    second = sum((1 / (1 + (eta * (k - B)).exp()) for k in range(B)), arb(0))
    return batched - first - second


def power_of_eta() -> Numbers:
    """The least power between two of seven η from 1e-5 to 1e-2."""
    root = arb(10).sqrt()
    added = [added_regret(exact("1e-5") * root**k).log() for k in range(7)]
    falls = ((low - high) / root.log() for low, high in itertools.pairwise(added))
    return arb(2), -largest(falls)


def rate_of_experts() -> Numbers:
    """Losses in turn, batch by batch, cost (T/4) tanh(η B / 2). T from 10^16 to 10^24."""

    def over_rate(T: arb, a: arb) -> arb:
        epsilon, log = T**-a, (T / DELTA).log()
        behind = (learning_rate(T, epsilon, 2) / log / (2 * epsilon)).tanh() / 2
        private = (T / epsilon**2) ** exact("1/3") * arb(2).log() * log
        return T / 2 * behind / ((T * arb(2).log()).sqrt() + private) * log**2

    low, high = arb(10) ** 16, arb(10) ** 24
    ratios = (over_rate(high, a) / over_rate(low, a) for a in map(exact, ("1/4", "1/2", "3/4")))
    return arb(0), largest(ratio.log() / (high / low).log() for ratio in ratios)


def free_privacy(instances: arb, each: arb) -> Numbers:
    """Halves of d = T experts lose in turn, ε = T^(-1/4) `each`, δ = 1e-6 / (2 T^`instances`)."""

    def over(T: arb) -> arb:
        epsilon, log = each / T ** exact("1/4"), (2 * T * T**instances / DELTA).log()
        B = arb(round(float((1 / epsilon).mid())))
        behind = (learning_rate(T, epsilon, T) / log * B / 2).tanh() / 2
        return T / 2 * behind / (T * T.log()).sqrt() * log * T.log().sqrt()

    low, high = arb(10) ** 16, arb(10) ** 24
    return arb(0), (over(high) / over(low)).log() / (high / low).log()


def free_instances() -> Numbers:
    """1 = Kε²/2 + ε sqrt(2 K log(2/δ)), K = sqrt(T)."""
    twice = 2 * (2 / DELTA).log()
    return free_privacy(exact("1/2"), (twice + 2).sqrt() - twice.sqrt())


def conditional_composition() -> Numbers:
    """Ratio 4 of bad answers; epsilon by equation (1) with k = 1."""
    slack, ratio = DELTA, arb(4).log()
    logs = (arb.const_e() + ratio / slack).log().min((1 / slack).log())
    epsilon = ratio + ratio * (2 * logs).sqrt()
    laws = [[*map(exact, law)] for law in (("0.04", 0, "0.96"), (0, "0.01", "0.99"))]
    return 2 * exact("0.01") + slack, largest(
        hockey_stick(*pair, epsilon) for pair in (laws, laws[::-1])
    )


def normalised_ratio() -> Numbers:
    """Two points, uniform and (1 ± h)/2; x and y differ with probability 1/2, B = 1."""
    eta, p, delta_1 = exact("0.04"), exact("1/2"), exact("0.01")
    h = (exact("1.1") * eta).tanh()
    assert ((1 + h) / (1 - h)).log() > 2 * eta  # so the ratio is beyond if x and y differ
    laws = [exact("1/2")] * 2, [(1 + h) / 2, (1 - h) / 2]
    delta_0 = largest(hockey_stick(*pair, eta) for pair in (laws, laws[::-1]))
    a_1 = 6 * eta.exp() * delta_0 / eta
    of_3_7 = (2 / eta - delta_1.log() / p) * arb.const_e() * delta_0 + delta_1
    return a_1.max(of_3_7), exact("1/2")


def renyi(one: list[arb], other: list[arb], order: arb | None) -> arb:
    """Return the Rényi divergence of an order above 1, or the mean log ratio."""
    if order is None:
        return sum((p * (p / q).log() for p, q in zip(one, other, strict=True)), arb(0))
    moments = (p**order * q ** (1 - order) for p, q in zip(one, other, strict=True))
    return sum(moments, arb(0)).log() / (order - 1)


def switch_budget() -> Numbers:
    """ρ from above: D rises with the order, so the next order's D over each of 400 orders."""
    orders = [arb(1)] + [arb(100) ** exact(f"{k}/399") for k in range(1, 400)]
    formal = [None, *orders[1:]]
    firsts = [[*map(exact, law)] for law in (("0.96", "0.04"), ("0.99", "0.01"))]
    seconds = [[*map(exact, law)] for law in (("0.04", "0.96"), ("0.012", "0.988"))]
    whole = [[first[0] * second[0], first[0] * second[1], first[1]]
             for first, second in zip(firsts, seconds, strict=True)]  # fmt: skip
    after = []
    for one, other in (whole, whole[::-1]):
        rising = [renyi(one, other, order) for order in formal[1:]]
        rising.append(largest((p / q).log() for p, q in zip(one, other, strict=True)))
        after += [most / order for most, order in zip(rising, orders, strict=True)]
    parts = (renyi(*firsts, order) + firsts[0][0] * renyi(*seconds, order) for order in formal)
    sums = largest(part / order for part, order in zip(parts, orders, strict=True))
    return arb(1), sums / largest(after)


# ---- the dartboard ---------------------------------------------------------------------------


def dartboard_regret() -> Numbers:
    """The limit of 3,999 redraws is reached but for a lower tail of the binomial."""
    T, p, eta, m = 10**6, exact("0.001"), exact("0.01"), 400_000
    switch = p + (1 - p) * eta
    term = below = (1 - switch) ** m
    for k in range(3998):
        term *= switch / (1 - switch) * (m - k) / (k + 1)
        below += term
    bound = eta * T + arb(2).log() / eta + 2 * T * (-T * p / 3).exp()
    return bound, (1 - below) * (T - m) / 2


def theorem_5(T: int, B: int, p: arb, eta: arb) -> arb:
    """Return epsilon; Theorem 2 if B = 1."""
    root = ((12 if B > 1 else 1) * T * p / B * -DELTA.log()).sqrt()
    return 5 * eta / (B * p) + 100 * T * p * eta**2 / B**3 + 20 * eta / B * root


def dartboard_last_step() -> Numbers:
    """T = 100, B = 1, p = 0.003, the worst of the grid."""
    T, p = 100, exact("0.003")
    eta = exact("0.99") * p
    squares = (eta / p) ** 2 + 64 * T * p * eta**2
    step = 3 * squares / 2 + (6 * squares * -DELTA.log()).sqrt()
    return arb(1), step / theorem_5(T, 1, p, eta)


def dartboard_corollary_6() -> Numbers:
    """T = 1,000, d = 300, epsilon = 1, where B rounds to 2."""
    T, B = 1000, 2
    p = (B / (T * -DELTA.log())) ** exact("1/3")
    return arb(1), theorem_5(T, B, p, B * p / 40)


def updates_regret() -> Numbers:
    """Two fair coins, T = 65,536: half of E|X - T| for a binomial X of 2T fair coins."""
    T = 65_536
    return arb(0), T * arb(math.comb(2 * T, T)) / (2 * arb(4) ** T)


# ---- online distribution learning ------------------------------------------------------------


def cells() -> Numbers:
    """M = 3 labels with largest masses 1/2, 1/2 and 1: each has ceil(M mass) cells."""
    masses = map(exact, ("1/2", "1/2", 1))
    return arb(2 * 3), sum(((3 * mass).ceil() for mass in masses), arb(0))


def differences_of_outputs() -> Numbers:
    """k of 16 labels have odds o: 2 k (N - k) (o - 1)² / (N min((o - 1)², 1) (k o² + N - k))."""
    N, ratios = 16, []
    for odds, k in itertools.product(map(exact, ("1.5", 2, 8, 1000)), range(1, 16)):
        squared = (odds - 1) ** 2
        allowed = squared.min(arb(1)) * N * (k * odds**2 + N - k)
        ratios.append(2 * k * (N - k) * squared / allowed)
    return arb(1), largest(ratios)


ENCLOSED: dict[str, Callable[[], Numbers]] = {
    "all-differ": all_differ,
    "later-batches": later_batches,
    "experts-precondition": experts_precondition,
    "experts-value": lambda: value(of_experts()),
    "experts-as-stated": experts_as_stated,
    "convex-value": lambda: value(of_convex()),
    "convex-temperature": convex_temperature,
    "cost-of-batches": power_of_eta,
    "regret-of-transformation": power_of_eta,
    "rate-of-experts": rate_of_experts,
    "free-epsilon": lambda: free_privacy(arb(0), arb(1)),
    "free-instances": free_instances,
    "conditional-composition": conditional_composition,
    "normalised-ratio": normalised_ratio,
    "switch-budget": switch_budget,
    "dartboard-regret": dartboard_regret,
    "dartboard-last-step": dartboard_last_step,
    "dartboard-corollary-6": dartboard_corollary_6,
    "updates-regret": updates_regret,
    "cells": cells,
    "differences-of-outputs": differences_of_outputs,
}

ROUNDED = dict.fromkeys(("rate-of-experts", "free-epsilon", "free-instances"), 0.005)
"""Absolute rounding of a row; without it 1e-9 of the number, the rounding of `Statement`."""


@pytest.fixture(scope="module")
def failing(whole_ledger: tuple[dict[str, list[Finding]], Any, Any]) -> dict[str, Claim]:
    """The failing rows that are not sampled."""
    claims = {name: decided(STATEMENTS[name], found) for name, found in whole_ledger[0].items()}
    return {
        name: claim
        for name, claim in claims.items()
        if claim.verdict == ClaimVerdict.FAILS and claim.finding.confidence == 1
    }


def test_all_refutations_without_sampling_are_enclosed(failing: dict[str, Claim]) -> None:
    assert failing.keys() == ENCLOSED.keys()


@pytest.mark.parametrize("name", ENCLOSED)
def test_the_whole_ball_is_on_the_wrong_side(name: str, failing: dict[str, Claim]) -> None:
    claimed, measured = ENCLOSED[name]()
    finding = failing[name].finding
    assert claimed < measured if STATEMENTS[name].relation == "<=" else claimed > measured
    for number, ball in ((finding.claimed, claimed), (finding.measured, measured)):
        rounding = ROUNDED.get(name, 1e-9 * abs(number))
        assert abs(ball - number) <= rounding
