"""Settings of the periods of a table."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpol.core.settings import Settings

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
"""The range of dates; one outside it is taken for a mistake."""

Day = Annotated[datetime.date, Field(ge=EARLIEST, le=LATEST)]


class Periods(Settings):
    """The periods that are used."""

    first: Day | None = None
    """First period, included; without it the first in the table."""
    last: Day | None = None
    """Last period, included; without it the last in the table."""
    days: Annotated[int, Field(ge=1, le=36_600)] = 7
    """Length of a period in days."""
    swapped: Literal["error", "keep"] = "error"
    """Treatment of a date that looks as if day and month were swapped: `error` stops the run,
    `keep` takes it as it is. Such a date makes a period of few entities, and all of them lack the
    period in which the date with day and month in the other order would put them."""

    @model_validator(mode="after")
    def _ordered(self) -> Periods:
        if self.first and self.last and self.first > self.last:
            raise ValueError(f"first ({self.first}) must not be after last ({self.last})")
        return self
