"""All that bounds a verdict on two systems beside the noise: other readings, weeks and streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.show.reported import recorded_readings
from dpol.studies.comparison.standings import OUR_METHOD, SYSTEM, is_the_papers
from dpol.studies.study import Frames
from dpol.studies.verdicts import BELOW, bounded, verdict_on

BLOCK = 13
"""Rounds of a block: a history is taken as a sample of blocks of so many weeks."""
_CELL = [*SYSTEM, "mu"]
STRONGEST = "the strongest rival", ""
"""In place of algorithm and noise: the system that is the strongest rival at a reading."""
Cell = tuple[str, str, float]
"""Algorithm, noise and mu of a row."""
Kept = dict[Cell, list[float]]
"""Share of the possible gain and half-width of each system."""


def with_bounds(frames: Frames) -> pd.DataFrame:
    """Return the standings with each verdict as strong as all that bounds it allows.

    Readings of Central Texas that are recorded bound verdicts on each stream that has the gains of
    one of them. Where the table `cumulative` is there, blocks of weeks bound verdicts on a stream;
    streams bound those on their mean.

    Returns:
        The standings with other verdicts, and for each of the three systems that all are compared
        with a column such as `strongest_against`: at how many recorded readings a row is below it.
    """
    rows, curves = frames["standings"].copy(), frames.get("cumulative")
    shares = shares_of_units(rows, curves)
    dates = pd.Series(dtype="datetime64[ns]") if curves is None else curves["period"]
    apart = dates.drop_duplicates().diff().median()
    periods = {1: "days", 7: "weeks"}.get(pd.Timedelta(apart).days, "periods")
    for (_, stream), own in rows.groupby(["question", "stream"], sort=False):
        readings = kept_at(recorded_readings(own.iloc[0])) if stream else []
        for _, at in own.groupby("mu", sort=False):
            others = {
                "strongest": at["strongest"],
                "baseline": is_the_papers(at),
                "ours": at["role"] == OUR_METHOD,
            }
            for name, chosen in others.items():
                other, said, against = at[chosen].head(1), list[str](), list[str]()
                for place, row in at.iterrows() if len(other) else ():
                    rival = STRONGEST if name == "strongest" else cell_of(other.iloc[0])[:2]
                    found = [verdict_at(kept, cell_of(row), rival) for kept in readings]
                    wide = over_units(shares.get(place), shares.get(other.index[0]))
                    units = periods if stream else "streams"
                    said.append(bounded(row[f"to_{name}_verdict"], found, wide, units))
                    lost = found.count(BELOW)
                    told = f"behind at {lost} of {len(found)} recorded readings"
                    against.append(told * (lost > 0))
                rows.loc[at.index, f"to_{name}_verdict"] = said or ""
                rows.loc[at.index, f"{name}_against"] = against or ""
    return rows


def cell_of(row: Any) -> Cell:
    """Return algorithm, noise and mu of a row."""
    return row["algorithm"], row["noise"], row["mu"]


def kept_at(recorded: pd.DataFrame) -> list[Kept]:
    """Return what each system, and the strongest rival, keeps at each recorded reading."""
    columns, readings = ["gain_share", "gain_share_half_width"], list[Kept]()
    for _, own in recorded.groupby(["treatment", "read_as"], sort=False):
        rivals = own[own["strongest"]].assign(**dict(zip(SYSTEM, STRONGEST, strict=True)))
        both = pd.concat([own, rivals]).set_index(_CELL)[columns]
        readings.append(dict(zip(both.index, both.to_numpy().tolist(), strict=True)))
    return readings


def verdict_at(kept: Kept, one: Cell, other: tuple[str, str]) -> str:
    """Return the verdict on two systems at a reading; empty if one was not played."""
    own, rival = kept.get(one), kept.get((*other, one[2]))
    if own is None or rival is None:
        return ""
    (share, half), (less, more) = own, rival
    return verdict_on(share - less, half + more)


def shares_of_units(
    standings: pd.DataFrame, cumulative: pd.DataFrame | None = None
) -> dict[Any, Floats]:
    """Return the share of the possible gain of each row in units that stand for others.

    Units of a mean over streams are its streams, and units of a stream are blocks of 13 weeks.

    Returns:
        (m,) shares by the index of the row, with its share as their mean; nothing for rows of a
        stream without `cumulative`.
    """
    of_streams = standings[standings["stream"] != ""].groupby(["question", *_CELL], sort=False)
    by_stream = {key: own.to_numpy() for key, own in of_streams["gain_share"]}
    curves: dict[Any, Floats] = {}
    if cumulative is not None:
        games = cumulative.groupby(["stream", *_CELL], sort=False)["mean_cumulative_gain"]
        curves = {key: own.to_numpy() for key, own in games}
    shares = {}
    for place, row in standings.iterrows():
        if (
            not row["stream"]
            and (own := by_stream.get((row["question"], *cell_of(row)))) is not None
        ):
            shares[place] = own
        elif (gains := curves.get((row["stream"], *cell_of(row)))) is not None:
            by_round, count = np.diff(gains, prepend=0.0), max(1, len(gains) // BLOCK)
            blocks = np.array_split(by_round - row["uniform_gain"] / len(gains), count)
            possible = row["oracle_gain"] - row["uniform_gain"]
            shares[place] = len(blocks) * np.array([own.sum() for own in blocks]) / possible
    return shares


def over_units(one: Floats | None, other: Floats | None) -> tuple[float, float] | None:
    """Return a difference of `shares_of_units`, and the half-width of its 95% interval by Student.

    The intervals of the standings cover the noise. This one takes weeks or streams as a sample, for
    each pair of systems alone; it is None where their units are not known.
    """
    if one is None or other is None:
        return None
    ahead = one - other
    return float(ahead.mean()), float(half_width(ahead, 0.95))
