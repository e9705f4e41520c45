"""The page of a run: its head, and the sections of the main study."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from dpol.core.rounding import percent
from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.privacy.account import best_guess
from dpol.show.names import marked, name_of
from dpol.show.words import each, mu_title
from dpol.studies.games.average_gain import average_gain_table
from dpol.studies.games.mechanisms import guarantees_table, privacy_table
from dpol.studies.games.paper import draw_figure_2, table_2
from dpol.studies.games.privacy_utility import answer_table, draw_privacy_utility, draw_rivals
from dpol.studies.games.replay import replay_widget
from dpol.studies.games.settings import BASELINE, OURS, Games
from dpol.studies.games.systems import Line, headline_level, lines_of, mean_share
from dpol.studies.page import PageFacts
from dpol.studies.showing import FigureSpec, SectionSpec, TableSpec

SECTIONS = {
    "paper": SectionSpec(
        figures={
            "figure-2": FigureSpec(
                draw=draw_figure_2,
                title="The paper’s Figure 2",
                description="Mean cumulative gain against time: one row of panels per stream, one"
                " column per privacy level; all share both axes. Lines are RW-Meta and the two"
                " central trees. The orange shade is the range of the linear models, dotted is the"
                " best fixed expert in hindsight. A line above the dotted one has negative static"
                " regret. RW-Meta’s distance from the top of the shade is its regret to the best"
                " linear model.",
            ),
        },
        tables={
            "table-2": TableSpec(
                build=table_2,
                title="The paper’s Table 2",
                place="first",
            ),
        },
    ),
    "privacy-utility": SectionSpec(
        figures={
            "privacy-utility": FigureSpec(
                draw=draw_privacy_utility,
                title="What privacy costs",
                description="One panel per stream. The vertical axis is the share of the possible"
                " gain: 0% is an expert drawn uniformly at random in every round, 100% is the"
                " oracle, which picks the best expert of every round. The horizontal axis is how"
                " often, at most, an attacker who knows everybody else’s data guesses correctly"
                " whether a person was counted. Lines are the systems compared (thin but for the"
                " baseline, the first rival and ours), and the best with a curator. If nothing is"
                " compared, every algorithm has a line, with its best noise at the strictest level;"
                " the best is thick, and lines with a curator are dashed. Dotted: the best fixed"
                " expert. The best are chosen in hindsight. Bars are joint intervals for the noise;"
                " they do not cover other places or years.",
            ),
            "rivals": FigureSpec(
                draw=draw_rivals,
                title="Local algorithms and central rivals",
                description="Share of the possible gain, as in the figure above. One panel per"
                " noise and stream, one line per algorithm; the dotted line is the best fixed"
                " expert in hindsight.",
                place="folded",
            ),
        },
        tables={
            "answer": TableSpec(
                build=answer_table,
                title="Share of the possible gain kept",
                place="seen",
            ),
        },
    ),
    "privacy": SectionSpec(
        tables={
            "privacy": TableSpec(
                build=privacy_table,
                title="How private is it?",
            ),
        },
    ),
    "replay": SectionSpec(
        widget=replay_widget,
    ),
    "average-gain": SectionSpec(
        tables={
            "average-gain": TableSpec(
                build=average_gain_table,
                title="Total gain",
            ),
            "guarantees": TableSpec(
                build=guarantees_table,
                title="Guarantees of each algorithm",
                place="folded",
            ),
        },
    ),
}
"""Sections of the page."""

LAST = "persistence"
"""Label of last round's choice."""
_UNNAMED = "count"  # default of dataset.columns.count, where the table has no word for it
_NAMED = 3
"""Most streams that a sentence names."""


def title_of(settings: Games, facts: PageFacts) -> str:
    """Ask what privacy costs, and in finding what if no systems are compared."""
    if settings.roles or facts.asks_several:
        return "What does privacy cost?"
    if facts.columns is None:
        return "What would privacy cost in finding the best expert?"
    (gain,) = facts.gains.values()
    return f"What would privacy cost in finding {sought(facts.columns, gain)}?"


def sought(columns: Columns, gain: Gain) -> str:
    """Say in the words of a table what a question seeks.

    >>> columns = Columns(entity="hospital_pk", period="week", count="patients", capacity="beds")
    >>> sought(columns, Gain(of="count", bound=1000))
    'the hospital with the most patients'
    >>> sought(columns, Gain(min_capacity=50))
    'the hospital with at least 50 beds and the largest share of beds taken by patients'
    >>> sought(columns.model_copy(update={"count": "count"}), Gain())
    'the hospital with the largest share of beds taken'
    """
    called = columns.called
    count, capacity = called("count"), called("capacity")
    among = f"at least {gain.min_capacity:g} {capacity} and " if gain.min_capacity else ""
    named = count != _UNNAMED
    most = f"the largest share of {capacity} taken{f' by {count}' * named}"
    if gain.of == "count":
        most = f"the {'most' if named else 'largest'} {count}"
    elif gain.at_most or columns.capacity_per != 1:
        most = f"the most {columns.rate}"
    return f"the {called('entity')} with {among}{most}"


