"""The regret bounds of the registry."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from docs.test_formulas import evaluated
from dpol.core.randomness import Floats, replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, play_rounds, setup_of
from dpol.experts.registry import REGISTRY, make_members, regret_bounds
from dpol.privacy.tree_noise import tree_levels
from dpol.studies.ledger.claims import experts, lazy
from dpol.studies.ledger.claims.core import stated
from dpol.studies.paper1.batching.compute import synthetic_gains

T, N, MU, RUNS = 200, 5, 1.0, 200


def matrix_bound(scales: Floats, n: int) -> float:
    """Return `1 + sqrt(2 log n) (S_1 + Σ max(S_t+1 − S_t, 0) + Σ 1/S_t)`.

    It bounds the regret of following the leader of sums with noise of these scales (T,).
    """
    grown = np.maximum(np.diff(scales[:-1]), 0.0).sum()
    return 1 + math.sqrt(2 * math.log(n)) * float(scales[0] + grown + (1 / scales[:-1]).sum())


def regret_of_batches(T: int, d: int, B: int, eta: float) -> float:
    """Return our bound on the regret of L2P and the dartboard: `log(d)/η + η T B/8`."""
    return math.log(d) / eta + eta * T * B / 8


STATED = {
    "rw-ftpl": experts.ftpl_bound,
    "rw-adabatch": experts.adabatch_bound,
    "rw-meta": experts.meta_bound,
    "mf-ftpl": matrix_bound,
    "l2p": regret_of_batches,
    "dartboard": regret_of_batches,
}
"""Functions that state a formula. The ledger plays the first three."""


def noise_of_a_sum(objective: str) -> float:
    least = math.sqrt(2) * tree_levels(T) / MU
    return max(least, math.sqrt(T)) if objective == "min-regret" else least


def of_tree(objective: str) -> float:
    noise = noise_of_a_sum(objective)
    return math.sqrt(2 * math.log(N)) * (noise + T / noise)


PLAYED: dict[str, Callable[[], float]] = {
    "tree-ftpl-min-noise": lambda: of_tree("min-noise"),
    "tree-ftpl-min-regret": lambda: of_tree("min-regret"),
    "multiplicative-weights": lambda: math.sqrt(T * math.log(N) / 2),
}


def test_every_bound_is_checked() -> None:
    assert regret_bounds().keys() == STATED.keys() | PLAYED.keys()
    for name, bound in STATED.items():
        before, formula, after = plain(REGISTRY[name].regret).partition(plain(stated(bound)))
        assert formula, name
        assert not before + after.partition(",")[0], name
    for name, bound in PLAYED.items():
        letters = {"T": T, "n": N}
        if name.startswith("tree"):
            letters["S"] = noise_of_a_sum(name.removeprefix("tree-ftpl-"))
        formula = REGISTRY[name].regret.partition(",")[0]
        assert evaluated(formula, letters) == pytest.approx(bound(), rel=1e-12)


def plain(text: str) -> str:
    """Remove spaces, and write n for L2P's d, the number of experts."""
    return "".join(text.split()).replace("log(d)", "log(n)")


def of_sums() -> float:
    """The noise is that of the mechanism."""
    stream = synthetic_stream("zeros", np.zeros((T, N)))
    of = MatrixFTPL().mechanism(setup_of(RawGains(stream, MU, 1)))
    return matrix_bound(of.scale[0] * of.factorization.row_norms, N)


@pytest.mark.parametrize(
    ("name", "bound", "part"),
    [*((name, bound, 10) for name, bound in PLAYED.items()), ("mf-ftpl", of_sums, 20)],
)
def test_bounds_hold_in_games_and_a_small_part_of_each_does_not(
    name: str, bound: Callable[[], float], part: int
) -> None:
    """In two games, by the mean of 200 runs plus and minus 4 standard errors."""
    (member,) = make_members(name)
    largest = 0.0
    for game in ("one-good-expert", "two-rivals"):
        gains = synthetic_gains(T, N)[game]
        source = RawGains(synthetic_stream(game, gains), MU, RUNS)
        coins = replicate_generators(3, (name, game), source.numbers, name)
        actions = play_rounds(member.algorithm, source, coins)
        regret = gains.sum(axis=0).max() - gains[np.arange(T), actions].sum(axis=1)
        error = 4 * regret.std(ddof=1) / math.sqrt(RUNS)
        assert regret.mean() + error < bound()
        largest = max(largest, regret.mean() - error)
    assert largest > bound() / part


@pytest.mark.parametrize("B", [1, 4, 20])
def test_the_bound_of_batches_holds_for_exact_losses(B: int) -> None:
    """Two experts that lose in turn, batch by batch, coins, and one good expert; 400 rounds."""
    rng, rounds = np.random.default_rng(0), 400
    for d, eta in itertools.product((2, 10), (0.01, 0.1, 0.5)):
        turns = np.tile(np.repeat(np.eye(d)[:2], B, axis=0), (rounds // B, 1))[:rounds]
        coins = (rng.random((rounds, d)) < np.linspace(0.1, 0.9, d)).astype(float)
        good = np.tile(np.arange(d) > 0, (rounds, 1)).astype(float)
        for losses in (turns, coins, good):
            regret = lazy.expected_loss(losses, eta, B) - float(losses.sum(axis=0).min())
            assert regret < regret_of_batches(rounds, d, B, eta)
