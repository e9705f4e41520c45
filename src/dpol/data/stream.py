"""Gain streams: the game that a dataset poses.

A stream is the gains of n experts over T rounds, with the capacities behind
them or with the sensitivity of each round given. On disk it is a Parquet table
with one row per round and expert.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.core.randomness import Floats

_METADATA_KEY = b"dpol.stream"
_FACTS = ("label", "gain_range", "count_sensitivity", "provenance")
SELECTION = "selection"
"""Key in a stream's provenance: how the list of its entities came about."""
_GIVEN = "sensitivity"
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("round", "expert"), np.int64),
    **dict.fromkeys(("gain", "capacity", _GIVEN), np.float64),
    "period": "datetime64[D]",
}
STREAM_COLUMNS = ("round", "period", "expert", "entity", "name", "gain", "capacity")
"""Columns of a stream with capacities."""
GIVEN_COLUMNS = (*STREAM_COLUMNS[:-1], _GIVEN)
"""Columns of a stream without capacities."""


@dataclass(frozen=True, eq=False)
class GainStream:
    """Gains of n experts over T rounds.

    Args:
        label: name of the stream.
        gains: (T, n), each in [0, gain_range].
        capacity: (T, n), persons the gain is a share of (beds), positive; None if the
            sensitivity is given.
        entities: n identifiers, all different.
        periods: (T,) start dates, strictly increasing.
        names: n names to show.
        gain_range: upper end r of the gains' range.
        count_sensitivity: how far one person can move one count.
        provenance: where the data came from.
        given_sensitivity: (T,) how far the gains of a round can move, as an L2 norm, positive;
            in place of `capacity`.

    Raises:
        DataError: a shape, order or value breaks a rule above.

    >>> stream = GainStream(
    ...     label="two weeks",
    ...     gains=np.array([[0.1, 0.3], [0.2, 0.2]]),
    ...     capacity=np.array([[20.0, 10.0], [20.0, 10.0]]),
    ...     entities=("north", "south"),
    ...     periods=np.array(["2021-01-01", "2021-01-08"], dtype="datetime64[D]"),
    ... )
    >>> stream.n_rounds, stream.n_experts, stream.sensitivity.round(4).tolist()
    (2, 2, [0.1414, 0.1414])
    """

    label: str
    gains: Floats
    capacity: Floats | None
    entities: tuple[str, ...]
    periods: NDArray[np.datetime64]
    names: tuple[str, ...] = ()
    gain_range: float = 1.0
    count_sensitivity: float = 1.0
    provenance: dict[str, Any] = field(default_factory=dict)
    given_sensitivity: Floats | None = None

    def __post_init__(self) -> None:
        if (self.capacity is None) == (self.given_sensitivity is None):
            raise DataError(f"stream {self.label}: needs either capacities or sensitivities")
        gains = _frozen(self.gains, np.float64)
        periods = _frozen(self.periods, "datetime64[D]")
        object.__setattr__(self, "gains", gains)
        for name in ("capacity", "given_sensitivity"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _frozen(getattr(self, name), np.float64))
        object.__setattr__(self, "periods", periods)
        object.__setattr__(self, "names", self.names or self.entities)
        _check_shapes(self)
        _check_periods(self.label, periods)
        _check_values(self)

    @property
    def n_rounds(self) -> int:
        """T."""
        return int(self.gains.shape[0])

    @property
    def n_experts(self) -> int:
        """n."""
        return int(self.gains.shape[1])

    @property
    def sensitivity(self) -> Floats:
        """(T,) L2 sensitivity Delta_t of the gains of round t: as given, or to one person.

        One person changes at most two counts, each by `count_sensitivity`.
        """
        if self.given_sensitivity is not None:
            return self.given_sensitivity
        smallest = self.capacities_for("the sensitivity").min(axis=1)
        return np.asarray(self.count_sensitivity * np.sqrt(2.0) / smallest)

    @property
    def largest_change(self) -> float:
        """How far one gain can move, at most, in any round: by one person, or as given."""
        if self.given_sensitivity is not None:
            return min(float(self.given_sensitivity.max()), self.gain_range)
        return float(self.count_sensitivity / self.capacities_for("the change").min())

    def capacities_for(self, purpose: str) -> Floats:
        """The (T, n) capacities. Raises DataError for a stream without, naming the purpose."""
        if self.capacity is None:
            raise DataError(
                f"stream {self.label}: {purpose} needs capacities, and this stream has gains with"
                " a given sensitivity only"
            )
        return self.capacity

    def best_static_expert(self) -> int:
        """Index of the expert with the largest total gain; the lowest index on a tie."""
        return int(np.argmax(self.gains.sum(axis=0)))


def _frozen(values: Any, dtype: Any) -> NDArray[Any]:
    try:
        array = np.array(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"a stream's arrays must be rectangular and of numbers: {error}") from None
    array.flags.writeable = False
    return array


def _check_shapes(stream: GainStream) -> None:
    label, gains = stream.label, stream.gains
    if gains.ndim != 2 or 0 in gains.shape:
        raise DataError(f"stream {label}: gains have shape {gains.shape}, not (rounds, experts)")
    expected = {
        "periods": (stream.periods.shape, gains.shape[:1]),
        "entities": ((len(stream.entities),), gains.shape[1:]),
        "names": ((len(stream.names),), gains.shape[1:]),
    }
    if stream.capacity is not None:
        expected["capacity"] = (stream.capacity.shape, gains.shape)
    if stream.given_sensitivity is not None:
        expected["given sensitivity"] = (stream.given_sensitivity.shape, gains.shape[:1])
    for name, (shape, wanted) in expected.items():
        if shape != wanted:
            raise DataError(f"stream {label}: {name} has shape {shape}, not {wanted}")
    if len(set(stream.entities)) < len(stream.entities):
        raise DataError(f"stream {label}: an entity is listed twice")