def lead_of(summary: pd.DataFrame, settings: Games, facts: PageFacts) -> str:
    """Say what is decided, by what, and what privacy costs at one level.

    Where systems are compared, it is the middle level, and the sentence is on the baseline, the
    strongest rival with the noise of ours, and ours, for the first question; the last sentence is
    on how ours was chosen. Otherwise it is the strictest level, and the sentence is on the first
    stream: last round's choice and the two best local systems, all with the noise of the best, or
    the best with a curator, and the best fixed entity.

    Args:
        summary: table of `dpol.studies.games.summary.conclude`.
        settings: the systems compared.
        facts: facts of the run.
    """
    streams = list(facts.streams)
    if facts.asks_several:
        streams = [name for name in streams if facts.asked[name] == next(iter(facts.questions))]
    if not settings.roles:
        del streams[1:]  # a whole may come before its parts, and their mean counts everybody twice
    own = summary[summary["stream"].isin(streams)]
    level = headline_level(facts.levels) if settings.roles else min(facts.levels.values())
    private = [
        line
        for line in lines_of(own, settings, facts)
        if line.model != "none" and level < math.inf and (line.rows["mu"] == level).any()
    ]
    named = _compared(private, level) if settings.roles else _best(private, facts.period)
    if not named:
        return f"{_decided(facts)} No private algorithm was played with noise."
    kept, noises = list[str](), [""]
    for name, line in named:
        at = line.rows[line.rows["mu"] == level]
        noises.append(_noise(at, facts))
        same = "the same noise" if noises[-1] == noises[-2] else noises[-1]
        kept.append(f"{name} ({at['algorithm'].iloc[0]}, {same}) keeps {_share(line.rows, level)}")
    (_, first), *_ = named
    if not settings.roles:
        kept.append(_fixed(first.rows, facts))
    unit = each(first.rows["unit"]).replace("round", facts.period)
    titles = [facts.streams[name] for name in streams]
    where = _listed(titles) if len(titles) <= _NAMED else f"{len(titles)} streams"
    over = f", mean over {where}" if len(titles) > 1 else ""
    if not settings.roles and len(facts.streams) > 1:
        over = f" in {where}"
    free = [mean_share(line.rows, math.inf)[0] for _, line in named]
    without = f"; without privacy {_listed([*map(percent, free)])}"
    without *= not any(map(math.isnan, free))
    chosen = f" Ours was chosen on {settings.chosen_on}." if settings.chosen_on else ""
    return (
        f"{_decided(facts)} At {mu_title(level)} an attacker is right about {unit} at most"
        f" {100 * best_guess(level):.0f} times in 100 (a coin: 50). Of the possible gain (0%:"
        f" random, 100%: the best of every {facts.period}){over}, {_listed(kept)}{without}.{chosen}"
    )


def _compared(lines: Sequence[Line], mu: float) -> list[tuple[str, Line]]:
    """Return the baseline, the strongest rival with the noise of ours, and ours, with names."""
    noise = next((line.noise for line in lines if line.name == OURS), "")
    rivals = [line for line in lines if line.name not in (BASELINE, OURS)]
    fair = [line for line in rivals if (line.model, line.noise) == ("local", noise)]
    best = max(fair, key=lambda line: mean_share(line.rows, mu)[0]).name if fair else ""
    names = {
        BASELINE: BASELINE,
        best: "the strongest rival in hindsight with the noise of ours",
        OURS: OURS,
    }
    return [(names[line.name], line) for line in lines if line.name in names]


def _best(lines: Sequence[Line], period: str) -> list[tuple[str, Line]]:
    """Return last round's choice, the best system and the next, with the same noise and names.

    The best of `lines` comes first. Another noise would make a good rule weak.
    """
    local = [line for line in lines if line.model == "local"] or lines[:1]
    same = [line for line in local if line.noise == local[0].noise]
    last = "yesterday’s choice" if period == "day" else f"last {period}’s choice"
    found = [(last, line) for line in same[1:] if line.algorithm == LAST]
    found += [(f"the best {line.model} system in hindsight", line) for line in same[:1]]
    return found + [("the next best", line) for line in same[1:2] if line.algorithm != LAST]


def _noise(rows: pd.DataFrame, facts: PageFacts) -> str:
    """Name the noise of a system at a level, with its size in the units of the table."""
    name, sizes = rows["noise"].iloc[0], rows["count_noise"]
    noise = marked(f"{name} noise", name_of(name).ours)
    if facts.columns is None or sizes.isna().any():
        return noise
    ends = dict.fromkeys(f"±{size:.3g}" for size in (sizes.min(), sizes.max()))
    count = facts.columns.called("count")
    return f"{noise} of about {' to '.join(ends)}{f' {count}' * (count != _UNNAMED)}"


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


def _share(rows: pd.DataFrame, mu: float) -> str:
    """Write the share of the possible gain at a level, with its interval."""
    share, half = mean_share(rows, mu)
    low, high = percent(share - half), percent(share + half)
    if not half < math.inf or low == high:
        return percent(share)
    return f"{percent(share)} ({low.removesuffix('%')} to {high})"


def _fixed(rows: pd.DataFrame, facts: PageFacts) -> str:
    """Name the best fixed entity in hindsight, and say what it keeps."""
    entity = facts.columns.called("entity") if facts.columns else "expert"
    known = rows.drop_duplicates("stream")
    names = known["best_fixed"].unique()
    always = f", always {names[0]}," if len(names) == 1 else ""
    return (
        f"the best fixed {entity} in hindsight{always} {percent(known['best_fixed_share'].mean())}"
    )


def _listed(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last
