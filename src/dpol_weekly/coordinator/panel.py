"""Reports as arrays: a row for each period, a column for each entity."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.privacy.chains import Chains
from dpol_weekly.coordinator.log import TERMS, Log, noise_growth
from dpol_weekly.coordinator.weights import weight_of

_CHUNK = 50_000  # Rows that are read at once.


class SetAside(NamedTuple):
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
class Inputs:
    """The rows that a decision read.

    Args:
        versions: (T, n) how many releases of each period and entity.
        set_aside: those that did not count.
    """

    versions: NDArray[np.int_]
    set_aside: Sequence[SetAside]


@dataclass(frozen=True, eq=False)
class Panel:
    """All that was reported before a period; of a correction and what it supersedes, the former.

    What was set aside is in `spent`, `weight`, `inputs` and the hash only.

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
        weight: (T, n) likewise, of their weights in a longest stay, see
        `dpol_weekly.coordinator.weights`.
        unit_weeks: the shortest stay that mu protects.
        releases: how many rows count.
        corrections: how many of them supersede another one.
        inputs: what was read.
        sha256: of all that was read, see `_hash_of`.
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
    weight: Floats
    unit_weeks: int
    releases: int
    corrections: int
    inputs: Inputs
    sha256: str

    def before(self, rounds: int) -> Panel:
        """The reports of the first `rounds` periods; the number of releases stays."""
        arrays = (
            "share",
            "capacity",
            "fresh",
            "noise",
            "a",
            "b",
            "spent",
            "weight",
            "place",
            "chain",
        )
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


def read_panel(log: Log, rounds: int, only: Inputs | None = None) -> Panel:
    """The reports of the first `rounds` periods.

    Args:
        log: what is read.
        rounds: their number T.
        only: what of it is read, as a decision did; None: all.

    Raises:
        DataError: nothing was reported that counts, or the log lacks what is to be read.
    """
    read, aside = _rows(log, rounds)
    if only:
        read, aside = _again(log, read, aside, only)
    if read["set_aside"].all():
        period = log.deployment.period_of(rounds)
        raise DataError(f"{log.path}: nothing was reported before {period}; take a later one")
    noises = log.noises()
    numbers, kind = np.unique(read["noise"], return_inverse=True)
    kinds = [noises[number] for number in numbers.tolist()]
    terms = np.array(kinds, dtype=float).T
    shape = rounds, len(log.deployment.entities)
    return Panel(
        **_reported(shape, read, terms, kind),
        **_spent(shape, read, kinds, kind, log.deployment.longest_stay),
        inputs=Inputs(_summed(shape, read, np.ones(len(kind), dtype=int)), tuple(aside)),
        sha256=_hash_of(log, read, terms, kind),
    )


def _reported(
    shape: tuple[int, int], read: Mapping[str, NDArray[Any]], terms: Floats, kind: NDArray[np.intp]
) -> dict[str, Any]:
    """Arrays of a panel, of the rows that count."""
    count = ~read["set_aside"]
    rows = {key: column[count] for key, column in read.items()}
    _, _, a, b, _, scale, decimals = terms[:, kind[count]]
    fresh = scale / 10.0**decimals / rows["capacity"]
    noise = fresh * noise_growth(a, b, rows["place"])

    def whole(missing: float, values: Floats) -> Any:
        array = np.full(shape, missing)
        array[rows["period"], rows["entity"]] = values  # of a period's versions the last
        return array

    place = whole(0, rows["place"])
    return {
        "share": whole(np.nan, rows["noisy_share"]),
        "capacity": whole(np.nan, rows["capacity"]),
        "fresh": whole(np.nan, fresh),
        "noise": whole(np.nan, noise),
        "a": whole(np.nan, a),
        "b": whole(np.nan, b),
        "place": place,
        "chain": whole(-1, rows["chain"]),
        "releases": len(fresh),
        "corrections": len(fresh) - int((place > 0).sum()),
    }


def _spent(
    shape: tuple[int, int],
    read: Mapping[str, NDArray[Any]],
    kinds: Sequence[tuple[str | int, ...]],
    kind: NDArray[np.intp],
    longest_stay: int,
) -> dict[str, Any]:
    """Arrays of a panel: the cost of all rows that were read."""
    terms = [dict(zip(TERMS, it, strict=True)) for it in kinds]
    mu = np.array([float(it["mu"]) for it in terms])
    weights = np.array([float(weight_of(it, longest_stay)) for it in kinds])
    return {
        "spent": _summed(shape, read, (mu**2)[kind]),
        "weight": _summed(shape, read, weights[kind]),
        "unit_weeks": min(int(it["unit_weeks"]) for it in terms),
    }


def _summed(
    shape: tuple[int, int], read: Mapping[str, NDArray[Any]], values: NDArray[Any]
) -> NDArray[Any]:
    """(T, n) sums of values of rows."""
    array = np.zeros(shape, dtype=values.dtype)
    np.add.at(array, (read["period"], read["entity"]), values)
    return array


