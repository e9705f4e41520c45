"""Head of the page: its three sentences, on numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpol.report.page import page_facts
from dpol.studies.games.head import lead_of
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


def played(more: Sequence[dict[str, Any]] = ()) -> pd.DataFrame:
    """Return runs on two streams with a possible gain of 60, and more of them."""
    rows = [
        run("rw-meta", INF, 40.0, stream="nm", ci_half_width=0.0),
        run("rw-meta", INF, 40.0, stream="pa", ci_half_width=0.0),
        run("rw-meta", 1.0, 30.0, stream="nm", ci_half_width=1.2),
        run("rw-meta", 1.0, 36.0, stream="pa", ci_half_width=2.4),
        *(run("rw-ftpl", mu, 20.0, stream=name) for name in STREAMS for mu in (INF, 1.0)),
        *(run("tree", mu, 42.0, stream=name, model="central")
          for name in STREAMS for mu in (INF, 1.0)),
    ]  # fmt: skip
    return conclude(pd.DataFrame([*rows, *more]))


DECIDED = (
    "Each week an algorithm picks one e from noisy numbers, and scores its c divided by its k."
)


JOINT = "(±: joint 95% intervals for the noise)."
POSSIBLE = "Of the possible gain (0%: random, 100%: the best of every week)"


def test_an_owner_is_told_the_two_best_systems_and_the_best_fixed_entity() -> None:
    # By hand: 30 of 60 is 50%; half-width 2%. Phi(1 / 2) = 0.691. The second stream does not count.
    assert lead_of(played(), OWN, FACTS) == (
        f"{DECIDED} At μ = 1 an attacker is right about one person in one week at most 69 times in"
        f" 100 (a coin: 50). {POSSIBLE} in Here, the best local system in hindsight (rw-meta,"
        " isotropic noise) keeps 50.0% ± 2.0, the next (rw-ftpl, isotropic noise) 33.3% ± 0.2, the"
        f" best fixed e in hindsight (always North) 50.0% {JOINT}"
    )


def test_the_noise_of_each_system_is_named() -> None:
    """A rule with ten times the noise may be weak because of it."""
    rows = [run("persistence", mu, 12.0, ci_half_width=0.0) for mu in (INF, 1.0)]
    rows += [run("rw-meta", mu, 30.0, noise="capacity") for mu in (INF, 1.0)]
    settings = config(report={"algorithms": ["persistence", "rw-meta"]}).games
    facts = replace(FACTS, streams={"nm": "Here"})
    text = lead_of(conclude(pd.DataFrame(rows)), settings, facts)
    assert "(rw-meta, capacity noise †) keeps 50.0% ± 0.2" in text
    assert "the next (persistence, isotropic noise) 20.0%," in text


def test_curators_lead_only_where_nothing_local_was_played() -> None:
    rows = [run("tree", mu, 42.0, model="central") for mu in (INF, 1.0)]
    text = lead_of(conclude(pd.DataFrame(rows)), OWN, replace(FACTS, streams={"nm": "Here"}))
    assert "the best central system in hindsight (tree, isotropic noise) keeps 70.0%" in text
    assert "tree" not in lead_of(played(), OWN, FACTS)


def test_a_comparison_is_told_of_the_baseline_and_ours() -> None:
    text = lead_of(played(), COMPARED, FACTS)
    assert text.endswith(
        f"{POSSIBLE}, mean over 2 streams, the baseline (rw-ftpl, isotropic noise) keeps 33.3% ±"
        f" 0.2, ours (rw-meta, isotropic noise) 55.0% ± 3.0 {JOINT}"
    )


def test_the_strongest_rival_stands_between_the_two():
    baseline, ours = COMPARED.roles.items()
    rivals = {
        "weak": [("persistence", "isotropic")],
        "strong": [("window-mean", "capacity")],
    }
    roles = dict([baseline, *rivals.items(), ours])
    settings = COMPARED.model_copy(update={"roles": roles, "chosen_on": "other data"})
    more = [
        run(name, mu, gain, stream=stream, noise=noise)
        for name, noise, gain in (
            ("persistence", "isotropic", 12.0),
            ("window-mean", "capacity", 24.0),
        )
        for stream in STREAMS
        for mu in (INF, 1.0)
    ]
    text = lead_of(played(more), settings, FACTS)
    rival = "strong (the strongest rival in hindsight: window-mean, capacity noise †) 40.0% ± 0.2"
    assert f"keeps 33.3% ± 0.2, {rival}, ours (" in text
    assert text.endswith(" Ours was chosen on other data.")


@pytest.mark.parametrize("settings", [OWN, COMPARED])
def test_nothing_is_said_of_a_level_that_was_not_played(settings: Any) -> None:
    rows = played()
    levels = replace(FACTS, levels={"b": 1.0})
    text = lead_of(rows[rows["mu"] == 1.0], settings, levels)
    where = ", mean over 2 streams, " if settings.roles else " in Here, "
    assert f"every week){where}" in text
    rows = rows[rows["mu"] == INF]
    without = lead_of(rows, settings, replace(FACTS, levels={"a": INF}))
    assert without == f"{DECIDED} No private algorithm was played with noise."


def test_several_questions_are_led_by_the_first() -> None:
    facts = replace(
        FACTS,
        questions={"share": "share", "patients": "patients"},
        asked={"nm": "share", "pa": "patients"},
    )
    assert "ours (rw-meta, isotropic noise) 50.0% ± 2.0" in lead_of(played(), COMPARED, facts)


def test_a_share_that_rounds_to_zero_has_no_minus() -> None:
    rows = conclude(pd.DataFrame([run("rw-meta", 1.0, -0.01, ci_half_width=INF)]))
    facts = replace(FACTS, streams={"nm": "Here"}, levels={"b": 1.0})
    assert "keeps 0.0%, the best" in lead_of(rows, OWN, facts)


def test_a_table_of_gains_has_experts() -> None:
    facts = replace(FACTS, columns=None)
    text = lead_of(played(), OWN, facts)
    assert text.startswith("Each round an algorithm picks one expert from noisy gains")
