"""The study draws nothing: programs in `tools` tabulate its recorded results."""

from __future__ import annotations

from dpol.studies.study import Section

SECTIONS: tuple[Section, ...] = ()
