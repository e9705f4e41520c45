"""Plain reference versions of the lazy transformation and its accounting.

They follow Algorithm 1 of "Private Online Learning via Lazy Algorithms" and the definition of the
accounting, and share no code with the library. `losses` are (T, d); c is the constant of the keep
probability.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special


@dataclass
class Tape:
    """A stand-in for a random generator that reads uniform numbers from a list."""

    numbers: Sequence[float]
    read: int = 0

    def random(self, size: int | None = None) -> float | np.ndarray:
        taken = self.numbers[self.read : self.read + (size or 1)]
        if len(taken) < (size or 1):
            raise IndexError("the tape is at its end")
        self.read += len(taken)
        return taken[0] if size is None else np.array(taken)


def matrix(losses: Any) -> np.ndarray:
    """Return the (T, d) losses of an adversary."""
    return np.concatenate(list(losses.batches(1)))


def weights(total: Sequence[float], eta: float) -> list[float]:
    """Return normalised multiplicative weights after total losses (d,)."""
    raw = [math.exp(-eta * (loss - min(total))) for loss in total]
    return [weight / sum(raw) for weight in raw]


def draw(probabilities: Sequence[float], uniform: float) -> int:
    """Return the first point whose cumulative probability exceeds the uniform number."""
    passed = 0.0
    for point, probability in enumerate(probabilities):
        passed += probability
        if uniform < passed:
            return point
    return len(probabilities) - 1


def play(
    losses: Sequence[Sequence[float]],
    uniforms: Sequence[float],
    *,
    B: int,
    eta: float,
    p: float,
    normaliser: float = 1.0,
    shadow: bool = True,
    limit: float = math.inf,
) -> tuple[list[int], int]:
    """Run Algorithm 1 for one replicate: actions of the T rounds, and redraws of x.

    The dartboard is the same without a shadow point, and with a limit of redraws.

    Uniform numbers are used in the order x_1, y_1, and then for every batch S, S', A, a new x if
    there is one, and a new y if there is one.
    """
    tape = iter(uniforms)
    d = len(losses[0])
    total = [0.0] * d
    x = draw(weights(total, eta), next(tape))
    y = draw(weights(total, eta), next(tape))
    actions, redraws = [], 0
    for first in range(0, len(losses), B):
        if first:
            batch = [sum(row[i] for row in losses[first - B : first]) for i in range(d)]
            total = [total[i] + batch[i] for i in range(d)]
            fresh = weights(total, eta)
            stays = next(tape) < chance_of_keeping(batch, x, y, B * eta * normaliser, eta, shadow)
            real = next(tape) >= p
            shadow_stays = next(tape) >= p
            if not (stays and real) and redraws < limit:
                x, redraws = draw(fresh, next(tape)), redraws + 1
            if shadow and not shadow_stays:
                y = draw(fresh, next(tape))
        actions += [x] * len(losses[first : first + B])
    return actions, redraws


def chance_of_keeping(
    batch: Sequence[float], x: int, y: int, scale: float, eta: float, shadow: bool
) -> float:
    """Return the probability of keeping x without a fake switch, after a batch of losses (d,)."""
    if not shadow:
        return math.exp(-eta * batch[x])
    return min(1.0, math.exp(-eta * batch[x]) / math.exp(-eta * batch[y]) / math.exp(scale))


def sound_epsilon(
    T: int, delta: float, *, B: int, eta: float, p: float, c: float, s: float
) -> float:
    """Return epsilon for experts by the accounting that reveals the redraws."""
    change = 2 * eta * s
    draw = functools.partial(range_divergence, change)
    return redraws_epsilon(math.ceil(T / B), delta, p, change, (c + 1) * B * eta, draw)


QUADRATURE = np.polynomial.legendre.leggauss(400)


def range_divergence(eta: float, order: float) -> float:
    """Return the Renyi divergence of a draw of range eta, by quadrature of its losses.

    Their density is in proportion to exp(loss / 2) from -eta to eta.
    """
    masses = QUADRATURE[1] * np.exp(eta * (QUADRATURE[0] - 1) / 2)
    tilted = masses @ np.exp((order - 1) * eta * (QUADRATURE[0] - 1)) / masses.sum()
    return float(eta + math.log(tilted) / (order - 1))


def redraws_epsilon(
    batches: int,
    delta: float,
    p: float,
    change: float,
    lost: float,
    draw: Callable[[float], float],
) -> float:
    """Return epsilon of any L2P with redraws, term by term, at the best of all real orders.

    The log probability of keeping x moves by `change` and is at least -lost; `draw` is the Renyi
    divergence of a redraw by its order.
    """
    switch = max(change, math.log(1 + (1 - p) * (1 - math.exp(-change)) / p))

    def bound(log_order: float) -> float:
        a = 1 + math.exp(log_order)
        total = range_divergence(change + switch, a) + draw(a)
        for rate in (1 - (1 - p) * math.exp(-lost), p):
            happens = math.log(rate) + (a - 1) * draw(a)
            never = math.log1p(-rate) if rate < 1 else -math.inf
            total += batches * np.logaddexp(never, happens) / (a - 1)
        return float(total + math.log1p(-1 / a) - math.log(delta * a) / (a - 1))

    start = np.linspace(-4.6, 14, 150)
    best = start[np.argmin([bound(value) for value in start])]
    minimum = optimize.minimize_scalar(bound, bounds=(best - 0.13, best + 0.13), method="bounded")
    return max(0.0, min(float(minimum.fun), bound(best)))


def largest_mu(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest mu of the tests of pairs of laws (N, outcomes), by their log ratios."""
    order = np.argsort(np.log(other) - np.log(one), axis=1)
    power, wrong = (np.take_along_axis(it, order, 1).cumsum(1)[:, :-1] for it in (one, other))
    tests = (power < 1 - 1e-9) & (wrong > 1e-12)
    return float((special.ndtri(power) - special.ndtri(wrong))[tests].max())
