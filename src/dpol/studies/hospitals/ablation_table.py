"""The table of what each private system loses to noise, in its learners and by selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.show import footers
from dpol.show.table import Column, Entry, Line, Table, one_section
from dpol.show.words import privacy_title
from dpol.studies.hospitals.ablation import TERMS
from dpol.studies.hospitals.comparison_table import describe_intervals
from dpol.studies.hospitals.settings import System
from dpol.studies.hospitals.shown import Shown

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


def ablation_table(ablation: pd.DataFrame, shown: Shown, ours: System) -> Table:
    """What each system loses to noise, in its learners and by selection, and in total.

    Args:
        ablation: table of `dpol.studies.hospitals.ablation.ablate`.
        shown: streams and levels, in the order of the sections.
        ours: the system that is marked as such.
    """
    sections = []
    for label, title in shown.titles.items():
        for mu in shown.levels.values():
            rows = ablation[(ablation["stream"] == label) & (ablation["mu"] == mu)]
            first = rows.iloc[0]
            best = f"{first['reference']}, {first['reference_gain']:.2f}"
            note = f"{shown.size(label)}; best of the paper's learners without noise: {best}"
            lines = [_losses(row, ours) for row in rows.to_dict("records")]
            sections.append(one_section(lines, f"{title}, {privacy_title(mu)}", note))
    names = ("gain", "noise", "learner", "selection", "total loss", "own noise")
    return Table(
        caption="Loss against the best of the paper's learners without noise, in parts",
        name="ablation",
        corner=("stream", "system"),
        headers=(*names, Column("oracle", prose=True)),
        sections=tuple(sections),
        footers=(
            *_ABOUT,
            describe_intervals(ablation),
            f"Means over {ablation['replicates'].iloc[0]} runs. What is guaranteed at each μ: below"
            " the table of the comparison, and in summary.parquet for every system.",
        ),
        numbers=ablation,
    )


def _losses(row: Mapping[Any, Any], ours: System) -> Line:
    mark = " (ours)" if (row["algorithm"], row["noise"]) == (ours.algorithm, ours.noise) else ""
    terms = [
        # Not -0.00.
        Entry(footers.amount(round(row[name], 2) + 0.0, row[f"{name}_half_width"]))
        for name in TERMS
    ]
    label = f"{row['algorithm']}, {row['noise']} noise{mark}"
    return label, (Entry(f"{row['mean_gain']:.2f}"), *terms, Entry(row["oracle"]))
