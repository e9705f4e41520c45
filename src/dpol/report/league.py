"""Leagues: the standings of algorithms on a stream, or of the games of a config with one more."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from matplotlib.figure import Figure

from dpol.config.experiment import load_experiment, parse_experiment
from dpol.config.models import Config
from dpol.config.rules import noises_to_play
from dpol.core.arguments import check_mu, check_number, check_whole
from dpol.core.errors import UsageError
from dpol.core.files import write_text
from dpol.core.yaml_files import read_yaml
from dpol.data.stream import COMPUTED, GainStream, warning_of
from dpol.experts.games import Entry, members_of
from dpol.experts.registry import make_members
from dpol.noise import NO_NOISE
from dpol.report.run import Run
from dpol.show.panels import write_below
from dpol.show.rendering import render
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.league.compute import rank
from dpol.studies.league.figure import draw_privacy_utility
from dpol.studies.league.systems import name_system
from dpol.studies.league.table import league_table
from dpol.studies.study import Facts

_AROUND = 2
"""Systems that are printed above and below one with a star."""


@dataclass(frozen=True, eq=False)
class League:
    """Standings of algorithms; make them with `league`.

    Args:
        standings: a row for each system and level, with the columns of `standings.parquet`.
        summary: a row for each game, also of those that do not keep their level.
        facts: the stream and the levels.
        warning: `warning_of` the table; empty if everybody may see it.
    """

    standings: pd.DataFrame
    summary: pd.DataFrame = field(repr=False)
    facts: Facts = field(repr=False)
    warning: str = ""

    def _repr_html_(self) -> str:
        """Return the table of the page, as a notebook shows it."""
        table = league_table(vars(self), self.facts)
        table = replace(table, footers=(*table.footers, *filter(None, [self.warning])))
        return render(table, ".fragment.html")

    def in_text(self, mine: Collection[str]) -> Iterator[str]:
        """Yield lines for a terminal: the best of each guarantee, and `mine` with neighbours.

        Args:
            mine: labels of the algorithms that get a star.
        """
        table = league_table(vars(self), self.facts)
        of_mine = self.standings[self.standings["algorithm"].isin(mine)]
        names_of_mine = {name_system(row) for row in of_mine.to_dict("records")}
        yield "What each system keeps of the possible gain, and its rank among those with the same"
        yield "guarantee: 1 and the number of systems that are above it by a whole paired interval"
        yield "for the noise, so a smaller share may share a rank. A star marks your algorithm."
        for section, group in ((it, own) for it in table.sections for own in it.groups):
            titles = [title for title, _ in group.lines]
            starred = [title.partition(", ")[0] in names_of_mine for title in titles]
            names = ["* " * star + title for star, title in zip(starred, titles, strict=True)]
            lines = [[" ".join([it.text, *it.notes[:1]]) for it in own] for _, own in group.lines]
            rows = pd.DataFrame(lines, names, [*table.headers])
            near = {0} | {
                place + step
                for place in np.flatnonzero(starred).tolist()
                for step in range(-_AROUND, _AROUND + 1)
            }
            shown = rows.iloc[sorted(near & {*range(len(rows))})]
            yield from ("", f"{section.title}: {group.title}", *shown.to_string().splitlines())
            if len(shown) < len(rows):
                yield f"{len(shown)} of {len(rows)} systems."
        yield from ("", *filter(None, [self.warning]))

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
) -> League:
    """Play algorithms on a stream, and rank them among those with the same guarantee.

    Each plays with the paper's noise, and with noise by capacity if it can read it.

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
    games = list[Played]()
    for member in members:
        asked = [*product(noises_to_play(member), map(check_mu, levels))]
        if member.algorithm.model == "none":  # without privacy, without noise
            asked = [(NO_NOISE, math.inf)]
        for noise, mu in asked:
            games += play_suite(
                stream, [member], noise=noise, mu=mu, seed=seed, replicates=range(replicates)
            )
    titles, simulated = {stream.label: stream.label}, bool(stream.provenance.get("simulated"))
    facts = Facts(titles, simulated, confidence, levels=tuple(levels))
    settings = GamesSettings(report=Report(algorithms=labels), beside=labels)
    made = rank([games], [stream], settings, facts)
    return League(made["standings"], made["summary"], facts, warning_of(stream.private, COMPUTED))


def league_of_run(run: Run) -> League:
    """Return the league of a run.

    Raises:
        DataError: a file of the run cannot be read.
    """
    config = parse_experiment(run.config, str(run.folder))
    warning = warning_of(config.dataset.private, COMPUTED)
    return League(run.table("standings"), run.table("summary"), config.facts, warning)


# ---- the config of a league ----------------------------------------------------------------------

_GAMES = {*Config.model_fields} - {"run", "report", "keep_rounds"}
"""Keys of a config that its games depend on."""


def write_league(config: Path, entry: Any, league: Path) -> str:
    """Write the config of a league, or add an algorithm to one that exists.

    Algorithms that play already are not played again, since their suites stay as they are.

    Args:
        config: the config whose games the algorithm joins.
        entry: the algorithm, as a suite names it.
        league: file of the league.

    Returns:
        Name of its run.

    Raises:
        ConfigError: one of the files is no config, or the algorithm does not fit.
        UsageError: the entry is no algorithm, stands for several or is labelled as a suite, or the
            file is the league of another run.
    """
    try:
        member, *others = make_members(entry)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if others:
        several = f"{member.family} stands for {1 + len(others)} algorithms"
        raise UsageError(f"{several}; write a block whose parameters leave one of them")
    load_experiment(config)
    asked: Any = read_yaml(config)
    if member.label in asked["suites"]:
        raise UsageError(f"{config} has a suite {member.label}; give the algorithm another label")
    games: Any = {key: value for key, value in asked.items() if key in _GAMES}
    if isinstance(games["suites"], list):
        games["suites"] = dict.fromkeys(games["suites"])
    games = {"run": f"league-{asked['run']}", **games}
    if league.exists():
        load_experiment(league)
        run, games = games["run"], read_yaml(league)
        if games["run"] != run:
            raise UsageError(f"{league} is of another run, {games['run']}; move it away")
    noises = noises_to_play(member)
    games["suites"][member.label] = {"noises": noises, "algorithms": [entry]}
    parse_experiment(games, str(league))
    text = yaml.safe_dump(games, sort_keys=False, allow_unicode=True)
    write_text(league, f"# The games of {config.stem}, with algorithms of yours.\n{text}")
    return str(games["run"])
