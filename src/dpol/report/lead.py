"""The answer of a run: short sentences from the standings, for its page and for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpol.config.models import Config
from dpol.core.words import counted, fixed
from dpol.data.stream import MANY_UNMEASURED, unmeasured_in_words
from dpol.experts.registry import REGISTRY
from dpol.privacy.settings import ordered_levels
from dpol.show.words import privacy_title
from dpol.studies.answer.privacy import attacked, record_of
from dpol.studies.answer.systems import (
    BASELINE,
    CHOSEN,
    STRONGEST,
    Row,
    chosen_rules,
    first_group,
    first_level,
    named,
    names_ours,
    why_first,
)
from dpol.studies.bounds import with_bounds
from dpol.studies.comparison.standings import OUR_METHOD, THE_BASELINE, THE_LEVEL
from dpol.studies.paper1.table_2 import Verdict
from dpol.studies.study import Facts, Frames

_WORDS = {"ahead": "ahead of", "equal": "level with", "undecided": "undecided against"}
"""What a verdict begins with before the name of the other system, if it is more than one word."""
_Said = tuple[list[str], list[str]]
"""Sentences of the answer, and sentences below it."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a run says first.

    Args:
        texts: two texts of each level: what a system keeps, how well it hides a person, and what
            speaks against it; and what else bounds the answer.
        first: place of the level that is shown first.
        why: why it is that one.
        led: algorithm, noise and mu of the system of that level; None if there is none.
        verdict: what of the paper's Table 2 is reproduced; None if the run does not play it.
    """

    texts: tuple[tuple[str, str], ...]
    first: int
    why: str
    led: tuple[str, str, float] | None
    verdict: Verdict | None = None

    @property
    def lines(self) -> list[str]:
        """The lines for the terminal; what is reproduced of the paper comes first."""
        of_paper = [f"{self.verdict.heading}."] if self.verdict else []
        return [*of_paper, self.texts[self.first][0], self.why]


def answer_of(
    frames: Frames, facts: Facts, config: Config, verdict: Verdict | None = None
) -> Answer:
    """Say what a system keeps at each level and how well it hides a person, and what else to know.

    A run that names our method compares it with the paper's and with the strongest rival. Any other
    run tells of the simplest rule that is not below the best, and what privacy costs there.

    Args:
        frames: the standings, whose first group the answer describes; the summary; and the curves
            of all systems if the run makes them.
        facts: facts of the run.
        config: config of the run.
        verdict: what of the paper's Table 2 is reproduced.
    """
    standings = with_bounds(frames)
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
    compares, rules = names_ours(standings), chosen_rules(standings, facts)
    texts, first, why = [], first_level(standings, facts), why_first(standings, facts)
    levels = ordered_levels(facts.levels)
    for k, mu in enumerate(levels):
        rule, at, more = rules.get(mu), rows[rows["mu"] == mu], list[str]()
        if rule is None:
            answer = [f"No private algorithm was played at {privacy_title(mu)}."]
        elif compares:
            answer, more = _of_ours(rule, at, whose, scale)
        else:
            answer, more = _of_the_rule(rule, rules, config, where, scale)
        if rule is not None:
            record = record_of(rule, frames["summary"])
            answer += [attacked(record, period), _needs_curator(rule), _against(rule, at)]
        rest = why * (k == first), *more, *bounds
        texts.append((" ".join(filter(None, answer)), " ".join(filter(None, rest))))
    shown = rules.get(levels[first])
    led = (shown["algorithm"], shown["noise"], shown["mu"]) if shown else None
    return Answer(texts=tuple(texts), first=first, why=why, led=led, verdict=verdict)


def _of_ours(ours: Row, at: pd.DataFrame, whose: str, scale: str) -> _Said:
    """Say what our method keeps at a level, whether it is above the two others, and their names."""
    beside = list[str]()
    more = [f"{whose} method is {named(ours)}."]
    for baseline in at[at["role"] == THE_BASELINE].to_dict("records"):
        beside.append(_beside(ours, "baseline", BASELINE, baseline))
    for rival in at[at["strongest"]].to_dict("records"):
        beside.append(_beside(ours, "strongest", STRONGEST, rival))
        more.append(f"The strongest rival is {named(rival)}: {CHOSEN[STRONGEST]} at this level.")
    said = f"It is {', and '.join(beside)}."
    if "at this reading" in said:
        more.append("Numbers that nobody measured may decide who is ahead.")
    answer = [f"{whose} method keeps {_points(ours)} {scale}"]
    return answer + [said] * bool(beside), more


def _beside(ours: Row, name: str, title: str, other: Row) -> str:
    """Say the verdict on our method and another, and at how many readings it loses to it."""
    word, *bounds = ours[f"to_{name}_verdict"].split(" ", 1)
    against = [f"({ours[f'{name}_against']})"] * bool(ours[f"{name}_against"])
    return " ".join([_WORDS.get(word, word), f"{title} ({_points(other)})", *bounds, *against])


def _of_the_rule(
    rule: Row, rules: Mapping[float, Row], config: Config, where: str, scale: str
) -> _Said:
    """Say which rule keeps how much at a level and what privacy costs there, and why that rule.

    Or say that the runs do not tell it from a random choice. The cost is the difference between the
    rules of no privacy and of the level; the sum of both half-widths covers it.
    """
    system = named(rule)
    if _undecided(rule):
        runs = counted(rule["replicates"], "run")
        return [f"{runs} cannot tell {system} from a random choice{where}. Raise replicates."], []
    answer = [f"{system} keeps {_points(rule)} {scale}"]
    free = rules.get(math.inf)
    if free is not None and rule["mu"] < math.inf:
        per, unit = _unit(config)
        lost = per * (free["gain_per_round"] - rule["gain_per_round"])
        half = per * (free["gain_per_round_half_width"] + rule["gain_per_round_half_width"])
        answer.append(f"Privacy costs {fixed(lost, 1)} ± {fixed(half, 1)} {unit}.")
    return answer, ["It is the simplest rule that is not below the best."]


def _against(rule: Row, at: pd.DataFrame) -> str:
    """Say which fixed choice, or else which other rule, speaks against a rule at its level."""
    if _undecided(rule):
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


def _needs_curator(rule: Row) -> str:
    """Say whom a rule needs that sees raw numbers."""
    if (_undecided(rule) and not rule["role"]) or rule["model"] == "local":
        return ""
    return "It needs a curator, somebody whom all trust with the raw numbers."


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