def _check_periods(label: str, periods: NDArray[np.datetime64]) -> None:
    wrong = np.flatnonzero(np.diff(periods) <= np.timedelta64(0, "D"))
    if np.isnat(periods).any():
        raise DataError(f"stream {label}: a period has no date")
    if len(wrong):
        before, after = periods[wrong[0]], periods[wrong[0] + 1]
        raise DataError(
            f"stream {label}: periods out of order: round {wrong[0] + 2} ({after}) does not come"
            f" after round {wrong[0] + 1} ({before}); sort the table by period"
        )


def _check_values(stream: GainStream) -> None:
    gains, capacity, given = stream.gains, stream.capacity, stream.given_sensitivity
    for name in ("gain_range", "count_sensitivity"):
        value = getattr(stream, name)
        if not 0 < value < np.inf:
            what = name.replace("_", " ")
            raise DataError(f"stream {stream.label}: {what} {value} is not positive")
    good = (gains >= 0) & (gains <= stream.gain_range)
    _refuse_cell(stream, "gain", gains, good, f"a number in [0, {stream.gain_range:g}]")
    if capacity is not None:
        good = (capacity > 0) & (capacity < np.inf)
        _refuse_cell(stream, "capacity", capacity, good, "a positive number")
    if given is not None and not (good := (given > 0) & (given < np.inf)).all():
        t = int(np.argmin(good))
        raise DataError(
            f"stream {stream.label}: sensitivity of round {t + 1} is {given[t]}, not a positive"
            " number; mend the table or dataset.source.sensitivity"
        )


def _refuse_cell(
    stream: GainStream, name: str, values: Floats, good: NDArray[np.bool_], allowed: str
) -> None:
    if good.all():
        return
    bad = np.argwhere(~good)
    t, i = bad[0]
    raise DataError(
        f"stream {stream.label}: {name} of {stream.entities[i]} in round {t + 1}"
        f" ({stream.periods[t]}) is {values[t, i]}, not {allowed}"
        f" ({len(bad)} such cells); mend the table or its cleaning rules"
    )


def write_stream(stream: GainStream, path: Path | str) -> None:
    """Write a stream as Parquet (`STREAM_COLUMNS`), rounds counted from 1, experts from 0.

    Without capacities the last column is `sensitivity`, that of the round (`GIVEN_COLUMNS`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rounds, n = stream.n_rounds, stream.n_experts

    def per_expert(values: Sequence[str]) -> pa.Array:
        indices = pa.array(np.tile(np.arange(n, dtype=np.int32), rounds))
        return pa.DictionaryArray.from_arrays(indices, pa.array(list(values), pa.string()))

    if stream.capacity is not None:
        last = {"capacity": stream.capacity.ravel()}
    else:
        last = {_GIVEN: np.repeat(stream.sensitivity, n)}
    table = pa.table(
        {
            "round": np.repeat(np.arange(1, rounds + 1, dtype=np.int32), n),
            "period": pa.array(np.repeat(stream.periods, n)),
            "expert": np.tile(np.arange(n, dtype=np.int32), rounds),
            "entity": per_expert(stream.entities),
            "name": per_expert(stream.names),
            "gain": stream.gains.ravel(),
            **last,
        }
    )
    about = {key: getattr(stream, key) for key in _FACTS}
    table = table.replace_schema_metadata({_METADATA_KEY: json.dumps(about, sort_keys=True)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def read_stream(path: Path | str) -> GainStream:
    """Read a stream written by `write_stream`.

    Raises:
        DataError: the file is not such a table, or its values break a rule of `GainStream`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        about = json.loads((table.schema.metadata or {})[_METADATA_KEY])
        facts = {key: about[key] for key in _FACTS}
        names = GIVEN_COLUMNS if _GIVEN in table.column_names else STREAM_COLUMNS
        if any(table.column(name).null_count for name in names):
            raise ValueError("it has empty cells")
        columns = {
            name: table.column(name).to_numpy().astype(_DTYPES.get(name, object)) for name in names
        }
        rounds, n = (int(columns[name].max(initial=-1)) for name in ("round", "expert"))
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a gain stream ({error}); delete it and run again") from None
    return GainStream(**facts, **_grid(path, columns, rounds, n + 1))


def _grid(path: Path | str, columns: dict[str, NDArray[Any]], rounds: int, n: int) -> Any:
    """The columns as arrays over rounds and experts; every cell must be there exactly once."""
    order = np.lexsort((columns["expert"], columns["round"]))
    size = len(order)
    whole = size > 0 and size == rounds * n
    if whole:
        t, i = np.divmod(np.arange(size), n)
        whole = np.array_equal(columns["round"][order], t + 1)
        whole = whole and np.array_equal(columns["expert"][order], i)
    if not whole:
        raise DataError(
            f"{path}: {size} rows are not {rounds} rounds of {n} experts; delete it and run again"
        )
    grids = {name: values[order].reshape(rounds, n) for name, values in columns.items()}
    given = grids.get(_GIVEN)
    constant = {"period": grids["period"].T, "entity": grids["entity"], "name": grids["name"]}
    if given is not None:
        constant[_GIVEN] = given.T
    for name, values in constant.items():
        if (values != values[:1]).any():
            raise DataError(f"{path}: column {name} contradicts itself; delete it and run again")
    return {
        "gains": grids["gain"],
        "capacity": grids.get("capacity"),
        "given_sensitivity": None if given is None else given[:, 0],
        "entities": tuple(grids["entity"][0]),
        "periods": grids["period"][:, 0],
        "names": tuple(grids["name"][0]),
    }
