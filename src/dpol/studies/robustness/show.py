"""The study draws nothing: `tools/recorded_numbers.py` tabulates its recorded results."""

from __future__ import annotations

from dpol.studies.study import Section

SECTIONS: tuple[Section, ...] = ()