_COLUMNS = (
    *("entity", "period", "version", "noisy_count", "capacity", "noisy_share", "chain", "place"),
    *("noise", "set_aside"),
)
"""Columns that are read, in the order of the hash."""
_SET_ASIDE = "entity", "period", "version", "set_aside"


def _rows(log: Log, rounds: int) -> tuple[dict[str, NDArray[Any]], Sequence[SetAside]]:
    """Rows of the log as columns of numbers, by entity, period and version; those set aside.

    Entities and periods are numbered as in the deployment, chains as they appear.
    """
    entities, first = list(log.deployment.entities), log.deployment.period_of
    chains = defaultdict[str, int](itertools.count().__next__)
    number: dict[str, Callable[[Any], float]] = {
        "entity": {name: place for place, name in enumerate(entities)}.__getitem__,
        "period": {first(it).isoformat(): it for it in range(rounds)}.__getitem__,
        "chain": chains.__getitem__,
        **dict.fromkeys(("version", "place", "noise"), int),
        **dict.fromkeys(("noisy_count", "capacity", "noisy_share"), float),
        "set_aside": lambda reason: reason is not None,
    }
    read: dict[str, list[NDArray[Any]]] = {key: [] for key in _COLUMNS}
    aside: list[SetAside] = []
    for chunk in _chunks(log, first(rounds).isoformat()):
        for key, cells in chunk.items():
            read[key].append(np.array(list(map(number[key], cells))))
        if any(chunk["set_aside"]):
            rows = zip(*(chunk[key] for key in _SET_ASIDE), strict=True)
            aside += [SetAside(*row) for row in rows if row[-1] is not None]
    if not read["entity"]:
        return {key: np.zeros(0, dtype=bool) for key in _COLUMNS}, []
    columns = {key: np.concatenate(read.pop(key)) for key in _COLUMNS}
    rank = np.argsort(np.argsort(np.array(entities)))  # by their names
    order = np.lexsort([columns["version"], columns["period"], rank[columns["entity"]]])
    return {key: column[order] for key, column in columns.items()}, sorted(aside)


def _chunks(log: Log, period: str) -> Iterator[dict[str, list[Any]]]:
    """Columns of rows of the log before a period.

    SQLite joins the values of a column: to make an object of each row takes three times as long.
    """
    (end,) = log.connection.execute("SELECT MAX(number) FROM release").fetchone()
    joined = ", ".join(f"json_group_array({key})" for key in _COLUMNS)
    for start in range(0, end or 0, _CHUNK):
        texts = log.connection.execute(
            f"SELECT {joined} FROM listed WHERE number > ? AND number <= ? AND period < ?",
            (start, start + _CHUNK, period),
        ).fetchone()
        columns = dict(zip(_COLUMNS, map(json.loads, texts), strict=True))
        if columns["entity"]:
            yield columns


def _again(
    log: Log, read: dict[str, NDArray[Any]], aside: Sequence[SetAside], only: Inputs
) -> tuple[dict[str, NDArray[Any]], Sequence[SetAside]]:
    """Keep the rows that a decision read, set aside as they were then.

    Raises:
        DataError: the log lacks some, or does not say that they were set aside.
    """
    there = read["version"] <= only.versions[read["period"], read["entity"]]
    if there.sum() != only.versions.sum() or not set(only.set_aside) <= set(aside):
        raise DataError(f"{log.path}: lacks rows, or acts, that this decision rests on")
    rows = {key: column[there] for key, column in read.items()}
    place = {name: number for number, name in enumerate(log.deployment.entities)}
    number_of = {log.deployment.period_of(it).isoformat(): it for it in range(len(only.versions))}

    def key(period: Any, entity: Any, version: Any) -> Any:
        return (version * len(number_of) + period) * len(place) + entity

    then = [key(number_of[it.period], place[it.entity], it.version) for it in only.set_aside]
    flags = np.isin(key(rows["period"], rows["entity"], rows["version"]), then)
    return {**rows, "set_aside": flags}, only.set_aside


def _hash_of(log: Log, read: dict[str, NDArray[Any]], terms: Floats, kind: NDArray[np.intp]) -> str:
    """The hash of rows, whatever the order in which they were collected.

    It is the SHA-256 of the deployment's checksum in the log, as text, and of columns one after the
    other, each number as a little-endian double. The columns are those of `_COLUMNS`, with `TERMS`
    in place of `noise`. Rows are sorted by entity, period and version. Periods are counted from 0,
    entities from 0 by their identifiers, and chains from 0 as they appear in these rows. A row has
    1 as `set_aside` if it was.
    """
    rank = np.argsort(np.argsort(np.array(list(log.deployment.entities))))
    _, first, chain = np.unique(read["chain"], return_index=True, return_inverse=True)
    changed = {"entity": rank[read["entity"]], "chain": np.argsort(np.argsort(first))[chain]}
    whole = sha256(log.sha256.encode())
    for key in _COLUMNS:
        columns = (it[kind] for it in terms) if key == "noise" else [changed.get(key, read[key])]
        for column in columns:
            whole.update(np.asarray(column, dtype="<f8").tobytes())
    return whole.hexdigest()
