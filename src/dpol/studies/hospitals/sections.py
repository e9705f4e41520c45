"""The sections of the report that show the main experiment."""

from __future__ import annotations

from dataclasses import dataclass

from dpol.studies.hospitals.reported import PAPER
from dpol.studies.study import FigureSpec, TableSpec

_HERE = "dpol.studies.hospitals"


@dataclass(frozen=True)
class Section:
    """Figures and tables of the main experiment that are shown together.

    Args:
        name: its anchor.
        title: its heading.
        about: what it is about, in one or two sentences.
        figures: its figures.
        tables: its tables.
    """

    name: str
    title: str
    about: str
    figures: tuple[FigureSpec, ...] = ()
    tables: tuple[TableSpec, ...] = ()


_CUMULATIVE = FigureSpec(
    "cumulative-gain",
    "Cumulative gain",
    "Mean cumulative gain against time, from the first round to the last. A row of panels for each"
    " stream, a column for each privacy level; a line with a confidence band for each algorithm, a"
    " dotted line for the best single expert in hindsight, a shade for the range of the single"
    " learners. In each round the bands hold for all cells of the table of total gains together,"
    " where the lines end; they cover the noise on this one data set, not other states or years.",
    f"{_HERE}.cumulative_gain:draw_cumulative_gain",
)
_COMPARISON = FigureSpec(
    "comparison",
    "The paper’s way and ours",
    "Total gain against the privacy level, from no privacy on the left to the most privacy on the"
    " right, a panel for each stream. Lines: the paper’s way, ours, the best other local row, the"
    " best with a curator; dotted: the best of the paper’s learners without noise. Intervals cover"
    " the noise on this one data set, not other states or years. The numbers are in the table"
    " below.",
    f"{_HERE}.comparison_figure:draw_comparison",
)

TOTAL_GAIN = Section(
    "average-gain",
    "Total gain (the paper’s Table\u00a02)",
    f"Each algorithm at each privacy level, as in {PAPER}. Numbers in brackets are the"
    " paper’s, where it has comparable ones; all others were computed by this run.",
    tables=(TableSpec("average-gain", "Total gain", f"{_HERE}.average_gain:average_gain_table"),),
)
GAIN_OVER_TIME = Section(
    "cumulative-gain",
    "Gain over time (the paper’s Figure\u00a02)",
    "How the gains add up, and when noise begins to cost. The paper has no numbers for its"
    " figure but those of its Table 2.",
    figures=(_CUMULATIVE,),
)
BEYOND = Section(
    "beyond",
    "Beyond the paper, at the same privacy",
    "The paper’s way beside ours, and what noise, learners and selection each cost.",
    figures=(_COMPARISON,),
    tables=(
        TableSpec(
            "comparison",
            "The paper's way and ours",
            f"{_HERE}.comparison_tables:comparison_table",
        ),
        TableSpec("ablation", "Losses in parts", f"{_HERE}.comparison_tables:ablation_table"),
    ),
)
