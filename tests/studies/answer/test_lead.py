"""Lead and figure of the page, on numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpol.report.page import page_facts
from dpol.studies.answer.lead import first_level, leads_of
from dpol.studies.answer.slider import answer_widget
from dpol.studies.drawing import PageFacts
from dpol.studies.games.names import Shown
from report.run_by_hand import config
from tables_by_hand import INF, main, run, summary

STREAMS = {"nm": "Here", "pa": "There"}
FACTS = replace(
    page_facts(config()),
    streams=STREAMS,
    question_of=dict.fromkeys(STREAMS, ""),
    levels={"a": INF, "b": 1.0},
)
LABELS = ["rw-ftpl", "tree", "rw-meta"]
OWN = main(algorithms=LABELS)
COMPARED = replace(
    OWN, roles={"the baseline": [("rw-ftpl", "isotropic")], "ours": [("rw-meta", "isotropic")]}
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
    return summary([*rows, *more])


DECIDED = (
    "Each week an algorithm picks one e from noisy numbers, and scores its c divided by its k."
)


POINTS = "of 100 points between random choices (0) and the best of every week (100)"
AT_1 = (
    "Where an attacker is right about one person in one week at most 69 times in 100 (a coin: 50),"
)


def lead_of(frame: pd.DataFrame, settings: Shown, facts: PageFacts = FACTS) -> str:
    return leads_of(frame, settings, facts)[-1]


def test_an_owner_is_told_the_two_best_systems_and_the_best_fixed_entity() -> None:
    # By hand: 30 of 60 is 50%. Phi(1 / 2) = 0.691. The second stream does not count.
    assert lead_of(played(), OWN) == (
        f"{DECIDED} {AT_1} the best local system in hindsight (rw-meta, isotropic noise) keeps 50,"
        " the next (rw-ftpl, isotropic noise) 33, the best fixed e in hindsight (always North) 50"
        f" {POINTS} in Here."
    )


def test_the_noise_of_each_system_is_named() -> None:
    """A rule with ten times the noise may be weak because of it."""
    rows = [run("persistence", mu, 12.0, ci_half_width=0.0) for mu in (INF, 1.0)]
    rows += [run("rw-meta", mu, 30.0, noise="capacity") for mu in (INF, 1.0)]
    settings = main(algorithms=["persistence", "rw-meta"])
    facts = replace(FACTS, streams={"nm": "Here"})
    text = lead_of(summary(rows), settings, facts)
    assert (
        "(rw-meta, capacity noise †) keeps 50, the next (persistence, isotropic noise) 20," in text
    )


def test_curators_lead_only_where_nothing_local_was_played() -> None:
    rows = [run("tree", mu, 42.0, model="central") for mu in (INF, 1.0)]
    text = lead_of(summary(rows), OWN, replace(FACTS, streams={"nm": "Here"}))
    assert "the best central system in hindsight (tree, isotropic noise) keeps 70," in text
    assert "tree" not in lead_of(played(), OWN)


def test_numbers_that_nobody_measured_are_told_of() -> None:
    some = {"unmeasured_periods": 13, "unmeasured_share": 0.06}
    rows = [run("rw-meta", 1.0, 30.0, stream="nm", **some), run("rw-meta", 1.0, 30.0, stream="pa")]
    owner = leads_of(summary(rows), OWN, FACTS)[1]
    assert (
        "In 13 of 148 weeks, with 6% of the possible gain, nobody measured the best number."
        in owner
    )
    both = leads_of(summary(rows), COMPARED, FACTS)[1]
    few = "In 1 of 2 streams, nobody measured the best number of weeks with more than 5% of the"
    assert few in both
    assert not any("nobody measured" in lead for lead in leads_of(played(), OWN, FACTS))


def test_a_comparison_is_told_of_the_baseline_and_ours_at_each_level() -> None:
    free, private = leads_of(played(), COMPARED, FACTS)
    where = f"{POINTS}, mean over 2 streams."
    assert private == f"{DECIDED} {AT_1} the baseline keeps 33, ours 55 {where}"
    assert free == f"{DECIDED} Without privacy, the baseline keeps 33, ours 67 {where}"
    papers = COMPARED.roles | {"the baseline": [("rw-meta", "isotropic")]}
    text = lead_of(played(), replace(COMPARED, roles=papers))
    assert "the paper’s method keeps 55, ours 55" in text


def test_the_strongest_rival_stands_between_the_two():
    baseline, ours = COMPARED.roles.items()
    rivals = {
        "weak": [("persistence", "isotropic")],
        "strong": [("window-mean", "capacity")],
    }
    roles = dict([baseline, *rivals.items(), ours])
    settings = replace(COMPARED, roles=roles, chosen_on="other data")
    more = [
        run(name, mu, gain, stream=stream, noise=noise)
        for name, noise, gain in (
            ("persistence", "isotropic", 12.0),
            ("window-mean", "capacity", 24.0),
        )
        for stream in STREAMS
        for mu in (INF, 1.0)
    ]
    text = lead_of(played(more), settings)
    assert "keeps 33, strong (the strongest rival in hindsight) 40, ours 55 of 100" in text
    assert text.endswith(" Ours was chosen on other data.")


@pytest.mark.parametrize("settings", [OWN, COMPARED])
def test_nothing_is_said_of_a_level_that_was_not_played(settings: Shown) -> None:
    rows = played()
    assert len(leads_of(rows[rows["mu"] == 1.0], settings, replace(FACTS, levels={"b": 1.0}))) == 1
    free, private = leads_of(rows[rows["mu"] == INF], settings, FACTS)
    assert "Without privacy, " in free
    assert private == f"{DECIDED} No private algorithm was played at μ = 1."


def test_several_questions_are_led_by_the_first() -> None:
    facts = replace(
        FACTS,
        questions={"share": "share", "patients": "patients"},
        question_of={"nm": "share", "pa": "patients"},
    )
    assert "keeps 33, ours 50 of 100" in lead_of(played(), COMPARED, facts)


def test_a_share_that_rounds_to_zero_has_no_minus() -> None:
    rows = summary([run("rw-meta", 1.0, -0.01, ci_half_width=INF)])
    facts = replace(FACTS, streams={"nm": "Here"}, levels={"b": 1.0})
    assert "keeps 0, the best" in lead_of(rows, OWN, facts)


def test_a_table_of_gains_has_experts() -> None:
    text = lead_of(played(), OWN, replace(FACTS, columns=None))
    assert text.startswith("Each round an algorithm picks one expert from noisy gains")


# --- The figure to ask ---


def test_the_figure_has_the_shares_of_each_stream_and_a_level_to_begin_with() -> None:
    leader = run("leader", INF, 45.0, model="none", noise="none", ci_half_width=0.0)
    frame = played([leader, run("odd", 1.0, 30.0, ci_half_width=INF)])
    settings = main(algorithms=["rw-meta", "leader", "odd"])
    data = answer_widget({"summary": frame}, settings, FACTS).data
    assert [it["head"] for it in data["levels"]] == ["μ = ∞", "μ = 1 (69%)"]
    assert data["start"] == first_level(FACTS, compared=False) == 1
    here, there = data["panels"]
    assert (here["title"], there["title"]) == ("Here", "There")
    assert (here["fixed"], here["share"]) == ("North", 0.5)
    points = {line["name"]: line["points"] for line in here["lines"]}
    assert points["rw-meta, isotropic noise"] == [[0.6667, 0.0], [0.5, 0.02]]
    assert points["leader"] == [[0.75, 0.0]] * 2, "one number for all levels"
    assert points["odd, isotropic noise"] == [None, [0.5, None]], "JSON has no infinity"


def test_systems_compared_have_their_means_over_the_streams() -> None:
    data = answer_widget({"summary": played()}, COMPARED, FACTS).data
    (means,) = data["panels"]
    points = {line["name"].partition(":")[0]: line["points"][1] for line in means["lines"]}
    assert points["ours"] == [0.55, 0.03]
    assert data["start"] == first_level(FACTS, compared=True) == 1
    levels = replace(FACTS, levels={"a": INF, "b": 1.0, "c": 0.5, "d": 0.25})
    assert [first_level(levels, compared=it) for it in (True, False)] == [2, 3]
