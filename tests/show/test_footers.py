"""The sentences below a table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from dpol.show.footers import describe_guarantee, describe_models

INF = math.inf
EPSILON = {INF: INF, 1.0: 4.886, 0.5: 2.254}
MOVED = "; sensitivity = 0.07 (L2, gain)."


def run(mu: float, **changes: Any) -> dict[str, Any]:
    return {
        "mu": mu,
        "model": "local",
        "mechanism": "Noise",
        "guaranteed_mu": mu,
        "sampler": "seeded",
        "sensitivity": 0.07,
        "sensitivity_unit": "L2, gain",
        "epsilon": EPSILON[mu],
        "delta": 1e-6,
        "unit": "one person",
        "adjacency": "one elsewhere",
        "taken_as_public": "",
        **dict.fromkeys(("mu_1_week", "mu_2_weeks", "carried_weeks", "mu_carried"), math.nan),
    } | changes


def column(**changes: Any) -> pd.DataFrame:
    """An algorithm at all levels."""
    return pd.DataFrame([run(mu, **changes) for mu in EPSILON])


def guarantee(**columns: pd.DataFrame) -> list[str]:
    """Sentences between the one on all guarantees and the one on the seed."""
    first, *lines, last = describe_guarantee(columns, list(EPSILON))
    assert first.startswith("Guarantee: μ-Gaussian differential privacy of one person. Adjacent")
    assert last.startswith("Noise: seeded")
    return lines


BOTH = "μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06"
WEAK = {"guaranteed_mu": 0.2, "epsilon": 0.834}
FREE = {"guaranteed_mu": INF, "epsilon": INF}
TREE = {"mechanism": "Tree", "model": "central"}


STAYS = "μ = ∞, 1, 0.5: ε at most 0.834 (guaranteed μ at most 0.2); at δ = 1e-06"
CASES = {
    "one": ({"a": column(), "b": column()}, [f"Noise (local): {BOTH}"]),
    "weakest of all streams": (
        {"a": pd.concat([pd.DataFrame([run(1.0, **WEAK), run(0.5)]), column()])},
        ["Noise (local): μ = 1: ε at most 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06"],
    ),
    "noise that stays where no privacy is asked for": (
        {"a": pd.concat([column(**WEAK), column(guaranteed_mu=0.1, epsilon=0.4)])},
        [f"Noise (local): {STAYS}"],
    ),
    "one mechanism guarantees columns different things": (
        {"a": column(), "b": column(**TREE), "c": column(**TREE, **WEAK)},
        [
            f"Noise (local): {BOTH}",
            f"Tree (central, b): {BOTH}",
            f"Tree (central, c): {STAYS.replace('at most', '=')}",
        ],
    ),
    "several": (
        {
            "leader": column(model="none", mechanism="none", **FREE),
            "a": pd.concat([column(), column(mechanism="Other noise", **FREE)]),
        },
        [f"Noise (local): {BOTH}", "Other noise (local): none"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_guarantee(case: str) -> None:
    columns, lines = CASES[case]
    assert guarantee(**columns) == [f"{line}{MOVED}" for line in lines]


def test_guarantee_names_levels_in_the_order_of_the_table() -> None:
    found = describe_guarantee({"a": column()}, [0.5, INF, 1.0])
    assert found[1] == f"Noise (local): μ = 0.5: ε = 2.26; μ = 1: ε = 4.89; at δ = 1e-06{MOVED}"
    # A level without noise in some stream has no guarantee.
    assert "∞" not in guarantee(a=pd.concat([column(), column(**WEAK)]))[0]


@pytest.mark.parametrize("runs", [pd.DataFrame([run(INF)]), column(model="none")])
def test_no_guarantee_without_noise(runs: pd.DataFrame) -> None:
    none = ["Guarantee: none, no run has privacy noise."]
    assert describe_guarantee({"a": runs}, list(EPSILON)) == none


def test_models() -> None:
    assert describe_models([("a", "local"), ("b", "central"), ("c", "central/local")]) == [
        "Local model (each site adds noise to its own gains): a, c.",
        "Central model (a trusted curator sees the raw gains): b, c.",
    ]
    assert describe_models([("a", "none")]) == ["No privacy: a."]


def test_what_is_taken_as_public_is_said_once() -> None:
    one, other = column(taken_as_public="the list"), column(taken_as_public="the list")
    said = "Taken as public, and not covered by any μ: the list."
    assert guarantee(a=one, b=other)[1:] == [said]
    assert not any("public" in line for line in guarantee(a=column()))


def stays(mechanism: str = "Noise", carried_weeks: float = math.nan, **factors: float) -> Any:
    """An algorithm whose columns are so many times the level, where that is finite."""
    found = column(mechanism=mechanism, carried_weeks=carried_weeks)
    return found.assign(**{it: factors[it] * found["mu"].replace(INF, 9.0) for it in factors})


def test_longer_stays_and_counts_carried_forward_are_told_rounded_up() -> None:
    two = stays(mu_1_week=1.0, mu_2_weeks=math.sqrt(2))
    start = "For a person who is counted in 2 weeks, in a row or not, μ is at most"
    tree = stays("Tree", mu_1_week=1.0, mu_2_weeks=1.9)
    for columns, factors in (
        ({"a": two}, "1.42"),
        ({"a": two, "b": two, "c": tree}, "1.42 (Noise); 1.9 (Tree)"),
        ({"a": two, "c": column(mechanism="L2P")}, "1.42 (Noise)"),
    ):
        assert guarantee(**columns)[-1] == f"{start} {factors} times the requested one."
    assert guarantee(a=stays(carried_weeks=3, mu_carried=2.0))[1:] == [
        "Counts are taken as true. Where a missing count repeats the last one, a person is counted"
        " in up to 3 further weeks. For that person μ is at most 2 times the requested one."
    ]
