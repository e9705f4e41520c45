"""Gain streams: the game that a dataset poses.

A stream is the gains of n experts over T rounds, with the capacities behind
them or with the sensitivity of each round given. It is made of a panel. On disk
it is a Parquet table with one row per round and expert.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_kind, check_number, check_whole
from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.core.randomness import Floats
from dpol.core.words import called

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.question import Gain

POSITIVE = float(np.nextafter(0.0, 1.0)), float(np.finfo(float).max)
"""The smallest and the largest positive number."""
_METADATA_KEY = b"dpol.stream"
_REMEDY = (
    "give a file of results/RUN/streams/; if it is one, move it away and run snakemake again, which"
    " makes it"
)
_FACTS = ("label", "gain_range", "count_sensitivity", "provenance")
MAKE_STREAM = "make one by dpol.GainStream or dpol.read_stream"
"""The remedy where something else stands for a stream."""
SELECTION = "selection"
"""Key in a stream's provenance: origin of the list of its entities."""
COUNTED = "counted"
"""Key in a stream's provenance: the table's word for counts, where one person has several."""
MAX_CARRY = "max_carry"
"""Key in a stream's provenance: most periods for which a missing count repeats the last one."""
_GIVEN = "sensitivity"
_DTYPES: dict[str, Any] = {
    **dict.fromkeys(("round", "expert"), np.int64),
    **dict.fromkeys(("gain", "gains", "capacity", _GIVEN, "given_sensitivity"), np.float64),
    **dict.fromkeys(("period", "periods"), "datetime64[D]"),
}
"""Types of columns and of a stream's arrays; all other columns hold text."""
STREAM_COLUMNS = ("round", "period", "expert", "entity", "name", "gain", "capacity")
"""Columns of a stream with capacities."""
GIVEN_COLUMNS = (*STREAM_COLUMNS[:-1], _GIVEN)
"""Columns of a stream without capacities."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GainStream:
    """Gains of n experts over T rounds.

    Args:
        label: name of the stream.
        gains: (T, n), each in [0, gain_range].
        capacity: (T, n), the number that the gain is a share of (beds), positive; None if the
            sensitivity is given.
        entities: n identifiers, all different.
        periods: (T,) start dates, strictly increasing.
        names: n names to show.
        gain_range: upper end r of the gains' range.
        count_sensitivity: how far one person can move one count.
        provenance: where the data came from.
        given_sensitivity: (T,) how far the gains of a round can move, as an L2 norm, positive;
            in place of `capacity`.
        stay: in how many rounds in a row one person may be counted.

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
    stay: int = 1

    def __post_init__(self) -> None:
        for name in ("gains", "capacity", "given_sensitivity", "periods"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _frozen(getattr(self, name), _DTYPES[name]))
        object.__setattr__(self, "names", self.names or self.entities)
        if not isinstance(self.label, str):
            raise DataError(f"the label of a stream must be text, got {self.label!r}")
        for problem in _problems(self):
            raise DataError(f"stream {self.label}: {problem}")

    def __repr__(self) -> str:
        size = f"{self.n_rounds} rounds x {self.n_experts} experts"
        days = f"{self.periods[0]} to {self.periods[-1]}"
        return called(self, repr(self.label), size, f"gains up to {self.gains.max():.4g}", days)

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return int(self.gains.shape[0])

    @property
    def n_experts(self) -> int:
        """Number of experts n."""
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
        """Largest change of one gain in any round: that of one person, or as given."""
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

    def best_fixed_expert(self) -> int:
        """Index of the expert with the largest total gain; the lowest index on a tie."""
        return int(np.argmax(self.gains.sum(axis=0)))


