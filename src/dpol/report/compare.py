"""Two finished runs compared: their settings, their mean gains with intervals, their verdicts.

A difference of two means covers the randomness of the runs on the same data, nothing else: on
other data it has no interval and no verdict.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import yaml

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.intervals import half_width, welch_half_width
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, unreadable
from dpol.data.stream import GainStream, read_stream
from dpol.report.crate import CONFIG, CRATE
from dpol.report.reading import reading
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.runs import read_runs

HIGHER, LOWER, SAME, WITHIN = "higher", "lower", "same", "within noise"
OTHER_DATA, ONLY_OLD, ONLY_NEW = "other data", "only in the old run", "only in the new run"
NOT_SET = "not set"

_KEY = ("stream", "noise", "mu", "algorithm")
_NEEDED = (*_KEY, "replicates", "mean_gain", "std_gain")
_VERDICTS = {
    "claims": ("paper", "statement", "claim"),
    "audits": ("mechanism", "variant", "parameter", "method"),
}
"""Result tables with verdicts of their own, and the columns that name a row.

Verdicts that follow from the summary are left out: its numbers are compared themselves, and a
difference between `above` and `undecided` may be noise.
"""
_ROUNDING = 1e-9
"""Rounding error of a mean, relative to it."""

Cell = tuple[str, str, float, str]
"""Stream, noise, mu, and label of the algorithm."""


@dataclass(frozen=True)
class Change:
    """Something that differs between two runs, as texts; of two lists, the items of one only."""

    name: str
    old: str
    new: str


@dataclass(frozen=True, eq=False)
class RunComparison:
    """Differences between two finished runs.

    Args:
        old: folder of the run that comes first; a difference is new minus old.
        new: folder of the other run.
        settings: keys of the config, versions, code, commit and data that differ.
        cells: one row per stream, noise, mu and algorithm of either run: both means, their
            `difference`, its `difference_half_width` (not a number without an interval),
            `interval` (`paired` by replicate, `Welch` or empty) and `verdict`, and `confidence`
            and `ci_comparisons` of all intervals together (Bonferroni). Largest first.
        verdicts: rows of other result tables whose verdict differs.
    """

    old: Path
    new: Path
    settings: tuple[Change, ...]
    cells: pd.DataFrame
    verdicts: tuple[Change, ...]

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
    one, two = _Run(old), _Run(new)
    settings, verdicts = tuple(_changes(one.facts, two.facts)), tuple(_verdicts(one, two))
    return RunComparison(old, new, settings, _compare_cells(one, two, confidence), verdicts)


@dataclass(frozen=True, eq=False)
class _Run:
    """The files of a finished run, each read when it is first asked for."""

    folder: Path

    @cached_property
    def crate(self) -> dict[str, Any]:
        """The entities of its crate, which is written last, by id."""
        path = self.folder / CRATE
        if not self.folder.is_dir():
            raise DataError(f"{self.folder}: no such folder; name results/RUN of a finished run")
        if not path.exists():
            raise DataError(
                f"{path} is missing: the run is not finished, or was made by an older version;"
                " finish it with dpol run CONFIG"
            )
        with reading(path):
            entities = json.loads(path.read_text(encoding="utf-8"))["@graph"]
            return {it["@id"]: it for it in entities}

    @cached_property
    def config(self) -> dict[str, Any]:
        """The config as it was played, not checked: it may be of another version."""
        path = self.folder / CONFIG
        with reading(path):
            try:
                found = yaml.safe_load(path.read_text(encoding="utf-8"))
            except yaml.YAMLError as error:
                raise ValueError(str(error).partition("\n")[0]) from None
            return dict(found)

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Origin of the run: the config by dotted keys, and the facts of the crate."""
        crate = self.crate  # first, because it says whether the run is finished
        found = dict(_flat({key: it for key, it in self.config.items() if key != "run"}))
        versions: dict[str, list[str]] = {}
        for key, it in crate.items():
            kind, name = it["@type"], it.get("name", "")
            if kind == "SoftwareApplication":
                versions.setdefault(f"version of {name}", []).append(it["softwareVersion"])
            elif kind == "PropertyValue" and name != "seed":
                found[name] = it["value"]
            elif key.startswith("#data"):
                found[f"checksum of the data {name}"] = it["sha256"]
            elif commit := re.search(r"Commit (.+)\.$", str(it.get("description"))):
                found["commit"] = commit[1]
        return found | {name: " and ".join(own) for name, own in versions.items()}

    @cached_property
    def summary(self) -> pd.DataFrame:
        """The columns of its summary that are compared; others may be of another version."""
        path = self.folder / "summary.parquet"
        listed = self.crate.get(path.name, {}).get("sha256")
        columns = {name: schema("summary").columns[name] for name in _NEEDED}
        frame = _read(path)
        if listed and sha256(path) != listed:
            raise DataError(
                f"{path} changed after the report was made; finish the run with dpol run CONFIG"
            )
        frame = frame[[name for name in frame if name in columns]]
        return Schema("summary", "", columns).check(frame, str(path))

    def stream(self, label: str) -> GainStream:
        """A gain stream."""
        return read_stream(self.folder / f"streams/{label}.parquet")

    def totals(self, wanted: Mapping[Cell, float]) -> dict[Cell, Floats]:
        """Total gains (R,) of cells by replicate, whose means are known.

        Cells are left out whose runs are not there, or are of an earlier config.
        """
        found: dict[Cell, dict[int, float]] = {}
        places = {(stream, noise) for stream, noise, *_ in wanted}
        for path in sorted(self.folder.glob("runs/*/*/*/*/block-*.parquet")):
            if (path.parts[-5], path.parts[-3]) in places:
                block = read_runs(path)
                for it in block.played:
                    cell = found.setdefault((it.stream, it.noise, it.mu, it.label), {})
                    cell.update(zip(block.replicates, it.totals.tolist(), strict=True))
        ordered = {cell: np.array([it[key] for key in sorted(it)]) for cell, it in found.items()}
        return {
            cell: totals
            for cell, totals in ordered.items()
            if cell in wanted
            and sorted(found[cell]) == list(range(len(totals)))
            and _equal(float(totals.mean()), wanted[cell])
        }


