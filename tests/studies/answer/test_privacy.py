"""Table "How private is it?", by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpol.studies.answer.privacy import privacy_table
from dpol.studies.study import Facts
from standings_by_hand import standings_of
from tables_by_hand import INF, lines, run, summary

FACTS = Facts({"nm": "NM"}, simulated=False, confidence=0.95, levels=(INF, 1.0))
STAYS = "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"
# Phi(sqrt(w) / 2) for w = 1 and 8 is 0.69146 and 0.92135.
INDEPENDENT = ("69.2%", "92.2% in 8 rounds")


def table(*rows: dict[str, Any], **facts: Any) -> Any:
    frames = {"summary": summary(rows), "standings": standings_of(rows)}
    return privacy_table(frames, replace(FACTS, **facts))


def cells(shown: Any) -> dict[str, list[tuple[str, ...]]]:
    return {label: [(it.text, *it.notes) for it in own] for _, label, own in lines(shown)}


def test_guesses_are_the_largest_and_rounded_up_and_the_file_has_the_rest() -> None:
    shown = table(
        run("rw-meta", INF, 1.0),
        run("rw-meta", 1.0, 1.0, epsilon=4.5, taken_as_public="the list"),
        run("rw-ftpl", 0.5, 1.0, epsilon=4.886),
        levels=(INF, 1.0, 0.5),
    )
    assert [column.title for column in shown.columns] == ["μ = 1", "μ = 0.5"]
    # Phi(1 / 4) and Phi(sqrt(8) / 4) are 0.59871 and 0.76025.
    assert cells(shown) == {
        "rw-meta, isotropic noise": [INDEPENDENT, ("—",)],
        "rw-ftpl, isotropic noise": [("—",), ("59.9%", "76.1% in 8 rounds")],
    }
    first = shown.numbers.query("mu == 1").iloc[0]
    assert first[["rounds", "epsilon", "count_noise"]].tolist() == [1, 4.5, 2**0.5]
    assert "Protected: one person in one round." in shown.footers[0]
    assert "not covered by any μ: the list." in shown.footers[0]
    # The hand-made factor is sqrt(5).
    assert "in up to 4 further rounds, which multiplies μ by 2.24 at most" in shown.footers[2]
    assert "Anyone with the seed can remove the noise." in shown.footers[3]


@pytest.mark.parametrize("order", [1, -1])
def test_the_weakest_guarantee_of_all_streams_is_shown(order: int) -> None:
    better = dict(zip(STAYS, (0.5, 0.6, 0.7, 0.8), strict=True))
    better |= {"stream": "pa", "epsilon": 0.4, "guaranteed_mu": 0.5, "count_noise": 1.0}
    for changes, expected in (
        ({}, INDEPENDENT),
        (dict.fromkeys(STAYS, np.nan), ("69.2%",)),
    ):
        rows = [run("rw-meta", 1.0, 1.0, **changes), run("rw-meta", 1.0, 1.0, **better)]
        shown = table(*rows[::order], streams={"nm": "NM", "pa": "PA"})
        assert [*cells(shown).values()] == [[expected]]


def test_systems_with_equal_numbers_share_a_line() -> None:
    shown = table(*(run(f"mean-{k}", 1.0, 1.0) for k in range(5)))
    names = ", ".join(f"mean-{k}, isotropic noise" for k in range(3))
    assert [*cells(shown)] == [f"{names} and 2 others"]


def test_correlated_noise_says_what_longer_stays_pay() -> None:
    # Phi(1 / 2) and Phi(2) are 0.69146 and 0.97725.
    paid = dict(zip(STAYS, (1.0, 2.0, 3.0, 4.0), strict=True)) | {"noise_memory": "b of 0.8"}
    shown = table(
        run("rw-ftpl", 1.0, 30.0), run("rw-ftpl", 1.0, 20.0, noise="capacity-memory", **paid)
    )
    assert cells(shown)["capacity correlated noise"] == [("69.2%", "97.8% in 8 rounds")]


@pytest.mark.parametrize("changes", [{"model": "none"}, {}])
def test_without_noise_nothing_is_claimed(changes: dict[str, Any]) -> None:
    shown = table(run("rw-meta", INF, 1.0, **changes))
    assert cells(shown) == {"no noise was added": [("—",)]}
    assert shown.numbers.empty
