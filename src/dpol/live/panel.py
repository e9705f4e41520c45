"""Reports as arrays: a row for each period, a column for each entity."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.live.log import TERMS, Log, Released, noise_growth
from dpol.privacy.chains import Chains

_CHUNK = 50_000  # Rows that are read at once.


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
        sha256: of lines: the checksum of the deployment, that of each column of what was read, see
            `_rows`, and the kinds of noise as Python writes them.
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
        """The reports of the first `rounds` periods; the number of releases stays."""
        arrays = "share", "capacity", "fresh", "noise", "a", "b", "spent", "place", "chain"
        return replace(self, **{name: getattr(self, name)[:rounds] for name in arrays})

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, n) flags of the entities that reported."""
        return self.chain >= 0

    @property
    def last(self) -> NDArray[np.intp]:
        """(n,) the last period that each entity reported; -1 for none."""
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
        """(n,) first capacities; their median for entities that have not reported."""
        first = self.capacity[self.there.argmax(axis=0), np.arange(self.capacity.shape[1])]
        return np.asarray(np.where(self.last >= 0, first, np.nanmedian(first)))

    def new_chains(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(T, n) flags of chains that differ from the last report's, and of those begun before.

        They had if a correction, which is of a chain of its own, comes between reports.
        """
        periods = np.where(self.there, np.arange(len(self.chain))[:, None], -1)
        before = np.maximum.accumulate(np.vstack([periods[:1] * 0 - 1, periods[:-1]]), axis=0)
        earlier = np.take_along_axis(self.chain, np.maximum(before, 0), axis=0)
        begun = self.there & ((self.place == 1) | (before < 0) | (earlier != self.chain))
        return begun, begun & (self.place > 1)


def read_panel(log: Log, rounds: int, received: int | None = None) -> Panel:
    """The reports of the first `rounds` periods.

    Args:
        log: what is read.
        rounds: their number T.
        received: number of the last report to read; None: of all.

    Raises:
        DataError: nothing was.
    """
    deployment = log.deployment
    period, shape = deployment.period_of(rounds), (rounds, len(deployment.entities))
    rows, last, sums = _rows(log, rounds, 2**62 if received is None else received)
    if not last:
        raise DataError(f"{log.path}: nothing was reported before {period}; take a later one")
    numbers, kind = np.unique(rows["noise"], return_inverse=True)
    kinds = [row for number, row in log.noises().items() if number in numbers]
    mu, _, a, b, _, scale, decimals = np.array(kinds, dtype=float).T
    fresh = (scale / 10.0**decimals)[kind] / rows["capacity"]
    noise = fresh * noise_growth(a[kind], b[kind], rows["place"])
    at, spent = (rows["period"], rows["entity"]), np.zeros(shape)
    np.add.at(spent, at, mu[kind] ** 2)

    def whole(missing: float, values: Floats) -> Any:
        array = np.full(shape, missing)
        array[at] = values  # of a period's versions the last
        return array

    return Panel(
        share=whole(np.nan, rows["noisy_share"]),
        capacity=whole(np.nan, rows["capacity"]),
        fresh=whole(np.nan, fresh),
        noise=whole(np.nan, noise),
        a=whole(np.nan, a[kind]),
        b=whole(np.nan, b[kind]),
        place=whole(0, rows["place"]),
        chain=whole(-1, rows["chain"]),
        spent=spent,
        memories=frozenset((str(it[2]), str(it[3]), int(it[4])) for it in kinds),
        releases=len(kind),
        corrections=int((rows["version"] > 1).sum()),
        last_received=last,
        sha256=sha256("\n".join((log.sha256, *sums, repr(kinds))).encode()).hexdigest(),
    )


_COLUMNS = *Released._fields[: -len(TERMS)], "noise"


def _rows(log: Log, rounds: int, received: int) -> tuple[dict[str, NDArray[Any]], int, list[str]]:
    """Rows of the log as columns of numbers, the last report they are from, and checksums.

    A checksum is of a column: its values as text, in the order of the log, a newline after each.
    """
    first, chains = log.deployment.period_of, defaultdict[str, int](itertools.count().__next__)
    number: dict[str, Callable[[str], float]] = {
        "entity": {name: place for place, name in enumerate(log.deployment.entities)}.__getitem__,
        "period": {first(it).isoformat(): it for it in range(rounds)}.__getitem__,
        "chain": chains.__getitem__,
        **dict.fromkeys(("version", "place", "noise"), int),
        **dict.fromkeys(("capacity", "noisy_share"), float),
    }
    found: dict[str, list[NDArray[Any]]] = {key: [] for key in number}
    sums, last = {key: sha256() for key in _COLUMNS}, 0
    for report, texts in _chunks(log, first(rounds).isoformat(), received):
        last = max(last, report)
        for key, text in zip(_COLUMNS, texts, strict=True):
            sums[key].update(f"{text}\n".encode())
            if key in number:
                found[key].append(np.array(list(map(number[key], text.split("\n")))))
    columns = {key: np.concatenate(own) for key, own in found.items()} if last else {}
    return columns, last, [it.hexdigest() for it in sums.values()]


def _chunks(log: Log, period: str, received: int) -> Iterator[tuple[int, list[str]]]:
    """Columns of the log, values parted by newlines, and the last report that they are from.

    SQLite joins the values: to make an object of each takes three times as long.
    """
    (end,) = log.connection.execute("SELECT MAX(number) FROM release").fetchone()
    joined = ", ".join(f"group_concat({key}, char(10))" for key in _COLUMNS)
    for start in range(0, end or 0, _CHUNK):
        # Without an index the rows come in the order of their numbers.
        last, *texts = log.connection.execute(
            f"SELECT MAX(report), {joined} FROM release NOT INDEXED WHERE number > ?"
            " AND number <= ? AND period < ? AND report <= ?",
            (start, start + _CHUNK, period, received),
        ).fetchone()
        if last is not None:
            yield last, texts
