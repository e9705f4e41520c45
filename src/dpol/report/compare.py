"""Compare finished runs: settings, verdicts and mean gains, and a league of their algorithms.

An interval covers only the randomness of the runs on the same data: a difference between runs on
different data has no interval and no verdict.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import yaml

from dpol.core.errors import DataError
from dpol.core.intervals import half_width, welch_half_width
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, read_frame
from dpol.core.words import one_line
from dpol.data.stream import read_stream
from dpol.report.crate import CRATE
from dpol.report.league import Game, Player, league_of
from dpol.report.reading import reading
from dpol.report.run import open_run
from dpol.studies.games import schema
from dpol.studies.games.bounds import TOTALS
from dpol.studies.games.settings import ORACLE, UNIFORM
from dpol.studies.games.summary import bound_totals

HIGHER, LOWER, SAME, WITHIN = "higher", "lower", "same", "within noise"
OTHER_DATA, ONLY_OLD, ONLY_NEW = "other data", "only in the old run", "only in the new run"

_KEY = ("stream", "noise", "mu", "algorithm")
_NEEDED = (*_KEY, "replicates", "mean_gain", "std_gain")
_VERDICTS = {
    "claims": ["paper", "statement", "claim"],
    "audits": ["mechanism", "variant", "parameter", "method"],
}
"""Result tables with verdicts, and the columns that name a row."""
_ROUNDING = 1e-9
"""Relative rounding error of a mean."""

_OF_NO_GAME = (
    *("seed", "replicates", "privacy.levels", "dataset", "streams", "report", "commit"),
    "checksum of the data",
)
"""Prefixes of the settings that may differ between runs of the same players."""

Cell = tuple[str, str, float, str]
"""Stream, noise, mu, and label of the algorithm."""
Totals = Mapping[Cell, Mapping[int, float]]
"""Total gain of each replicate of each cell."""
NO_CELLS = pd.DataFrame(columns=[*_KEY, "difference", "verdict"])
"""Table of cells when more than two runs are compared."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunComparison:
    """Differences between finished runs, and a league of their algorithms.

    Args:
        settings: Keys of the config, versions, code, commit and data that differ, with the values
            of all runs; for lists, the items that not all runs have.
        cells: For two runs, one row per stream, noise, mu and algorithm of either, largest
            difference first: both means, `difference`, `difference_half_width` (NaN without an
            interval), `interval` (`paired` by replicate, `Welch` or empty) and `verdict`, with
            `confidence` and `ci_comparisons` (Bonferroni). For more runs, no rows.
        verdicts: Rows of the ledger and the audits with different verdicts, and these verdicts.
        league: One row per mu and player, best first (`dpol.report.league.league_of`).
    """

    settings: tuple[str, ...]
    cells: pd.DataFrame
    verdicts: tuple[str, ...]
    league: pd.DataFrame

    __repr__ = one_line

    @property
    def differs(self) -> bool:
        """True if a number or a verdict of the old run changed beyond noise.

        Numbers on other data and numbers missing from the new run count; new numbers do not.
        """
        beyond = self.cells["verdict"].isin([HIGHER, LOWER, OTHER_DATA, ONLY_OLD])
        return bool(beyond.any() or self.verdicts)


