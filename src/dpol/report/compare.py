"""Compare two finished runs: settings, code and data, mean gains, and verdicts.

An interval covers only the randomness of the runs on the same data: a difference between runs on
different data has no interval and no verdict.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.arguments import check_number
from dpol.core.differences import differences, flat
from dpol.core.errors import DataError
from dpol.core.intervals import half_width, welch_half_width
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, read_frame, readable
from dpol.data.leaving import COMPUTED, warning_of
from dpol.data.stream import GainStream
from dpol.report.run import Run, open_run
from dpol.studies.games.collect import schema

HIGHER, LOWER, SAME, WITHIN = "higher", "lower", "same", "within noise"
OTHER_DATA, ONLY_OLD, ONLY_NEW = "other data", "only in the old run", "only in the new run"

_CELL = ("stream", "noise", "algorithm")
_GUARANTEE = ("guaranteed_mu", "epsilon")
_PLAYED = ("stream", "noise", "mu", "algorithm")
_NEEDED = (*_CELL, *_GUARANTEE, "mu", "replicates", "mean_gain", "std_gain")
_VERDICTS = {
    "claims": ["paper", "statement", "claim"],
    "audits": ["mechanism", "variant", "parameter", "method"],
}
"""Result tables with verdicts, and the columns that name a row."""
_ROUNDING = 1e-9
"""Relative rounding error of a mean."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RunComparison:
    """Differences between two finished runs.

    Args:
        settings: keys of the config that differ, with both values; for lists, the items that not
            both runs have.
        provenance: versions, code, commit and data that differ, likewise.
        cells: one row per stream, noise, algorithm and guarantee of either run, largest difference
            first: requested mu, replicates, mean and standard deviation in both runs,
            `difference` (new minus old), `difference_half_width` (NaN without an interval),
            `interval` (`paired` by replicate, `Welch` or empty) and `verdict`, with `confidence`
            and `ci_comparisons` (Bonferroni). The guarantee is `guaranteed_mu`, to 6 digits, or
            `epsilon` where it is not Gaussian DP. Only cells with one guarantee are compared.
        verdicts: rows of the ledger and the audits with different verdicts, and these verdicts.
        warning: `warning_of` the tables; empty if everybody may see both.
    """

    settings: tuple[str, ...]
    provenance: tuple[str, ...]
    cells: pd.DataFrame
    verdicts: tuple[str, ...]
    warning: str = ""

    @property
    def differs(self) -> bool:
        """Whether a number or a verdict of the old run changed beyond noise.

        Numbers on other data and numbers missing from the new run count; new numbers do not.
        """
        beyond = self.cells["verdict"].isin([HIGHER, LOWER, OTHER_DATA, ONLY_OLD])
        return bool(beyond.any() or self.verdicts)


def compare_runs(old: Path | str, new: Path | str, *, confidence: float = 0.95) -> RunComparison:
    """Compare two finished runs, with intervals.

    If both have the same seed, data and replicates, replicates share their noise: intervals are
    Student's for paired differences. Otherwise they are Welch's.

    Args:
        old: results/<run> of the older run.
        new: results/<run> of the newer run.
        confidence: joint confidence of all intervals.

    Raises:
        DataError: both are the same folder, a run is unfinished, or one of its files is invalid.
        ValueError: a confidence outside (0, 1).
    """
    check_number("confidence", confidence, "(0, 1)")
    paths = [Path(old), Path(new)]
    if paths[0].resolve() == paths[1].resolve():
        raise DataError(f"{old} and {new} are the same folder; name different runs")
    runs = list[_Run]()
    for run in map(open_run, paths):
        with run.told_release():
            runs.append(_parts_of(run))
    one, two = runs
    shared = one.verdicts.keys() & two.verdicts.keys()
    verdicts = [{name: it.verdicts[name] for name in it.verdicts if name in shared} for it in runs]
    streams = *one.streams.values(), *two.streams.values()
    return RunComparison(
        settings=tuple(differences(one.settings, two.settings)),
        provenance=tuple(differences(one.provenance, two.provenance)),
        cells=_compare_cells(one, two, confidence),
        verdicts=tuple(differences(*verdicts)),
        warning=warning_of(any(it.private for it in streams), COMPUTED),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run:
    """The parts of a finished run that are compared.

    Args:
        settings: settings by name.
        provenance: versions, code, commit and data by name.
        summary: its numbers.
        verdicts: verdict of each row of the ledger and the audits, by name.
        streams: its streams with numbers, by label.
        totals: its total gains, of each replicate of each cell.
    """

    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]
    summary: pd.DataFrame
    verdicts: Mapping[str, str]
    streams: Mapping[str, GainStream]
    totals: pd.DataFrame


