"""Compare noise that adapts to the data with fixed noise, read by one and the same filter.

    python verify/event_streams.py results/promises/streams/*.parquet

Each holder's share follows a Kalman filter around a common level. The filter is told the scale of
the noise of every publication, and takes nothing from rounds without one. Budgets are of epsilon
with Laplace noise and of mu squared with Gaussian noise, which is exact for both promises of mu.
Laplace noise is played at the best guess and at the epsilon(1e-6) of mu; in the two budgets by the
pure epsilon of the worst case, so that guesses are right at most as often. Prints the share of the
possible gain, mean over the streams, with 95% intervals over 40 runs. Takes a minute for fifteen
streams.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from scipy import stats

import dpol
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.noise.event_streams import MECHANISMS
from dpol.privacy.account import best_guess
from dpol.privacy.chains import REFERENCE
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.losses import Promise

RUNS = 40
UNITS, MUS = (1, 4, 8), (1.0, 0.25)
FIXED = "laplace-uniform", "laplace-sample"
ADAPTIVE = "budget-distribution", "budget-absorption", "fast"


def published(
    stream: GainStream, kind: str, mu: float, stay: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return publications as shares, and the deviations of their noise, inf for none, (T, R, n)."""
    x, (rounds, n) = stream.gains * stream.capacity, stream.gains.shape
    law, name = kind.split()
    if law == "Laplace":
        draws, deviation, power = rng.laplace(size=(rounds, 2, RUNS, n)), math.sqrt(2), 1.0
        mechanism = MECHANISMS[name]
        epsilon = mechanism.dearest(Promise(mu=mu), stay) / mechanism.most(stay)
        spent = mechanism.release(x, stream.capacity[0], draws, epsilon, stay).spent
        spent = spent - (epsilon / (2 * stay) if name.startswith("budget") else 0.0)
    else:  # noise for a budget b of mu squared has the deviation 1 / sqrt(b)
        draws, deviation, power = rng.normal(size=(rounds, 2, RUNS, n)), 1.0, 0.5
        spent = gaussian(name, x, draws, mu**2 / 2, stay)
    scale = np.maximum(spent, 1e-12) ** -power
    noise = draws[:, 1 if name.startswith("budget") else 0]
    shares = (x[:, None] + noise * scale) / stream.capacity[:, None]
    told = np.where(spent > 1e-12, scale * deviation, np.inf) / stream.capacity[:, None]
    return shares, told


def gaussian(name: str, x: Floats, draws: Floats, budget: float, stay: int) -> Floats:
    """Return what the publications of each round spend of a budget of mu squared, (T, R, n)."""
    shape = draws[:, 0].shape
    if name == "laplace-uniform":
        return np.full(shape, budget / stay)
    if name == "laplace-sample":
        return np.where((np.arange(len(x)) % stay == 0)[:, None, None], budget, np.zeros(shape))
    counts, spent = np.zeros((2, *shape))
    each, used = budget / (2 * stay), np.full(shape[1:], -1.0)
    for t in range(len(x)):
        rounds = np.clip(t - used, 0, stay)
        own = {
            "budget-distribution": (budget / 2 - spent[max(t - stay + 1, 0) : t].sum(axis=0)) / 2,
            "budget-absorption": each * rounds,
        }[name]
        error = np.maximum(own, 1e-12) ** -0.5
        publish = np.abs(x[t] - counts[t - 1]) + draws[t, 0] * each**-0.5 > error
        counts[t] = np.where(publish, x[t] + draws[t, 1] * error, counts[t - 1])
        spent[t] = np.where(publish, own, 0.0)
        used = np.where(publish, t + rounds - 1, used)
    return spent


def followed(shares: Floats, told: Floats) -> Floats:
    """Return the (T, R) choices of the filter."""
    process, persistence = REFERENCE
    above = np.zeros(shares.shape[1:])
    variance = np.full(above.shape, process / (1 - persistence**2))
    level, chosen = np.zeros((shares.shape[1], 1)), []
    for seen, noise in zip(np.where(np.isinf(told), 0.0, shares), told, strict=True):
        chosen.append(above.argmax(axis=1))
        weights = 1 / (variance + noise**2)
        total = weights.sum(axis=1, keepdims=True)
        mean = (weights * (seen - above)).sum(axis=1, keepdims=True) / np.maximum(total, 1e-12)
        level = np.where(total > 1e-9, mean, level)
        gain = variance * weights
        above = persistence * np.where(gain > 0, above + gain * (seen - level - above), above)
        variance = persistence**2 * (1 - gain) * variance + process
    return np.array(chosen)


def kept(stream: GainStream, kind: str, mu: float, stay: int) -> Floats:
    """Return the share of the possible gain, in percent, (R,)."""
    key = (stream.label, kind, mu, stay)
    rng = np.random.default_rng(seed_sequence(1, key))
    chosen = followed(*published(stream, kind, mu, stay, rng))
    total = np.take_along_axis(stream.gains, chosen, axis=1).sum(axis=0)
    chance, best = (
        stream.gains.mean(axis=1).sum(),
        stream.gains.max(axis=1).sum(),
    )
    return np.asarray(100 * (total - chance) / (best - chance))


def rows(streams: list[GainStream]) -> Iterator[str]:
    """Yield a line per noise and equality, with a cell per mu and unit."""
    kinds = [("Laplace", name, same) for name in (*FIXED, *ADAPTIVE) for same in ("guess", "ε")]
    kinds += [("Gaussian", name, "both") for name in (*FIXED, *ADAPTIVE[:2])]
    for law, name, same in kinds:
        kind, cells = f"{law} {name.removeprefix('laplace-')}", []
        for mu, stay in product(MUS, UNITS):
            level = mu
            if law == "Laplace":
                promise = Promise(delta=2 * best_guess(mu) - 1)
                if same == "ε":
                    promise = Promise(epsilon=epsilon_of_delta(1e-6, mu), delta=1e-6)
                level = MECHANISMS[name].level(promise, stay)
            means = np.mean([kept(each, f"{law} {name}", level, stay) for each in streams], axis=0)
            half = stats.t.ppf(0.975, RUNS - 1) * means.std(ddof=1) / math.sqrt(RUNS)
            cells.append(f"{means.mean():5.1f} ± {half:.1f}")
        yield f"{kind:28s} same {same:8s}" + " ".join(cells)


if __name__ == "__main__":
    print(" " * 42 + " ".join(f"μ {mu:g}, {stay} w. " for mu in MUS for stay in UNITS))
    for line in rows([replace(dpol.read_stream(path), stay=1) for path in sys.argv[1:]]):
        print(line, flush=True)
