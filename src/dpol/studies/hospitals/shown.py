"""What the tables and figures of the main experiment show, in which order, by what name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.schemas import read_frame
from dpol.data.settings import Stream
from dpol.studies.hospitals import schema
from dpol.studies.hospitals.settings import Report


@dataclass(frozen=True)
class Shown:
    """A summary, and what the config wants to be shown of it.

    Args:
        summary: table of `dpol.studies.hospitals.findings.conclude`.
        streams: config of the streams by label, in their order.
        levels: mu of the privacy levels by label, in their order.
        report: algorithms in their order, family of the best member, noise, confidence.
    """

    summary: pd.DataFrame
    streams: Mapping[str, Stream]
    levels: Mapping[str, float]
    report: Report

    @property
    def titles(self) -> dict[str, str]:
        """Titles of the streams by label."""
        return {label: stream.title or label for label, stream in self.streams.items()}

    @property
    def sized_titles(self) -> dict[str, str]:
        """Titles of the streams with their numbers of experts, by label."""
        sizes = self.summary.groupby("stream")["n_experts"].first()
        return {label: f"{title} (n = {sizes[label]})" for label, title in self.titles.items()}

    def size(self, stream: str) -> str:
        """Numbers of experts and rounds of a stream."""
        row = self.summary[self.summary["stream"] == stream].iloc[0]
        return f"n = {row['n_experts']}, T = {row['n_rounds']}"

    @property
    def simulated(self) -> dict[str, bool]:
        """Whether the data of a stream are simulated, by title."""
        found = self.summary.groupby("stream")["simulated"].any()
        return {title: bool(found[label]) for label, title in self.titles.items()}


def read_shown(files: Any, params: Any) -> tuple[Shown, dict[str, pd.DataFrame]]:
    """What a job shows, and the result tables by name.

    Args:
        files: result tables by name, the summary among them.
        params: plain values of the config: streams, levels and report.

    Raises:
        DataError: a table is missing, or is not what its schema says.
    """
    frames = {name: read_frame(Path(path), schema(name)) for name, path in files.items()}
    shown = Shown(
        frames["summary"],
        {label: Stream.model_validate(block) for label, block in params.streams.items()},
        params.levels,
        Report.model_validate(params.report),
    )
    return shown, frames
