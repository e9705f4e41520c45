"""The sentences below a table."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

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


def test_guarantee_of_one_mechanism() -> None:
    assert guarantee(a=column(), b=column()) == [
        GENERAL,
        f"Noise (local): μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06{MOVED}",
        SEEDED,
    ]


def test_guarantee_names_levels_in_the_order_of_the_table() -> None:
    found = describe_guarantee({"a": column()}, [0.5, INF, 1.0])
    assert found[1] == f"Noise (local): μ = 0.5: ε = 2.26; μ = 1: ε = 4.89; at δ = 1e-06{MOVED}"


def test_guarantee_is_the_weakest_of_all_streams() -> None:
    better = pd.DataFrame([run(1.0, guaranteed_mu=0.757, epsilon=3.57), run(0.5)])
    assert guarantee(a=pd.concat([better, column()]))[1] == (
        f"Noise (local): μ = 1: ε at most 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06{MOVED}"
    )


def test_noise_that_stays_without_a_level_of_privacy_is_said() -> None:
    streams = [column(guaranteed_mu=0.2, epsilon=0.834), column(guaranteed_mu=0.1, epsilon=0.4)]
    assert guarantee(a=pd.concat(streams))[1] == (
        "Noise (local): μ = ∞, 1, 0.5: ε at most 0.834 (guaranteed μ at most 0.2); at δ = 1e-06"
        f"{MOVED}"
    )


def test_a_level_without_noise_in_some_stream_has_no_guarantee() -> None:
    streams = [column(), column(guaranteed_mu=0.2, epsilon=0.834)]
    assert "∞" not in guarantee(a=pd.concat(streams))[1]


def test_columns_are_named_where_one_mechanism_guarantees_them_different_things() -> None:
    tree = {"mechanism": "Tree", "model": "central"}
    regret = column(**tree, guaranteed_mu=0.2, epsilon=0.834)
    assert guarantee(a=column(), noise=column(**tree), regret=regret, other=regret)[1:-1] == [
        f"Noise (local): μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06{MOVED}",
        f"Tree (central, noise): μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06{MOVED}",
        "Tree (central, regret, other): μ = ∞, 1, 0.5: ε = 0.834 (guaranteed μ = 0.2);"
        f" at δ = 1e-06{MOVED}",
    ]


def test_guarantee_has_a_line_per_noise() -> None:
    both = pd.concat([column(), column(mechanism="Other noise", guaranteed_mu=INF, epsilon=INF)])
    leader = column(model="none", mechanism="none", guaranteed_mu=INF, epsilon=INF)
    assert guarantee(leader=leader, a=both)[1:-1] == [
        f"Noise (local): μ = 1: ε = 4.89; μ = 0.5: ε = 2.26; at δ = 1e-06{MOVED}",
        f"Other noise (local): none{MOVED}",
    ]


def test_no_guarantee_without_noise() -> None:
    none = ["Guarantee: none, no run has privacy noise."]
    assert guarantee(a=pd.DataFrame([run(INF)])) == none
    assert guarantee(a=column(model="none")) == none


def test_data() -> None:
    assert describe_data({"NM": False, "PA": False}) == "Data: real."
    assert describe_data({"NM": True, "PA": True}) == "Data: simulated, not measured."
    assert describe_data({"NM": True, "PA": False}) == (
        "Data: simulated, not measured, in NM; real in the other streams."
    )


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


def test_parameters_are_rounded_up() -> None:
    assert "ε = 2.26;" in guarantee(a=column(epsilon=2.2501))[1]
