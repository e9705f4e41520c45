"""The answer of a run: at most three sentences, for its page, the terminal and its crate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dpol.config.models import Config
from dpol.core.words import counted, fixed
from dpol.data.stream import MANY_UNMEASURED, unmeasured_in_words
from dpol.experts.registry import simplicity_of
from dpol.privacy.settings import ordered_levels
from dpol.show.entries import BEYOND_MARK, PAPER_1
from dpol.show.words import plus_minus, privacy_title
from dpol.studies.games.names import FTPL, META, PAPER_NOISE
from dpol.studies.league.privacy import attacked, record_of
from dpol.studies.league.standings import is_system
from dpol.studies.league.systems import (
    NOT_TOLD_APART,
    SystemRow,
    apart_in_words,
    first_group,
    first_level,
    has_enough_runs,
    name_system,
    others_not_told_apart,
)
from dpol.studies.paper1.table_2 import Verdict
from dpol.studies.study import Facts, Frames

PAPERS = {(META, PAPER_NOISE): PAPER_1[META], (FTPL, PAPER_NOISE): "RW-FTPL"}
"""The first paper's systems that the answer names, if the run plays them."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a run says first.

    Args:
        texts: two texts of each level: the answer there, and what bounds it.
        first: place of the level that is shown first, the middle one with noise.
        led: algorithm, noise and mu of the system of that level; None if there is none.
        verdict: what of the paper's Table 2 is reproduced; None if the run does not play it.
    """

    texts: tuple[tuple[str, str], ...]
    first: int
    led: tuple[str, str, float] | None
    verdict: Verdict | None = None

    @property
    def lines(self) -> list[str]:
        """The lines for the terminal; what is reproduced of the paper comes first."""
        of_paper = [f"{self.verdict.heading}."] if self.verdict else []
        return [*of_paper, self.texts[self.first][0]]


def answer_of(
    frames: Frames, facts: Facts, config: Config, verdict: Verdict | None = None
) -> Answer:
    """Say at each level what systems keep, what privacy costs, and what an attacker learns.

    A run that plays the paper tells of RW-Meta, RW-FTPL, the best fixed expert, and the best system
    without a curator. Any other run tells of the simplest rule that is not told apart from the
    best.

    Args:
        frames: the standings, whose first group the answer describes, and the summary.
        facts: facts of the run.
        config: config of the run.
        verdict: what of the paper's Table 2 is reproduced.
    """
    standings, period = frames["standings"], config.dataset.period
    title, rows = first_group(standings, facts)
    where = f" in {title}" if len(facts.streams) > 1 else ""
    streams = standings[standings["question"].isin(rows["question"]) & (standings["stream"] != "")]
    if len(rows) and rows["stream"].iloc[0] == "":
        where = f" on average over {streams['stream'].nunique()} streams"
    scale = f"of 100 points{where} (0: a random choice; 100: the best of every {period})"
    bounds = [_unmeasured(streams, period), config.dataset.caveat, f"{BEYOND_MARK}."]
    rest = " ".join(filter(None, bounds))
    texts, led, levels, first = [], None, ordered_levels(facts.levels), first_level(facts)
    for place, mu in enumerate(levels):
        at_level = rows[rows["mu"] == mu]
        if not at_level["best"].any():
            texts.append((f"No private system was played at {privacy_title(mu)}.", rest))
            continue
        system: SystemRow = at_level[at_level["best"]].iloc[0]
        if verdict:
            kept = _tell_papers(at_level, system, scale)
        else:
            kept, system = _tell_rule(at_level, system, streams, config, scale)
        attack = attacked(record_of(system, frames["summary"]), period)
        texts.append((f"{kept} {attack}", rest))
        if place == first:
            led = (system["algorithm"], system["noise"], mu)
    return Answer(texts=tuple(texts), first=first, led=led, verdict=verdict)


def _tell_papers(at_level: pd.DataFrame, best: SystemRow, scale: str) -> str:
    """Say what the paper's systems, the best fixed expert and the best system keep at a level."""
    kept = [
        f"{name} keeps {_points(at_level[is_system(at_level, system)].iloc[0])}"
        for system, name in PAPERS.items()
        if is_system(at_level, system).any()
    ]
    kept += [f"the best fixed expert {share}" for share in _fixed_points(best)]
    kept.append(f"the best system without a curator, picked in hindsight, {_points(best)}")
    first, *others = kept
    said = ", ".join([f"{first} {scale}", *others[:-1]]) + f", and {others[-1]}"
    return f"At {privacy_title(best['mu'])}, {said}."