def _parts_of(run: Run) -> _Run:
    crate, settings = run.crate, dict(flat(run.config))
    del settings["run"]
    values = dict(crate.values)
    summary = crate.file("summary.parquet")
    with readable(summary):
        frame = pd.read_parquet(summary)
    # Only the columns to compare: other columns may come from another version.
    columns = {name: schema("summary").columns[name] for name in _NEEDED}
    frame = frame[[name for name in frame if name in columns]]
    frame = Schema("summary", "", columns).check(frame, str(summary))
    gaussian = (frame["guaranteed_mu"] < math.inf) | (frame["epsilon"] == math.inf)
    return _Run(
        settings=settings | {"seed": values.pop("seed")},
        provenance=values
        | {
            "versions": [" ".join(version) for version in crate.versions],
            "checksum of the data": crate.data,
        },
        # Rounded, since it is computed from the noise; with mu, epsilon tells nothing more.
        summary=frame.assign(
            guaranteed_mu=[float(f"{mu:.6g}") for mu in frame["guaranteed_mu"]],
            epsilon=frame["epsilon"].mask(gaussian),
        ),
        verdicts={
            f"{name}: {row}": verdict
            for name, naming in _VERDICTS.items()
            if f"{name}.parquet" in crate.files
            for row, verdict in _verdicts(crate.file(f"{name}.parquet"), naming)
        },
        streams={label: run.stream(label) for label in frame["stream"].unique()},
        totals=read_frame(crate.file("totals.parquet"), schema("totals")),
    )


def _verdicts(path: Path, naming: list[str]) -> Iterator[tuple[str, str]]:
    with readable(path):
        rows = pd.read_parquet(path)[[*naming, "verdict"]].astype(str)
    for *names, verdict in rows.itertuples(index=False):
        yield ", ".join(names), verdict


def _compare_cells(one: _Run, two: _Run, confidence: float) -> pd.DataFrame:
    cells = _matched(one.summary, two.summary)
    gap = cells["mean_gain_new"] - cells["mean_gain_old"]
    streams = cells.loc[gap.notna(), "stream"].unique()
    same_data = {it for it in streams if checksum(one.streams[it]) == checksum(two.streams[it])}
    comparisons = int((gap.notna() & cells["stream"].isin(same_data)).sum())
    pairs = _pairs(one.totals, two.totals) if one.settings["seed"] == two.settings["seed"] else {}

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
        pair = pairs.get((row["stream"], row["noise"], row["mu_old"], row["algorithm"]))
        if pair is not None and row["mu_old"] == row["mu_new"]:  # another mu draws other noise
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


def _matched(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Match the cells of two summaries by stream, noise, algorithm and guarantee.

    Where an algorithm has one guarantee at several requested mu, cells have the same requested mu.
    """
    key = [*_CELL, *_GUARANTEE]
    both = pd.concat([old.assign(run="old"), new.assign(run="new")], ignore_index=True)
    sizes = both.groupby(["run", *key], dropna=False)["mu"].transform("size")
    largest = both.assign(size=sizes).groupby(key, dropna=False)["size"].transform("max")
    both["told_apart"] = both["mu"].where(largest > 1)
    one, two = (both[both["run"] == run].drop(columns="run") for run in ("old", "new"))
    cells = one.merge(two, "outer", [*key, "told_apart"], suffixes=("_old", "_new"))
    return cells.drop(columns="told_apart")


def checksum(stream: GainStream) -> str:
    """Return the checksum of the gains of a stream and of everything that scales the noise."""
    parts = hashlib.sha256()
    for values in (stream.gains, stream.capacity, stream.given_sensitivity):
        parts.update(b"none" if values is None else repr(values.shape).encode() + values.tobytes())
    return parts.hexdigest()


def _pairs(old: pd.DataFrame, new: pd.DataFrame) -> dict[tuple[Any, ...], Floats]:
    """Return the (R,) differences of cells with the same replicates in both runs, by `_PLAYED`."""
    both = old.merge(new, "outer", [*_PLAYED, "replicate"], suffixes=("_old", "_new"))
    gaps = both.assign(gap=both["total_gain_new"] - both["total_gain_old"])
    by_cell = gaps.groupby(list(_PLAYED), observed=True)["gap"]
    return {cell: own.to_numpy() for cell, own in by_cell if own.notna().all()}
