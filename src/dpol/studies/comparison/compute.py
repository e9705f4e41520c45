"""Standings of the games of a run or of this process, and games at further readings.

Suppressed cells and capacities of 0 are read in one of several ways. Where they decide more than a
little, a verdict holds only if it is the same at every reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import pandas as pd

from dpol.core.intervals import add_intervals, standard_error
from dpol.core.schemas import read_frame
from dpol.data.stream import MANY_UNMEASURED, GainStream, read_stream, unmeasured_of
from dpol.experts.registry import make_members
from dpol.studies.comparison.settings import (
    Comparison,
    ComparisonPoint,
    ReadingPoint,
    StandingsPoint,
)
from dpol.studies.comparison.standings import (
    OUR_METHOD,
    SYSTEM,
    THE_BASELINE,
    is_system,
    standings,
)
from dpol.studies.games.collect import join_jobs, results_from, schema
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played, score_tables
from dpol.studies.games.settings import GamesSettings
from dpol.studies.jobs import read_points
from dpol.studies.study import Facts, FileLists, Inputs, schemas_in
from dpol.studies.verdicts import OPPOSITE, at_this_reading, verdict_on

POINT = ComparisonPoint
RESULTS = "standings", "readings"


def run(point: ComparisonPoint, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """Make the standings of the games played, or play others at further readings.

    Raises:
        DataError: a table of the main study is missing or does not match its schema.
        ValueError: the systems of a stream and level have different numbers of replicates.
    """
    tables = dict.fromkeys(RESULTS, pd.DataFrame())
    if isinstance(point, ReadingPoint):
        return tables | {"readings": play_reading(point, inputs)}
    summary, totals = (read_frame(inputs.files[x], schema(x)) for x in ("summary", "totals"))
    return tables | {"standings": standings(summary, totals, point)}


def collect(files: FileLists, settings: Comparison, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the result tables. The intervals of all games at further readings hold jointly."""
    tables = {name: read_points(paths) for name, paths in files.items() if name in RESULTS}
    if "readings" in tables:
        tables["readings"] = with_verdicts(tables["readings"], facts.confidence)
        tables["standings"] = agreed(tables["standings"], tables["readings"])
    return tables


def rank(
    suites: Iterable[Sequence[Played]],
    streams: Sequence[GainStream],
    settings: GamesSettings,
    facts: Facts,
    ours: tuple[str, str] | None = None,
) -> dict[str, pd.DataFrame]:
    """Build the result tables and the standings of games that are played in this process.

    Args:
        suites: the games of each suite.
        streams: the streams that they play, of one question.
        settings: what the intervals of the summary hold for.
        facts: streams, levels and confidence.
        ours: algorithm and noise of our method; None if there is none.
    """
    by_label = {stream.label: stream for stream in streams}
    jobs = [score_tables(games) for games in suites]
    joined = join_jobs(*([job[name] for job in jobs] for name in ("scores", "curves")))
    made = dict(results_from(*joined, by_label, settings, facts))
    questions = dict.fromkeys(by_label, "")
    point = StandingsPoint(ours=ours, questions=questions, apart=False, confidence=facts.confidence)
    columns = schemas_in(__package__)["standings"].columns
    ranked = standings(made["summary"], made["totals"], point)[[*columns]]
    return made | {"standings": ranked}


# ---- further readings ----------------------------------------------------------------------------


def play_reading(point: ReadingPoint, inputs: Inputs) -> pd.DataFrame:
    """Play our method, the baseline and the strongest rival of each level at a reading.

    Nothing is played where the reading can hardly matter.

    Returns:
        A row per level and rival, as in the table `readings`, without intervals.
    """
    if unmeasured_of(read_stream(inputs.files["stream"]))["share"] <= MANY_UNMEASURED:
        return pd.DataFrame()
    ranked = read_points([inputs.files["ranked"]])
    own, rows = ranked[ranked["stream"] == point.stream], []
    stream = read_stream(inputs.files["read"])
    members = [*chain(*map(make_members, point.entries))]
    for mu, at in own.groupby("mu", sort=False):
        rivals = pd.concat([at[at["role"] == THE_BASELINE], at[at["strongest"]]])
        systems = [point.ours, *rivals[SYSTEM].itertuples(index=False, name=None)]
        games = list[Played]()  # all that see local noise see the same in each replicate
        for label, noise in dict.fromkeys(systems):
            games += play_suite(
                stream,
                [member for member in members if member.label == label],
                noise=noise,
                mu=float(str(mu)),
                seed=inputs.seed,
                replicates=range(point.replicates),
            )
        played, *others = games
        for other in others:
            ahead = played.totals - other.totals
            rows.append(
                {
                    "stream": point.stream,
                    "reading": point.reading,
                    "level": at["level"].iloc[0],
                    "mu": mu,
                    "n_experts": stream.n_experts,
                    "algorithm": played.label,
                    "noise": played.noise,
                    "mean_gain": float(played.totals.mean()),
                    "other_algorithm": other.label,
                    "other_noise": other.noise,
                    "other_mean_gain": float(other.totals.mean()),
                    "difference": float(ahead.mean()),
                    "difference_error": float(standard_error(ahead)),
                    "replicates": len(ahead),
                }
            )
    return pd.DataFrame(rows)


def with_verdicts(played: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Add intervals that hold jointly, and verdicts, to the rows of `play_reading`."""
    if played.empty:
        return played
    frame = add_intervals(played, {"difference_error": "difference_half_width"}, confidence)
    verdicts = map(verdict_on, frame["difference"], frame["difference_half_width"])
    return frame.assign(verdict=list(verdicts))


def agreed(ranked: pd.DataFrame, readings: pd.DataFrame) -> pd.DataFrame:
    """Return standings in which a verdict on our method is sure if every reading gives the same.

    Args:
        ranked: the table `standings`, whose verdicts hold at one reading where the reading matters.
        readings: the table `readings`.
    """
    frame = ranked.copy()
    if readings.empty:
        return frame
    key = ["stream", "mu", "other_algorithm", "other_noise"]
    found = readings.groupby(key)["verdict"].agg(set).reset_index()
    sure = found[found["verdict"].map(len) == 1]
    for stream, mu, algorithm, noise, (verdict,) in sure.itertuples(index=False, name=None):
        at = frame[(frame["stream"] == stream) & (frame["mu"] == mu)]
        if at["unmeasured_zero_share"].max() > MANY_UNMEASURED:  # no reading plays its zeros
            continue
        (ours,) = at.index[at["role"] == OUR_METHOD]
        for place, row in at[is_system(at, (algorithm, noise))].iterrows():
            cells = [(place, "to_ours_verdict", OPPOSITE[verdict])]
            cells += [(ours, "to_baseline_verdict", verdict)] * (row["role"] == THE_BASELINE)
            cells += [(ours, "to_strongest_verdict", verdict)] * row["strongest"]
            for index, column, its in cells:
                if frame.at[index, column] == at_this_reading(its):
                    frame.at[index, column] = its
    return frame
