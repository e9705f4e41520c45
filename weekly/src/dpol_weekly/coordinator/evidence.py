"""Evidence of a decision: the rows of the log before a period, as arrays for the algorithm.

Arrays have a row for each period and a column for each entity, in the order of the deployment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
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
_WHOLE = "number", "entity", "period", "version", "chain", "place", "noise"
_EXACT = "noisy_count", "capacity", "noisy_share"
_ROW = np.dtype([*((name, np.int32) for name in _WHOLE), *((name, float) for name in _EXACT)])
_AT_ONCE = 50_000  # rows of the log
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
    deployment, ends = log.deployment, log.deployment.period_of(periods).isoformat()
    aside = {
        SetAside(entity=entity, period=period, version=version, reason=reason): number
        for number, entity, period, version, reason in log.connection.execute(
            "SELECT number, entity, period, version, set_aside FROM released WHERE period < ?"
            " AND entity IN (SELECT entity FROM act) AND set_aside IS NOT NULL"
            " ORDER BY entity, period, version",
            (ends,),
        )
    }
    if versions is None:
        set_aside = tuple(aside)
    rows, terms, shape = _rows(log, periods), _terms(log), (periods, len(deployment.entities))
    if versions is not None:
        rows = rows[rows["version"] <= versions[rows["period"], rows["entity"]]]
    period, place, noise = rows["period"], rows["entity"], rows["noise"]
    cell = np.ravel_multi_index((period, place), shape)

    def summed(values: Floats) -> Floats:
        """(T, n) sums over the rows of a period and entity."""
        sums = np.bincount(cell, values, minlength=periods * shape[1])
        return np.asarray(sums.reshape(shape), dtype=float)

    there = np.bincount(cell, minlength=periods * shape[1]).reshape(shape)
    if versions is not None and ((there != versions).any() or not set(set_aside) <= set(aside)):
        raise DataError(f"{log.path}: lacks rows, or acts, that this decision rests on")
    ignored = np.isin(rows["number"], [aside[it] for it in set_aside])
    if ignored.all():
        raise DataError(f"{log.path}: nothing was reported before {ends}; take a later one")
    cells = np.full(shape, np.nan, dtype=_REPORT)
    counting = rows[~ignored]
    at, of_noise = (counting["period"], counting["entity"]), terms[counting["noise"]]
    fresh = of_noise["scale"] / 10.0 ** of_noise["decimals"] / counting["capacity"]
    growth = chain_growth(of_noise["a"], of_noise["b"], counting["place"] - 1)
    for name, values in (
        ("share", counting["noisy_share"]),
        ("capacity", counting["capacity"]),
        ("fresh", fresh),
        ("noise", fresh * growth),
        ("a", of_noise["a"]),
        ("b", of_noise["b"]),
        ("place", counting["place"]),
        ("chain", counting["chain"]),
    ):
        cells[name][at] = values  # of versions the last
    reports = Reports(cells)
    return Evidence(
        reports=reports,
        versions=there,
        set_aside=set_aside,
        releases=len(counting),
        spent=spent_of(
            deployment,
            squared_mu=summed(terms["mu"][noise] ** 2),
            weight=summed(terms["weight"][noise]),
            unit_weeks=int(terms["unit_weeks"][noise].min()),
            corrections=len(counting) - int(reports.there.sum()),
        ),
        sha256=_hash_of(log, rows, terms, ignored),
    )


def _rows(log: Log, periods: int) -> NDArray[Any]:
    """Rows of the log of the first periods, by entity, period and version.

    Entities are numbered as in the deployment. One may have joined by an amendment after the
    decision that is made again; its rows are left out.
    """
    base = log.connection
    place_of = {name: place for place, name in enumerate(log.deployment.entities)}
    (last,) = base.execute("SELECT IFNULL(MAX(number), 0) FROM release").fetchone()
    parts = [np.empty(0, dtype=_ROW)]
    # Whole columns are read as text, all in one order, for numbers would be made one by one.
    columns = ", ".join(f"GROUP_CONCAT({name}, ' ')" for name in (*_WHOLE, *_EXACT))
    for first in range(1, last + 1, _AT_ONCE):
        texts = base.execute(
            f"SELECT {columns} FROM release WHERE number BETWEEN ? AND ? AND period < ?",
            (first, first + _AT_ONCE - 1, periods),
        ).fetchone()
        if any(texts):
            kinds = [_ROW[name] for name in (*_WHOLE, *_EXACT)]
            numbers = map(partial(np.fromstring, sep=" "), texts, kinds)
            parts.append(np.rec.fromarrays([*numbers], dtype=_ROW))
    rows = np.concatenate(parts)
    found = base.execute("SELECT number, text FROM name").fetchall()
    places = np.full(1 + len(found), -1, dtype=np.int32)
    for number, text in found:
        places[number] = place_of.get(text, -1)
    rows["entity"] = places[rows["entity"]]
    rows = rows[rows["entity"] >= 0]
    # One key takes a third of the time of three.
    key = _ranks(log)[rows["entity"]] * periods + rows["period"]
    return rows[np.argsort(key * (1 + rows["version"].max(initial=0)) + rows["version"])]


def _terms(log: Log) -> NDArray[Any]:
    """The public numbers of each kind of noise, and the weight of a release, by its number."""
    found = log.connection.execute("SELECT * FROM noise ORDER BY number").fetchall()
    terms = np.zeros(1 + len(found), dtype=[(name, float) for name in (*_TERMS, "weight")])
    for noise in found:
        key = noise["mu"], noise["a"], noise["b"], noise["unit_weeks"]
        weight = float(weight_of(*key, log.deployment.longest_stay))
        terms[noise["number"]] = *(float(noise[name]) for name in _TERMS), weight
    return terms


def _ranks(log: Log) -> NDArray[np.intp]:
    """(n,) the place of each entity in the order of their identifiers."""
    return np.argsort(np.argsort(np.array(list(log.deployment.entities))))


def _hash_of(log: Log, rows: NDArray[Any], terms: NDArray[Any], ignored: NDArray[np.bool_]) -> str:
    whole = sha256(log.deployment.sha256().encode())
    _, first, inverse = np.unique(rows["chain"], return_index=True, return_inverse=True)

    def columns() -> Iterator[NDArray[Any]]:
        yield _ranks(log)[rows["entity"]]
        for name in ("period", "version", *_EXACT):
            yield rows[name]
        yield np.argsort(np.argsort(first))[inverse]  # chains, as they appear
        yield rows["place"]
        for name in _TERMS:
            yield terms[name][rows["noise"]]
        yield ignored

    for column in columns():
        whole.update(column.astype("<f8").tobytes())
    return whole.hexdigest()
