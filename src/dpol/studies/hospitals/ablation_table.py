"""The table of what each private system loses to noise, in its learners and by selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.data.settings import Stream
from dpol.show import footers
from dpol.show.table import Entry, Group, Section, TextTable
from dpol.show.words import privacy_title
from dpol.studies.hospitals.ablation import TERMS
from dpol.studies.hospitals.comparison_table import check_table, describe_intervals, size_of
from dpol.studies.hospitals.settings import System

COLUMNS = (
    *("stream", "mu", "algorithm", "noise", "learners", "mean_gain", "reference", "oracle"),
    *(name for term in TERMS for name in (term, f"{term}_half_width")),
    *("replicates", "confidence", "ci_comparisons"),
)
"""Columns the table needs."""

_ABOUT = (
    "Noise + learner + selection = total loss; negative: a gain. Noise: what the best of"
    " the paper's learners loses to the noise of the system. Learner: what the best of"
    " the system's learners, the oracle selector, loses to it under the same noise."
    " Selection: what the system loses to the oracle; an average of learners can be above"
    " it. Own noise: what the system itself loses to noise; not part of the sum.",
    "The best of several learners is chosen in hindsight, by stream, μ and noise, on the"
    " runs that it is scored on: its mean is biased upwards, so that selection is rather"
    " overstated, and noise understated.",
)


def ablation_table(
    ablation: pd.DataFrame,
    summary: pd.DataFrame,
    *,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    ours: System,
) -> TextTable:
    """What each system loses to noise, in its learners and by selection, and in total.

    Args:
        ablation: table of `dpol.studies.hospitals.ablation.ablate`.
        summary: table of `dpol.studies.hospitals.summary.summarize`: sizes of the streams.
        streams: label and config of the streams, in the order of the sections.
        levels: label and mu of the privacy levels, in the order of the sections.
        ours: the system that is marked as such.

    Raises:
        DataError: as `dpol.studies.hospitals.comparison_table.comparison_table`.
    """
    check_table(ablation, COLUMNS, "ablations", streams)
    sections = []
    for label, stream in streams.items():
        for mu in levels.values():
            rows = ablation[(ablation["stream"] == label) & (ablation["mu"] == mu)]
            lines = tuple(_losses(row, ours) for row in rows.to_dict("records"))
            title = f"{stream.title or label}, {privacy_title(mu)}"
            best = f"best of the paper's learners without noise: {_reference(rows)}"
            note = f"{size_of(summary, label)}; {best}"
            sections.append(Section(title, note, (Group("", lines),)))
    first = ablation.iloc[0]
    return TextTable(
        caption="Loss against the best of the paper's learners without noise, in parts",
        name="ablation",
        corner=("stream", "system"),
        headers=("gain", "noise", "learner", "selection", "total loss", "own noise", "oracle"),
        sections=tuple(sections),
        footers=(
            *_ABOUT,
            describe_intervals(ablation),
            f"Means over {first['replicates']} runs. What is guaranteed at each μ: below the table"
            " of the comparison, and in summary.parquet for every system.",
        ),
        prose=("oracle",),
    )


def _reference(rows: pd.DataFrame) -> str:
    row = rows.iloc[0]
    return f"{row['reference']}, {row['mean_gain'] + row['total_loss']:.2f}"


def _losses(row: dict[Any, Any], ours: System) -> tuple[str, tuple[Entry, ...]]:
    system = (row["algorithm"], row["noise"])
    mark = " (ours)" if system == (ours.algorithm, ours.noise) else ""
    terms = [
        # Not -0.00.
        Entry(footers.amount(round(row[name], 2) + 0.0, row[f"{name}_half_width"]))
        for name in TERMS
    ]
    label = f"{row['algorithm']}, {row['noise']} noise{mark}"
    return label, (Entry(f"{row['mean_gain']:.2f}"), *terms, Entry(str(row["oracle"])))
