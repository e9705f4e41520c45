"""The lead of a page, at each privacy level: short sentences from the standings."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.config.models import Config
from dpol.core.rounding import fixed
from dpol.core.words import counted
from dpol.data.stream import MANY_UNMEASURED, unmeasured_in_words
from dpol.experts.registry import REGISTRY
from dpol.privacy.settings import ordered_levels
from dpol.show.words import privacy_title
from dpol.studies.answer.systems import (
    BASELINE,
    CHOSEN,
    STRONGEST,
    Row,
    attacked,
    chosen_rules,
    first_group,
    first_level,
    named,
    names_ours,
)
from dpol.studies.comparison.standings import OUR_METHOD, THE_BASELINE, THE_LEVEL
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
_Said = tuple[list[str], list[str]]
"""Sentences of the answer, and sentences below it."""


def leads_of(
    standings: pd.DataFrame,
    facts: Facts,
    config: Config,
    played: Mapping[float, Row | None] | None = None,
    owner: str = "",
) -> list[dict[str, str]]:
    """Say what a system keeps at each level and how well it hides a person, and what else to know.

    A run that names our method compares it with the paper's and with the strongest rival. Any other
    run gets a decision: the simplest rule that is not below the best, and what privacy costs there.

    Args:
        standings: the table; the lead describes its first group.
        facts: facts of the run.
        config: config of the run.
        played: the row that commands play at each level at which they can.
        owner: file of the config, if its owner decides by it in every period.

    Returns:
        Texts of each level: `answer`, what a system keeps, and how well it hides a person;
        `against`, the sentence that speaks against it, if one does; `rest`, what is decided, and
        what bounds the answer; `next`, for when commands choose, or why there are none; and
        `command`, the commands.
    """
    title, rows = first_group(standings, facts)
    where = f" in {title}" if len(facts.streams) > 1 else ""
    question = next(iter(facts.questions), "")
    asked = standings[(standings["question"] == question) & (standings["stream"] != "")]
    if len(rows) and rows["stream"].iloc[0] == "":
        where = f" on average over {asked['stream'].nunique()} streams"
    period, ours = config.dataset.period, standings.loc[standings["role"] == OUR_METHOD, "family"]
    chosen = "".join(REGISTRY[it].chosen for it in ours.head(1) if it in REGISTRY)
    bounds = _unmeasured(asked, period), config.dataset.caveat, chosen
    whose = "Our" if chosen else "Your"
    scale = f"of 100 points{where}: 0 is a random choice, 100 the best of every {period}."
    compares, rules, leads = names_ours(standings), chosen_rules(standings, facts), []
    shown = first_level(standings, facts)
    for k, mu in enumerate(ordered_levels(facts.levels)):
        rule, at, more = rules.get(mu), rows[rows["mu"] == mu], list[str]()
        if rule is None:
            answer = [f"No private algorithm was played at {privacy_title(mu)}."]
        elif compares:
            answer, more = _of_ours(rule, at, whose, scale)
        else:
            answer, more = _of_the_rule(rule, rules, config, where, scale)
        if rule is not None:
            answer.append(_attacked(rule))
            unit = rule["unit"].replace("round", period)
            more.append(f"The attacker guesses about {unit}.")
        by_them = (played or {}).get(mu)
        following, command = _next(rule, by_them, facts, config, owner * (k == shown))
        told = {
            "answer": " ".join(answer),
            "against": _against(rule, at),
            "rest": " ".join(filter(None, (*more, *bounds))),
            "next": following,
            "command": command,
        }
        leads.append(told)
    return leads


def _of_ours(ours: Row, at: pd.DataFrame, whose: str, scale: str) -> _Said:
    """Say what our method keeps at a level, whether it is above the two others, and their names."""
    beside = list[str]()
    more = [f"{whose} method is {named(ours)}."]
    for baseline in at[at["role"] == THE_BASELINE].to_dict("records"):
        beside.append(_beside(ours["to_baseline_verdict"], BASELINE, baseline))
    for rival in at[at["strongest"]].to_dict("records"):
        beside.append(_beside(ours["to_strongest_verdict"], STRONGEST, rival))
        more.append(f"The strongest rival is {named(rival)}: {CHOSEN[STRONGEST]} at this level.")
    if {ours["to_baseline_verdict"], ours["to_strongest_verdict"]} & {AHEAD, BEHIND}:
        more.append("Numbers that nobody measured may decide who is ahead.")
    answer = [f"{whose} method keeps {_points(ours)} {scale}"]
    return answer + [f"It is {', and '.join(beside)}."] * bool(beside), more


def _beside(verdict: str, name: str, other: Row) -> str:
    return f"{_WORDS[verdict]} {name} ({_points(other)})"


def _of_the_rule(
    rule: Row, rules: Mapping[float, Row], config: Config, where: str, scale: str
) -> _Said:
    """Say which rule should choose at a level, what it keeps and what privacy costs there; and why.

    Or say that the runs do not tell it from a random choice. The cost is the difference between the
    rules of no privacy and of the level; the sum of both half-widths covers it.
    """
    system = named(rule)
    if _undecided(rule):
        runs = counted(rule["replicates"], "run")
        return [f"{runs} cannot tell {system} from a random choice{where}. Raise replicates."], []
    answer = [f"Let {system} choose. It keeps {_points(rule)} {scale}"]
    free = rules.get(math.inf)
    if free is not None and rule["mu"] < math.inf:
        per, unit = _unit(config)
        lost = per * (free["gain_per_round"] - rule["gain_per_round"])
        half = per * (free["gain_per_round_half_width"] + rule["gain_per_round_half_width"])
        answer.append(f"Privacy costs {fixed(lost, 1)} ± {fixed(half, 1)} {unit}.")
    return answer, ["It is the simplest rule that is not below the best."]


def _against(rule: Row | None, at: pd.DataFrame) -> str:
    """Say which fixed choice, or else which other rule, speaks against a rule at its level."""
    if rule is None or _undecided(rule):
        return ""
    always, kept = rule["best_fixed"] or "the best of each stream", rule["best_fixed_share"]
    if _least(rule) <= kept:
        rules = at[(at["model"] == "local") & (at["guarantee"] == THE_LEVEL)]
        beaten = "it is not" if (_least(rules) > kept).any() else "no rule is"
        said = f"Always {always} would have kept {100 * kept:.0f}"
        return f"{said}: {beaten} above that at this level."
    more = at[at["strongest"] & (at["gain_share"] > rule["gain_share"])]
    for best in () if rule["role"] else more.to_dict("records"):
        return f"{named(best)} keeps {_points(best)}: the runs do not show which is better."
    return ""


def _least(row: Any) -> Any:
    """Return the lower end of the interval of the share, of a row or of each of several."""
    return row["gain_share"] - row["gain_share_half_width"]


def _undecided(rule: Row) -> bool:
    """Return whether intervals admit that a rule is a random choice, or as far from the best."""
    half = max(rule["gain_share_half_width"], rule["to_strongest_half_width"])
    return bool(rule["gain_share"] <= half)


def _next(
    rule: Row | None, played: Row | None, facts: Facts, config: Config, owner: str
) -> tuple[str, str]:
    """Say which commands choose next; or why none do."""
    period = config.dataset.period
    if rule is None or (_undecided(rule) and not rule["role"]):
        return "", ""
    if rule["model"] != "local":
        return "It needs a curator, somebody whom all trust with the raw numbers.", ""
    if not owner:
        return "", ""
    if played is None:
        return f"Commands play rules with Gaussian noise that is independent in each {period}.", ""
    streams = f", in {next(iter(facts.streams.values()))}" * (len(facts.streams) > 1)
    other = f", with {played['noise']} noise" * (played["noise"] != rule["noise"])
    file = shlex.quote(owner)
    return f"Next {period}{streams}{other}:", f"dpol release {file} && dpol choose {file}"


def _unit(config: Config) -> tuple[float, str]:
    """Return how many units of the count make a gain of 1, and the words for it."""
    columns, period = config.dataset.columns, config.dataset.period
    if columns is None:
        return 100.0, f"hundredths of a gain a {period}"
    count, capacity = columns.called("count"), columns.called("capacity")
    gain = next(iter(config.gains.values()))
    if gain.bound is not None:
        return gain.bound, f"{count} a {period}"
    return 100.0, f"{count} per 100 {capacity} a {period}"


def _unmeasured(standings: pd.DataFrame, period: str) -> str:
    """Say where numbers that nobody measured may decide who is ahead; empty if nowhere."""
    streams = standings.drop_duplicates("stream")
    many = streams[streams["unmeasured_share"] > MANY_UNMEASURED]
    if many.empty:
        return ""
    if len(streams) > 1:
        return (
            f"In {len(many)} of {len(streams)} streams, nobody measured the best number of"
            f" {period}s with more than {100 * MANY_UNMEASURED:.0f}% of the possible gain."
        )
    (row,) = many.to_dict("records")
    periods, share = row["unmeasured_periods"], row["unmeasured_share"]
    said = unmeasured_in_words(periods, share, of=row["n_rounds"], period=period)
    return f"{said[:1].upper()}{said[1:]}."


def _attacked(row: Row) -> str:
    if row["mu"] == math.inf:
        return "Without privacy an attacker may be right every time."
    return attacked(row["mu"], "a person" if "person" in row["unit"] else row["unit"])


def _points(row: Row) -> int:
    return round(100 * float(row["gain_share"]))


def game_of(config: Config) -> str:
    """Say what an algorithm picks, from what, and what it gains, for the first question."""
    if (columns := config.dataset.columns) is None:
        return "Each round an algorithm picks one expert from earlier, noisy gains."
    called = columns.called
    entity, count, capacity = called("entity"), called("count"), called("capacity")
    gain = next(iter(config.gains.values()))
    among = f" with at least {gain.min_capacity:g} {capacity}" if gain.min_capacity else ""
    divided = "" if gain.of == "count" else f" divided by its {capacity}"
    return (
        f"Each {config.dataset.period} an algorithm picks one {entity}{among} from earlier, noisy"
        f" numbers, and gains that {entity}’s {count}{divided}."
    )
