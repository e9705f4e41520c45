"""Evidence of a decision: the rows of the log before a period, as arrays for the algorithm.

Arrays have a row for each period and a column for each entity, in the order of the deployment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.privacy.chains import Chains, chain_growth
from dpol_weekly.coordinator.log import Log
from dpol_weekly.coordinator.spent import Spent, spent_of, weight_of

_TERMS = "mu", "count_sensitivity", "a", "b", "unit_weeks", "scale", "decimals"
_HASHED = (
    *("entity", "period", "version", "noisy_count", "capacity", "noisy_share", "chain", "place"),
    *(*_TERMS, "set_aside"),
)
_AT_ONCE = 2_000  # rows of the log; many more do not fit the cache of a processor
_ROW = np.dtype([(name, float) for name in (*_HASHED, "weight")])
_REPORT = np.dtype(
    [(name, float) for name in ("share", "capacity", "fresh", "noise", "a", "b", "place", "chain")]
)


@dataclass(frozen=True, kw_only=True)
class SetAside:
    """A release that does not count.

    Args:
        entity: its identifier.
        period: YYYY-MM-DD.
        version: of the release.
        reason: the coordinator's.
    """

    entity: str
    period: str
    version: int
    reason: str


@dataclass(frozen=True, eq=False)
class Reports:
    """The shares that entities reported; of a correction and what it supersedes, the former.

    Args:
        cells: (T, n) of records, all NaN without a report: the noisy `share`, the `capacity`, the
            standard deviation of what is `fresh` in the noise on the share and of all `noise`, `a`
            and `b` of its memory, and its `chain` with the `place` in it, from 1.
    """

    cells: NDArray[Any]

    def before(self, number: int) -> Reports:
        """The reports of the first periods."""
        return Reports(self.cells[:number])

    def as_counts(self, bound: float) -> Reports:
        """The counts as shares of a public bound, which takes the place of the capacities."""
        cells = self.cells.copy()
        for name in ("share", "fresh", "noise"):
            cells[name] *= cells["capacity"] / bound
        cells["capacity"] = np.where(self.there, bound, np.nan)
        return Reports(cells)

    @property
    def there(self) -> NDArray[np.bool_]:
        """(T, n) flags of the entities that reported."""
        return np.asarray(~np.isnan(self.cells["share"]))

    @property
    def last(self) -> NDArray[np.intp]:
        """(n,) the last period that each entity reported; -1 for none."""
        periods = np.arange(len(self.cells))[:, None]
        return np.asarray(np.where(self.there, periods, -1).max(axis=0))

    def memory(self) -> Chains | None:
        """The memory of each entity's last chain; None if all noise is independent."""
        cells, last = self.cells, self.last
        if not (cells["a"] != cells["b"])[self.there].any():
            return None
        of_last = cells[last, np.arange(cells.shape[1])]
        a, b = (np.where(last >= 0, of_last[name], 0.0) for name in ("a", "b"))
        return Chains(a, b)

    def first_capacity(self) -> Floats:
        """(n,) first capacities; their median for entities that have not reported."""
        capacity = self.cells["capacity"]
        first = capacity[self.there.argmax(axis=0), np.arange(capacity.shape[1])]
        return np.asarray(np.where(self.last >= 0, first, np.nanmedian(first)))

    def new_chains(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """(T, n) flags of chains that differ from the last report's, and of those begun before.

        They had if a correction, which is of a chain of its own, comes between reports.
        """
        there, cells = self.there, self.cells
        begun, last = np.zeros(cells.shape, dtype=bool), np.full(cells.shape[1], np.nan)
        for period, reported in enumerate(there):
            chain = cells["chain"][period]
            begun[period] = reported & ((cells["place"][period] == 1) | (chain != last))
            last = np.where(reported, chain, last)
        return begun, begun & (cells["place"] > 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """All that was reported before a period.

    Args:
        reports: those that count.
        versions: (T, n) how many releases of each period and entity were read.
        set_aside: those of them that do not count.
        releases: how many of them count.
        spent: what all of them cost a person.
        sha256: of the rows, whatever the order in which they were collected; the manual for
            coordinators defines it.
    """

    reports: Reports
    versions: NDArray[np.int_]
    set_aside: tuple[SetAside, ...]
    releases: int
    spent: Spent
    sha256: str


def read_evidence(
    log: Log,
    periods: int,
    *,
    versions: NDArray[np.int_] | None = None,
    set_aside: tuple[SetAside, ...] = (),
) -> Evidence:
    """The evidence of the first periods.

    Args:
        log: what is read.
        periods: their number T.
        versions: (T, n) how many releases of each period and entity are read; None: all.
        set_aside: with `versions`, those of them that do not count.

    Raises:
        DataError: nothing was reported that counts, or the log lacks what is to be read.
    """
    deployment = log.deployment
    end = deployment.period_of(periods).isoformat()
    columns = "entity, period, version, set_aside AS reason"
    found = log.connection.execute(
        f"SELECT {columns} FROM listed WHERE entity IN (SELECT entity FROM act)"
        " AND set_aside IS NOT NULL AND period < ? ORDER BY entity, period, version",
        (end,),
    )
    aside = tuple(SetAside(**row) for row in found)
    if versions is None:
        set_aside = aside
    rows = _rows(log, periods, aside=set_aside, versions=versions)
    place, period = rows["entity"].astype(int), rows["period"].astype(int)
    shape = periods, len(deployment.entities)

    def summed(values: NDArray[Any]) -> NDArray[Any]:
        """(T, n) sums over the rows of a period and entity."""
        sums = np.zeros(shape, dtype=values.dtype)
        np.add.at(sums, (period, place), values)
        return sums

    there = summed(np.ones(len(rows), dtype=int))
    if versions is not None and ((there != versions).any() or not set(set_aside) <= set(aside)):
        raise DataError(f"{log.path}: lacks rows, or acts, that this decision rests on")
    counts = rows["set_aside"] == 0
    if not counts.any():
        raise DataError(f"{log.path}: nothing was reported before {end}; take a later one")
    cells = np.full(shape, np.nan, dtype=_REPORT)
    cells[period[counts], place[counts]] = _reported(rows[counts])  # of versions the last
    reports, releases = Reports(cells), int(counts.sum())
    return Evidence(
        reports=reports,
        versions=there,
        set_aside=set_aside,
        releases=releases,
        spent=spent_of(
            deployment,
            squared_mu=summed(rows["mu"] ** 2),
            weight=summed(rows["weight"]),
            unit_weeks=int(rows["unit_weeks"].min()),
            corrections=releases - int(reports.there.sum()),
        ),
        sha256=_hash_of(log, rows),
    )


def _rows(
    log: Log, periods: int, *, aside: Sequence[SetAside], versions: NDArray[np.int_] | None
) -> NDArray[Any]:
    """Rows of the log as numbers, by entity, period and version.

    Entities and periods are numbered as in the deployment, chains as they appear.

    Args:
        log: what is read.
        periods: the first so many are.
        aside: what is set aside.
        versions: (T, n) how many releases of each period and entity are read; None: all.
    """
    deployment, longest_stay = log.deployment, log.deployment.longest_stay
    place_of = {name: place for place, name in enumerate(deployment.entities)}
    number_of = {deployment.period_of(it).isoformat(): it for it in range(periods)}
    ignored = {(it.entity, it.period, it.version) for it in aside}
    (kinds,) = log.connection.execute("SELECT IFNULL(MAX(number), 0) FROM noise").fetchone()
    terms = np.zeros(kinds + 1, dtype=[(name, float) for name in (*_TERMS, "weight")])
    for noise in log.connection.execute("SELECT * FROM noise"):
        key = noise["mu"], noise["a"], noise["b"], noise["unit_weeks"]
        numbers = *(float(noise[name]) for name in _TERMS), float(weight_of(*key, longest_stay))
        terms[noise["number"]] = numbers
    chains: dict[str, int] = {}
    cursor = log.connection.cursor()
    cursor.row_factory = None  # plain tuples are read in half the time
    cursor.execute(
        # Sorted below: SQLite would look up row by row.
        "SELECT entity, period, version, noisy_count, capacity, noisy_share, chain, place, noise"
        " FROM release WHERE period < ?",
        (deployment.period_of(periods).isoformat(),),
    )
    parts = [np.empty(0, dtype=_ROW)]
    while found := cursor.fetchmany(_AT_ONCE):
        columns = zip(*found, strict=True)
        entity, period, version, count, capacity, share, chain, place, kind = columns
        rows = np.zeros(len(found), dtype=_ROW)
        # An entity may have joined by an amendment after the decision that is made again.
        rows["entity"] = [place_of.get(it, -1) for it in entity]
        rows["period"] = [number_of[it] for it in period]
        rows["version"], rows["place"] = version, place
        rows["noisy_count"] = [*map(float, count)]
        rows["capacity"] = [*map(float, capacity)]
        rows["noisy_share"] = [*map(float, share)]
        rows["chain"] = [chains.setdefault(it, len(chains)) for it in chain]
        of_rows = terms[list(kind)]
        for name in terms.dtype.names or ():
            rows[name] = of_rows[name]
        if ignored:
            rows["set_aside"] = [it in ignored for it in zip(entity, period, version, strict=True)]
        parts.append(rows)
    rows = np.concatenate(parts)
    del parts
    at, week = rows["entity"].astype(int), rows["period"].astype(int)
    order = np.lexsort((rows["version"], week, _ranks(log)[at]))
    read = at >= 0
    if versions is not None:
        read &= rows["version"] <= versions[week, at]
    rows = rows[order[read[order]]]
    _, first, inverse = np.unique(rows["chain"], return_index=True, return_inverse=True)
    rows["chain"] = np.argsort(np.argsort(first))[inverse]
    return rows


def _ranks(log: Log) -> NDArray[np.intp]:
    """(n,) the place of each entity in the order of their identifiers."""
    return np.argsort(np.argsort(np.array(list(log.deployment.entities))))


def _reported(rows: NDArray[Any]) -> NDArray[Any]:
    """The cells of `Reports`, of rows."""
    cells = np.empty(len(rows), dtype=_REPORT)
    for name in ("capacity", "a", "b", "place", "chain"):
        cells[name] = rows[name]
    cells["share"] = rows["noisy_share"]
    cells["fresh"] = rows["scale"] / 10.0 ** rows["decimals"] / rows["capacity"]
    growth = chain_growth(rows["a"], rows["b"], rows["place"] - 1)
    cells["noise"] = cells["fresh"] * growth
    return cells


def _hash_of(log: Log, rows: NDArray[Any]) -> str:
    whole = sha256(log.deployment.sha256().encode())
    rank = _ranks(log)
    for name in _HASHED:
        column = rank[rows["entity"].astype(int)] if name == "entity" else rows[name]
        whole.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
    return whole.hexdigest()
