"""The sentences below a table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from dpol.show.footers import (
    amount,
    describe_best,
    describe_data,
    describe_guarantee,
    describe_interval,
    describe_models,
)

INF = math.inf
EPSILON = {INF: INF, 1.0: 4.886, 0.5: 2.254}
GENERAL = (
    "Guarantee: μ-Gaussian differential privacy of one person; adjacent: one elsewhere."
    " Telling adjacent inputs apart is at least as hard as telling N(0, 1) from N(μ, 1)."
    " The μ of a row is the level asked for; what each mechanism guarantees there,"
    " to three digits:"
)


MOVED = "; sensitivity = 0.07 (L2, gain)."
SEEDED = (
    "Noise: seeded, so that anybody can repeat the run; whoever has the seed can take the"
    " noise off again. The guarantee is what the mechanisms would give with secret noise."
)


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
    } | changes


def column(**changes: Any) -> pd.DataFrame:
    """An algorithm at all levels."""
    return pd.DataFrame([run(mu, **changes) for mu in EPSILON])


def guarantee(**columns: pd.DataFrame) -> list[str]:
    return describe_guarantee(columns, list(EPSILON))


BOTH = "μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06"
WEAK = {"guaranteed_mu": 0.2, "epsilon": 0.834}
FREE = {"guaranteed_mu": INF, "epsilon": INF}
TREE = {"mechanism": "Tree", "model": "central"}


@pytest.mark.parametrize(
    ("columns", "lines"),
    [
        ({"a": column(), "b": column()}, [f"Noise (local): {BOTH}"]),
        (  # the weakest of all streams
            {"a": pd.concat([pd.DataFrame([run(1.0, **WEAK), run(0.5)]), column()])},
            ["Noise (local): μ = 1: ε at most 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06"],
        ),
        (  # noise that stays where no privacy is asked for
            {"a": pd.concat([column(**WEAK), column(guaranteed_mu=0.1, epsilon=0.4)])},
            [
                "Noise (local): μ = ∞, 1, 0.5: ε at most 0.834 (guaranteed μ at most 0.2);"
                " at δ = 1e-06"
            ],
        ),
        (  # columns are named where one mechanism guarantees them different things
            {
                **{"a": column(), "noise": column(**TREE)},
                **dict.fromkeys(("regret", "other"), column(**TREE, **WEAK)),
            },
            [
                f"Noise (local): {BOTH}",
                f"Tree (central, noise): {BOTH}",
                "Tree (central, regret, other): μ = ∞, 1, 0.5: ε = 0.834 (guaranteed μ = 0.2);"
                " at δ = 1e-06",
            ],
        ),
        (
            {
                "leader": column(model="none", mechanism="none", **FREE),
                "a": pd.concat([column(), column(mechanism="Other noise", **FREE)]),
            },
            [f"Noise (local): {BOTH}", "Other noise (local): none"],
        ),
    ],
    ids=["one", "weakest", "stays", "named", "several"],
)
def test_the_guarantee(columns: dict[str, pd.DataFrame], lines: list[str]) -> None:
    found = describe_guarantee(columns, list(EPSILON))
    assert found == [GENERAL, *(f"{line}{MOVED}" for line in lines), SEEDED]


def test_guarantee_names_levels_in_the_order_of_the_table() -> None:
    found = describe_guarantee({"a": column()}, [0.5, INF, 1.0])
    assert found[1] == f"Noise (local): μ = 0.5: ε = 2.26; μ = 1: ε = 4.89; at δ = 1e-06{MOVED}"


def test_a_level_without_noise_in_some_stream_has_no_guarantee() -> None:
    assert "∞" not in guarantee(a=pd.concat([column(), column(**WEAK)]))[1]


def test_no_guarantee_without_noise() -> None:
    none = ["Guarantee: none, no run has privacy noise."]
    assert guarantee(a=pd.DataFrame([run(INF)])) == none
    assert guarantee(a=column(model="none")) == none


def test_data() -> None:
    assert describe_data(False) == "Data: real."
    assert describe_data(True) == "Data: simulated, not measured."


def test_numbers() -> None:
    assert (amount(1 / 3, math.nan), amount(41.25, 0.126)) == ("0.33", "41.25 ± 0.13")
    assert describe_interval(0.95, 12) == (
        "±: half width of the 95% confidence interval (Student's t), Bonferroni-corrected over 12"
        " cells. (all equal): the same number in all runs, as without randomness. The intervals"
        " cover the noise, the randomness of the runs, on this one data set. They do not cover"
        " other data, such as other states or years."
    )
    assert describe_best("best linear model", "ridge").endswith(
        "The cells of all members count in the Bonferroni correction, so the interval of the"
        " chosen one holds despite the choice."
    )


def test_models() -> None:
    assert describe_models([("a", "local"), ("b", "central"), ("c", "central/local")]) == [
        "Local model (noise is added where a gain arises): a, c.",
        "Central model (a trusted curator sees the gains as they are): b, c.",
    ]
    assert describe_models([("a", "none")]) == ["No privacy: a."]


def test_what_is_taken_as_public_is_said_once() -> None:
    said = "Taken as public, and not covered by any μ: the list."
    one, other = column(taken_as_public="the list"), column(taken_as_public="the list")
    assert guarantee(a=one, b=other)[-2:] == [said, SEEDED]
    assert not any("public" in line for line in guarantee(a=column()))
