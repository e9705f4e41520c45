"""The answer of a run: the lead of its page at each privacy level, and the figure to ask."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from dpol.core.words import unmeasured_in_words
from dpol.data.stream import MANY_UNMEASURED
from dpol.privacy.account import best_guess
from dpol.show.words import each, privacy_title
from dpol.studies.answer.systems import Line, lines_of, mean_share, system_title
from dpol.studies.drawing import PageFacts
from dpol.studies.games.levels import headline_level, ordered_levels
from dpol.studies.games.names import BASELINE, META, OURS, PAPER_NOISE, Shown
from dpol.studies.study import Facts


def first_level(facts: Facts, *, compared: bool) -> int:
    """Return the place of the level that the page tells of at first, among the ordered levels."""
    levels = ordered_levels(facts.levels)
    return levels.index(headline_level(facts.levels)) if compared else len(levels) - 1


def leads_of(summary: pd.DataFrame, settings: Shown, facts: PageFacts) -> list[str]:
    """Say what is decided, and what three systems keep of the possible gain, at each level.

    Where systems are compared, they are the baseline, the strongest of its rivals, and ours, for
    the first question. Otherwise they are the two best local systems (or with a curator, if no
    local one was played) and the best fixed entity, on the first stream.

    Args:
        summary: table of `dpol.studies.games.summary.conclude`.
        settings: the systems compared.
        facts: facts of the run.
    """
    streams = list(facts.streams)
    if facts.asks_several:
        streams = [
            name for name in streams if facts.question_of[name] == next(iter(facts.questions))
        ]
    if not settings.roles:
        del streams[1:]  # a whole may come before its parts, and their mean counts everybody twice
    own = summary[summary["stream"].isin(streams)]
    private = [line for line in lines_of(own, settings, facts) if line.model != "none"]
    where = f" in {facts.streams[streams[0]]}" if len(facts.streams) > 1 else ""
    if len(streams) > 1:
        where = f", mean over {len(streams)} streams"
    chosen = f" Ours was chosen on {settings.chosen_on}." if settings.chosen_on else ""
    chosen = _unmeasured(own, facts) + chosen
    decided, leads = _decided(facts), list[str]()
    for mu in ordered_levels(facts.levels):
        played = [line for line in private if not math.isnan(mean_share(line.rows, mu)[0])]
        if settings.roles:
            kept = _of_roles(played, mu)
        else:
            kept = _best_two(played, mu, own.iloc[0], facts) if played else []
        if not kept:
            leads.append(f"{decided} No private algorithm was played at {privacy_title(mu)}.")
            continue
        (first, points), *others = kept
        rest = "".join(f", {name} {its}" for name, its in others)
        leads.append(
            f"{decided} {_attacked(mu, played[0], facts)} {first} keeps {points}{rest} of 100"
            f" points between random choices (0) and the best of every {facts.period} (100){where}."
            f"{chosen}"
        )
    return leads


def _unmeasured(summary: pd.DataFrame, facts: PageFacts) -> str:
    """Say where numbers that nobody measured may decide who is ahead; empty if nowhere."""
    streams = summary.drop_duplicates("stream")
    many = streams[streams["unmeasured_share"] > MANY_UNMEASURED]
    if many.empty:
        return ""
    if len(streams) > 1:
        return (
            f" In {len(many)} of {len(streams)} streams, nobody measured the best number of"
            f" {facts.period}s with more than {100 * MANY_UNMEASURED:.0f}% of the possible gain."
        )
    (row,) = many.to_dict("records")
    periods, share = row["unmeasured_periods"], row["unmeasured_share"]
    said = unmeasured_in_words(periods, share, of=row["n_rounds"], period=facts.period)
    return f" {said[:1].upper()}{said[1:]}."


def _attacked(mu: float, line: Line, facts: PageFacts) -> str:
    if mu == math.inf:
        return "Without privacy,"
    unit = each(line.rows["unit"]).replace("round", facts.period)
    return (
        f"Where an attacker is right about {unit} at most {100 * best_guess(mu):.0f} times in 100"
        " (a coin: 50),"
    )


def _of_roles(lines: Sequence[Line], mu: float) -> list[tuple[str, int]]:
    """Return what the baseline, the strongest of its rivals, and ours keep, if they play."""
    named = {line.name: line for line in lines}
    rivals = [line for line in lines if line.name not in (BASELINE, OURS) and line.model == "local"]
    strongest = max(rivals, key=lambda line: mean_share(line.rows, mu)[0], default=None)
    kept = []
    if baseline := named.get(BASELINE):
        papers = (baseline.algorithm, baseline.noise) == (META, PAPER_NOISE)
        kept.append(("the paper’s method" if papers else BASELINE, _points(baseline, mu)))
    if strongest:
        name = f"{strongest.name} (the strongest rival in hindsight)"
        kept.append((name, _points(strongest, mu)))
    if ours := named.get(OURS):
        kept.append((OURS, _points(ours, mu)))
    return kept


def _best_two(
    lines: Sequence[Line], mu: float, known: pd.Series, facts: PageFacts
) -> list[tuple[str, int]]:
    """Return what the two best systems and the best fixed entity keep on a stream."""
    best = [line for line in lines if line.model == "local"] or list(lines)
    best = sorted(best, key=lambda line: mean_share(line.rows, mu)[0], reverse=True)[:2]
    titles = f"the best {best[0].model} system in hindsight", "the next"
    kept = [
        (f"{title} ({system_title(line.algorithm, line.noise)})", _points(line, mu))
        for title, line in zip(titles, best, strict=False)
    ]
    entity = facts.columns.called("entity") if facts.columns else "expert"
    fixed = f"the best fixed {entity} in hindsight (always {known['best_fixed']})"
    return [*kept, (fixed, round(100 * known["best_fixed_share"]))]


def _points(line: Line, mu: float) -> int:
    return round(100 * mean_share(line.rows, mu)[0])


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
