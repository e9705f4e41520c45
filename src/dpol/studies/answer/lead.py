"""The lead of a page, at each privacy level: three short sentences from the standings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.core.rounding import AtMost, fixed
from dpol.core.words import counted
from dpol.data.stream import MANY_UNMEASURED, unmeasured_in_words
from dpol.show.words import privacy_title
from dpol.studies.answer.systems import groups_of, names_ours, system_title
from dpol.studies.comparison.names import OUR_METHOD, THE_BASELINE, THE_LEVEL
from dpol.studies.drawing import PageFacts
from dpol.studies.games.levels import headline_level, ordered_levels
from dpol.studies.study import Facts
from dpol.studies.verdicts import ABOVE, AHEAD, BEHIND, BELOW, EQUAL, UNDECIDED

_WORDS = {
    ABOVE: "above",
    BELOW: "below",
    AHEAD: "ahead of",
    BEHIND: "behind",
    **dict.fromkeys((EQUAL, UNDECIDED), "level with"),
}
"""What a verdict says before the name of the other system."""
_SCALE = "0 is a random choice, and 100 the best of every"
Row = Mapping[Any, Any]
"""A row of the standings."""
Lead = tuple[str, str, str, str, str]
"""What is decided, the answer, and what bounds it, each in a sentence or two; for when a command
chooses, or why there is none; and the command."""


def first_level(standings: pd.DataFrame, facts: PageFacts) -> int:
    """Return the place of the level that the page tells of at first, among the ordered levels.

    It is the middle one of a run that names our method, and the one of the decision of any other.
    """
    levels = ordered_levels(facts.levels)
    if names_ours(standings):
        return levels.index(headline_level(facts.levels))
    rules = _rules_of(_first_group(standings, facts)[1])
    return levels.index(_decided_at(rules)) if rules else len(levels) - 1


def leads_of(standings: pd.DataFrame, facts: PageFacts) -> list[Lead]:
    """Say what is decided, what a system keeps at each level, and what it is beside others.

    A run that names our method compares it with the paper's and with the strongest rival. Any other
    run gets a decision: the simplest rule that is not below the best, down to which level it keeps
    more than the best fixed choice, and what privacy costs there.

    Args:
        standings: the table; the lead describes its first group.
        facts: facts of the run.
    """
    title, rows = _first_group(standings, facts)
    where = f" in {title}" if len(facts.streams) > 1 else ""
    question = next(iter(facts.questions), "")
    asked = standings[(standings["question"] == question) & (standings["stream"] != "")]
    if len(rows) and rows["stream"].iloc[0] == "":
        where = f" on average over {asked['stream'].nunique()} streams"
    chosen = f"Our method was chosen on {facts.chosen_on}." if facts.chosen_on else ""
    ends = " ".join(filter(None, (_unmeasured(asked, facts), facts.caveat, chosen)))
    compares, rules, leads = names_ours(standings), chosen_rules(standings, facts), []
    for mu in ordered_levels(facts.levels):
        rule = rules.get(mu)
        if rule is None:
            said = f"No private algorithm was played at {privacy_title(mu)}."
        elif compares:
            said = _of_ours(rule, rows[rows["mu"] == mu], facts, where)
        else:
            said = _of_the_rule(rule, facts, where)
            said += "" if _undecided(rule) else _decision(rules, facts)
        leads.append((_decided(facts), said, ends, *_next(rule, facts)))
    return leads


def chosen_rules(standings: pd.DataFrame, facts: Facts) -> dict[float, Row]:
    """Return the row of the rule that the lead names at each level: ours, or the decision."""
    rows = _first_group(standings, facts)[1]
    if not names_ours(standings):
        return _rules_of(rows)
    return {row["mu"]: row for row in rows[rows["role"] == OUR_METHOD].to_dict("records")}


def _first_group(standings: pd.DataFrame, facts: Facts) -> tuple[str, pd.DataFrame]:
    """Return the first group of the standings with its title, without rows below their level."""
    title, rows = next(iter(groups_of(standings, facts).items()))
    return title, rows[rows["keeps_level"]].dropna(subset="gain_share")


def _of_ours(ours: Row, at: pd.DataFrame, facts: PageFacts, where: str) -> str:
    """Say what our method keeps at a level, and whether it is above the two others."""
    beside = []
    for baseline in at[at["role"] == THE_BASELINE].to_dict("records"):
        beside.append(_beside(ours["to_baseline_verdict"], "the paper’s method", baseline))
    for rival in at[at["strongest"]].to_dict("records"):
        system = system_title(rival["algorithm"], rival["noise"])
        name = f"the strongest rival in hindsight ({system})"
        beside.append(_beside(ours["to_strongest_verdict"], name, rival))
    system = system_title(ours["algorithm"], ours["noise"])
    keeps = f"keeps {_points(ours)} of 100 points{where}: {_SCALE} {facts.period}."
    whose = "our" if facts.chosen_on else "your"
    said = f"{_attacked(ours, facts)} {whose} method ({system}) {keeps}"
    verdicts = {ours["to_baseline_verdict"], ours["to_strongest_verdict"]}
    read = ", at this reading of unmeasured numbers" * bool(verdicts & {AHEAD, BEHIND})
    return f"{said} It is {', and '.join(beside)}{read}." if beside else said


def _beside(verdict: str, name: str, other: Row) -> str:
    return f"{_WORDS[verdict]} {name}, which keeps {_points(other)}"


def _of_the_rule(rule: Row, facts: PageFacts, where: str) -> str:
    """Say which rule should choose at a level, and what it keeps, or that the runs do not say."""
    system = f"{rule['algorithm']} with {rule['noise']} noise"
    if _undecided(rule):
        return (
            f"{_attacked(rule, facts)} {counted(rule['replicates'], 'run')} cannot decide: they do"
            f" not tell the simplest rule that is not below the best, {system}, from a random"
            f" choice{where}. Raise replicates."
        )
    return (
        f"{_attacked(rule, facts)} let {system} choose, the simplest rule that is not below the"
        f" best in hindsight: it keeps {_points(rule)} of 100 points{where}, where {_SCALE}"
        f" {facts.period}."
    )


def _undecided(rule: Row) -> bool:
    """Return whether intervals admit that a rule is a random choice, or as far from the best."""
    half = max(rule["gain_share_half_width"], rule["to_strongest_half_width"])
    return bool(rule["gain_share"] <= half)


def _next(rule: Row | None, facts: PageFacts) -> tuple[str, str]:
    """Say how the rule chooses next, with the command; or why there is no command."""
    if rule is None or (_undecided(rule) and not rule["role"]):
        return "", ""
    if rule["algorithm"] not in facts.commands:
        return "It needs a curator, somebody whom all trust with the raw numbers.", ""
    if rule["mu"] == math.inf:
        return "A command chooses from noisy numbers only: take another level.", ""
    streams = f", in {next(iter(facts.streams.values()))}" * (len(facts.streams) > 1)
    spec, options = facts.commands[rule["algorithm"]]
    table = f"results/{facts.run}/choose/{facts.labels[rule['mu']]}.csv"
    words = f"dpol choose {spec} {table}{options.format(rule['n_rounds'])}"
    return f"Next {facts.period}{streams}:", words


def _rules_of(rows: pd.DataFrame) -> dict[float, Row]:
    """Return the simplest local rule of each level that is not below the strongest system.

    It has the noise with which it keeps most.
    """
    level = rows[rows["promise"] == THE_LEVEL]
    local = level[~level["to_strongest_verdict"].isin([BELOW, BEHIND])]
    order = ["simplicity", "algorithm", "gain_share"]
    ordered = local.sort_values(order, ascending=[True, True, False], kind="stable")
    return {row["mu"]: row for row in ordered.drop_duplicates("mu").to_dict("records")}


def _above_fixed(rules: Mapping[float, Row]) -> list[float]:
    """Return the levels with noise down to which every rule is above the best fixed choice."""
    above = list[float]()
    for mu in sorted((mu for mu in rules if mu < math.inf), reverse=True):
        least = rules[mu]["gain_share"] - rules[mu]["gain_share_half_width"]
        if least <= rules[mu]["best_fixed_share"]:
            break
        above.append(mu)
    return above


def _decided_at(rules: Mapping[float, Row]) -> float:
    """Return the strictest level with a rule above the best fixed choice, or else the strictest."""
    return min(_above_fixed(rules) or rules)


def _decision(rules: Mapping[float, Row], facts: PageFacts) -> str:
    """Say down to which level a rule keeps more than a fixed choice, and what privacy costs there.

    The cost is the difference between the rules of no privacy and of that level; the sum of both
    half-widths covers it.
    """
    there, free = rules[_decided_at(rules)], rules.get(math.inf)
    entity = facts.columns.called("entity") if facts.columns else "expert"
    always = there["best_fixed"] or f"the best {entity} of each stream"
    said = f" Always {always} keeps {100 * there['best_fixed_share']:.0f} in hindsight, and "
    if not _above_fixed(rules):
        return f"{said}no rule with noise is above it."
    guesses = AtMost(100 * there["right_guesses"])
    said += f"a rule is above it down to {guesses} right guesses in 100"
    if free is None:
        return f"{said}."
    per, unit = _unit(facts)
    lost = per * (free["gain_per_round"] - there["gain_per_round"])
    half = per * (free["gain_per_round_half_width"] + there["gain_per_round_half_width"])
    return f"{said}, where privacy costs {fixed(lost, 1)} ± {fixed(half, 1)} {unit}."


def _unit(facts: PageFacts) -> tuple[float, str]:
    """Return how many units of the count make a gain of 1, and the words for it."""
    if facts.columns is None:
        return 100.0, f"hundredths of a gain a {facts.period}"
    count, capacity = facts.columns.called("count"), facts.columns.called("capacity")
    gain = next(iter(facts.gains.values()))
    if gain.bound is not None:
        return gain.bound, f"{count} a {facts.period}"
    return 100.0, f"{count} per 100 {capacity} a {facts.period}"


def _unmeasured(standings: pd.DataFrame, facts: PageFacts) -> str:
    """Say where numbers that nobody measured may decide who is ahead; empty if nowhere."""
    streams = standings.drop_duplicates("stream")
    many = streams[streams["unmeasured_share"] > MANY_UNMEASURED]
    if many.empty:
        return ""
    if len(streams) > 1:
        return (
            f"In {len(many)} of {len(streams)} streams, nobody measured the best number of"
            f" {facts.period}s with more than {100 * MANY_UNMEASURED:.0f}% of the possible gain."
        )
    (row,) = many.to_dict("records")
    periods, share = row["unmeasured_periods"], row["unmeasured_share"]
    said = unmeasured_in_words(periods, share, of=row["n_rounds"], period=facts.period)
    return f"{said[:1].upper()}{said[1:]}."


def _attacked(row: Row, facts: PageFacts) -> str:
    if row["mu"] == math.inf:
        return "Without privacy,"
    unit = row["unit"].replace("round", facts.period)
    guesses = AtMost(100 * row["right_guesses"])
    return f"Where an attacker is right about {unit} at most {guesses} times in 100 (a coin: 50),"


def _points(row: Row) -> int:
    return round(100 * float(row["gain_share"]))


def _decided(facts: PageFacts) -> str:
    """Say what an algorithm picks, from what, and what it scores, for the first question."""
    if (columns := facts.columns) is None:
        return "Each round an algorithm picks one expert from noisy gains, and scores its gain."
    called = columns.called
    entity, count, capacity = called("entity"), called("count"), called("capacity")
    gain = next(iter(facts.gains.values()))
    among = f" with at least {gain.min_capacity:g} {capacity}" if gain.min_capacity else ""
    scored = f"its {count}" if gain.of == "count" else f"its {count} divided by its {capacity}"
    return (
        f"Each {facts.period} an algorithm picks one {entity}{among} from noisy numbers, and scores"
        f" {scored}."
    )
