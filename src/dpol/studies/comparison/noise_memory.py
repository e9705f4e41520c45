"""Compare correlated with independent noise, and the privacy of people who stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from dpol.core.intervals import standard_error, student_factor
from dpol.data.stream import MANY_UNMEASURED, read_stream, unmeasured_of
from dpol.experts.registry import make_members
from dpol.noise import CAPACITY, MEMORY, find_noise
from dpol.privacy.account import SAME
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.noise_laws import GAUSSIAN
from dpol.studies.comparison.settings import MemoryPoint, NoiseMemories
from dpol.studies.games.compute import play_suite
from dpol.studies.study import Inputs
from dpol.studies.verdicts import verdicts_on

INDEPENDENT, REMEMBERED = CAPACITY.name, MEMORY.name
"""The two noises; the correlated one has its designed memory."""
_ERRORS = {"standard_error": "ci_half_width", "difference_error": "difference_half_width"}


def play_memories(point: MemoryPoint, inputs: Inputs) -> pd.DataFrame:
    """Play one stream with both noises for one unit of privacy: one row per game.

    Columns: `totals`, the gains of the replicates, and columns of the table `memory` that one game
    determines.
    """
    given = read_stream(inputs.files["stream"])
    # Each unit of privacy has draws of its own.
    label = given.label if point.weeks == 1 else f"{given.label}, stays of {point.weeks}"
    stream = replace(given, label=label, stay=point.weeks)
    rows = []
    for spec, games in point.readers:
        for name, mu in games:
            (played,) = play_suite(
                stream,
                make_members(spec),
                noise=name,
                mu=mu,
                seed=inputs.seed,
                replicates=range(point.replicates),
            )
            noise = find_noise(name)
            row = {
                "stream": given.label,
                "weeks": point.weeks,
                "unmeasured_share": unmeasured_of(stream)["share"],
                "algorithm": played.label,
                "noise": name,
                "gaussian": noise.law is GAUSSIAN,
                "every_week": noise.memory != "releases",
                "mu": played.mu,
                "best_guess": noise.best_guess(played.guarantee.mu, stream.stay),
                **played.guarantee.as_columns(),
                **played.guarantee.stay_columns(),
                "replicates": point.replicates,
                "totals": played.totals,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def compare_memories(
    played: pd.DataFrame, memories: NoiseMemories, *, delta: float, confidence: float
) -> pd.DataFrame:
    """Return the rows per stream, unit of privacy and mu, with jointly valid intervals.

    Args:
        played: rows of `play_memories`, for all streams and units.
        memories: the units and levels.
        delta: delta at which epsilon is reported.
        confidence: joint confidence of all intervals.
    """
    of_units = played.groupby(["stream", "weeks"], sort=False)
    rows = [row for _, own in of_units for row in _rows(own, memories, delta)]
    frame = pd.DataFrame(rows).drop(columns="totals")
    # Correlated noise has a mean, and no difference.
    count = int(frame[list(_ERRORS)].count().sum())
    factor = student_factor(confidence, count, int(frame["replicates"].iloc[0]))
    halves = {half: factor * frame[error] for error, half in _ERRORS.items()}
    frame = frame.assign(**halves, confidence=confidence, ci_comparisons=count)
    depends = frame["unmeasured_share"] > MANY_UNMEASURED
    pairs = frame["difference"], frame["difference_half_width"]
    return frame.assign(verdict=verdicts_on(*pairs, depends))


def _rows(played: pd.DataFrame, memories: NoiseMemories, delta: float) -> Iterator[dict[Any, Any]]:
    """Yield rows for correlated noise, independent noise and rivals, without half-widths."""
    reader = played["algorithm"].iloc[0]
    games = {(it["algorithm"], it["noise"], it["mu"]): it for it in played.to_dict("records")}
    for mu in memories.mus:
        remembered = games[reader, REMEMBERED, mu]
        yield {"level": mu, "same": "", **_side(remembered, delta)}
        others = [(SAME, (reader, INDEPENDENT, mu))]
        for rival in memories.rivals:
            (member,) = make_members(rival.algorithm)
            for same, level in rival.levels(mu, played["weeks"].iloc[0], delta).items():
                others.append((same, (member.label, rival.noise, level)))
        for same, key in others:
            ahead = remembered["totals"] - games[key]["totals"]
            yield {
                "level": mu,
                "same": same,
                **_side(games[key], delta),
                "difference": float(ahead.mean()),
                "difference_error": float(standard_error(ahead)),
            }


def _side(game: dict[Any, Any], delta: float) -> dict[Any, Any]:
    return {
        **game,
        "delta": delta,
        "epsilon": epsilon_of_delta(delta, game["guaranteed_mu"]),
        "mean_gain": float(game["totals"].mean()),
        "standard_error": float(standard_error(game["totals"])),
    }
