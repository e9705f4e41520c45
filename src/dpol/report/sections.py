"""Which figures and tables a run has, in what order, and what each shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpol.config.models import Config
from dpol.studies.hospitals.reported import PAPER as TABLE_TWO
from dpol.studies.registry import load_studies
from dpol.studies.study import Figure, Study


@dataclass(frozen=True)
class SectionOf:
    """A section of the page.

    Args:
        key: its anchor.
        title: its heading.
        intro: what it is about.
        figures: figures of the run.
        tables: files below tables/, without suffix.
    """

    key: str
    title: str
    intro: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[str, ...] = ()


def sections_of(config: Config) -> tuple[SectionOf, ...]:
    """The sections with figures and tables of a run: the main experiment, then the studies."""
    beyond = () if config.comparison is None else (_BEYOND,)
    asked = ((study, config.block(name)) for name, study in load_studies().items())
    return (
        _TOTAL_GAIN,
        _GAIN_OVER_TIME,
        *beyond,
        *(_section_of(study, block) for study, block in asked if block is not None),
    )


def _section_of(study: Study, block: Any) -> SectionOf:
    tables = tuple(table.name for table in study.tables)
    return SectionOf(study.name, study.title, study.about, study.figures(block), tables)


_CUMULATIVE = Figure(
    "cumulative-gain",
    "Cumulative gain",
    "Mean cumulative gain against time, from the first round to the last. A row of panels for each"
    " stream, a column for each privacy level; a line with a confidence band for each algorithm, a"
    " dotted line for the best single expert in hindsight, a shade for the range of the single"
    " learners. In each round the bands hold for all cells of the table of total gains together,"
    " where the lines end; they cover the noise on this one data set, not other states or years.",
    "dpol.studies.hospitals.cumulative_gain:draw_cumulative_gain",
)
_COMPARISON = Figure(
    "comparison",
    "The paper’s way and ours",
    "Total gain against the privacy level, from no privacy on the left to the most privacy on the"
    " right, a panel for each stream. Lines: the paper’s way, ours, the best other local row, the"
    " best with a curator; dotted: the best of the paper’s learners without noise. Intervals cover"
    " the noise on this one data set, not other states or years. The numbers are in the table"
    " below.",
    "dpol.studies.hospitals.comparison_figure:draw_comparison",
)

_TOTAL_GAIN = SectionOf(
    "average-gain",
    "Total gain (the paper’s Table\u00a02)",
    f"Each algorithm at each privacy level, as in {TABLE_TWO}. Numbers in brackets are the"
    " paper’s, where it has comparable ones; all others were computed by this run.",
    tables=("average-gain",),
)
_GAIN_OVER_TIME = SectionOf(
    "cumulative-gain",
    "Gain over time (the paper’s Figure\u00a02)",
    "How the gains add up, and when noise begins to cost. The paper has no numbers for its"
    " figure but those of its Table 2.",
    figures=(_CUMULATIVE,),
)
_BEYOND = SectionOf(
    "beyond",
    "Beyond the paper, at the same privacy",
    "The paper’s way beside ours, and what noise, learners and selection each cost.",
    figures=(_COMPARISON,),
    tables=("comparison", "ablation"),
)
