"""The answer of a run: a comparison, or one rule, on numbers worked out by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpol.report.lead import answer_of, game_of
from dpol.studies.answer.systems import first_level, why_first
from dpol.studies.study import Facts
from report.run_by_hand import config
from standings_by_hand import Row, frames_of, standings_of
from tables_by_hand import INF, run

STREAMS = {"nm": "Here", "pa": "There"}
TWO = replace(config().facts, streams=STREAMS, levels=(INF, 1.0, 0.25))
FACTS = replace(TWO, streams={"nm": "Here"})
GAINS = {"source": {"kind": "gains", "file": "t.csv", "sensitivity": 1.0}}
MINE = "rw-ftpl", "capacity"
BEST = "the best of all others that see noisy numbers at this level"
SCALE = "0 is a random choice, 100 the best of every week"
POINTS = f"of 100 points: {SCALE}"
# Phi(1 / 2) = 0.691, Phi(1 / 8) = 0.550.
GUESSES = {1.0: 69.2, 0.25: 55}


def attacked(mu: float) -> str:
    right = f"right about one person in one week at most {GUESSES[mu]} times in 100 (a coin: 50)"
    return f"An attacker is {right} if each site adds noise to its exact counts."


def leads(frame: pd.DataFrame, facts: Facts = FACTS, **changes: Any) -> list[str]:
    """Return each answer, which is short, and what stands below it; the config may be changed."""
    made = answer_of(frames_of(frame), facts, config(**changes))
    for answer, rest in made.texts:
        assert len(answer.split()) <= 100
        for text in (answer, rest):
            assert max(len(it.split()) for it in re.split(r"(?<=\.) (?=[A-Z])", text)) <= 30
    joined = (" ".join(filter(None, it)) for it in made.texts)
    return [" ".join(it.replace(made.why, "").split()) for it in joined]


def at_levels(algorithm: str, *gains: float, **changes: Any) -> list[Row]:
    """Return runs without noise, at mu = 1 and at 0.25; the possible gain is 60."""
    return [
        run(algorithm, mu, gain, **changes)
        for mu, gain in zip((INF, 1.0, 0.25), gains, strict=False)
    ]


# --- A run that names our method ---


def compared(rival: Sequence[float], stream: str = "nm") -> list[Row]:
    """The paper's method keeps 20, 30 and 10, ours 70, 50 and 40, a curator everything."""
    return [
        *at_levels("rw-meta", 12.0, 18.0, 6.0, stream=stream),
        *at_levels("persistence", *rival, stream=stream),
        *at_levels("rw-ftpl", 42.0, 30.0, 24.0, noise="capacity", stream=stream),
        *at_levels("tree-ftpl-min-noise", 60.0, 60.0, 60.0, model="central", stream=stream),
        *at_levels("rw-adabatch", 60.0, 60.0, 60.0, guaranteed_mu=2.0, stream=stream),
        run("follow-the-leader", INF, 60.0, model="none", noise="none", stream=stream),
    ]


def test_ours_stands_beside_the_papers_method_and_the_strongest_rival() -> None:
    frame = standings_of(compared([30.0, 36.0, 24.0]), MINE)
    free, low, high = leads(frame)
    assert low == (
        f"Your method keeps 50 {POINTS}. It is above RW-Meta, the paper’s method (30), and below"
        f" the strongest rival (60). {attacked(1.0)}"
        f" {NONE_ABOVE.replace('no rule is', 'it is not')} Your method is rw-ftpl with"
        f" capacity noise. The strongest rival is persistence with isotropic noise: {BEST}."
    )
    level = "It is above RW-Meta, the paper’s method (10), and level with the strongest rival (40)."
    assert level in high
    assert f"The strongest rival is persistence with isotropic noise: {BEST}." in high
    # Without noise, also what keeps no level keeps this one.
    assert "below the strongest rival (100). Without privacy an attacker may" in free
    assert "The strongest rival is rw-adabatch with isotropic noise:" in free
    assert free.startswith("Your method keeps 70")
    assert first_level(frame, FACTS) == 2, "the middle level with noise"


