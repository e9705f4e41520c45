"""The lead of the page of a run."""

from __future__ import annotations

import math

import pandas as pd

from dpol.show.words import each
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import (
    attacked,
    beside_the_strongest,
    headline_level,
    kept,
    lines_of,
    mean_share,
    system_title,
)
from dpol.studies.page import PageFacts


def lead_of(summary: pd.DataFrame, settings: Games, facts: PageFacts) -> str:
    """Say what is decided, by what, and what three systems keep of the possible gain.

    Where systems are compared, they are the baseline, its strongest rival, and ours, at the middle
    level, for the first question. Otherwise they are the two best local systems (or with a
    curator, if no local one was played) and the best fixed entity, at the strictest level, on the
    first stream.

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
    if not private:
        return f"{_decided(facts)} No private algorithm was played with noise."
    named = {line.name: line for line in private if line.name in settings.roles}
    if not named:
        best = [line for line in private if line.model == "local"] or private
        titles = f"the best {best[0].model} system in hindsight", "the next"
        named = dict(zip(titles, best, strict=False))
    shares = {name: mean_share(line.rows, level) for name, line in named.items()}
    words = {}
    for name, line in named.items():
        at = line.rows[line.rows["mu"] == level].iloc[0]
        words[name] = system_title(at["algorithm"], at["noise"])
    if settings.roles:
        said = beside_the_strongest(shares, words)
    else:
        entity = facts.columns.called("entity") if facts.columns else "expert"
        fixed, known = f"the best fixed {entity} in hindsight", own.iloc[0]
        shares[fixed] = known["best_fixed_share"], 0.0
        words[fixed] = f"always {known['best_fixed']}"
        said = kept(shares, words)
    where = f" in {facts.streams[streams[0]]}" if len(facts.streams) > 1 else ""
    if len(streams) > 1:
        where = f", mean over {len(streams)} streams"
    chosen = f" Ours was chosen on {settings.chosen_on}." if settings.chosen_on else ""
    unit = each(private[0].rows["unit"]).replace("round", facts.period)
    return (
        f"{_decided(facts)} {attacked(level, unit)} Of the possible gain (0%: random, 100%: the"
        f" best of every {facts.period}){where}, {said} (±: joint {100 * facts.confidence:g}%"
        f" intervals for the noise).{chosen}"
    )


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
