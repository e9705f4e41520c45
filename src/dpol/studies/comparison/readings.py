"""Ours and its rivals at further readings of numbers that nobody measured.

Suppressed cells and capacities of 0 are read in one of several ways. Where they decide more than a
little, a verdict holds only if it is the same at every reading.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from dpol.core.intervals import add_intervals, at_this_reading, standard_error, verdict_on
from dpol.data.stream import MANY_UNMEASURED, GainStream, read_stream, unmeasured_of
from dpol.experts.registry import make_members
from dpol.studies.comparison.points import ReadingsPoint
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played
from dpol.studies.study import Inputs

_PAIR = ["stream", "mu", "other_algorithm", "other_noise"]


def play_readings(point: ReadingsPoint, inputs: Inputs) -> pd.DataFrame:
    """Play ours and its rivals on a stream at each reading, if the reading may matter there.

    Returns:
        A row per reading, level and rival, as in the table `readings`, without intervals.
    """
    if unmeasured_of(read_stream(inputs.files["stream"]))["share"] <= MANY_UNMEASURED:
        return pd.DataFrame()
    rows = []
    for reading in point.readings:
        stream = read_stream(inputs.files[reading])
        for level, mu in point.levels.items():
            *rivals, ours = (
                _played(stream, entry, noise, mu, point.replicates, inputs)
                for entry, noise in point.systems
            )
            for other in rivals:
                ahead = ours.totals - other.totals
                rows.append(
                    {
                        "stream": point.stream,
                        "reading": reading,
                        "level": level,
                        "mu": float(mu),
                        "n_experts": stream.n_experts,
                        "algorithm": ours.label,
                        "noise": ours.noise,
                        "mean_gain": float(ours.totals.mean()),
                        "other_algorithm": other.label,
                        "other_noise": other.noise,
                        "other_mean_gain": float(other.totals.mean()),
                        "difference": float(ahead.mean()),
                        "difference_error": float(standard_error(ahead)),
                        "replicates": len(ahead),
                    }
                )
    return pd.DataFrame(rows)


def _played(
    stream: GainStream, entry: Any, noise: str, mu: float, replicates: int, inputs: Inputs
) -> Played:
    """Play one algorithm; all that see local noise see the same in each replicate."""
    (played,) = play_suite(
        stream,
        make_members(entry),
        noise=noise,
        mu=mu,
        seed=inputs.seed,
        replicates=range(replicates),
        memory_mb=inputs.memory_mb,
    ).played
    return played


def with_verdicts(played: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Add intervals that hold jointly, and verdicts, to the rows of `play_readings`."""
    if played.empty:
        return played
    frame = add_intervals(played, {"difference_error": "difference_half_width"}, confidence)
    verdicts = map(verdict_on, frame["difference"], frame["difference_half_width"])
    return frame.assign(verdict=list(verdicts))


def agreed(
    comparison: pd.DataFrame, readings: pd.DataFrame | None, summary: pd.DataFrame
) -> pd.DataFrame:
    """Return a comparison whose verdicts are the same at every reading, or say that they depend.

    Args:
        comparison: rows with a stream, a level, another system and a verdict.
        readings: the table `readings`; None if the run asks for none.
        summary: the table `summary`, with what is unmeasured in each stream.
    """
    shares = summary.groupby("stream")["unmeasured_share"].first()
    known = dict[Any, set[str]]()
    if readings is not None and len(readings):
        known = readings.groupby(_PAIR)["verdict"].agg(set).to_dict()
    verdicts = []
    for *pair, verdict in comparison[[*_PAIR, "verdict"]].itertuples(index=False):
        sure = shares[pair[0]] <= MANY_UNMEASURED or known.get(tuple(pair)) == {verdict}
        verdicts.append(verdict if sure else at_this_reading(verdict))
    return comparison.assign(verdict=verdicts)
