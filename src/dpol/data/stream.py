"""Gain streams: the gains of n experts over T rounds, which algorithms play.

A stream has either the capacities behind the gains, or a given sensitivity for each round. It is
built from a panel or a table of gains, and stored as Parquet with one row per round and expert.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_kind, check_number, check_whole, real_array
from dpol.core.errors import DataError, needs_pipeline
from dpol.core.files import atomic_path
from dpol.core.randomness import Floats
from dpol.core.words import short_repr

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.question import Gain

POSITIVE = float(np.nextafter(0.0, 1.0)), float(np.finfo(float).max)
"""The smallest and the largest positive number."""
_METADATA_KEY = b"dpol.stream"
_REMEDY = (
    "give a file from results/RUN/streams/; if it is one, move it away and run snakemake again to"
    " make it"
)
_FACTS = ("label", "gain_range", "count_sensitivity", "provenance")
MAKE_STREAM = "make one with dpol.GainStream or dpol.read_stream"
"""Remedy for an argument that is not a stream."""
GAIN = "gain"
"""Key in a stream's provenance: the question, if it is not the papers'."""
SELECTION = "selection"
"""Key in a stream's provenance: how its entities were selected."""
COUNTED = "counted"
"""Key in a stream's provenance: the table's word for counts, if one person has several."""
MAX_CARRY = "max_carry"
"""Key in a stream's provenance: for how many periods at most a missing count repeats the last."""
SUPPRESSED = "suppressed"
"""Key in a stream's provenance: what suppressed counts are read as (`read_as`), and how many times
`count_sensitivity` one person can move such a count (`times`); absent if there are none. If these
are sums, also the fewest and the most days reported (`days`)."""
SUMS = "sums"
"""Key in the provenance given to `build_stream`: what suppressed sums are read as (`read_as`), the
fewest and the most days reported (`days`), and what a suppressed count is read as if the number of
its days is unknown (`uncovered`), None if all are known; absent without sums."""
PUBLIC = "public"
"""Key in a stream's provenance: whether everyone may see the table. No file of a run has it, so
that no game is played again when it changes: `Run.stream` and `read_table` set it."""
UNMEASURED = "unmeasured"
"""Key in a stream's provenance: in how many periods no measured number is the largest gain
(`periods`), and with which share of the possible gain (`share`); for which share a zero would be
the largest if it were a suppressed count (`zero_share`); absent without a panel."""
MANY_UNMEASURED = 0.05
"""Share of the possible gain that numbers which nobody measured may decide without a word."""
MEASURED = ("reported", "sum")
"""Sources of the numbers of a panel that somebody measured."""
ZERO_OR_HIDDEN = "zero_or_hidden"
"""Source of a count of 0 that may be a suppressed one (`dataset.cleaning.zeros_hide`)."""
HOLDS = "This folder holds your raw counts"
COMPUTED = "These numbers are computed from raw counts that are not public"
"""What `warning_of` warns of: everything that writes outside `results/` asks it."""
_ROUNDING = 1e-12
"""A share of the largest gain that a mean of equal gains may miss."""
_GIVEN = "sensitivity"
STREAM_COLUMNS = ("round", "period", "expert", "entity", "name", "gain", "capacity")
"""Columns of the file of a stream with capacities."""
GIVEN_COLUMNS = (*STREAM_COLUMNS[:-1], _GIVEN)
"""Columns of the file of a stream without capacities."""


