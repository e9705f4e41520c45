"""The section of the page on audits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, FigureSpec, Frames, Section, TableSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.show.table import Table


@partial(
    FigureSpec,
    name="audits",
    title="What the outputs prove, compared with the claims",
    description="A line for each audit that refutes its claim or lies outside the promise, and for"
    " the five others closest to their claims: the lower bound as a share of the claimed parameter."
    " The vertical line marks the claim; a red bound to its right refutes it. The table has all"
    " audits.",
)
def _draw_audits(frames: Frames, settings: Audits, facts: Facts) -> Figure:
    from dpol.studies.audits.shown import draw_audits

    return draw_audits(frames, settings, facts)


@partial(TableSpec, name="audits", title="Audits of privacy", place="file")
def _audits_table(frames: Frames, settings: Audits, facts: Facts) -> Table:
    from dpol.studies.audits.shown import audits_table

    return audits_table(frames, settings, facts)


SECTIONS = (
    Section(
        name="audits",
        about="Every mechanism is attacked. The success of the attack gives a lower bound on"
        " the true privacy parameter. A claim below that bound is refuted. The notes below the"
        " table say what ran.",
        results=("audits",),
        figures=(_draw_audits,),
        tables=(_audits_table,),
    ),
)
"""Sections of the page, in their order."""