def test_level_is_an_interval_that_contains_0() -> None:
    """Ours has 5 points more on average; a difference of -20, 15, 20 says nothing."""
    rows = compared([30.0, 27.0, 24.0])
    rows[4] |= {"totals": [42.0, 21.0, 18.0]}
    for row in (it for it in rows if "totals" not in it):
        row["totals"] = [row["mean_gain"]] * 3
    _, low, _ = leads(standings_of(rows, MINE))
    assert "undecided against the strongest rival (45)" in low


def test_means_over_streams_lead_where_people_differ() -> None:
    rows = compared([30.0, 36.0, 24.0])
    rows += compared([30.0, 0.0, 24.0], "pa")
    means, one = (leads(standings_of(rows, MINE, apart=it), TWO)[1] for it in (True, False))
    assert f"of 100 points on average over 2 streams: {SCALE}." in means
    assert "above the strongest rival" not in one
    assert f"of 100 points in Here: {SCALE}." in one
    # 30 and 0 of 60 have a mean of 30%, as the paper's method has, which is the first.
    assert "strongest rival (30)" in means
    assert "The strongest rival is rw-meta with isotropic noise:" in means


def test_it_says_on_which_data_ours_was_chosen_and_what_nobody_measured() -> None:
    some = {"unmeasured_periods": 13, "unmeasured_share": 0.06}
    rows = [it | some for it in compared([30.0, 36.0, 24.0])]
    ours = [it | {"family": "random-effects"} if it["algorithm"] == MINE[0] else it for it in rows]
    frame = standings_of(ours, MINE)
    dataset = config().dataset.model_copy(update={"caveat": "Zeros may hide counts."})
    lead = leads(frame, dataset=dataset)[1]
    assert lead.startswith("Our method keeps 50 ")
    at = "at this reading"
    ahead = f"It is ahead of RW-Meta, the paper’s method (30) {at}, and behind the strongest rival"
    assert f"{ahead} (60) {at}." in lead
    assert "Numbers that nobody measured may decide who is ahead." in lead
    assert lead.endswith(
        " In 13 of 148 weeks, with 6% of the possible gain, nobody measured the best number. Zeros"
        " may hide counts. Our method was chosen on simulated data and the first 20 weeks of New"
        " Mexico, Pennsylvania and California (2026-11-21). Before its last change dpol had seen"
        " fifteen states, eight held-out states, influenza and intensive care (2026-11-24)."
    )
    both = standings_of([*rows, *compared([30.0, 36.0, 24.0], "pa")], MINE)
    few = "In 1 of 2 streams, nobody measured the best number of weeks with more than 5% of the"
    assert few in leads(both, TWO)[0]
    measured = standings_of(compared([30.0, 36.0, 24.0]), MINE)
    assert "nobody measured" not in " ".join(leads(measured))


# --- A run of an owner ---


def own(ridge: Sequence[float], persistence: Sequence[float]) -> list[Row]:
    """The best fixed choice keeps half of the possible gain of 60 in 148 rounds."""
    return [
        *at_levels("ridge-w8-weak", *ridge, family="ridge"),
        *at_levels("persistence", *persistence, noise="capacity"),
        *at_levels("tree-ftpl-min-noise", 60.0, 60.0, 60.0, model="central"),
        *at_levels("rw-adabatch", 0.0, 60.0, 60.0, guaranteed_mu=2.0),
        run("follow-the-leader", INF, 60.0, model="none", noise="none"),
    ]


CASES = [
    # The simplest rule where it is as good as the best, else the best.
    ([54.0, 48.0, 36.0], [54.0, 48.0, 36.0], ["persistence"] * 3, 2),
    ([54.0, 48.0, 36.0], [54.0, 47.0, 24.0], ["persistence", *["ridge-w8-weak"] * 2], 2),
    # 30 is what the fixed choice gains: no more.
    ([54.0, 48.0, 30.0], [50.0, 40.0, 20.0], ["ridge-w8-weak"] * 3, 1),
    ([54.0, 30.0, 20.0], [50.0, 20.0, 30.0], [*["ridge-w8-weak"] * 2, "persistence"], 0),
]
NONE_ABOVE = "Always North would have kept 50: no rule is above that at this level."