def _read(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise unreadable(path, error) from None


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Values of a config by dotted path; a list, or a block without keys, is one value."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, it in value.items():
        yield from _flat(it, f"{path}.{key}" if path else str(key))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Entries that differ, in the order of the old run."""
    for name in {**old, **new}:
        one, two = old.get(name, NOT_SET), new.get(name, NOT_SET)
        if one == two:
            continue
        if isinstance(one, list) and isinstance(two, list):
            lost = [it for it in one if it not in two]
            added = [it for it in two if it not in one]
            if lost or added:
                one, two = lost or "nothing", added or "nothing"
        yield Change(name, _shown(one), _shown(two))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_shown(it)}" for key, it in value.items()) + "}"
    return ", ".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _equal(one: float, two: float) -> bool:
    return math.isclose(one, two, rel_tol=_ROUNDING)


def _compare_cells(one: _Run, two: _Run, confidence: float) -> pd.DataFrame:
    """The table of `RunComparison.cells`."""
    both = one.summary.merge(two.summary, "outer", list(_KEY), suffixes=("_old", "_new"))
    gap = both["mean_gain_new"] - both["mean_gain_old"]
    streams = both.loc[gap.notna(), "stream"].unique()
    same = {it for it in streams if _same_data(one.stream(it), two.stream(it))}
    comparisons = int((gap.notna() & both["stream"].isin(same)).sum())
    rows = both.to_dict("records")
    pairs = _paired(one, two, [row for row in rows if row["stream"] in same])

    def judge(row: Mapping[Any, Any]) -> tuple[float, str, str]:
        difference = row["mean_gain_new"] - row["mean_gain_old"]
        if math.isnan(difference):
            return math.nan, "", ONLY_NEW if math.isnan(row["mean_gain_old"]) else ONLY_OLD
        if row["stream"] not in same:
            return math.nan, "", OTHER_DATA
        if _equal(row["mean_gain_old"], row["mean_gain_new"]):
            return math.nan, "", SAME
        half, kind = _half_width(row, pairs.get(_cell(row)), confidence, comparisons)
        beyond = HIGHER if difference > 0 else LOWER
        return half, kind, beyond if abs(difference) > half else WITHIN

    judged = pd.DataFrame(
        map(judge, rows), columns=["difference_half_width", "interval", "verdict"]
    )
    table = both.assign(difference=gap, **judged, confidence=confidence, ci_comparisons=comparisons)
    # The largest differences first, those beyond noise before those within.
    rank = table["verdict"].map({WITHIN: 1, ONLY_OLD: 2, ONLY_NEW: 2, SAME: 3}).fillna(0)
    order = table.assign(rank=rank, size=-gap.abs()).sort_values(["rank", "size"], kind="stable")
    return table.loc[order.index].reset_index(drop=True)


def _same_data(one: GainStream, two: GainStream) -> bool:
    """True if the same game is played: equal gains, and equal scales of the noise."""
    parts = ("gains", "capacity", "given_sensitivity")
    # What a stream does not have is None, and equal to None.
    return all(np.array_equal(getattr(one, it), getattr(two, it)) for it in parts)


def _paired(one: _Run, two: _Run, rows: list[dict[Any, Any]]) -> dict[Cell, Floats]:
    """Differences (R,) of the replicates of cells whose means differ, where they share noise."""
    seeds = [run.crate.get("#seed", {}).get("value") for run in (one, two)]
    if seeds[0] != seeds[1] or None in seeds:
        return {}
    asked = [it for it in rows if it["replicates_old"] == it["replicates_new"]]
    asked = [it for it in asked if not _equal(it["mean_gain_old"], it["mean_gain_new"])]
    old = one.totals({_cell(it): it["mean_gain_old"] for it in asked})
    new = two.totals({_cell(it): it["mean_gain_new"] for it in asked})
    return {cell: new[cell] - old[cell] for cell in old.keys() & new.keys()}


def _cell(row: Mapping[Any, Any]) -> Cell:
    return row["stream"], row["noise"], row["mu"], row["algorithm"]


def _half_width(
    row: Mapping[Any, Any], pairs: Floats | None, confidence: float, comparisons: int
) -> tuple[float, str]:
    """Half-width and kind of the interval of a row; `pairs` are its differences (R,), if any."""
    if pairs is not None:
        return float(half_width(pairs, confidence, comparisons)), "paired"
    spreads = [float(row[f"std_gain_{side}"]) for side in ("old", "new")]
    sizes = [int(row[f"replicates_{side}"]) for side in ("old", "new")]
    return welch_half_width(spreads, sizes, confidence, comparisons), "Welch"


def _verdicts(one: _Run, two: _Run) -> Iterator[Change]:
    """Rows of other result tables of both runs whose verdict differs."""
    for name, columns in _VERDICTS.items():
        if all(run.config.get(name) is not None for run in (one, two)):
            old, new = (_verdicts_of(run.folder / f"{name}.parquet", columns) for run in (one, two))
            for key, verdict in old.items():
                if new.get(key, verdict) != verdict:
                    yield Change(f"{name}: {key}", verdict, new[key])


def _verdicts_of(path: Path, columns: tuple[str, ...]) -> dict[str, str]:
    """The verdict of each row of a table, by what names the row."""
    frame = _read(path)
    with reading(path):
        rows = frame[[*columns, "verdict"]].to_dict("records")
    return {", ".join(str(row[it]) for it in columns): str(row["verdict"]) for row in rows}
