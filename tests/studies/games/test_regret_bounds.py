"""The regret bounds of the registry."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from docs.test_statements import evaluated
from dpol.core.randomness import replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.play import RawGains, play_rounds
from dpol.experts.registry import REGISTRY, make_members, regret_bounds
from dpol.privacy.tree_noise import tree_levels
from dpol.studies.ledger.claims import experts, lazy
from dpol.studies.ledger.claims.core import stated
from dpol.studies.paper1.batching.compute import synthetic_gains

T, N, MU, RUNS = 200, 5, 1.0, 200


# Functions that the ledger checks in games.
IN_THE_LEDGER = {
    "rw-ftpl": experts.ftpl_bound,
    "rw-adabatch": experts.adabatch_bound,
    "rw-meta": experts.meta_bound,
    "mf-ftpl": experts.matrix_bound,
    "l2p": lazy.regret_of_batches,
    "dartboard": lazy.regret_of_batches,
}


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
    assert regret_bounds().keys() == IN_THE_LEDGER.keys() | PLAYED.keys()
    for name, bound in IN_THE_LEDGER.items():
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


@pytest.mark.parametrize("name", PLAYED)
def test_bounds_hold_in_games_and_a_tenth_of_each_does_not(name: str) -> None:
    """In two games, by the mean of 200 runs plus and minus 4 standard errors."""
    (member,) = make_members(name)
    bound, largest = PLAYED[name](), 0.0
    for game in ("one-good-expert", "two-rivals"):
        gains = synthetic_gains(T, N)[game]
        source = RawGains(synthetic_stream(game, gains), MU, RUNS)
        coins = replicate_generators(3, (name, game), source.numbers, name)
        actions = play_rounds(member.algorithm, source, coins)
        regret = gains.sum(axis=0).max() - gains[np.arange(T), actions].sum(axis=1)
        error = 4 * regret.std(ddof=1) / math.sqrt(RUNS)
        assert regret.mean() + error < bound
        largest = max(largest, regret.mean() - error)
    assert largest > bound / 10