@pytest.mark.parametrize(("ridge", "persistence", "rules", "above"), CASES)
def test_the_simplest_rule_that_is_not_below_the_best_is_named(
    ridge: list[float], persistence: list[float], rules: list[str], above: int
) -> None:
    """`above` is the number of levels with noise at which a rule is above the fixed choice."""
    frame = standings_of(own(ridge, persistence))
    free, *_ = kept = [
        gains[rule == "persistence"] for rule, *gains in zip(rules, ridge, persistence, strict=True)
    ]
    for lead, rule, gain, place in zip(leads(frame), rules, kept, range(3), strict=True):
        noise = "capacity" if rule == "persistence" else "isotropic"
        assert lead.startswith(f"{rule} with {noise} noise keeps")
        assert f"keeps {round(100 * gain / 60)} {POINTS}." in lead
        assert "It is the simplest rule that is not below the best." in lead
        assert (NONE_ABOVE in lead) == (place > above)
        # The gain is a share of beds.
        cost = f"Privacy costs {100 * (free - gain) / 148:.1f} ± 0.0 c per 100 k a week."
        assert (cost in lead) == (place > 0)
    assert first_level(frame, FACTS) == (above or 2)
    down_to = " down to which a rule is above every fixed choice" * (above > 0)
    assert why_first(frame, FACTS) == f"Shown: the strictest level{down_to}."


def test_what_speaks_against_a_rule_stands_beside_it() -> None:
    """A fixed choice, above which another rule may be; else the strongest rule."""
    rows = own([54.0, 48.0, 36.0], [54.0, 44.0, 30.0])
    for row in rows:
        spread = 14 * (row["algorithm"] == "persistence")
        row["totals"] = [row["mean_gain"] + (-1) ** k * spread for k in range(20)]
    (free, _), (low, _), (high, _) = answer_of(frames_of(standings_of(rows)), FACTS, config()).texts
    assert free.endswith("about one person in one week every time.")
    rival = "ridge-w8-weak with isotropic noise keeps 80: the runs do not show which is better."
    against = rival, NONE_ABOVE.replace("no rule is", "it is not")
    for answer, sentence in zip((low, high), against, strict=True):
        assert answer.startswith("persistence with capacity noise keeps")
        assert answer.endswith(f"exact counts. {sentence}")
    ours = answer_of(frames_of(standings_of(compared([30.0, 36.0, 24.0]), MINE)), FACTS, config())
    assert ours.texts[2][0].endswith(NONE_ABOVE)


@pytest.mark.parametrize(("totals", "is_above"), [([36.0, 36.0], True), ([32.0, 40.0], False)])
def test_a_rule_is_above_a_fixed_choice_by_its_whole_interval(
    totals: list[float], is_above: bool
) -> None:
    """Both means are 36, above the 30 of the fixed choice; the second interval contains 30.

    No other rule plays at that level, so none is named instead.
    """
    rows = own([54.0, 48.0, 36.0], [0.0, 0.0, 0.0])
    rows[2] |= {"totals": totals}
    rows = [row for row in rows if row["algorithm"] != "persistence"]
    frame = standings_of(rows)
    (at,) = frame[(frame["mu"] == 0.25) & (frame["shown_as"] == "ridge")].to_dict("records")
    assert (at["gain_share"], at["best_fixed_share"]) == (0.6, 0.5)
    assert first_level(frame, FACTS) == 1 + is_above


def test_the_cost_is_the_mean_over_streams_in_the_unit_of_the_count() -> None:
    """Possible gains differ: half of 60 and of 600 are 330, a mean of 165 in 148 rounds."""
    rows = own([60.0, 45.0, 30.0], [0.0, 0.0, 0.0])
    large = {"stream": "pa", "oracle_gain": 600.0, "best_fixed_gain": 300.0}
    rows += [it | large | {"mean_gain": 10 * it["mean_gain"]} for it in rows]
    frame = standings_of(rows, apart=True)
    # A quarter of both at mu = 1: 15 and 150.
    cost = 100 * (15 + 150) / 2 / 148
    assert f"Privacy costs {cost:.1f} ± 0.0 c per 100 k a week." in leads(frame, TWO)[1]
    hundredths = f"Privacy costs {cost:.1f} ± 0.0 hundredths of a gain a round."
    assert hundredths in leads(frame, TWO, dataset=GAINS)[1]
    counted = {"of": "count", "bound": 40}
    assert f"Privacy costs {cost * 0.4:.1f} ± 0.0 c a week." in leads(frame, TWO, gain=counted)[1]


