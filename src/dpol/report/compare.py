"""Two finished runs compared: their settings, their mean gains with intervals, their verdicts.

A difference of two means covers the randomness of the runs on the same data, nothing else: on
other data it has no interval and no verdict.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.intervals import half_width, welch_half_width
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema
from dpol.data.stream import read_stream
from dpol.report.crate import CONFIG, CRATE
from dpol.report.reading import reading
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.runs import read_runs

HIGHER, LOWER, SAME, WITHIN = "higher", "lower", "same", "within noise"
OTHER_DATA, ONLY_OLD, ONLY_NEW = "other data", "only in the old run", "only in the new run"

_KEY = ("stream", "noise", "mu", "algorithm")
_NEEDED = (*_KEY, "replicates", "mean_gain", "std_gain")
_VERDICTS = {
    "claims": ["paper", "statement", "claim"],
    "audits": ["mechanism", "variant", "parameter", "method"],
}
"""Result tables with verdicts of their own, and the columns that name a row."""
_ROUNDING = 1e-9
"""Rounding error of a mean, relative to it."""

Cell = tuple[str, str, float, str]
"""Stream, noise, mu, and label of the algorithm."""


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Differences between two finished runs.

    Args:
        settings: keys of the config, versions, code, commit and data that differ, each with both
            values; of two lists, the items that only one has.
        cells: one row per stream, noise, mu and algorithm of either run: both means, their
            `difference`, its `difference_half_width` (not a number without an interval),
            `interval` (`paired` by replicate, `Welch` or empty) and `verdict`, and `confidence`
            and `ci_comparisons` of all intervals together (Bonferroni). Largest first.
        verdicts: rows of the ledger and of the audits whose verdict differs, with both verdicts.
    """

    settings: tuple[str, ...]
    cells: pd.DataFrame
    verdicts: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """True if a number or a verdict of the old run changed beyond noise.

        Numbers on other data, and those that the new run lacks, count; new numbers do not.
        """
        beyond = self.cells["verdict"].isin([HIGHER, LOWER, OTHER_DATA, ONLY_OLD])
        return bool(beyond.any() or self.verdicts)


