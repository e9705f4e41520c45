"""A league in Python: the standings of algorithms on a stream, without a run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from dpol.config.league import noises_to_play
from dpol.core.arguments import check_mu, check_number, check_whole
from dpol.data.leaving import COMPUTED, warning_of
from dpol.data.stream import GainStream
from dpol.experts.games import Entry, members_of
from dpol.experts.interface import Member
from dpol.noise import NO_NOISE
from dpol.report.rows import AS_SENT, asked_by, read_rows
from dpol.report.run import Run
from dpol.show.rendering import render
from dpol.show.style import write_below
from dpol.studies.answer.league import league_table
from dpol.studies.answer.privacy_utility import draw_privacy_utility
from dpol.studies.comparison.settings import StandingsPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.comparison.study import STUDY
from dpol.studies.games.collect import join_jobs, results_from
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.study import Facts, Frames, schemas_in


@dataclass(frozen=True, eq=False)
class League:
    """Standings of algorithms; make them with `league`.

    Args:
        standings: a row for each system and level, with the columns of `standings.parquet`, and the
            `sender` of sent rows.
        summary: a row for each game, also of those that do not keep their level.
        facts: the stream and the levels.
        warning: `warning_of` the table; empty if everybody may see it.
        refused: sent rows that did not join, with the reason.
    """

    standings: pd.DataFrame
    summary: pd.DataFrame = field(repr=False)
    facts: Facts = field(repr=False)
    warning: str = ""
    refused: Sequence[str] = ()

    def _repr_html_(self) -> str:
        """Return the table of the page, as a notebook shows it."""
        table = league_table(vars(self), self.facts)
        table = replace(table, footers=(*table.footers, *self._notes()))
        return render(table, ".fragment.html")

    def _notes(self) -> Iterator[str]:
        """Yield what a reader must know beside the table."""
        if self.standings["sender"].any():
            yield AS_SENT
        yield from (f"Refused: {it}." for it in self.refused)
        yield from filter(None, [self.warning])

    def in_text(self, mine: Collection[str]) -> Iterator[str]:
        """Yield the lines of the table for a terminal; `mine` are labels that get a star."""
        table = league_table(vars(self), self.facts)
        yield "What each system keeps of the possible gain, and its rank among those with the same"
        yield "guarantee: 1 and the number of systems that are above it for certain, by paired"
        yield "intervals, so a smaller share may share a rank. A star marks your algorithm."
        for section, group in ((it, own) for it in table.sections for own in it.groups):
            names = ["* " * (it.partition(",")[0] in mine) + it for it, _ in group.lines]
            lines = [[" ".join([it.text, *it.notes[:1]]) for it in own] for _, own in group.lines]
            rows = pd.DataFrame(lines, names, [*table.headers])
            yield from ("", f"{section.title}: {group.title}", *rows.to_string().splitlines())
        yield from ("", *self._notes())

    def plot(self) -> Figure:
        """Draw what each algorithm keeps at each level, with its best noise."""
        figure = draw_privacy_utility(vars(self), self.facts)
        return write_below(figure, self.warning)


def league(
    algorithms: Sequence[Entry],
    stream: GainStream,
    *,
    levels: Sequence[float] = (math.inf, 1.0, 0.5, 0.25),
    replicates: int = 100,
    seed: int = 1,
    confidence: float = 0.95,
    rows: Sequence[Path | str] = (),
) -> League:
    """Play algorithms on a stream, and rank them among those with the same guarantee.

    Each plays with the paper's noise and with ours if it can read them, as in `dpol league`.

    Args:
        algorithms: algorithms, or entries of a suite: names, `package.module:Class`, or blocks.
        stream: the stream.
        levels: values of mu; inf for no privacy.
        replicates: number of games of each algorithm, noise and level.
        seed: root of all randomness.
        confidence: joint confidence of the intervals.
        rows: files of `dpol league --write`, whose rows at these levels join: choices as sent,
            scored here. No code of a sender runs.

    Raises:
        DataError: a file holds no rows.
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
        played
        for it in members
        for noise, mu in _games_of(it, levels)
        for played in play_suite(
            stream, [it], noise=noise, mu=mu, seed=seed, replicates=range(replicates)
        )
    ]
    asked = {"seed": seed, "noise_memory": "designed", "replicates": range(replicates)}
    streams = {stream.label: stream}
    senders, sent, refused = read_rows(rows, streams, levels, asked)
    titles, simulated = {stream.label: stream.label}, bool(stream.provenance.get("simulated"))
    facts = Facts(titles, simulated, confidence, levels=tuple(levels))
    settings = GamesSettings(report=Report(algorithms=labels, confidence=confidence))
    scores, cells = _scores_of([*games, *sent])
    played = results_from(scores, cells, streams, settings, facts)
    questions = {stream.label: ""}
    point = StandingsPoint(ours=None, questions=questions, apart=False, confidence=confidence)
    warning = warning_of(stream.private, COMPUTED)
    ranked = _ranked(played, point, senders)
    return League(ranked, played["summary"], facts, warning, refused)


def league_of_run(run: Run, rows: Sequence[Path | str] = ()) -> League:
    """Return the league of a run, in which rows that others sent join.

    Args:
        run: the run.
        rows: as in `league`.

    Raises:
        DataError: a file of the run cannot be read, or a file holds no rows.
    """
    config, asked = asked_by(run)
    facts, warning = config.facts, warning_of(config.dataset.private, COMPUTED)
    streams = {label: run.stream(label) for label in facts.streams} if rows else {}
    senders, sent, refused = read_rows(rows, streams, facts.levels, asked, run=config.run)
    if not sent:
        own = run.table("standings").assign(sender="")
        return League(own, run.table("summary"), facts, warning, refused)
    theirs = results_from(*_scores_of(sent), streams, config.games, facts)
    tables = ("summary", "totals")
    played = {it: pd.concat([run.table(it), theirs[it]], ignore_index=True) for it in tables}
    point = STUDY.jobs(config.standings, config.facts)["standings"].points[0]
    ranked = _ranked(played, point, senders)
    return League(ranked, played["summary"], facts, warning, refused)


def _scores_of(games: Sequence[Played]) -> tuple[pd.DataFrame, pd.DataFrame]:
    tables = score_tables(games)
    return join_jobs([(tables["scores"].to_pandas(), tables["curves"].to_pandas())])


def _ranked(played: Frames, point: StandingsPoint, senders: Mapping[str, str]) -> pd.DataFrame:
    """Return the standings, with who sent a row."""
    columns = [*schemas_in("dpol.studies.comparison")["standings"].columns]
    rows = standings(played["summary"], played["totals"], point)[columns]
    return rows.assign(sender=[senders.get(it, "") for it in rows["algorithm"]])


def _games_of(member: Member, levels: Sequence[float]) -> list[tuple[str, float]]:
    """Return the noises and levels of an algorithm; one without privacy plays without noise."""
    if member.algorithm.model == "none":
        return [(NO_NOISE, math.inf)]
    return [*product(noises_to_play(member), map(check_mu, levels))]