def test_the_interval_of_the_cost_is_that_of_both_gains() -> None:
    rows = own([54.0, 48.0, 36.0], [0.0, 0.0, 0.0])
    rows = [it | {"totals": [it["mean_gain"] + (-1) ** k for k in range(20)]} for it in rows]
    frame = standings_of(rows)
    halves = frame.loc[frame["shown_as"] == "ridge", "gain_per_round_half_width"]
    both = 100 * (halves.iloc[0] + halves.iloc[2])
    assert f"Privacy costs 12.2 ± {both:.1f} c per" in leads(frame)[2]
    assert 0.5 < both < 2


def test_a_rule_alone_and_levels_that_nobody_keeps() -> None:
    alone = standings_of([run("rw-meta", 1.0, 40.0)])
    free, low, high = leads(alone)
    assert "Without privacy" not in free
    assert free == "No private algorithm was played at no privacy (μ = ∞)."
    assert "rw-meta with isotropic noise keeps" in low
    assert "Privacy costs" not in low
    assert high == "No private algorithm was played at μ = 0.25."
    weak = [run("rw-meta", mu, 40.0, guaranteed_mu=2.0) for mu in (INF, 1.0, 0.25)]
    told = leads(standings_of(weak))
    assert "rw-meta with" in told[0]
    assert "rw-meta" not in "".join(told[1:])


def test_several_questions_are_led_by_the_first() -> None:
    asked = {"nm": "share", "pa": "patients"}
    facts = replace(TWO, questions={it: it for it in asked.values()})
    rows = [run("rw-meta", 1.0, gain, stream=it) for it, gain in {"nm": 30.0, "pa": 6.0}.items()]
    lead = leads(standings_of(rows, questions=asked), facts)[1]
    assert f"keeps 50 of 100 points in Here: {SCALE}." in lead


def test_a_share_that_rounds_to_zero_has_no_minus() -> None:
    rows = [run("rw-ftpl", 1.0, -0.01, noise="capacity")]
    assert "keeps 0 of" in leads(standings_of(rows, MINE))[1]


def test_the_game_is_told_in_the_words_of_the_table() -> None:
    assert game_of(config()) == (
        "Each week an algorithm picks one e from earlier, noisy numbers, and gains that e’s c"
        " divided by its k."
    )
    gains = "Each round an algorithm picks one expert from earlier, noisy gains."
    assert game_of(config(dataset=GAINS)) == gains


def test_an_answer_that_needs_a_curator_says_who_must_be_trusted() -> None:
    mine = "tree-ftpl-min-noise", "isotropic"
    frame = standings_of(own([54.0] * 3, [0.0] * 3), mine)
    said = "It needs a curator, somebody whom all trust with the raw numbers."
    answers = answer_of(frames_of(frame), FACTS, config(run="mine")).texts
    assert all(said in answer for answer, _ in answers)


def test_too_few_runs_to_decide_are_said_and_not_advised_on() -> None:
    """A rule is named for gains of 36 of 60 in both runs, but not for 60 and 12."""
    rows = own([54.0, 48.0, 36.0], [0.0, 0.0, 0.0])
    assert "ridge-w8-weak with isotropic noise keeps" in leads(standings_of(rows))[2]
    rows[2] |= {"totals": [60.0, 12.0]}
    frame = standings_of(rows)
    assert leads(frame)[2].startswith(
        "2 runs cannot tell persistence with capacity noise from a random choice. Raise replicates."
        f" {attacked(0.25)}"
    )
    assert leads(frame)[1].startswith("ridge-w8-weak with")
