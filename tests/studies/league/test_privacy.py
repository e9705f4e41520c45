"""How private is it: the table of guesses, and the one percentage that the answer says."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpol.privacy.guarantee import TIMES
from dpol.show.table import Table
from dpol.studies.league.privacy import attacked, privacy_table
from standings_by_hand import Row, standings_of
from tables_by_hand import FACTS, INF, lines, run, summary

STAYS = "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"
# Phi(sqrt(w) / 2) for w = 1 and 8 is 0.69146 and 0.92135.
INDEPENDENT = ("69.2%", "92.2% in 8 rounds")


def privacy(*rows: Row, **facts: Any) -> Table:
    frames = {"summary": summary(rows), "standings": standings_of(rows)}
    return privacy_table(frames, replace(FACTS, **facts))


def guesses(shown: Table) -> dict[str, list[tuple[str, ...]]]:
    return {name: [(it.text, *it.notes) for it in cells] for _, name, cells in lines(shown)}


def test_guesses_are_the_largest_and_rounded_up_and_the_file_has_the_rest() -> None:
    shown = privacy(
        run("rw-meta", INF, 1.0),
        run("rw-meta", 1.0, 1.0, epsilon=4.5, taken_as_public="the list"),
        run("rw-ftpl", 0.5, 1.0, epsilon=4.886),
        levels=(INF, 1.0, 0.5),
    )
    assert [column.title for column in shown.columns] == ["μ = 1", "μ = 0.5"]
    # Phi(1 / 4) and Phi(sqrt(8) / 4) are 0.59871 and 0.76025.
    both = [INDEPENDENT, ("59.9%", "76.1% in 8 rounds")]
    assert guesses(shown) == {
        "RW-Meta": [both[0], ("—",)],
        "RW-FTPL": [("—",), both[1]],
        "the best without a curator": both,
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
    for changes, expected in ({}, INDEPENDENT), (dict.fromkeys(STAYS, np.nan), ("69.2%",)):
        rows = [run("rw-meta", 1.0, 1.0, **changes), run("rw-meta", 1.0, 1.0, **better)]
        shown = privacy(*rows[::order], streams={"nm": "NM", "pa": "PA"})
        assert guesses(shown) == {"RW-Meta and the best without a curator": [expected]}


def test_correlated_noise_says_what_longer_stays_pay() -> None:
    # Phi(1 / 2) and Phi(2) are 0.69146 and 0.97725.
    paid = dict(zip(STAYS, (1.0, 2.0, 3.0, 4.0), strict=True)) | {"memory": "b of 0.8"}
    shown = privacy(
        run("rw-ftpl", 1.0, 30.0), run("rw-ftpl", 1.0, 20.0, noise="capacity-memory", **paid)
    )
    assert guesses(shown)["capacity correlated noise"] == [("69.2%", "97.8% in 8 rounds")]


@pytest.mark.parametrize("changes", [{"model": "none"}, {}])
def test_without_noise_nothing_is_claimed(changes: dict[str, Any]) -> None:
    shown = privacy(run("rw-meta", INF, 1.0, **changes))
    assert guesses(shown) == {"no noise was added": [("—",)]}
    assert shown.numbers.empty
    said = "Without noise an attacker may be right about one person in one week every time."
    assert attacked(summary([run("rw-meta", INF, 1.0)]), "week") == said


TWICE = f"on these cleaned counts {TIMES.format(2.0)}"
BOUNDS: list[tuple[Row, str]] = [
    # Phi(1 / 2) = 0.69146, Phi(1) = 0.84134, Phi(3 / 2) = 0.93319.
    ({"mu_carried": math.nan}, "69.2% of the time ("),
    ({"mu_carried": math.nan, "taken_as_public": TWICE}, "84.2% of the time on these cleaned coun"),
    ({"mu_carried": 2.0}, "84.2% of the time where a missing count repeats an older one ("),
    ({"mu_carried": 1.5, "taken_as_public": TWICE}, "93.4% of the time where a missing count"),
]


@pytest.mark.parametrize(("changes", "said"), BOUNDS)
def test_one_percentage_is_said_of_an_attacker_the_largest_that_holds(
    changes: Row, said: str
) -> None:
    """Nothing is said of carried counts where none was carried."""
    better = run("rw-meta", 1.0, 1.0, stream="pa", guaranteed_mu=0.5, mu_carried=0.5)
    text = attacked(summary([run("rw-meta", 1.0, 1.0, **changes), better]))
    assert f"right about one person in one round at most {said}" in text
    assert text.count("%") == 2, "and that of a coin"