def compare_runs(*folders: Path | str, confidence: float = 0.95) -> RunComparison:
    """Compare finished runs, with intervals, and rank their algorithms in a league.

    If two runs have the same seed, data and replicates, replicates share their noise: intervals are
    Student's for paired differences. Otherwise they are Welch's.

    Args:
        folders: results/<run> of two or more runs.
        confidence: Joint confidence of all intervals of a table.

    Raises:
        DataError: A folder is given twice, a run is unfinished, or one of its files is invalid.
        ValueError: Fewer than two folders, or a confidence outside (0, 1).
    """
    if len(folders) < 2:
        raise ValueError("name at least two runs")
    paths = [Path(folder) for folder in folders]
    for index, path in enumerate(paths):
        for other in paths[:index]:
            if path.resolve() == other.resolve():
                raise DataError(f"{other} and {path} are the same folder; name different runs")
    runs = [_read_run(path) for path in paths]
    shared = set.intersection(*(set(run.verdicts) for run in runs))
    verdicts = [{name: row for name, row in run.verdicts.items() if name in shared} for run in runs]
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    players = [one for name, run in zip(names, runs, strict=True) for one in _players(name, run)]
    return RunComparison(
        settings=tuple(_changes([run.settings for run in runs])),
        cells=_compare_cells(runs[0], runs[1], confidence) if len(runs) == 2 else NO_CELLS,
        verdicts=tuple(_changes(verdicts)),
        league=league_of(players, [run.games for run in runs], confidence),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run:
    """The parts of a finished run that are compared.

    Args:
        settings: Settings by name.
        summary: Its numbers.
        verdicts: Verdict of each row of the ledger and the audits, by name.
        games: The games played, by label of the stream.
        totals: Total gain of each replicate of each cell; empty without the table of totals.
        shown: Labels of the algorithms in its report; empty for all.
    """

    settings: Mapping[str, Any]
    summary: pd.DataFrame
    verdicts: Mapping[str, str]
    games: Mapping[str, Game]
    totals: Mapping[Cell, Mapping[int, float]]
    shown: Sequence[str]


def _read_run(folder: Path) -> _Run:
    crate, summary = folder / CRATE, folder / "summary.parquet"
    keys = dict(_flat(open_run(folder).config))
    with reading(crate):
        entities = json.loads(crate.read_text(encoding="utf-8"))["@graph"]
        sums = {node["@id"]: node["sha256"] for node in entities if "sha256" in node}
        data = sums["#data-0"]
        versions = [
            f"{node['name']} {node['softwareVersion']}"
            for node in entities
            if "softwareVersion" in node
        ]
        values = {
            node["name"]: node["value"] for node in entities if node["@type"] == "PropertyValue"
        }
    with reading(summary):
        frame = pd.read_parquet(summary)
    # Only the columns to compare: other columns may come from another version.
    columns = {name: schema("summary").columns[name] for name in _NEEDED}
    frame = frame[[name for name in frame if name in columns]]
    frame = Schema("summary", "", columns).check(frame, str(summary))
    return _Run(
        settings={
            **{key: value for key, value in keys.items() if key != "run"},
            **values,
            "versions": versions,
            "checksum of the data": data,
        },
        summary=frame,
        verdicts={
            f"{name}: {row}": verdict
            for name, naming in _VERDICTS.items()
            if f"{name}.parquet" in sums
            for row, verdict in _verdicts(folder / f"{name}.parquet", naming)
        },
        games={label: _game(folder, label) for label in frame["stream"].unique()},
        totals=_totals(folder),
        shown=keys.get("report.algorithms", ()),
    )


def _verdicts(path: Path, naming: list[str]) -> Iterator[tuple[str, str]]:
    with reading(path):
        rows = pd.read_parquet(path)[[*naming, "verdict"]].astype(str)
    for *names, verdict in rows.itertuples(index=False):
        yield ", ".join(names), verdict


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a config by dotted path; a list or an empty block is one value."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        yield from _flat(item, f"{path}.{key}" if path else str(key))


def _changes(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the entries that differ, in the order of the first run."""
    for name in dict.fromkeys(name for run in runs for name in run):
        values = [run.get(name, "not set") for run in runs]
        if all(isinstance(value, list) for value in values):
            values = [[x for x in value if not all(x in its for its in values)] for value in values]
        if any(value != values[0] for value in values):
            yield f"{name}: {' → '.join(map(_shown, values))}"


def _shown(value: Any) -> str:
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return value if isinstance(value, str) else flow.removesuffix("...\n").strip()


def _compare_cells(one: _Run, two: _Run, confidence: float) -> pd.DataFrame:
    cells = one.summary.merge(two.summary, "outer", list(_KEY), suffixes=("_old", "_new"))
    gap = cells["mean_gain_new"] - cells["mean_gain_old"]
    streams = cells.loc[gap.notna(), "stream"].unique()
    same_data = {stream for stream in streams if one.games[stream] == two.games[stream]}
    comparisons = int((gap.notna() & cells["stream"].isin(same_data)).sum())
    paired = one.settings.get("seed") == two.settings.get("seed")
    pairs = _pairs(one.totals, two.totals) if paired else {}

    def judge(row: Mapping[Any, Any]) -> tuple[float, str, str]:
        """Return half-width and kind of the interval of a row, and its verdict."""
        old, new = row["mean_gain_old"], row["mean_gain_new"]
        rounding = _ROUNDING * max(abs(old), abs(new))
        if math.isnan(old) or math.isnan(new):
            return math.nan, "", ONLY_NEW if math.isnan(old) else ONLY_OLD
        if row["stream"] not in same_data:
            return math.nan, "", OTHER_DATA
        if abs(new - old) <= rounding:
            return math.nan, "", SAME
        pair = pairs.get((row["stream"], row["noise"], row["mu"], row["algorithm"]))
        if pair is not None:
            kind, half = "paired", float(half_width(pair, confidence, comparisons))
        else:
            spreads = [row["std_gain_old"], row["std_gain_new"]]
            sizes = [int(row["replicates_old"]), int(row["replicates_new"])]
            kind, half = "Welch", welch_half_width(spreads, sizes, confidence, comparisons)
        beyond = HIGHER if new > old else LOWER
        return half, kind, beyond if abs(new - old) > half else WITHIN

    columns = ["difference_half_width", "interval", "verdict"]
    judged = pd.DataFrame(map(judge, cells.to_dict("records")), columns=columns)
    cells = cells.assign(difference=gap, **judged)
    cells = cells.assign(confidence=confidence, ci_comparisons=comparisons)
    return cells.loc[(-gap.abs()).sort_values(kind="stable").index].reset_index(drop=True)


def _game(folder: Path, label: str) -> Game:
    """Return the game of a stream: streams with equal gains and noise scales are one game."""
    stream, parts = read_stream(folder / f"streams/{label}.parquet"), hashlib.sha256()
    for values in (stream.gains, stream.capacity, stream.given_sensitivity):
        parts.update(b"none" if values is None else repr(values.shape).encode() + values.tobytes())
    totals = bound_totals(stream)
    return Game(
        checksum=parts.hexdigest(),
        uniform=totals[TOTALS[UNIFORM]],
        oracle=totals[TOTALS[ORACLE]],
    )


def _pairs(old: Totals, new: Totals) -> dict[Cell, Floats]:
    """Return the (R,) differences of cells with the same replicates in both runs."""
    return {
        cell: np.array([new[cell][replicate] - total for replicate, total in old[cell].items()])
        for cell in old.keys() & new.keys()
        if old[cell].keys() == new[cell].keys()
    }


def _totals(folder: Path) -> Totals:
    """Read the total gain of each replicate of each cell; empty without the table."""
    path = folder / "totals.parquet"
    if not path.exists():  # a run of an earlier version
        return {}
    cells = read_frame(path, schema("totals")).groupby(list(_KEY), sort=False, observed=True)
    return {
        cast(Cell, cell): dict(zip(own["replicate"], own["total_gain"], strict=True))
        for cell, own in cells
    }


def _players(name: str, run: _Run) -> Iterator[Player]:
    """Yield the algorithms in a run's report, each with its noise and its totals."""
    rules = {key: value for key, value in run.settings.items() if not key.startswith(_OF_NO_GAME)}
    players: dict[tuple[str, str], dict[tuple[str, float], Mapping[int, float]]] = {}
    for (stream, noise, mu, label), own in run.totals.items():
        if not run.shown or label in run.shown:
            players.setdefault((label, noise), {})[stream, mu] = own
    for (label, noise), cells in players.items():
        yield Player(
            algorithm=label,
            noise=noise,
            runs=(name,),
            rules=rules,
            totals={
                key: {(run.settings.get("seed"), number): total for number, total in own.items()}
                for key, own in cells.items()
            },
        )
