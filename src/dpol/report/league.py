"""A league in Python: the standings of algorithms on a stream, without a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product

import pandas as pd
from matplotlib.figure import Figure

from dpol.config.league import noises_to_play
from dpol.core.arguments import check_mu, check_number, check_whole
from dpol.data.stream import GainStream
from dpol.experts.games import Entry, members_of
from dpol.experts.interface import Member
from dpol.noise import NO_NOISE
from dpol.show.rendering import render
from dpol.studies.answer.league import league_table
from dpol.studies.answer.privacy_utility import draw_privacy_utility
from dpol.studies.comparison.points import StandingsPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.games.collect import results_from
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import score_tables
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.games.summary import join_jobs
from dpol.studies.study import Facts, schemas_in


@dataclass(frozen=True, eq=False)
class League:
    """Standings of algorithms; make them with `league`.

    Args:
        standings: a row for each system and level, with the columns of `standings.parquet`.
        facts: the stream and the levels.
    """

    standings: pd.DataFrame
    facts: Facts = field(repr=False)

    def _repr_html_(self) -> str:
        """Return the table of the page, as a notebook shows it."""
        table = league_table({"standings": self.standings}, self.facts)
        return render(table, ".fragment.html")

    def plot(self) -> Figure:
        """Draw what each algorithm keeps at each level, with its best noise."""
        return draw_privacy_utility({"standings": self.standings}, self.facts)


def league(
    algorithms: Sequence[Entry],
    stream: GainStream,
    *,
    levels: Sequence[float] = (math.inf, 1.0, 0.5, 0.25),
    replicates: int = 100,
    seed: int = 1,
    confidence: float = 0.95,
) -> League:
    """Play algorithms on a stream, and rank them among those that promise the same.

    Each plays with the paper's noise and with ours if it can read them, as in `dpol league`.

    Args:
        algorithms: algorithms, or entries of a suite: names, `package.module:Class`, or blocks.
        stream: the stream.
        levels: values of mu; inf for no privacy.
        replicates: number of games of each algorithm, noise and level.
        seed: root of all randomness.
        confidence: joint confidence of the intervals.

    Raises:
        TypeError: an entry is a class, or no algorithm at all.
        ValueError: a name is unknown, or two algorithms have one label.
    """
    check_number("confidence", confidence, "(0, 1)")
    check_whole("replicates", replicates)
    members = [member for it in algorithms for member in members_of(it)]
    labels = [member.label for member in members]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise ValueError(f"{twice[0]} plays twice; name one in a block with another label")
    games = [
        play_suite(stream, [it], noise=noise, mu=mu, seed=seed, replicates=range(replicates))
        for it in members
        for noise, mu in _games_of(it, levels)
    ]
    tables = map(score_tables, games)
    jobs = ((it["scores"].to_pandas(), it["curves"].to_pandas()) for it in tables)
    scores, cells = join_jobs(jobs)
    titles, simulated = {stream.label: stream.label}, bool(stream.provenance.get("simulated"))
    facts = Facts(titles, simulated, confidence, levels={f"mu-{mu:g}": mu for mu in levels})
    settings = GamesSettings(report=Report(algorithms=labels, confidence=confidence))
    played = results_from(scores, cells, {stream.label: stream}, settings, facts)
    asked = {stream.label: ""}
    point = StandingsPoint(ours=None, questions=asked, apart=False, confidence=confidence)
    columns = [*schemas_in("dpol.studies.comparison")["standings"].columns]
    return League(standings(played["summary"], played["totals"], point)[columns], facts)


def _games_of(member: Member, levels: Sequence[float]) -> list[tuple[str, float]]:
    """Return the noises and levels of an algorithm; one without privacy plays without noise."""
    if member.algorithm.model == "none":
        return [(NO_NOISE, math.inf)]
    return [*product(noises_to_play(member), map(check_mu, levels))]
