"""What was reported, as arrays: a row for each period, a column for each entity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.live.log import Log, Released, noise_growth
from dpol.privacy.chains import Chains
from dpol.release.deployment import Deployment

Columns = Mapping[str, Sequence[Any]]
"""Rows of the log in columns, by the names of `Released`."""
_CHUNK = 100_000  # Rows that are read at once; the checksum depends on it.


@dataclass(frozen=True, eq=False)
class Panel:
    """All that was reported before a period; of a correction and what it supersedes, the former.

    Args:
        share: (T, n) noisy shares; NaN: no report.
        capacity: (T, n) capacities, likewise.
        fresh: (T, n) standard deviation of what is fresh in the noise on the share, likewise.
        noise: (T, n) of all noise, likewise.
        a: (T, n) of the memory of noise, likewise.
        b: likewise.
        place: (T, n) of the report in its chain of noise, from 1; 0: no report.
        chain: (T, n) which chain that is; -1: no report.
        spent: (T, n) sum of the squared mu of all releases, superseded ones included.
        memories: a, b and the unit in weeks of every kind of noise.
        releases: how many rows were read.
        corrections: how many of them supersede another one.
        last_received: number of the last report that was read.
        sha256: of all that was read, the deployment included.
    """

    share: Floats
    capacity: Floats
    fresh: Floats
    noise: Floats
    a: Floats
    b: Floats
    place: NDArray[np.int_]
    chain: NDArray[np.int_]
    spent: Floats
    memories: frozenset[tuple[str, str, int]]
    releases: int
    corrections: int
    last_received: int
    sha256: str

    def before(self, rounds: int) -> Panel:
        """What was reported in the first `rounds` periods; the number of releases stays."""
        arrays = (*_FLOATS, "spent", "place", "chain")
        return replace(self, **{name: getattr(self, name)[:rounds] for name in arrays})

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, n) who reported."""
        return self.chain >= 0

    @property
    def last(self) -> NDArray[np.intp]:
        """(n,) the last period that each reported; -1: none."""
        periods = np.arange(len(self.chain))[:, None]
        return np.asarray(np.where(self.there, periods, -1).max(axis=0))

    def memory(self) -> Chains | None:
        """The memory of each entity's last chain; None if all noise is independent."""
        if not (self.a[self.there] != self.b[self.there]).any():
            return None
        each = np.arange(self.a.shape[1])
        last = self.last
        return Chains(*(np.where(last >= 0, it[last, each], 0.0) for it in (self.a, self.b)))

    def first_capacity(self) -> Floats:
        """(n,) first capacities; the median of these for who has not reported."""
        first = self.capacity[self.there.argmax(axis=0), np.arange(self.capacity.shape[1])]
        return np.asarray(np.where(self.last >= 0, first, np.nanmedian(first)))

    def new_chains(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(T, n) whose chain is not that of the last report, and which of these had begun before.

        They had where a correction, which is of a chain of its own, stands between reports.
        """
        periods = np.where(self.there, np.arange(len(self.chain))[:, None], -1)
        before = np.maximum.accumulate(np.vstack([periods[:1] * 0 - 1, periods[:-1]]), axis=0)
        earlier = np.take_along_axis(self.chain, np.maximum(before, 0), axis=0)
        begun = self.there & ((self.place == 1) | (before < 0) | (earlier != self.chain))
        return begun, begun & (self.place > 1)


def read_panel(log: Log, rounds: int, received: int | None = None) -> Panel:
    """What was reported in the first `rounds` periods.

    Args:
        log: what is read.
        rounds: their number T.
        received: number of the last report to read; None: of all.

    Raises:
        DataError: nothing was.
    """
    period = log.deployment.period_of(rounds).isoformat()
    rows = _chunks(log, period, 2**62 if received is None else received)
    panel = panel_of(log.deployment, rounds, rows)
    if not panel.releases:
        raise DataError(f"{log.path}: nothing was reported before {period}; take a later one")
    return panel


def panel_of(
    deployment: Deployment, rounds: int, chunks: Iterable[tuple[Sequence[int], Columns]]
) -> Panel:
    """The panel of rows, a correction after what it supersedes.

    Args:
        deployment: that they are of.
        rounds: number T of its first periods, which hold all rows.
        chunks: numbers of the reports, and the rows.
    """
    column = {name: place for place, name in enumerate(deployment.entities)}
    number = {deployment.period_of(it).isoformat(): it for it in range(rounds)}
    shape = rounds, len(column)
    floats = {key: np.full(shape, np.nan) for key in _FLOATS} | {"spent": np.zeros(shape)}
    place, chain = np.zeros(shape, int), np.full(shape, -1)
    digest, chains = sha256(deployment.sha256().encode()), dict[str, int]()
    memories: set[tuple[str, str, int]] = set()
    last = releases = corrections = 0
    for reports, it in chunks:
        digest.update(repr(tuple(it.values())).encode())
        at = [number[own] for own in it["period"]], [column[own] for own in it["entity"]]
        for key, numbers in _numbers(it).items():
            floats[key][at] = numbers
        place[at] = it["place"]
        chain[at] = [chains.setdefault(own, len(chains)) for own in it["chain"]]
        np.add.at(floats["spent"], at, np.array(it["mu"], dtype=float) ** 2)
        memories.update(zip(it["a"], it["b"], it["unit_weeks"], strict=True))
        last, releases = max(last, *reports), releases + len(reports)
        corrections += sum(version > 1 for version in it["version"])
    return Panel(
        **floats,
        place=place,
        chain=chain,
        memories=frozenset(memories),
        releases=releases,
        corrections=corrections,
        last_received=last,
        sha256=digest.hexdigest(),
    )


_FLOATS = "share", "capacity", "fresh", "noise", "a", "b"


def _chunks(log: Log, period: str, received: int) -> Iterator[tuple[Sequence[int], Columns]]:
    """Rows of the log in columns, in the order they came in, and the reports they are from."""
    found = log.connection.execute(
        f"SELECT report, {', '.join(Released._fields)} FROM release WHERE period < ?"
        " AND report <= ? ORDER BY number",
        (period, received),
    )
    while chunk := found.fetchmany(_CHUNK):
        reports, *columns = zip(*chunk, strict=True)
        yield reports, dict(zip(Released._fields, columns, strict=True))


def _numbers(columns: Mapping[str, Sequence[Any]]) -> dict[str, Floats]:
    """What is computed of rows, in the order of `_FLOATS`."""
    keys = "noisy_share", "capacity", "scale", "decimals", "a", "b", "place"
    share, capacity, scale, decimals, a, b, place = (
        np.array(columns[key], dtype=float) for key in keys
    )
    fresh = scale / 10.0**decimals / capacity
    values = share, capacity, fresh, fresh * noise_growth(a, b, place), a, b
    return dict(zip(_FLOATS, values, strict=True))
