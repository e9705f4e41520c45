"""Head of the page: its title and its three sentences, on numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpol.report.page import page_facts
from dpol.studies.games.show import lead_of, title_of
from dpol.studies.games.summary import conclude
from report.run_by_hand import config
from tables_by_hand import INF, run

STREAMS = {"nm": "Here", "pa": "There"}
FACTS = replace(
    page_facts(config()),
    streams=STREAMS,
    asked=dict.fromkeys(STREAMS, ""),
    levels={"a": INF, "b": 1.0},
)
LABELS = ["rw-ftpl", "tree", "rw-meta"]
OWN = config(report={"algorithms": LABELS}).games
COMPARED = OWN.model_copy(
    update={
        "roles": {"the baseline": [("rw-ftpl", "isotropic")], "ours": [("rw-meta", "isotropic")]}
    }
)


def played(**changes: Any) -> pd.DataFrame:
    """Return runs on two streams with a possible gain of 60."""
    rows = [
        run("rw-meta", INF, 40.0, stream="nm", ci_half_width=0.0),
        run("rw-meta", INF, 40.0, stream="pa", ci_half_width=0.0),
        run("rw-meta", 1.0, 30.0, stream="nm", ci_half_width=1.2),
        run("rw-meta", 1.0, 36.0, stream="pa", ci_half_width=2.4),
        *(run("rw-ftpl", mu, 20.0, stream=name) for name in STREAMS for mu in (INF, 1.0)),
        *(run("tree", mu, 42.0, stream=name, model="central")
          for name in STREAMS for mu in (INF, 1.0)),
    ]  # fmt: skip
    return conclude(pd.DataFrame([row | changes for row in rows]))


DECIDED = (
    "Each week an algorithm picks one e from noisy numbers, and scores its c divided by its k."
)


def test_an_owner_is_told_the_best_local_system_and_the_best_fixed_entity() -> None:
    # By hand: 30 of 60 is 50%; half-width 2%. Phi(1 / 2) = 0.691. The second stream does not count.
    assert lead_of(played(), OWN, FACTS) == (
        f"{DECIDED} At μ = 1 an attacker is right about one person in one week at most 69 times in"
        " 100 (a coin: 50). Each number gets noise of about ±1.41 c (one standard deviation). Then"
        " the best local system in hindsight (rw-meta, isotropic noise) keeps 50% (48 to 52%) and"
        " the best fixed e in hindsight, always North, 50% of the possible gain in Here. Without"
        " privacy: 67%."
    )


def test_an_owner_is_told_what_last_weeks_choice_keeps() -> None:
    rows = [run("persistence", mu, 12.0, ci_half_width=0.0) for mu in (INF, 1.0)]
    rows += [run("rw-meta", mu, 30.0, ci_half_width=0.0) for mu in (INF, 1.0)]
    settings = config(report={"algorithms": ["persistence", "rw-meta"]}).games
    facts = replace(FACTS, streams={"nm": "Here"})
    text = lead_of(conclude(pd.DataFrame(rows)), settings, facts)
    assert "Then last week’s choice (persistence, isotropic noise) keeps 20%, the best" in text
    assert text.endswith("of the possible gain. Without privacy: 20% and 50%.")


def test_a_comparison_is_told_of_the_baseline_and_ours() -> None:
    text = lead_of(played(), COMPARED, FACTS)
    assert "the baseline (rw-ftpl, isotropic noise) keeps 33% (33 to 34%) and ours (rw-meta" in text
    assert text.endswith("Without privacy: 33% (33 to 34%) and 67%.")
    assert title_of(COMPARED, FACTS) == "What does privacy cost?"


def test_the_first_rival_stands_between_the_two_and_the_last_sentence_says_how_ours_was_chosen():
    baseline, ours = COMPARED.roles.items()
    roles = dict([baseline, ("its rival", [("tree", "isotropic")]), ours])
    settings = COMPARED.model_copy(update={"roles": roles, "chosen_on": "other data"})
    text = lead_of(played(), settings, FACTS)
    assert "33% (33 to 34%), its rival (tree, isotropic noise) keeps 70%" in text
    assert text.endswith(" Ours was chosen on other data.")


@pytest.mark.parametrize("settings", [OWN, COMPARED])
def test_nothing_is_said_of_a_level_that_was_not_played(settings: Any) -> None:
    rows = played()
    levels = replace(FACTS, levels={"b": 1.0})
    text = lead_of(rows[rows["mu"] == 1.0], settings, levels)
    where = ", mean over Here and There." if settings.roles else " in Here."
    assert text.endswith(f"of the possible gain{where}")
    rows = rows[rows["mu"] == INF]
    without = lead_of(rows, settings, replace(FACTS, levels={"a": INF}))
    assert without == f"{DECIDED} No private algorithm was played with noise."


def test_several_questions_are_led_by_the_first() -> None:
    facts = replace(
        FACTS,
        questions={"share": "share", "patients": "patients"},
        asked={"nm": "share", "pa": "patients"},
    )
    assert "keeps 50% (48 to 52%) of the possible gain." in lead_of(played(), COMPARED, facts)


def test_a_share_that_rounds_to_zero_has_no_minus() -> None:
    rows = conclude(pd.DataFrame([run("rw-meta", 1.0, -0.01, ci_half_width=INF)]))
    facts = replace(FACTS, streams={"nm": "Here"}, levels={"b": 1.0})
    assert "keeps 0% and" in lead_of(rows, OWN, facts)


def test_a_table_of_gains_has_experts() -> None:
    facts = replace(FACTS, columns=None)
    assert title_of(OWN, facts) == "What would privacy cost in finding the best expert?"
    text = lead_of(played(), OWN, facts)
    assert text.startswith("Each round an algorithm picks one expert from noisy gains")


def test_the_title_asks_the_question_of_the_table() -> None:
    title = "What would privacy cost in finding the e with the largest share of k taken by c?"
    assert title_of(OWN, FACTS) == title
