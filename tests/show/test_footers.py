"""Guarantee below a table: its sentences, and the table of mechanisms."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from dpol.show.footers import describe_guarantee
from dpol.show.mechanisms import mechanisms_table

INF = math.inf
EPSILON = {INF: INF, 1.0: 4.886, 0.5: 2.254}
MOVED = "0.07 (L2, gain)"


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
        **dict.fromkeys(
            ("mu_1_week", "mu_2_weeks", "mu_4_weeks", "carried_weeks", "mu_carried"), math.nan
        ),
    } | changes


def column(**changes: Any) -> pd.DataFrame:
    """Return the runs of an algorithm at all levels."""
    return pd.DataFrame([run(mu, **changes) for mu in EPSILON])


def cells(
    levels: tuple[float, ...] = tuple(EPSILON), **columns: pd.DataFrame
) -> list[tuple[str, ...]]:
    """Return the lines of the table of mechanisms: label and texts with their notes."""
    table = mechanisms_table(columns, levels, name="mechanisms")
    assert table is not None
    ((group,),) = (section.groups for section in table.sections)
    return [(label, *(cell.with_notes(" ") for cell in line)) for label, line in group.lines]


BOTH = "4.89", "2.26", MOVED
WEAK = {"guaranteed_mu": 0.2, "epsilon": 0.834}
WEAK_TEXT = "0.834 guaranteed μ = 0.2"
FREE = {"guaranteed_mu": INF, "epsilon": INF}
TREE = {"mechanism": "Tree", "model": "central"}

CASES = {
    "one": ({"a": column(), "b": column()}, [("Noise", "local", "a, b", *BOTH)]),
    "weakest of all streams": (
        {"a": pd.concat([pd.DataFrame([run(1.0, **WEAK), run(0.5)]), column()])},
        [("Noise", "local", "a", *BOTH)],
    ),
    "noise where no privacy is requested": (
        {"a": pd.concat([column(**WEAK), column(guaranteed_mu=0.1, epsilon=0.4)])},
        [("Noise", "local", "a", *[WEAK_TEXT] * 3, MOVED)],
    ),
    "one mechanism with two guarantees": (
        {"a": column(), "b": column(**TREE), "c": column(**TREE, **WEAK)},
        [
            ("Noise", "local", "a", "none", *BOTH),
            ("Tree", "central", "b", "none", *BOTH),
            ("Tree", "central", "c", *[WEAK_TEXT] * 3, MOVED),
        ],
    ),
    "not Gaussian": (
        {"a": column(guaranteed_mu=math.nan)},
        [("Noise", "local", "a", *(f"{epsilon} not Gaussian DP" for epsilon in BOTH[:2]), MOVED)],
    ),
    "several": (
        {
            "leader": column(model="none", mechanism="none", **FREE),
            "a": pd.concat([column(), column(mechanism="Other noise", **FREE)]),
        },
        [
            ("Noise", "local", "a", *BOTH),
            ("Other noise", "local", "a", "none", "none", MOVED),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mechanism_has_a_line_with_its_guarantee(case: str) -> None:
    columns, lines = CASES[case]
    assert cells(**columns) == lines


def test_levels_are_in_the_order_of_the_table() -> None:
    assert cells((0.5, INF, 1.0), a=column()) == [
        ("Noise", "local", "a", "2.26", "4.89", MOVED),
    ]
    # A level without noise in some stream has no guarantee.
    assert cells(a=pd.concat([column(), column(**WEAK)]))[0][3] == "none"


@pytest.mark.parametrize("runs", [pd.DataFrame([run(INF)]), column(model="none")])
def test_no_guarantee_without_noise(runs: pd.DataFrame) -> None:
    none = ["Guarantee: none; no run adds privacy noise."]
    assert describe_guarantee(runs) == none
    assert mechanisms_table({"a": runs}, list(EPSILON), name="mechanisms") is None


def test_the_sentences_name_unit_adjacency_public_data_and_the_source_of_noise() -> None:
    one, other = column(taken_as_public="the list"), column(taken_as_public="the list")
    first, public, last = describe_guarantee(pd.concat([one, other]))
    assert first.startswith("Guarantee: μ-Gaussian differential privacy of one person. Adjacent")
    assert "one elsewhere" in first
    assert public == "Taken as public, and not covered by any μ: the list."
    assert last.startswith("Noise: seeded")
    assert len(describe_guarantee(column())) == 2


def stays(mechanism: str = "Noise", carried_weeks: float = math.nan, **factors: float) -> Any:
    """Return an algorithm whose columns are these multiples of the level, where finite."""
    runs = column(mechanism=mechanism, carried_weeks=carried_weeks)
    return runs.assign(**{name: factors[name] * runs["mu"].replace(INF, 9.0) for name in factors})


def test_factors_for_longer_stays_and_carried_counts_are_rounded_up() -> None:
    two = stays(mu_1_week=1.0, mu_2_weeks=math.sqrt(2), mu_4_weeks=2.0)
    tree = stays("Tree", mu_1_week=1.0, mu_2_weeks=1.9, mu_4_weeks=3.5)
    lines = cells(a=two, b=two, c=tree, d=column(mechanism="L2P"))
    assert [line[-1] for line in lines] == ["× 1.42, 2", "× 1.9, 3.5", "—"]
    table = mechanisms_table({"a": two}, list(EPSILON), name="mechanisms")
    assert table is not None
    assert table.titles[-1] == "2, 4 rounds"
    assert "counted in 2, 4 rounds, in a row or not" in table.footers[1]
    carried = mechanisms_table(
        {"a": stays(carried_weeks=3, mu_carried=2.0)}, list(EPSILON), name="mechanisms"
    )
    assert carried is not None
    assert carried.titles[-1] == "carried"
    assert "counted in up to 3 further rounds" in carried.footers[1]