def _frozen(values: Any, dtype: Any) -> NDArray[Any]:
    try:
        array = np.array(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise DataError(f"a stream's arrays must be rectangular and of numbers: {error}") from None
    array.flags.writeable = False
    return array


def _problems(stream: GainStream) -> Iterator[str]:
    """Problems of a stream; each check assumes that those before it passed."""
    gains, capacity, given = stream.gains, stream.capacity, stream.given_sensitivity
    if (capacity is None) == (given is None):
        yield "needs either capacity, (rounds, experts), or given_sensitivity, (rounds,)"
    if gains.ndim != 2 or 0 in gains.shape:
        yield f"gains have shape {gains.shape}, not (rounds, experts)"
    expected = (
        ("periods", stream.periods, gains.shape[:1]),
        ("entities", stream.entities, gains.shape[1:]),
        ("names", stream.names, gains.shape[1:]),
        ("capacity", capacity, gains.shape),
        ("given sensitivity", given, gains.shape[:1]),
    )
    for name, values, wanted in expected:
        if values is not None and np.shape(values) != wanted:
            yield f"{name} has shape {np.shape(values)}, not {wanted}"
    if texts := [it for it in (*stream.entities, *stream.names) if not isinstance(it, str)]:
        yield f"entities and names must be texts, got {texts[0]!r}"
    if len(set(stream.entities)) < len(stream.entities):
        yield "an entity is listed twice"
    if np.isnat(stream.periods).any():
        yield "a period has no date"
    for t in np.flatnonzero(np.diff(stream.periods) <= np.timedelta64(0, "D")):
        before, after = stream.periods[t : t + 2]
        yield (
            f"periods out of order: round {t + 2} ({after}) does not come after round {t + 1}"
            f" ({before}); sort the table by period"
        )
    try:
        check_number("gain_range", stream.gain_range, "(0, inf)")
        check_number("count_sensitivity", stream.count_sensitivity, "(0, inf)")
        check_whole("stay", stream.stay)
    except ValueError as error:
        yield str(error)
    if stream.stay > 1 and capacity is None:
        yield f"stay {stream.stay} must be 1 round for gains without capacities"
    yield from _bad_cells(stream)


def _bad_cells(stream: GainStream) -> Iterator[str]:
    """The first bad cell of each array."""
    top = stream.gain_range
    for name, values, (low, high), wanted in (
        ("gain", stream.gains, (0.0, top), f"a number in [0, {top:g}]"),
        ("capacity", stream.capacity, POSITIVE, "a positive number"),
        ("sensitivity", stream.given_sensitivity, POSITIVE, "a positive number"),
    ):
        if values is not None and len(bad := np.argwhere(~((values >= low) & (values <= high)))):
            t, *i = cell = tuple(bad[0])
            of = f"{stream.entities[i[0]]} in round" if i else "round"
            yield (
                f"{name} of {of} {t + 1} ({stream.periods[t]}) is {values[cell]}, not {wanted}"
                f" ({len(bad)} such cells); fix the table, or what the config says of it"
                " under dataset"
            )


def build_stream(
    panel: pd.DataFrame,
    label: str,
    count_sensitivity: float,
    provenance: dict[str, Any],
    stay: int = 1,
    *,
    gain: Gain | None = None,
    named: str = "",
    max_clipped: float = 0.0,
    counted: str = "",
) -> GainStream:
    """The stream `label` of a canonical panel under a question.

    Args:
        panel: with the stream.
        label: of the stream in the panel.
        count_sensitivity: how far one person can move one count.
        provenance: of the stream; the question is added to it, if it is not that of the papers.
        stay: in how many rounds in a row one person may be counted.
        gain: the question; that of the papers without it.
        named: label of what is made; that of the panel without it.
        max_clipped: share of the cells in which the count may be above the question's bound.
        counted: the table's word for counts, for the unit of privacy.

    Raises:
        DataError: the panel has no such stream, its values break a rule of `GainStream`, or as
            `dpol.data.question.pose`.
    """
    rows = panel[panel["stream"] == label]
    if rows.empty:
        raise DataError(f"the panel has no stream {label}; clean the table again")
    # Here, because it loads pydantic, which a game without a table does not need.
    from dpol.data.question import THE_PAPERS, pose

    gain = gain or THE_PAPERS
    rows, asked = pose(rows, label, gain, max_clipped)
    if counted and count_sensitivity > 1:
        asked = {**asked, COUNTED: counted}
    names = {"round": "period", "expert": "entity"}
    columns = {name: rows[names.get(name, name)].to_numpy() for name in STREAM_COLUMNS}
    return _of_rows(
        f"the panel's stream {label}",
        columns,
        label=named or label,
        provenance=provenance | asked,
        count_sensitivity=count_sensitivity,
        stay=stay,
        gain_range=gain.largest,
    )


def _of_rows(
    place: Path | str,
    columns: Mapping[str, NDArray[Any]],
    *,
    label: str,
    provenance: dict[str, Any],
    count_sensitivity: float,
    stay: int,
    gain_range: float = 1.0,
) -> GainStream:
    """The stream of a table of rounds by experts, which are in the order of their columns.

    Raises:
        DataError: a cell is missing or there twice, or a column contradicts itself.
    """
    rounds, t = np.unique(columns["round"], return_inverse=True)
    experts, i = np.unique(columns["expert"], return_inverse=True)
    cell, shape = t * len(experts) + i, (len(rounds), len(experts))
    every = np.arange(len(rounds) * len(experts))
    # What dpol wrote is in order, and need not be copied.
    order = slice(None) if np.array_equal(cell, every) else np.argsort(cell)
    if not cell.size or not np.array_equal(cell[order], every):
        size = f"{len(cell)} rows are not {shape[0]} rounds of {shape[1]} experts"
        raise DataError(f"{place}: {size}; {_REMEDY}")
    grids = {name: values[order].reshape(shape) for name, values in columns.items()}
    of_rounds = {name: grids[name][:, :1] for name in ("period", _GIVEN) if name in grids}
    of_experts = {name: grids[name][:1] for name in ("entity", "name")}
    for name, values in (of_rounds | of_experts).items():
        if (grids[name] != values).any():
            raise DataError(f"{place}: column {name} contradicts itself; {_REMEDY}")
    given = of_rounds.get(_GIVEN)
    return GainStream(
        label=label,
        gains=grids["gain"],
        capacity=grids.get("capacity"),
        given_sensitivity=None if given is None else given[:, 0],
        entities=tuple(of_experts["entity"][0]),
        periods=of_rounds["period"][:, 0],
        names=tuple(of_experts["name"][0]),
        gain_range=gain_range,
        count_sensitivity=count_sensitivity,
        provenance=provenance,
        stay=stay,
    )


def write_stream(stream: GainStream, path: Path | str) -> None:
    """Write a stream as Parquet (`STREAM_COLUMNS`), rounds counted from 1, experts from 0.

    Without capacities the last column is `sensitivity`, that of the round (`GIVEN_COLUMNS`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_kind("stream", stream, GainStream, MAKE_STREAM)
    rounds, n = stream.n_rounds, stream.n_experts

    def per_expert(values: Sequence[str]) -> pa.Array:
        # Experts may share a name; a dictionary that holds it twice is written in random bytes.
        texts = pa.array(list(values), pa.string()).dictionary_encode()
        return texts.take(pa.array(np.tile(np.arange(n), rounds)))

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
    if stream.stay > 1:  # files of the papers' unit stay as they were
        about["stay"] = stream.stay
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

    from dpol.core.arrow import as_numpy

    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        about = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, "null"))
        if about is None:
            raise ValueError("another table")
        names = GIVEN_COLUMNS if _GIVEN in table.column_names else STREAM_COLUMNS
        if any(table.column(name).null_count for name in names):
            raise ValueError("it has empty cells")
        columns = {
            name: as_numpy(table.column(name)).astype(_DTYPES.get(name, object)) for name in names
        }
        stream = _of_rows(
            path,
            columns,
            label=about["label"],
            provenance=about["provenance"],
            count_sensitivity=about["count_sensitivity"],
            stay=about.get("stay", 1),
            gain_range=about["gain_range"],
        )
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a stream ({error}); {_REMEDY}") from None
    if (columns["round"].max(), columns["expert"].max() + 1) != stream.gains.shape:
        raise DataError(f"{path}: lacks rounds or experts; {_REMEDY}")
    return stream
