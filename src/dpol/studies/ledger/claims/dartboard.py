"""Checks of "Private Online Prediction from Experts: Separations and Faster Rates".

p, eta and K are the paper's: eta is for the mean loss of a batch, and K counts the first draw.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import special, stats

from dpol.core.randomness import Floats, replicate_generators
from dpol.lazy.accounting import LazyGame, sound_epsilon
from dpol.lazy.dartboard import choose_dartboard, theorem_5_epsilon
from dpol.lazy.exact import neighbours, worst_epsilon
from dpol.lazy.leaders import doubling_edges, play_blocks
from dpol.lazy.parameters import choose_parameters
from dpol.lazy.stochastic_losses import Stretch
from dpol.lazy.transform import LazyParameters
from dpol.studies.ledger.claims.core import DELTA, At, Finding, Findings, generator, of_mean, stated
from dpol.studies.ledger.claims.lazy import (
    DELTAS,
    expected_loss,
    games_of_experts,
    mean_lead,
    regret_of_batches,
)

LOG_TERM = math.log(1e6)
GRID = ((10**3, 10**4, 10**6), (10, 300), (0.01, 0.1, 1.0))
"""T, d and epsilon of the corollaries."""


def bound(T: int, d: int, B: int, p: float, eta: float) -> float:
    """Return the bound of Theorem 5, at B = 1 of 2: `η T + B log(d)/η + 2 T exp(-T p/(3 B))`."""
    return eta * T + B * math.log(d) / eta + 2 * T * math.exp(-T * p / (3 * B))


def regret(seed: int) -> Findings:
    """Check the bound on regret where eta > p and where eta <= p.

    Where eta > p: two experts lose in each of the first m rounds, so every redraw is uniform. Then
    only expert 2 loses. An expert that was redrawn K - 1 times in these rounds never changes again.
    Where eta <= p, and for our bound: the regret of the weights, and T times the probability of the
    limit; ours has none.
    """
    T, p, eta, m = 10**6, 1e-3, 0.01, 400_000
    limit = math.ceil(4 * T * p) - 1
    least = float(stats.binom.sf(limit - 1, m, p + (1 - p) * eta)) * (T - m) / 2
    numbers: dict[str, Any] = {"T": T, "p": p, "eta": eta, "m": m, "limit": limit}
    numbers |= {"bound": stated(bound), "own": stated(regret_of_batches)}
    yield Finding("dartboard-regret", bound(T, 2, 1, p, eta), least, numbers=numbers)
    rng, T = generator(seed, "losses of the dartboard"), 400
    for d, B, p, share in itertools.product((2, 10), (1, 4), (0.05, 0.3), (0.2, 1.0)):
        eta, limit = share * p, math.ceil(4 * T * p / B) - 1
        per_round, redraws = -math.log1p(-eta) / B, stats.binom(T // B - 1, p + (1 - p) * eta)
        ours = regret_of_batches(T, d, B, per_round)
        claims = {"slower": (limit, bound(T, d, B, p, eta)), "ours": (math.inf, ours)}
        for label, losses in games_of_experts(rng, T, d, B).items():
            lost = expected_loss(losses, per_round, B) - float(losses.sum(axis=0).min())
            at: At = {"losses": label, "d": d, "B": B, "p": p, "eta": eta}
            for name, (most, claim) in claims.items():
                stop = T * float(redraws.sf(most))
                yield Finding(f"dartboard-{name}", claim, lost + stop, at=at, numbers=numbers)


def corollaries(_: int) -> Findings:
    """Check the privacy of Corollaries 3 and 6 by the theorems and by our accounting."""
    for T, d, epsilon, delta in itertools.product(*GRID, (DELTA, *DELTAS)):
        at: At = {"T": T, "d": d, "epsilon": epsilon, "delta": delta}
        log_term = math.log(1 / delta)
        least = log_term ** (1 / 3) / T ** (1 / 6)
        p = (T * log_term) ** (-1 / 3)
        parameters = {"3": (1, p, p * min(epsilon / 2, least * math.sqrt(math.log(d))) / 20)}
        widest = log_term ** (2 / 3) * math.log(d)
        if widest / T <= epsilon <= widest / T ** (1 / 3):
            B = max(1, round(log_term**0.4 * math.log(d) ** 0.6 / (T**0.2 * epsilon**0.6)))
            p = (B / (T * log_term)) ** (1 / 3)
            parameters["6"] = (B, p, B * p * epsilon / 40)
        for number, (B, p, eta) in parameters.items():
            theorem, ours = both_epsilons(T, B, p, eta, delta)
            if number == "3" or (B > 1 and delta == DELTA):
                yield Finding(f"dartboard-corollary-{number}", 1.0, theorem / epsilon, at=at)
            yield Finding("dartboard-corollaries", 1.0, ours / epsilon, at=at)


def both_epsilons(T: int, B: int, p: float, eta: float, delta: float) -> tuple[float, float]:
    """Return epsilon of the theorems, at K = 4 T p / B, and ours, at any K."""
    game, per_round = LazyGame(T, delta), -math.log1p(-eta) / B
    ours = sound_epsilon(game, B, per_round, p, shadow=False)
    return theorem_5_epsilon(game, B, per_round, p), ours


def privacy(_: int) -> Findings:
    """Check epsilon of Theorems 2 and 5 over ours, a step of their proofs, and small games."""
    shares = np.geomspace(0.003, 0.99, 6).tolist()
    for T, B, p, share, delta in itertools.product(
        *((10**2, 10**4, 10**6), (1, 3, 30), (0.003, 0.03, 0.2, 0.499), shares, (DELTA, *DELTAS))
    ):
        eta, at = share * p, {"T": T, "B": B, "p": p, "eta": share * p, "delta": delta}
        theorem, ours = both_epsilons(T, B, p, eta, delta)
        yield Finding("dartboard-over-sound", 1.0, theorem / max(ours, 1e-9), at=at)
        if delta != DELTA:
            continue
        squares = (eta / (B * p)) ** 2 + 64 * T * p / B * (eta / B) ** 2
        step = 1.5 * squares + math.sqrt(6 * squares * LOG_TERM)
        yield Finding("dartboard-last-step", 1.0, step / theorem, at=at)
    for (d, B), eta, p in itertools.product(((2, 2), (3, 1)), (0.01, 0.1, 0.5), (1e-3, 0.05, 0.5)):
        game = LazyGame((6 - d) * B, DELTA)
        rule = LazyParameters(batch_size=B, eta=eta, fake_switch=p, normaliser=0.0)
        exact = worst_epsilon(d, 5 - d, rule, range(B + 1), delta=DELTA, limit=5 - d)
        losses = range(len(neighbours(d, 5 - d, range(B + 1))[0]))
        of_game: At = {"d": d, "T": (6 - d) * B, "B": B, "eta": eta, "p": p, "losses": losses}
        ours = sound_epsilon(game, B, eta, p, shadow=False)
        yield Finding("dartboard-games", ours, exact, at=of_game)


def updates(seed: int) -> Findings:
    """Check Theorem 7, its mend and Corollary 8 for the exponential mechanism."""
    for k in (2, 6, 12, 16):
        # No algorithm has excess loss, but one of two coins is ahead in hindsight.
        case = f"two experts, fair coins, T = {2**k:,}"
        yield Finding("updates-regret", 0.0, mean_lead(2**k, 2), case)
    for k, epsilon in itertools.product((2, 6, 9), (0.1, 1.0, 4.0)):
        # Round 1 is a guess.
        first, exact = (sum_of_phases(k, part, (0.0, 1.0), epsilon) for part in (1, 2))
        case = f"two experts, one always loses, T = {2 ** (k + 1) - 1:,}, ε = {epsilon:g}"
        yield Finding("updates-regret", first, 1 / 2 + exact, case)
    rng = generator(seed, "phases of limited updates")
    for chances, epsilon in itertools.product(((0.5, 0.5), (0.4, 0.6)), (0.1, 1.0, 4.0)):
        claimed = 1 + sum_of_phases(PHASES, 2, chances, epsilon)
        regret = limited_updates(rng, chances, epsilon) - (2 ** (PHASES + 1) - 1) * chances[0]
        coins = f"two experts, coins with P(loss) = {chances[0]:g}, {chances[1]:g}"
        at: At = {"losses": coins, "epsilon": epsilon}
        yield of_mean("updates-half", claimed, regret, 6, at=at)
    T, runs = 10_000, range(40)
    lengths = np.diff(doubling_edges(T))[:, None, None]
    # At a gap of sqrt(log(d) / T), T rounds barely tell which expert is best.
    games = [(d, gap) for d in (10, 300) for gap in (0.0, math.sqrt(math.log(d) / T), 0.1)]
    for d, gap in games:
        # Only sums of blocks matter, and they are binomial.
        sums, rng = (
            np.zeros((len(lengths) + 1, len(runs), d), int),
            generator(seed, "blocks", d, gap),
        )
        chance = np.where(np.arange(d) == 0, 0.5 - gap, 0.5)
        rng.binomial(lengths, chance, sums[1:].shape).cumsum(axis=0, out=sums[1:])
        blocks, least = list(itertools.starmap(Stretch, itertools.pairwise(sums))), sums[-1].min(1)
        for epsilon in (0.1, 1.0):
            own = replicate_generators(seed, ("claims", d, epsilon, gap), runs, "limited updates")
            lost, _ = play_blocks(blocks, epsilon, own)
            of: Any = {"at": {"d": d, "epsilon": epsilon, "losses": f"gap {gap:.3g}"}}
            rate = rate_of_updates(T, d, epsilon)
            random = float((sums[-1].mean(axis=1) - least).mean()) / rate
            of["numbers"] = {"bound": stated(rate_of_updates), "random": random}
            yield of_mean("updates-rate", rate, lost - least, 12, **of)


def rate_of_updates(T: int, d: int, epsilon: float) -> float:
    """Return the rate of Corollary 8 with constant 1: `sqrt(T log d) + log(d) log(T)/ε`."""
    return math.sqrt(T * math.log(d)) + math.log(d) * math.log(T) / epsilon


PHASES, RUNS = 6, 100_000
"""Phases of 2, 4, ..., 2^PHASES rounds after round 1."""
Chances = tuple[float, float]
"""Chances with which two experts lose 1 in a round, independently; the lower one first."""


def excess(n: int, chances: Chances, epsilon: float) -> float:
    """Return the exponential mechanism's mean loss after n rounds, minus the better expert's."""
    ones = np.arange(n + 1)
    better, worse = (stats.binom.pmf(ones, n, chance) for chance in chances)
    mistaken = special.expit(epsilon / 2 * (ones[:, None] - ones))
    return (chances[1] - chances[0]) * float(better @ mistaken @ worse)


def sum_of_phases(k: int, part: int, chances: Chances, epsilon: float) -> float:
    """Return the sum of 2^i times `excess` after 2^i / part rounds, i = 1, ..., k."""
    return sum(2.0**i * excess(2**i // part, chances, epsilon) for i in range(1, k + 1))


def limited_updates(rng: np.random.Generator, chances: Chances, epsilon: float) -> Floats:
    """Return the (R,) total losses of limited updates in round 1 and all phases."""
    losses, total = np.zeros((RUNS, 2)), np.zeros(RUNS)
    for length in 2 ** np.arange(PHASES + 1):
        chosen = (2 / epsilon * rng.gumbel(size=(RUNS, 2)) - losses).argmax(axis=1)
        losses = rng.binomial(length, chances, (RUNS, 2)).astype(float)
        total += losses[np.arange(RUNS), chosen]
    return total


def successor(_: int) -> Findings:
    """Check our bound for the dartboard over our bound for L2P, at the same (epsilon, delta)."""
    short = itertools.product((10**3, 10**4), (10, 300), (0.1, 1.0, 4.0), (DELTA,))
    long = itertools.product((10**6,), (2, 300), (0.1, 1.0, 10.0), DELTAS)
    for T, d, epsilon, delta in (*short, *long):
        game, name = LazyGame(T, delta), "dartboard-in-long-games"
        one = choose_dartboard(game, epsilon=epsilon, n_experts=d).objective
        other = choose_parameters(game, epsilon=epsilon, n_experts=d).objective
        at: At = {"T": T, "d": d, "epsilon": epsilon, "delta": delta}
        yield Finding(name if T == 10**6 else "dartboard-over-l2p", 1.0, one / other, at=at)


CHECKS = (regret, corollaries, privacy, updates, successor)