@dataclass(frozen=True, eq=False, kw_only=True)
class GainStream:
    """Gains of n experts over T rounds.

    Args:
        gains: (T, n) gains in [0, gain_range].
        label: name of the stream.
        capacity: (T, n) positive denominators of the gains (beds); None if the sensitivity is
            given.
        entities: n distinct identifiers; by default `expert 0`, `expert 1` and so on.
        periods: (T,) start dates, strictly increasing; by default days from 2000-01-01.
        names: n names to show; the identifiers by default.
        gain_range: upper end r of the gains' range.
        count_sensitivity: the most by which one person can change one count.
        provenance: where the data came from.
        given_sensitivity: (T,) positive L2 sensitivity of each round's gains, in place of
            `capacity`; without either, a whole round may change: sqrt(n) gain_range.
        stay: number of consecutive rounds in which one person may be counted; T if it is larger.

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
    >>> GainStream([[0.1, 0.3], [0.2, 0.2]]).sensitivity.round(4).tolist()
    [1.4142, 1.4142]
    """

    gains: Floats = field(kw_only=False)
    label: str = "gains"
    capacity: Floats | None = None
    entities: tuple[str, ...] = ()
    periods: NDArray[np.datetime64] = field(default_factory=lambda: np.array([], "datetime64[D]"))
    names: tuple[str, ...] = ()
    gain_range: float = 1.0
    count_sensitivity: float = 1.0
    provenance: dict[str, Any] = field(default_factory=dict)
    given_sensitivity: Floats | None = None
    stay: int = 1

    def __post_init__(self) -> None:
        given = vars(self)  # of a frozen dataclass, whose attributes cannot be set
        if not isinstance(self.label, str):
            raise DataError(f"the label of a stream must be text, got {self.label!r}")
        try:
            for name in ("gain_range", "count_sensitivity"):
                given[name] = check_number(name, given[name], "(0, inf)")
            check_whole("stay", self.stay)
        except ValueError as error:
            raise DataError(f"stream {self.label}: {error}") from None
        for name in ("gains", "capacity", "given_sensitivity", "periods"):
            if given[name] is not None:
                given[name] = _frozen(name, given[name])
        if self.gains.ndim == 2:  # otherwise it is refused
            rounds, n = self.gains.shape
            given["entities"] = self.entities or tuple(f"expert {i}" for i in range(n))
            if len(self.periods) == 0:
                days = np.datetime64("2000-01-01") + np.arange(rounds)
                given["periods"] = _frozen("periods", days)
            if self.capacity is None and self.given_sensitivity is None:
                whole = np.full(rounds, math.sqrt(n) * self.gain_range)
                given["given_sensitivity"] = _frozen("sensitivity", whole)
        given["names"] = self.names or self.entities
        for problem in _problems(self):
            raise DataError(f"stream {self.label}: {problem}")
        given["stay"] = min(self.stay, self.n_rounds)

    def __repr__(self) -> str:
        size = f"{self.n_rounds} rounds x {self.n_experts} experts"
        days = f"{self.periods[0]} to {self.periods[-1]}"
        return short_repr(self, repr(self.label), size, f"gains up to {self.gains.max():.4g}", days)

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return int(self.gains.shape[0])

    @property
    def n_experts(self) -> int:
        """Number of experts n."""
        return int(self.gains.shape[1])

    @property
    def private(self) -> bool:
        """Whether not everyone may see the gains; a stream that is no table's is not private."""
        said = self.provenance
        return bool(said) and not (said.get(PUBLIC) or said.get("simulated"))

    @property
    def sensitivity(self) -> Floats:
        """(T,) L2 sensitivity Delta_t of the gains of round t to one person, or as given.

        One person changes at most two counts, each by at most `count_sensitivity`.
        """
        if self.given_sensitivity is not None:
            return self.given_sensitivity
        smallest = self.capacities_for("the sensitivity").min(axis=1)
        return np.asarray(self.count_sensitivity * np.sqrt(2.0) / smallest)

    @property
    def largest_change(self) -> float:
        """Largest change of one gain in any round, caused by one person or as given."""
        if self.given_sensitivity is not None:
            return min(float(self.given_sensitivity.max()), self.gain_range)
        return float(self.count_sensitivity / self.capacities_for("the change").min())

    def capacities_for(self, purpose: str) -> Floats:
        """Return the (T, n) capacities. Raises DataError, naming the purpose, if there are none."""
        if self.capacity is None:
            raise DataError(
                f"stream {self.label}: {purpose} needs capacities, but this stream only has gains"
                " with a given sensitivity"
            )
        return self.capacity

    def best_fixed_expert(self) -> int:
        """Return the index of the expert with the largest total gain; the lowest on a tie."""
        return int(np.argmax(self.gains.sum(axis=0)))

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per round and expert, in the columns of `write_stream`.

        Raises:
            ModuleNotFoundError: pandas is not installed.
        """
        with needs_pipeline():
            import pandas as pd
        return pd.DataFrame(_columns(self))


def _frozen(name: str, values: Any) -> NDArray[Any]:
    try:
        days = name == "periods"
        array = np.array(values, "datetime64[D]") if days else real_array(name, values)
    except (TypeError, ValueError) as error:
        raise DataError(f"a stream's arrays must be rectangular, of numbers: {error}") from None
    array.flags.writeable = False
    return array


def _problems(stream: GainStream) -> Iterator[str]:
    """Yield the problems of a stream; each check assumes that the checks before it passed."""
    gains, capacity, given = stream.gains, stream.capacity, stream.given_sensitivity
    if capacity is not None and given is not None:
        yield "needs either capacity, (rounds, experts), or given_sensitivity, (rounds,)"
    if gains.ndim != 2 or 0 in gains.shape:
        yield f"gains have shape {gains.shape}, not (rounds, experts)"
    for name, values, wanted in (
        ("periods", stream.periods, gains.shape[:1]),
        ("entities", stream.entities, gains.shape[1:]),
        ("names", stream.names, gains.shape[1:]),
        ("capacity", capacity, gains.shape),
        ("given sensitivity", given, gains.shape[:1]),
    ):
        if values is not None and np.shape(values) != wanted:
            yield f"{name} has shape {np.shape(values)}, not {wanted}"
    if texts := [name for name in (*stream.entities, *stream.names) if not isinstance(name, str)]:
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
    if stream.stay > 1 and capacity is None:
        remedy = f"dpol.account(noisy.guarantee, weeks={stream.stay}) says what a stay costs"
        yield f"stay must be 1 for gains without capacities, got {stream.stay}; {remedy}"
    top = stream.gain_range
    for name, values, (low, high), number in (
        ("gain", stream.gains, (0.0, top), f"a number in [0, {top:g}]"),
        ("capacity", stream.capacity, POSITIVE, "a positive number"),
        (_GIVEN, stream.given_sensitivity, POSITIVE, "a positive number"),
    ):
        if values is not None and len(bad := np.argwhere(~((values >= low) & (values <= high)))):
            t, *i = cell = tuple(bad[0])
            of = f"{stream.entities[i[0]]} in round" if i else "round"
            yield (
                f"{name} of {of} {t + 1} ({stream.periods[t]}) is {values[cell]}, not {number}"
                f" ({len(bad)} such cells); fix the table, or its description under dataset in the"
                " config"
            )


def warning_of(private: bool, what: str) -> str:
    """Return the warning that a file, a picture or an answer carries; empty for public counts.

    Args:
        private: `GainStream.private` or `Dataset.private`.
        what: what it does, such as "This folder holds your raw counts".
    """
    return f"{what}. Share nothing of it." if private else ""


def unmeasured_of(stream: GainStream) -> dict[str, Any]:
    """Return periods and share of `UNMEASURED`; of gains without a panel, nothing is unmeasured."""
    found = stream.provenance.get(UNMEASURED, {})
    return {"periods": found.get("periods", 0), "share": found.get("share", 0.0)}


def unmeasured_in_words(periods: int, share: float, of: int, period: str = "period") -> str:
    """Say in how many periods nobody measured the best number.

    Args:
        periods: number of these periods.
        share: their share of the possible gain.
        of: number of all periods.
        period: what a period is called.

    >>> unmeasured_in_words(13, 0.0893, of=67, period="week")
    'in 13 of 67 weeks, with 9% of the possible gain, nobody measured the best number'
    """
    return (
        f"in {periods} of {of} {period}s, with {100 * share:.0f}% of the possible gain, nobody"
        " measured the best number"
    )


def largest_change(person: float, published: Floats, *, read_as: float) -> float:
    """Return how far one person can change a cleaned count where small counts are suppressed.

    The least that may be published, apart from 0, is the smallest published count above `read_as`.
    A count just below it and a person is published. Without the person it is suppressed, and read
    as `read_as`. From 0, which is published, a person may also lead to a suppressed count.

    Args:
        person: the most by which one person can change the true count.
        published: the published counts; if all are whole, so are the suppressed ones.
        read_as: what a suppressed count is read as.

    >>> largest_change(1, np.array([0.0, 7.0, 5.0]), read_as=2)
    3.0
    >>> largest_change(1, np.array([0.0, 7.5, 4.0]), read_as=2)
    3.0
    """
    step = 1.0 if (published == np.rint(published)).all() else 0.0
    least = min(published[published > read_as], default=read_as)
    return float(max(person, read_as, least + person - step - read_as))


def largest_change_of_average(person: float, days: float, *, read_as: float) -> float:
    """Return how far one person can change a cleaned average whose small sums are suppressed.

    A person adds at most `person` on each day. A sum of 3 without the person is suppressed,
    and read as `read_as`; with the person it may be published. A sum of 0 is published, and the
    person may lead to a suppressed one.

    Args:
        person: the most by which one person can change the count of a day.
        days: number of days reported.
        read_as: what a suppressed sum is read as.

    >>> [round(largest_change_of_average(1, days, read_as=2), 3) for days in (7, 1)]
    [1.143, 2.0]
    """
    return max(person, (3 + days * person - read_as) / days, read_as / days)


def _suppression(
    rows: pd.DataFrame, person: float, sums: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the provenance of suppressed counts; empty if a panel's stream has none."""
    counts, source = rows["count"].to_numpy(), rows["count_source"]
    if not source.isin(["suppressed", "sum"]).any():
        return {}
    published = counts[source == "reported"]
    if not sums:
        read_as = float(counts[source == "suppressed"].max())
        change = largest_change(person, published, read_as=read_as)
        return {SUPPRESSED: {"read_as": read_as, "times": round(change / person, 3)}}
    change = largest_change_of_average(person, sums["days"][0], read_as=sums["read_as"])
    if sums["uncovered"] is not None:
        change = max(change, largest_change(person, published, read_as=sums["uncovered"]))
    facts = {"read_as": sums["read_as"], "days": sums["days"]}
    return {SUPPRESSED: {**facts, "times": round(change / person, 3)}}


