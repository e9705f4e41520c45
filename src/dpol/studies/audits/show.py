"""The section of the page on audits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from dpol.studies.audits.settings import Audits
from dpol.studies.study import Facts, Frames, Section, TableSpec

if TYPE_CHECKING:
    from dpol.show.table import Table


@partial(TableSpec, name="audits-closest", title="What the outputs prove", place="seen")
def _closest_audits(frames: Frames, settings: Audits, facts: Facts) -> Table:
    from dpol.studies.audits.shown import closest_audits

    return closest_audits(frames, settings, facts)


@partial(TableSpec, name="audits", title="Audits of privacy", place="file")
def _audits_table(frames: Frames, settings: Audits, facts: Facts) -> Table:
    from dpol.studies.audits.shown import audits_table

    return audits_table(frames, settings, facts)


SECTIONS = (
    Section(
        name="audits",
        chapter="privacy",
        title="Attacks on the mechanisms",
        about="Every mechanism is attacked. The success of the attack gives a lower bound on"
        " the true privacy parameter. A claim below that bound is refuted. The notes below the"
        " table say what ran.",
        results=("audits",),
        tables=(_closest_audits, _audits_table),
    ),
)
"""Sections of the page, in their order."""
