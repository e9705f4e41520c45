"""Reports of the log that count, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol_weekly.coordinator.log import Log


@dataclass(frozen=True, eq=False, kw_only=True)
class Reports:
    """Reports as (T, n) arrays, with a column for each entity, in the order of the agreement.

    NaN where there is none, or only what was set aside; the last one after a second release.

    Args:
        count: noisy count.
        capacity: reported capacity.
    """

    count: Floats
    capacity: Floats

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, n) flags of the entities that reported."""
        return ~np.isnan(self.count)

    @property
    def last(self) -> NDArray[np.intp]:
        """(n,) last reported period of each entity; -1 for none."""
        periods = np.arange(len(self.count))[:, None]
        return np.asarray(np.where(self.there, periods, -1).max(axis=0))


def read_reports(log: Log, periods: int) -> Reports:
    """Return the reports of the first T periods of a log."""
    places = {name: place for place, name in enumerate(log.deployment.entities)}
    count, capacity = np.full((2, periods, len(places)), np.nan)
    columns = "entity, period, noisy_count, capacity"
    days = {log.deployment.period_of(it).isoformat(): it for it in range(periods + 1)}
    found = log.releases("period < ? AND set_aside IS NULL", [*days][-1], columns=columns)
    for entity, period, noisy_count, beds in found:
        at = days[period], places[entity]
        count[at], capacity[at] = float(noisy_count), float(beds)
    return Reports(count=count, capacity=capacity)
