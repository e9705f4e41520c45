"""What the jobs of the main experiment write: its result tables, each checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.schemas import write_frame
from dpol.data.settings import Stream
from dpol.data.stream import read_stream
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.ablation import ablate
from dpol.studies.hospitals.comparison import compare
from dpol.studies.hospitals.findings import conclude, rank_meta
from dpol.studies.hospitals.runs import read_runs
from dpol.studies.hospitals.settings import Comparison, Report
from dpol.studies.hospitals.summary import (
    collect_cells,
    count_comparisons,
    cumulative_curves,
    summarize,
)


def write_summary(
    runs: Iterable[Path | str], streams: Iterable[Path | str], params: Any, files: Mapping[str, str]
) -> None:
    """Sum up all runs: `summary`, `ranking` and `cumulative`.

    Args:
        runs: files of all runs.
        streams: files of the gain streams.
        params: plain values of the config: streams, levels, delta and report.
        files: where the result tables are written, by name.

    Raises:
        DataError: a file is not whole, or a table is not what its schema says.
    """
    report = Report.model_validate(params.report)
    played = {stream.label: stream for stream in map(read_stream, streams)}
    cells = collect_cells(map(read_runs, runs))
    together: dict[str, Any] = {
        "levels": params.levels,
        "confidence": report.confidence,
        "comparisons": count_comparisons(cells, report.algorithms, report.envelope),
    }
    summary = summarize(cells, played, delta=params.delta, **together)
    blocks = {label: Stream.model_validate(block) for label, block in params.streams.items()}
    found = {
        "summary": conclude(summary, blocks, report),
        "ranking": rank_meta(summary),
        "cumulative": cumulative_curves(cells, played, **together),
    }
    _write(found, files)


def write_comparison(runs: Iterable[Path | str], params: Any, files: Mapping[str, str]) -> None:
    """Compare the paper's way with ours: `comparison` and `ablation`.

    Args:
        runs: files of all runs.
        params: plain values of the config: comparison, levels and confidence.
        files: where the result tables are written, by name.

    Raises:
        DataError: a file is not whole, or a table is not what its schema says.
        ValueError: a system was not run.
    """
    systems = Comparison.model_validate(params.comparison)
    cells = collect_cells(map(read_runs, runs))
    together: dict[str, Any] = {"levels": params.levels, "confidence": params.confidence}
    found = {
        "comparison": compare(cells, systems, **together),
        "ablation": ablate(cells, systems, **together),
    }
    _write(found, files)


def _write(frames: Mapping[str, pd.DataFrame], files: Mapping[str, str]) -> None:
    for name, path in files.items():
        write_frame(schema(name).check(frames[name], f"hospitals: {name}"), path)