def unmeasured_best(rows: pd.DataFrame, gain: str, sources: Sequence[str]) -> dict[str, Any]:
    """Return `UNMEASURED` of rows of a panel.

    Args:
        rows: rows of one stream.
        gain: the column of the gains.
        sources: the columns that say where the numbers behind a gain come from.
    """
    measured = rows[[*sources]].isin(MEASURED).all(axis=1)
    gains = rows.groupby("period")[gain]
    best, possible = gains.max(), gains.max() - gains.mean()
    known = rows[measured].groupby("period")[gain].max().reindex(best.index)
    decided = ~(known >= best) & (possible > _ROUNDING * best)

    def share(decided: pd.Series[bool]) -> float:
        of = possible[decided].sum() / possible.sum() if decided.any() else 0.0
        return round(float(of), 6)

    found = {"periods": int(decided.sum()), "share": share(decided)}
    zero = rows["count_source"] == ZERO_OR_HIDDEN
    if not zero.any():
        return found
    read_as = rows.loc[rows["count_source"] == "suppressed", "count"].max()
    least = rows[zero].groupby("period")["capacity"].min().reindex(best.index)
    return {**found, "zero_share": share(read_as / least > best)}


def build_stream(
    panel: pd.DataFrame,
    label: str,
    count_sensitivity: float,
    provenance: dict[str, Any],
    stay: int = 1,
    *,
    gain: Gain,
    named: str = "",
    counted: str = "",
) -> GainStream:
    """Build a stream from a canonical panel and a question.

    Args:
        panel: a panel with the stream.
        label: label of the stream in the panel.
        count_sensitivity: the most by which one person can change one count.
        provenance: provenance of the stream; a question other than the papers' is added to it.
        stay: number of consecutive rounds in which one person may be counted.
        gain: the question.
        named: label of the new stream; `label` by default.
        counted: the table's word for counts, for the unit of privacy.

    Raises:
        DataError: its values break a rule of `GainStream`, or fewer than two entities are large
            enough for the question.
    """
    rows, asked = _apply_question(panel[panel["stream"] == label], label, gain)
    if counted and count_sensitivity > 1:
        asked = {**asked, COUNTED: counted}
    left_out = {SUMS}
    if not rows["count_source"].eq("carried").any():
        left_out.add(MAX_CARRY)
    given = {key: value for key, value in provenance.items() if key not in left_out}
    asked = {**asked, **_suppression(rows, count_sensitivity, provenance.get(SUMS))}
    sources = ["count_source"] if gain.of == "count" else ["count_source", "capacity_source"]
    asked[UNMEASURED] = unmeasured_best(rows, "gain", sources)
    n = rows["entity"].nunique()
    names = ("period", "gain", "capacity")
    grids = {name: rows[name].to_numpy().reshape(-1, n) for name in names}
    return GainStream(
        label=named or label,
        gains=grids["gain"],
        capacity=grids["capacity"],
        entities=tuple(rows["entity"].iloc[:n]),
        periods=grids["period"][:, 0],
        names=tuple(rows["name"].iloc[:n]),
        gain_range=gain.largest,
        count_sensitivity=count_sensitivity,
        provenance=given | asked,
        stay=stay,
    )


