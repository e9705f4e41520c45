"""Settings of the league, which come from other keys of a config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpol.core.settings import Settings


class LeagueSettings(Settings):
    """The keys of a config that the league depends on."""

    questions: dict[str, str]
    """Label of the question of each gain stream, by label of the stream."""
    apart: bool
    """Whether no two streams of a question count the same people."""


@dataclass(frozen=True, kw_only=True)
class LeaguePoint:
    """Make the standings of the games that were played.

    Args:
        questions: label of the question of each stream, by label of the stream.
        apart: whether no two streams of a question count the same people.
        confidence: joint confidence of the intervals.
    """

    questions: Mapping[str, str]
    apart: bool
    confidence: float