def compare_runs(old: Path, new: Path, confidence: float = 0.95) -> RunComparison:
    """The differences between two finished runs, with intervals.

    Where both have the same seed, data and replicates, an interval is Student's for the paired
    differences of the replicates, which share their noise; elsewhere Welch's.

    Args:
        old: results/<run>.
        new: another such folder.
        confidence: of all intervals together.

    Raises:
        DataError: both are the same folder, a run is not finished, or a file of it is not what
            it should be.
        ValueError: a confidence outside (0, 1).
    """
    if old.resolve() == new.resolve():
        raise DataError(f"{old} and {new} are the same folder; name two different runs")
    one, two = _read_run(old), _read_run(new)
    shared = {name: verdict for name, verdict in one.verdicts.items() if name in two.verdicts}
    return RunComparison(
        settings=tuple(_changes(one.settings, two.settings)),
        cells=_compare_cells(one, two, confidence),
        verdicts=tuple(_changes(shared, {name: two.verdicts[name] for name in shared})),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run:
    """A finished run: its settings by name, its summary, and the verdict of each row by name."""

    folder: Path
    settings: Mapping[str, Any]
    summary: pd.DataFrame
    verdicts: Mapping[str, str]


def _read_run(folder: Path) -> _Run:
    crate, config, summary = folder / CRATE, folder / CONFIG, folder / "summary.parquet"
    if not crate.exists():  # it is written last
        raise DataError(
            f"{crate} is missing: not a finished run; name another folder results/RUN, or finish it"
            " with dpol run CONFIG"
        )
    with reading(crate):
        entities = json.loads(crate.read_text(encoding="utf-8"))["@graph"]
        sums = {it["@id"]: it["sha256"] for it in entities if "sha256" in it}
        data = sums["#data-0"]
        versions = [
            f"{it['name']} {it['softwareVersion']}" for it in entities if "softwareVersion" in it
        ]
        values = {it["name"]: it["value"] for it in entities if it["@type"] == "PropertyValue"}
    with reading(config):
        try:
            keys = dict(_flat(yaml.safe_load(config.read_text(encoding="utf-8"))))
        except yaml.YAMLError as error:
            raise ValueError(str(error).partition("\n")[0]) from None
    with reading(summary):
        frame = pd.read_parquet(summary)
    if sums.get(summary.name) != sha256(summary):
        raise DataError(
            f"{summary} changed after the report was made; finish the run with dpol run CONFIG"
        )
    # Only the columns that are compared: others may be of another version.
    columns = {name: schema("summary").columns[name] for name in _NEEDED}
    frame = frame[[name for name in frame if name in columns]]
    return _Run(
        folder=folder,
        settings={
            **{key: value for key, value in keys.items() if key != "run"},
            **values,
            "versions": versions,
            "checksum of the data": data,
        },
        summary=Schema("summary", "", columns).check(frame, str(summary)),
        verdicts={
            f"{name}: {row}": verdict
            for name, naming in _VERDICTS.items()
            if f"{name}.parquet" in sums
            for row, verdict in _verdicts(folder / f"{name}.parquet", naming)
        },
    )


def _verdicts(path: Path, naming: list[str]) -> Iterator[tuple[str, str]]:
    """The name of each row of a table, and its verdict."""
    with reading(path):
        rows = pd.read_parquet(path)[[*naming, "verdict"]].astype(str)
    for *names, verdict in rows.itertuples(index=False):
        yield ", ".join(names), verdict


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Values of a config by dotted path; a list, or a block without keys, is one value."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, it in value.items():
        yield from _flat(it, f"{path}.{key}" if path else str(key))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Entries that differ, in the order of the old run."""
    for name in {**old, **new}:
        one, two = old.get(name, "not set"), new.get(name, "not set")
        if isinstance(one, list) and isinstance(two, list):
            one, two = [it for it in one if it not in two], [it for it in two if it not in one]
        if one != two:
            yield f"{name}: {_shown(one)} → {_shown(two)}"


def _shown(value: Any) -> str:
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return value if isinstance(value, str) else flow.removesuffix("...\n").strip()


def _compare_cells(one: _Run, two: _Run, confidence: float) -> pd.DataFrame:
    """The table of `RunComparison.cells`."""
    cells = one.summary.merge(two.summary, "outer", list(_KEY), suffixes=("_old", "_new"))
    gap = cells["mean_gain_new"] - cells["mean_gain_old"]
    streams = cells.loc[gap.notna(), "stream"].unique()
    same_data = {it for it in streams if _same_data(one.folder, two.folder, it)}
    comparisons = int((gap.notna() & cells["stream"].isin(same_data)).sum())
    paired = one.settings.get("seed") == two.settings.get("seed") and bool(gap.any())
    pairs = _pairs(one.folder, two.folder) if paired else {}

    def judge(row: Mapping[Any, Any]) -> tuple[float, str, str]:
        """Half-width and kind of the interval of a row, and its verdict."""
        old, new = row["mean_gain_old"], row["mean_gain_new"]
        rounding = _ROUNDING * max(abs(old), abs(new))
        if math.isnan(old) or math.isnan(new):
            return math.nan, "", ONLY_NEW if math.isnan(old) else ONLY_OLD
        if row["stream"] not in same_data:
            return math.nan, "", OTHER_DATA
        if abs(new - old) <= rounding:
            return math.nan, "", SAME
        pair = pairs.get((row["stream"], row["noise"], row["mu"], row["algorithm"]))
        # Runs of an earlier config may be in the folder still.
        if pair is not None and abs(pair.mean() - (new - old)) <= rounding:
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


def _same_data(old: Path, new: Path, stream: str) -> bool:
    """True if the same game is played: equal gains, and equal scales of the noise."""
    one, two = (read_stream(folder / f"streams/{stream}.parquet") for folder in (old, new))
    parts = ("gains", "capacity", "given_sensitivity")
    # What a stream does not have is None, and equal to None.
    return all(np.array_equal(getattr(one, it), getattr(two, it)) for it in parts)


def _pairs(old: Path, new: Path) -> dict[Cell, Floats]:
    """Differences (R,) of the replicates of cells that have the same ones in both runs."""
    one, two = _totals(old), _totals(new)
    return {
        cell: np.array([two[cell][replicate] - total for replicate, total in one[cell].items()])
        for cell in one.keys() & two.keys()
        if one[cell].keys() == two[cell].keys()
    }


def _totals(folder: Path) -> dict[Cell, dict[int, float]]:
    """Total gain of each replicate of each cell, as far as its runs are there."""
    totals: dict[Cell, dict[int, float]] = {}
    for path in sorted(folder.glob("runs/*/*/*/*/block-*.parquet")):
        block = read_runs(path)
        for it in block.played:
            cell = totals.setdefault((it.stream, it.noise, it.mu, it.label), {})
            cell.update(zip(block.replicates, it.totals.tolist(), strict=True))
    return totals
