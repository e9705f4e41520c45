"""A study of coins: how often they show heads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from dpol.core.settings import Settings
from dpol.studies.study import Figure, Point, Study, Table

_HERE = "dpol.studies.coins.study"


class Coins(Settings):
    """Coins that are thrown."""

    biases: Annotated[list[float], Field(min_length=1)]
    """Probability of heads of each coin."""
    throws: int = 100
    """Throws of each coin."""


def points(settings: Coins, streams: Sequence[str]) -> dict[str, Point]:
    """A point for each coin."""
    return {f"coin-{number}": {"bias": bias} for number, bias in enumerate(settings.biases)}


STUDY = Study(
    name="coins",
    title="Coins",
    about="Coins are thrown, and heads are counted.",
    settings=Coins,
    folder=Path(__file__).parent,
    results=("coins",),
    points=points,
    run=f"{_HERE}:run",
    collect=f"{_HERE}:collect",
    figures=lambda settings: (
        Figure("coins", "Heads", "Share of heads against the bias of a coin.", f"{_HERE}:draw"),
    ),
    tables=(Table("coins", "Heads of each coin", f"{_HERE}:build"),),
)