def _apply_question(
    rows: pd.DataFrame, label: str, gain: Gain
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows of a stream with a column `gain`, the `capacity` being its denominator.

    Also return the question for the provenance; empty for the papers' question.
    """
    every = rows["entity"].nunique()
    if gain.min_capacity is not None:
        rows = rows[rows.groupby("entity")["capacity"].transform("min") >= gain.min_capacity]
    if (kept := rows["entity"].nunique()) < 2 <= every:
        raise DataError(
            f"stream {label}: {kept} of {every} entities have a capacity of at least"
            f" {gain.min_capacity:g} in every period, but 2 are needed; lower min_capacity"
        )
    bound, whole = gain.bound or gain.at_most, gain.bound or rows["capacity"]
    # The panel may hold larger shares, which another question of the run allows.
    share = rows["count"] / whole if bound else rows["density"]
    above = int((share > gain.largest).sum())
    rows = rows.assign(gain=np.minimum(share, gain.largest), capacity=whole)
    if gain.is_papers:
        return rows, {}
    asked = gain.model_dump(exclude={"title"}, exclude_none=True) | {"left_out": every - kept}
    return rows, {GAIN: asked | ({"clipped": above} if bound else {})}


def _columns(stream: GainStream) -> dict[str, NDArray[Any]]:
    """Return the columns of a stream's table, with a row per round and expert."""
    rounds, n = stream.n_rounds, stream.n_experts
    expert = np.tile(np.arange(n, dtype=np.int32), rounds)
    if stream.capacity is not None:
        last = {"capacity": stream.capacity.ravel()}
    else:
        last = {_GIVEN: np.repeat(stream.sensitivity, n)}
    return {
        "round": np.repeat(np.arange(1, rounds + 1, dtype=np.int32), n),
        "period": np.repeat(stream.periods, n),
        "expert": expert,
        "entity": np.array(stream.entities, dtype=object)[expert],
        "name": np.array(stream.names, dtype=object)[expert],
        "gain": stream.gains.ravel(),
        **last,
    }


def write_stream(stream: GainStream, path: Path | str) -> None:
    """Write a stream as Parquet (`STREAM_COLUMNS`), with rounds from 1 and experts from 0.

    Without capacities, the last column is the round's `sensitivity` (`GIVEN_COLUMNS`).
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_kind("stream", stream, GainStream, MAKE_STREAM)
    columns: dict[str, Any] = _columns(stream)
    for name in ("entity", "name"):
        columns[name] = pa.array(columns[name], pa.string()).dictionary_encode()
    table = pa.table(columns)
    about = {key: getattr(stream, key) for key in _FACTS}
    if stream.stay > 1:  # keep the bytes of files with the papers' unit
        about["stay"] = stream.stay
    table = table.replace_schema_metadata({_METADATA_KEY: json.dumps(about, sort_keys=True)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def read_stream(path: Path | str) -> GainStream:
    """Read a stream that `write_stream` wrote.

    Raises:
        DataError: the file is not such a table, or its values break a rule of `GainStream`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            table = file.read()
        about = json.loads((table.schema.metadata or {})[_METADATA_KEY])
        numbers = ["expert", "gain", _GIVEN if _GIVEN in table.column_names else "capacity"]
        # Arrow's `to_numpy` imports pandas, which takes longer than playing a small stream.
        columns = (np.from_dlpack(table[name].combine_chunks()) for name in numbers)
        expert, *grids = (np.asarray(column, float) for column in columns)
        n = int(expert.max()) + 1
        gains, last = (grid.reshape(-1, n) for grid in grids)
        return GainStream(
            gains,
            capacity=None if _GIVEN in numbers else last,
            given_sensitivity=last[:, 0] if _GIVEN in numbers else None,
            entities=tuple(table["entity"][:n].to_pylist()),
            periods=np.array([table["period"][n * t].as_py() for t in range(len(gains))]),
            names=tuple(table["name"][:n].to_pylist()),
            stay=about.get("stay", 1),
            **{key: about[key] for key in _FACTS},
        )
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a stream ({error}); {_REMEDY}") from None
