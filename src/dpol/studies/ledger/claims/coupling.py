"""Checks of "Differentially Private and Lazy Online Convex Optimization" (CTRL)."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import stats

from dpol.core.randomness import replicate_generators
from dpol.lazy.convex.accounting import ConvexGame
from dpol.lazy.convex.bodies import Ball
from dpol.lazy.convex.leader import CoupledLeader, choose_coupled, theorem_6
from dpol.lazy.convex.losses import LINKS, ConvexLosses, LinearLosses, LinkedLosses
from dpol.lazy.transform import play
from dpol.studies.ledger.claims.core import DELTA, Finding, Findings, generator, of_mean


def game_of(T: int, d: int) -> ConvexGame:
    return ConvexGame(n_rounds=T, dimension=d, diameter=2.0, lipschitz=1.0, delta=DELTA)


def played(seed: int) -> Findings:
    """Check regret and switches: with little noise, and at epsilon = 4 by Theorem 6."""
    for T, d, loss in ((200, 2, "linear"), (200, 2, "logistic"), (1000, 10, "linear")):
        game, body = game_of(T, d), Ball(d, 2.0)
        vectors = generator(seed, "vectors of CTRL", loss, d).standard_normal((T, d))
        vectors *= 0.7 / np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors[:, 0] += 0.3
        losses: ConvexLosses = LinearLosses(vectors, 1.0)
        if loss == "logistic":
            given: dict[str, Any] = {"vectors": vectors, "targets": np.zeros(T), "lipschitz": 1.0}
            losses = LinkedLosses(link=LINKS["logistic"], **given)
        private, beta = d > 2, 0.25 * (loss == "logistic")
        chosen = theorem_6(game, beta, 1 / math.sqrt(T), sigma=3.0)
        if private:
            chosen = choose_coupled(game, beta, epsilon=4.0)
        leader = CoupledLeader(losses=losses, body=body, parameters=chosen)
        coins = replicate_generators(seed, ("claims", T, loss), range(40), "CTRL")
        total, redraws = play(leader, chosen, leader, coins)
        least, case = losses.least_total(body), f"{loss} losses, T = {T:,}, d = {d}"
        if not private:
            yield of_mean("ctrl-regret", chosen.objective, total - least, 3, case=case)
        often = T * (chosen.fake_switch - math.expm1(-2 * chosen.log_phi))
        yield of_mean("ctrl-switches", often, redraws, 3, case=case)


def privacy(_: int) -> Findings:
    """Check Theorem 8 by Theorem 6, and two steps of its proof."""
    for T, d, epsilon in itertools.product((10**3, 10**5, 10**7), (1, 10), (0.1, 1.0)):
        game, case = game_of(T, d), f"T = {T:,}, d = {d}, ε = {epsilon:g}"
        cube, root = 1e3 * T ** (1 / 3) / epsilon, math.sqrt(math.log(T / DELTA))
        second = 1e3 * 0.25 * T ** (5 / 12) * math.sqrt(d / epsilon) * root
        eta = 1 / max(math.sqrt(T), second, 0.25 * cube * d * root)
        sigma = cube * math.sqrt(d * math.log(120 * T / DELTA))
        of_8 = theorem_6(game, 0.25, eta, max(math.sqrt(T / d), sigma))
        yield Finding("ctrl-epsilon", 1.0, of_8.epsilon / epsilon, case)
        added = 3 * T * math.exp(T * math.expm1(-2 * of_8.log_phi))
        numbers = {"added": added, "bound": of_8.objective, "most": 2 * T}
        yield Finding("ctrl-delta", 1.0, 1 + added / DELTA, case, numbers=numbers)
        # Losses 0 and then x, up to T; the point stays after round 1.
        outside = float(stats.norm.logcdf(0.5 / of_8.sigma - of_8.sigma * of_8.log_phi))
        numbers = {"outside": outside / math.log(10)}
        yield Finding("ctrl-past", 1.0, 0.0, case, numbers=numbers)
    for log_phi in (1e-3, 0.03, 0.5):
        T = 1000
        budget = 3 * T * (T ** (-1 / 3) - math.expm1(-2 * log_phi))
        step = budget / (3 * T ** (2 / 3) + 2 * log_phi * T)
        yield Finding("ctrl-budget", 1.0, step, f"T = {T:,}, log Φ = {log_phi:g}")


CHECKS = (played, privacy)