def _tell_rule(
    at_level: pd.DataFrame, best: SystemRow, streams: pd.DataFrame, config: Config, scale: str
) -> tuple[str, SystemRow]:
    """Say what the simplest rule that is not told apart from the best keeps, and what it costs.

    Or say that the runs are too few to tell.
    """
    if not has_enough_runs(best):
        return f"{apart_in_words(best)} Raise replicates.", best
    rule = simplest_rule(at_level)
    name, others = name_system(rule), len(others_not_told_apart(at_level, rule))
    if rule["gain_share"] <= rule["gain_share_half_width"]:
        runs = counted(rule["replicates"], "run")
        return f"{runs} cannot tell {name} from a random choice. Raise replicates.", rule
    fixed_name = rule["best_fixed"] or "the best of each stream"
    kept = f"At {privacy_title(rule['mu'])}, {name} keeps {_points(rule)} {scale}"
    kept += "".join(f", and always {fixed_name} {share}" for share in _fixed_points(rule))
    simplest = f"It is the simplest rule that is {NOT_TOLD_APART}"
    if others:
        simplest += f" ({counted(others, 'other')} {'is' if others == 1 else 'are'} not either)"
    cost = _cost(rule, streams, config)
    return f"{kept}. {simplest}{cost}.", rule


def simplest_rule(at_level: pd.DataFrame) -> SystemRow:
    """Return the simplest rule of a level that is not told apart from the best.

    The order of the registry says what is simple; of one algorithm, the noise with which it keeps
    most counts.
    """
    rules = at_level[at_level["not_told_apart"]]
    rules = rules.assign(simplicity=rules["family"].map(simplicity_of))
    order = ["simplicity", "algorithm", "gain_share"]
    rule: SystemRow = rules.sort_values(order, ascending=[True, True, False], kind="stable").iloc[0]
    return rule


def _cost(rule: SystemRow, streams: pd.DataFrame, config: Config) -> str:
    """Say what privacy costs a rule, in the table's own unit; empty without a game without noise.

    The cost is the difference between the rule's games, of a mean the mean over its streams. The
    sum of both half-widths covers it.
    """
    games = streams[is_system(streams, (rule["algorithm"], rule["noise"]))]
    if rule["stream"]:
        games = games[games["stream"] == rule["stream"]]
    per, unit = _unit(config)
    possible = per * (games["oracle_gain"] - games["uniform_gain"]) / games["n_rounds"]
    gains = games[["gain_share", "gain_share_half_width"]].mul(possible, axis=0)
    at_level = gains.groupby(games["mu"]).mean()
    if rule["mu"] == math.inf or math.inf not in at_level.index:
        return ""
    share, half_width = (dict(at_level[name]) for name in at_level)
    lost = float(share[math.inf] - share[rule["mu"]])
    half = float(half_width[math.inf] + half_width[rule["mu"]])
    return f", and privacy costs it {fixed(lost, 1)}{plus_minus(half, 1)} {unit}"


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


def _fixed_points(row: SystemRow) -> Iterator[int]:
    """Yield what the best fixed expert keeps, in points; nothing where no gain is possible."""
    if not math.isnan(row["best_fixed_share"]):
        yield round(100 * float(row["best_fixed_share"]))


def _points(row: SystemRow) -> int:
    return round(100 * float(row["gain_share"]))


def _unmeasured(standings: pd.DataFrame, period: str) -> str:
    """Say where numbers that nobody measured may decide much; empty if nowhere."""
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
