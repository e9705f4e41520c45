"""Checks of the central comparators: their noise and regret, and the gains of RW-Meta."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats, replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, play_rounds, setup_of
from dpol.lazy.accounting import LazyGame
from dpol.lazy.parameters import OBJECTIVES, choose_parameters
from dpol.privacy.factorizations import least_row_norm, prefix_sums
from dpol.privacy.tree_noise import tree_levels
from dpol.studies.claims.core import Finding, Findings, of_mean, of_number
from dpol.studies.claims.local_experts import game_streams
from dpol.studies.hospitals.reported import PAPER_NOISE

_WITHIN = {67: 1.09, 148: 1.08, 1024: 1.06}
"""Ratio of the noise of factorised prefix sums to its lower bound, by T."""


def factorised_noise(_: int) -> Findings:
    """The largest noise on a factorised prefix sum, in units of Delta / mu."""
    for T, factor in _WITHIN.items():
        least = least_row_norm(np.tril(np.ones((T, T))))
        facts = {"T": T, "factor": factor, "least": least}
        largest, tree = float(prefix_sums(T).row_norms.max()), float(tree_levels(T))
        yield of_number(f"factorised-{T}", factor * least, largest, facts=facts, trivial=tree)


_ROUNDS, _REPLICATES = 1000, 100


def matrix_regrets(seed: int) -> Findings:
    """Regret of the leader of factorised prefix sums, against random experts."""
    for n in (2, 10):
        for (label, gains), mu in itertools.product(game_streams(seed, n).items(), (0.5, 1.0)):
            stream = synthetic_stream(f"claims: {label}, n = {n}", gains)
            source = RawGains(stream, mu, _REPLICATES)
            own = replicate_generators(seed, ("claims", label, n, mu), source.numbers, "matrix")
            actions = play_rounds(MatrixFTPL(), source, own)
            regret = gains.sum(axis=0).max() - gains[np.arange(len(gains)), actions].sum(axis=1)
            mechanism = MatrixFTPL().mechanism(setup_of(source))
            bound = _regret_bound(mechanism.scale[0] * mechanism.factorization.row_norms, n)
            random = float(gains.sum(axis=0).max() - gains.sum(axis=0).mean())
            case = f"{label}, n = {n}, μ = {mu:g}; a random expert has {random:.0f}"
            facts = {"R": _REPLICATES, "T": _ROUNDS}
            yield of_mean(
                "regret-of-mf-ftpl", bound, regret, 16, case=case, facts=facts, trivial=random
            )


def _regret_bound(scales: Floats, n: int) -> float:
    """Bound on the regret of a leader of sums with noise of these standard deviations (T,)."""
    grown = np.maximum(np.diff(scales[:-1]), 0.0).sum()
    return 1 + math.sqrt(2 * math.log(n)) * float(scales[0] + grown + (1 / scales[:-1]).sum())


def objectives(_: int) -> Findings:
    """The bound that holds, at the parameters that the published objective chooses."""
    T, d, bound = 1000, 300, OBJECTIVES["sound"]
    game = LazyGame(T, 1e-6)
    for epsilon in (0.1, 1.0):
        sound, published = (
            choose_parameters(game, epsilon=epsilon, n_experts=d, objective=name)
            for name in OBJECTIVES
        )
        reached = bound(game, d, published.batch_size, published.eta)
        facts = {
            "T": T,
            "batch": published.batch_size,
            "best": sound.objective,
            "reached": reached,
            "sound_batch": sound.batch_size,
        }
        case = f"T = {T:,}, ε = {epsilon:g}, d = {d}"
        yield of_number("published-objective", 1.0, reached / sound.objective, case, facts=facts)


def headline(ranking: pd.DataFrame) -> Findings:
    """The factor by which RW-Meta gains more than each central rival in this run.

    Args:
        ranking: table of `dpol.studies.hospitals.findings.rank_meta`.
    """
    rows = ranking[(ranking["source"] == "run") & (ranking["noise"] == PAPER_NOISE)]
    for row in rows.to_dict("records"):
        yield Finding(
            name=f"headline-{row['rival'].replace(' ', '-')}",
            claimed=1.5,
            measured=row["ratio"],
            case=f"{row['stream']}, μ = {row['mu']:g}, {row['other_algorithm']}",
            facts={"gain": row["mean_gain"], "other": row["other_mean_gain"]},
            interval=(row["ratio_lower"], min(row["ratio_upper"], 1e6)),
            confidence=row["confidence"],
        )
