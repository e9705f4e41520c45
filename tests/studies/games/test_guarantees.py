"""Table of guarantees, and the regret bounds of the registry."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.core.randomness import replicate_generators
from dpol.data.synthetic import synthetic_stream
from dpol.experts.play import RawGains, play_rounds
from dpol.experts.registry import REGISTRY, Registration, make_members, regret_bounds
from dpol.privacy.tree_noise import tree_levels
from dpol.studies.batching.compute import synthetic_gains
from dpol.studies.claims.compute import statements
from dpol.studies.games.mechanisms import guarantees_table
from tables_by_hand import texts

INF = math.inf
T, N, MU, RUNS = 200, 5, 1.0, 200


def row(family: str, model: str, mu: float, **more: Any) -> dict[str, Any]:
    same = {"mechanism": "noise", "guaranteed_mu": mu, "epsilon": mu, "ours": False}
    return {"family": family, "model": model, "mu": mu, "amplified_epsilon": math.nan} | same | more


SUMMARY = pd.DataFrame(
    [
        row("rw-adabatch", "local", INF),
        row("rw-adabatch", "local", 1.0, guaranteed_mu=0.8, amplified_epsilon=0.5),
        row("rw-meta", "local", 1.0, ours=True),
        row("rw-meta", "local", 0.5, mechanism="more noise"),
        row("kalman", "local", 1.0, ours=True),
        row("l2p", "central", 1.0, guaranteed_mu=math.nan, ours=True),
        row("l2p", "central", 2.0, ours=True),  # one record without a mu decides
        row("odd", "local", 1.0, guaranteed_mu=1.1),
        row("follow-the-leader", "none", INF, mechanism="none"),
    ]
)


def of(table: Any) -> dict[str, list[str]]:
    return {line[0]: line[1:] for line in texts(table)}


def test_the_line_of_an_algorithm_follows_its_records_and_the_registry() -> None:
    table = guarantees_table({"summary": SUMMARY}, None, None)  # type: ignore[arg-type]
    cells_of = {name: [cell.split("\n")[0] for cell in cells] for name, cells in of(table).items()}
    bounds = regret_bounds()
    assert cells_of["rw-adabatch"] == ["local, μ-Gaussian DP", *bounds["rw-adabatch"]]
    assert cells_of["rw-meta"] == ["local, μ-Gaussian DP", *bounds["rw-meta"]]
    assert cells_of["kalman †"] == ["local, μ-Gaussian DP", "none known", "—"]
    assert cells_of["l2p"][0] == "central, (ε, δ)-DP"
    assert cells_of["odd"][0] == "local, Gaussian DP, not at the requested μ"
    assert cells_of["follow-the-leader"] == ["none", "none known", "—"]
    assert list(table.numbers["mechanism"])[1] == "more noise; noise"
    assert list(table.numbers["amplified"]) == [True, False, False, False, False, False]


def test_a_bound_without_a_comparator_is_refused() -> None:
    Registration("a:B", regret="T", against="best learner")
    for half in ({"regret": "T"}, {"against": "best learner"}, {"regret": "T", "against": "you"}):
        with pytest.raises(ValueError, match="or both, with against: best fixed expert or best"):
            Registration("a:B", **half)


# Statements of the ledger that check a bound of the registry in games.
IN_THE_LEDGER = {
    "rw-ftpl": "regret-of-ftpl",
    "rw-adabatch": "regret-of-adabatch",
    "rw-meta": "meta-of-thirteen",
    "mf-ftpl": "regret-of-mf-ftpl",
    "l2p": "batched-regret",
    "dartboard": "dartboard-ours",
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
    ledger = statements()
    for name, statement in IN_THE_LEDGER.items():
        said = f"{ledger[statement].claimed} {ledger[statement].statement}"
        bound = REGISTRY[name].regret.split(", η the")[0]
        assert plain(bound) in plain(said)


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
