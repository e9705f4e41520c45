"""Table "How private is it?", by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.studies.games.mechanisms import privacy_table
from dpol.studies.games.summary import conclude
from dpol.studies.study import Facts
from tables_by_hand import INF, main, run, texts

FACTS = Facts({"nm": "NM"}, simulated=False, confidence=0.95, levels={"none": INF, "low": 1.0})
STAYS = "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"
# Phi(sqrt(w) / 2) for w = 1, 2, 4, 8 is 0.69146, 0.76025, 0.84134, 0.92135.
INDEPENDENT = ["69.2%", "76.1%", "84.2%", "92.2%"]


def table(*rows: dict[str, Any], **facts: Any) -> Any:
    summary = conclude(pd.DataFrame(rows))
    labels = list(dict.fromkeys(row["algorithm"] for row in rows))
    return privacy_table({"summary": summary}, main(algorithms=labels), replace(FACTS, **facts))


def test_guesses_and_epsilon_are_the_largest_and_rounded_up() -> None:
    shown = table(
        run("rw-meta", INF, 1.0),
        run("rw-meta", 1.0, 1.0, epsilon=4.5, taken_as_public="the list"),
        run("rw-ftpl", 1.0, 1.0, epsilon=4.886),
    )
    assert [column.title for column in shown.columns] == ["μ = 1"]
    by_system = dict(zip([part.title for part in shown.sections], shown.sections, strict=True))
    assert list(by_system) == ["rw-meta, isotropic noise", "rw-ftpl, isotropic noise"]
    assert [line[-1] for line in texts(shown)] == [
        *[*INDEPENDENT, "4.5", "±1.42"],
        *[*INDEPENDENT, "4.89", "±1.42"],
    ]
    assert "Protected: one person in one round." in shown.footers[0]
    assert "not covered by any μ: the list." in shown.footers[0]
    assert "Anyone with the seed can remove the noise." in shown.footers[1]


@pytest.mark.parametrize("order", [1, -1])
def test_the_weakest_guarantee_of_all_streams_is_shown(order: int) -> None:
    better = dict(zip(STAYS, (0.5, 0.6, 0.7, 0.8), strict=True))
    better |= {"stream": "pa", "epsilon": 0.4, "guaranteed_mu": 0.5, "count_noise": 1.0}
    for changes, expected in (
        ({}, [*INDEPENDENT, "4.89", "±1.42"]),
        (dict.fromkeys(STAYS, np.nan), ["69.2%", "4.89", "±1.42"]),
        # A stream without a mu is known by its epsilon; (exp(.5) + 1e-6) / (exp(.5) + 1) = .62246.
        ({"guaranteed_mu": np.nan, "epsilon": 0.5}, ["62.3%", "0.5", "±1.42"]),
    ):
        rows = [run("rw-meta", 1.0, 1.0, **changes), run("rw-meta", 1.0, 1.0, **better)]
        shown = table(*rows[::order], streams={"nm": "NM", "pa": "PA"})
        assert [line[-1] for line in texts(shown)] == expected


def test_systems_with_equal_numbers_share_a_section() -> None:
    shown = table(*(run(f"mean-{k}", 1.0, 1.0) for k in range(5)))
    names = ", ".join(f"mean-{k}, isotropic noise" for k in range(3))
    assert [part.title for part in shown.sections] == [f"{names} and 2 others"]


def test_correlated_noise_says_what_longer_stays_pay() -> None:
    # Phi(1 / 2), Phi(1), Phi(1.5) and Phi(2) are 0.69146, 0.84134, 0.93319 and 0.97725.
    paid = dict(zip(STAYS, (1.0, 2.0, 3.0, 4.0), strict=True)) | {"noise_memory": "b of 0.8"}
    shown = table(
        run("rw-ftpl", 1.0, 30.0), run("rw-ftpl", 1.0, 20.0, noise="capacity-memory", **paid)
    )
    assert [part.title for part in shown.sections][1] == "capacity correlated noise"
    assert [line[-1] for line in texts(shown)][6:10] == ["69.2%", "84.2%", "93.4%", "97.8%"]


def test_without_people_only_one_round_is_protected() -> None:
    shown = table(run("rw-meta", 1.0, 1.0, count_noise=np.nan, **dict.fromkeys(STAYS, np.nan)))
    assert [line[-2:] for line in texts(shown)] == [
        ["right guesses, counted in 1 round", "69.2%"],
        ["ε at δ = 10⁻⁶", "4.89"],
    ]


def test_a_guarantee_without_a_mu_is_told_by_its_epsilon() -> None:
    # (exp(.5) + 1e-6) / (exp(.5) + 1) = .62246
    shown = table(
        run("l2p", 1.0, 1.0, epsilon=0.5, model="central", guaranteed_mu=np.nan, count_noise=np.nan)
    )
    assert [line[-1] for line in texts(shown)] == ["62.3%", "0.5"]


@pytest.mark.parametrize("changes", [{"model": "none"}, {}])
def test_without_noise_nothing_is_claimed(changes: dict[str, Any]) -> None:
    shown = table(run("rw-meta", INF, 1.0, **changes))
    assert [line[-2:] for line in texts(shown)] == [["no noise was added", "—"]]
    assert shown.numbers.empty
