"""A gain stream is valid, or refused with the first bad cell; of a panel it answers a question.

Its gains, sensitivity, noise and mu have closed forms.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpol
from data.drawn import (
    HIDDEN,
    OF_COUNTS,
    SUMS,
    clean,
    dataset,
    rows,
    streams,
    told,
    typed,
    week,
)
from dpol.core.errors import DataError
from dpol.data.panel import rows_of_stream
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.stream import (
    COUNTED,
    GAIN,
    GIVEN_COLUMNS,
    MEASURED,
    STREAM_COLUMNS,
    SUPPRESSED,
    UNMEASURED,
    ZERO_OR_HIDDEN,
    build_stream,
    largest_change,
    largest_change_of_average,
    read_stream,
    unmeasured_best,
    write_stream,
)
from dpol.data.table import table_of
from dpol.noise.neighbours import neighbours_of
from dpol.noise.noisy_gains import noise_scale
from streams_by_hand import FACTS, SENSITIVITY, assert_same, given_stream, stream


def refused(**changes: Any) -> str:
    with pytest.raises(DataError) as caught:
        stream(**changes)
    assert str(caught.value).startswith("stream NM: ")
    return str(caught.value).removeprefix("stream NM: ")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "stream.parquet"


def test_arrays_are_read_only_copies() -> None:
    mine = np.array(FACTS["gains"])
    made = stream(gains=mine)
    for array in (made.gains, made.capacity, made.periods):
        assert not array.flags.writeable
    mine[0, 0] = 0.9
    assert made.gains[0, 0] == 0.1


@pytest.mark.parametrize(
    ("field", "value"),
    [("gain", value) for value in (math.nan, math.inf, -math.inf, -0.01, 1.000001)]
    + [("capacity", value) for value in (math.nan, math.inf, 0.0, -3.0)]
    + [("sensitivity", value) for value in (math.nan, math.inf, 0.0, -1.0)],
)
def test_a_bad_cell_is_told_with_its_entity_round_and_date(field: str, value: float) -> None:
    if field == "sensitivity":
        told = refused(capacity=None, given_sensitivity=[0.5, value, value])
    else:
        name = {"gain": "gains"}.get(field, field)
        told = refused(**{name: [FACTS[name][0], [FACTS[name][1][0], value], [value, 1.0]]})
    place = "round" if field == "sensitivity" else "b in round"
    assert told.startswith(f"{field} of {place} 2 (2021-01-10) is {value}, not a ")
    assert "(2 such cells)" in told


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gains": [0.1, 0.2]}, "gains have shape (2,), not (rounds, experts)"),
        ({"gains": np.zeros((0, 2))}, "gains have shape (0, 2), not (rounds, experts)"),
        ({"capacity": [[10.0, 20.0]]}, "capacity has shape (1, 2), not (3, 2)"),
        ({"periods": FACTS["periods"][:2]}, "periods has shape (2,), not (3,)"),
        ({"entities": ("a", "b", "c")}, "entities has shape (3,), not (2,)"),
        ({"names": ("A",)}, "names has shape (1,), not (2,)"),
        ({"entities": ("a", "a")}, "an entity is listed twice"),
        ({"given_sensitivity": SENSITIVITY},
         "needs either capacity, (rounds, experts), or given_sensitivity, (rounds,)"),
        ({"periods": np.array(["2021-01-03", "NaT", "2021-01-24"], "M8[D]")},
         "a period has no date"),
        ({"periods": FACTS["periods"][[1, 1, 2]]},
         "periods out of order: round 2 (2021-01-10) does not come after round 1 (2021-01-10); sort"
         " the table by period"),
    ],
    ids=str,
)  # fmt: skip
def test_parts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    assert refused(**changes) == message


def test_the_best_fixed_expert_has_the_largest_total_and_the_lowest_index() -> None:
    for best, gains in enumerate(
        ([[0.5, 0, 0], [0, 0.5, 0]], [[0.1, 0.2, 0.2]] * 2, [[0.9, 0, 0.2], [0, 0.4, 0.8]])
    ):
        parts = {"entities": tuple("abc"), "names": (), "periods": FACTS["periods"][:2]}
        made = stream(gains=gains, capacity=np.ones((2, 3)), **parts)
        assert made.best_fixed_expert() == best


@pytest.mark.parametrize(
    "changes",
    [
        {"count_sensitivity": 2.0},
        {"capacity": None, "given_sensitivity": SENSITIVITY, "gain_range": 0.6},
        {"label": "", "gains": np.nextafter(FACTS["gains"], 1), "provenance": {"é": None}},
        {"names": ("St. Mary", "St. Mary")},
    ],
)
def test_a_stream_is_read_back_exactly_from_equal_bytes(
    path: Path, changes: dict[str, Any]
) -> None:
    written = set()
    for _ in range(3):
        write_stream(stream(**changes), path)
        written.add(path.read_bytes())
    assert len(written) == 1
    assert_same(read_stream(path), stream(**changes))


def test_the_file_is_one_row_per_round_from_1_and_expert_from_0(path: Path) -> None:
    write_stream(stream(), path)
    table = pd.read_parquet(path)
    assert tuple(table.columns) == STREAM_COLUMNS
    assert table["round"].tolist() == [1, 1, 2, 2, 3, 3]
    assert table["expert"].tolist() == [0, 1, 0, 1, 0, 1]
    for column, cells in {
        "entity": ["a", "b"] * 3,
        "name": ["Hospital A", "Peña"] * 3,
        "gain": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
        "capacity": [10, 20, 10, 5, 40, 20],
        "period": np.repeat(FACTS["periods"], 2).tolist(),
    }.items():
        assert table[column].tolist() == cells
    write_stream(given_stream(), path)
    table = pd.read_parquet(path)
    assert tuple(table.columns) == GIVEN_COLUMNS
    assert table["sensitivity"].tolist() == np.repeat(SENSITIVITY, 2).tolist()


def altered(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], Any]:
    """Return a function that changes the table of a file."""
    return lambda path: pq.write_table(change(pq.read_table(path)), path)


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "no file": Path.unlink,
    "nothing": lambda path: path.write_bytes(b""),
    "a beginning": lambda path: path.write_bytes(path.read_bytes()[:4]),
    "a half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "an end less": lambda path: path.write_bytes(path.read_bytes()[:-50]),
    "no facts": altered(lambda table: table.replace_schema_metadata({})),
    "a fact less": altered(
        lambda table: table.replace_schema_metadata({b"dpol.stream": b'{"label": "a"}'})
    ),
    "a column less": altered(lambda table: table.drop_columns(["gain"])),
    "a row less": altered(lambda table: table.slice(0, 5)),
    "no row": altered(lambda table: table.slice(0, 0)),
    "text for gains": altered(lambda table: table.set_column(5, "gain", pa.array(["x"] * 6))),
}


@pytest.mark.filterwarnings("ignore:Exporting an unversioned")  # NumPy asks again for text
@pytest.mark.parametrize("change", FOREIGN)
def test_a_file_that_is_no_whole_stream_is_refused(path: Path, change: str) -> None:
    write_stream(stream(), path)
    FOREIGN[change](path)
    with pytest.raises(DataError, match="stream.parquet is not a stream .* move it away and run"):
        read_stream(path)


def test_a_file_whose_gains_break_a_rule_of_streams_is_refused(path: Path) -> None:
    write_stream(stream(), path)
    altered(lambda table: table.set_column(5, "gain", pa.array([1.5] * 6)))(path)
    with pytest.raises(DataError, match="is 1.5, not a number in"):
        read_stream(path)


def test_a_stream_without_capacities_has_the_sensitivity_that_it_was_given() -> None:
    made = given_stream(gain_range=4.0)
    assert made.sensitivity.tolist() == SENSITIVITY
    assert not made.sensitivity.flags.writeable
    assert made.largest_change == 2.0
    assert given_stream().largest_change == 1.0, "no gain changes by more than its range"
    assert given_stream(given_sensitivity=[0.5, 0.25, 0.3]).largest_change == 0.5
    alone = dpol.GainStream([[0.1, 2.9], [3, 0]], gain_range=3)  # a whole round may change
    assert alone.sensitivity.tolist() == [3 * 2**0.5] * 2
    assert alone.entities == ("expert 0", "expert 1")
    noisy = dpol.privatize(alone, noise="isotropic", mu=1.0, seed=1, replicates=2)
    assert dpol.play(dpol.RWMeta(), noisy).gains(alone).shape[0] == 2


# Questions ---------------------------------------------------------------------------------------

BEDS = np.array([[10.0, 60.0, 400.0], [12.0, 50.0, 380.0]])
COUNTS = np.array([[5.0, 30.0, 100.0], [6.0, 20.0, 190.0]])
LARGE, PATIENTS = Gain(min_capacity=50), Gain(of="count", bound=200)
MOVES = 2.0
MU = 0.5


def panel(counts=COUNTS, beds=BEDS, gain=THE_PAPERS):
    """Return the panel of streams NM and PA of entities a, b and c, named A, B and C."""
    lines = [[" ".join(map(str, cells)) for cells in grid.T] for grid in (counts, beds)]
    drawn = dict(zip("abc", zip(*lines, strict=True), strict=True))
    table = clean(drawn, dataset(), streams(NM=["A"], PA=["A"]), gain).table
    return table.assign(name=table["entity"].str.upper())


def asked(gain=THE_PAPERS, rows=None, **options):
    rows = panel() if rows is None else rows
    return build_stream(rows, "NM", MOVES, {"file": "table"}, gain=gain, **options)


@pytest.mark.parametrize(
    ("gain", "entities", "gains", "whole"),
    [
        (Gain(), "abc", COUNTS / BEDS, BEDS),
        (LARGE, "bc", (COUNTS / BEDS)[:, 1:], BEDS[:, 1:]),
        (PATIENTS, "abc", COUNTS / 200, np.full((2, 3), 200.0)),
        (Gain(of="count", bound=200, min_capacity=50), "bc", COUNTS[:, 1:] / 200, None),
    ],
)
def test_gains_sensitivity_noise_and_mu_in_closed_form(gain, entities, gains, whole):
    """One person changes two counts by s, so the gains by sqrt(2) s over the smallest whole."""
    made, whole = asked(gain), np.full((2, 2), 200.0) if whole is None else whole
    assert "".join(made.entities) == entities
    assert "".join(made.names) == entities.upper()
    assert made.periods.astype(str).tolist() == [week(0), week(1)]
    np.testing.assert_allclose(made.gains, gains, rtol=1e-15)
    delta = np.sqrt(2) * MOVES / whole.min(axis=1)
    np.testing.assert_allclose(made.sensitivity, delta, rtol=1e-15)
    assert made.largest_change == pytest.approx(MOVES / whole.min())
    every = np.broadcast_to(delta[:, None] / MU, gains.shape)
    np.testing.assert_allclose(noise_scale(made, "isotropic", MU), every, rtol=1e-15)
    expected = np.sqrt(2) * MOVES / (MU * whole)
    np.testing.assert_allclose(noise_scale(made, "capacity", MU), expected, rtol=1e-15)
    noisy = dpol.privatize(made, "capacity", MU, seed=1, replicates=1)
    assert noisy.guarantee.mu == pytest.approx(MU, rel=1e-12)


def test_a_share_may_be_above_1_up_to_a_public_bound():
    """Loans per seat give the same game as shares of 30 times the seats, except for the unit."""
    loans = COUNTS * [20.0, 50.0, 3.0]
    seats = Gain(at_most=30)
    made = asked(seats, panel(loans, gain=seats), counted="loans")
    np.testing.assert_allclose(made.gains, np.minimum(loans / BEDS, 30), rtol=1e-15)
    np.testing.assert_allclose(made.sensitivity, np.sqrt(2) * MOVES / BEDS.min(axis=1))
    assert made.gain_range == 30
    assert made.provenance[GAIN] == {"of": "share", "at_most": 30, "left_out": 0, "clipped": 0}
    unit = dpol.privatize(made, "capacity", MU, seed=1, replicates=1).guarantee.unit
    assert unit == "one person who changes a count of loans by up to 2 in one round"
    trick = asked(rows=panel(loans, 30 * BEDS))
    for noise in ("isotropic", "capacity"):
        per_seat, in_thirtieths = (
            dpol.privatize(played, noise, MU, seed=3, replicates=2) for played in (made, trick)
        )
        np.testing.assert_allclose(per_seat.gains, 30 * in_thirtieths.gains, rtol=1e-12)
        assert per_seat.guarantee.mu == pytest.approx(in_thirtieths.guarantee.mu, rel=1e-12)


def test_what_was_asked_is_kept_with_the_stream(tmp_path):
    plain = {"file": "table", UNMEASURED: {"periods": 0, "share": 0.0}}
    assert asked().provenance == asked(Gain(title="largest")).provenance == plain
    assert asked(counted="loans").provenance[COUNTED] == "loans"
    made = asked(LARGE.model_copy(update={"title": "large"}), named="NM-large")
    assert made.label == "NM-large"
    assert made.provenance[GAIN] == {"of": "share", "min_capacity": 50, "left_out": 1}
    write_stream(made, tmp_path / "stream.parquet")
    assert read_stream(tmp_path / "stream.parquet").provenance == made.provenance


def test_only_a_share_depends_on_a_capacity_that_nobody_reported():
    rows = panel().assign(capacity_source="carried")
    assert asked(rows=rows).provenance[UNMEASURED] == {"periods": 2, "share": 1.0}
    assert asked(PATIENTS, rows).provenance[UNMEASURED] == {"periods": 0, "share": 0.0}


@pytest.mark.parametrize(
    ("counts", "read_as", "times"),
    [
        # The least published count is 4.5: 5.4 may become 2.
        ([["*", "4.5", "6"], [7, 8, 9]], 2, 3.5),
        # It is 5, which one person less turns into 0; other counts of 0 are published.
        ([["*", 0, 5], [7, 8, 9]], 0, 5),
    ],
)
def test_a_stream_knows_what_its_suppressed_counts_are_read_as(counts, read_as, times):
    lines = [(" ".join(map(str, cells)), "99 99") for cells in zip(*counts, strict=True)]
    drawn = dict(zip("abc", lines, strict=True))
    table = clean(drawn, dataset(suppressed_value=read_as)).table
    made = build_stream(table, "S", 1.0, {}, gain=THE_PAPERS, counted="people")
    assert COUNTED not in made.provenance, "nobody has several"
    assert made.provenance[SUPPRESSED] == {"read_as": read_as, "times": times}
    assert SUPPRESSED not in asked().provenance
    said = neighbours_of(made).taken_as_public
    assert said.startswith(f"which counts are suppressed (read as {read_as})")
    assert said.endswith(f"one person's μ is up to {times} times as large")


def test_a_capacity_that_falls_below_once_is_too_small():
    beds = BEDS.copy()
    beds[1, 1] = 49.0
    with pytest.raises(DataError, match="1 of 3 entities have a capacity of at least 50 in every"):
        asked(LARGE, panel(beds=beds))


def test_counts_above_the_bound_are_clipped_and_counted():
    gain = Gain(of="count", bound=100)
    made = asked(gain)
    np.testing.assert_array_equal(made.gains, np.minimum(COUNTS / 100, 1))  # not over 190
    assert made.provenance[GAIN]["clipped"] == 1


# The best number ---------------------------------------------------------------------------------

SOURCES = [*MEASURED, "suppressed", "carried", "zero"]
cell = st.tuples(st.integers(0, 3), st.sampled_from(SOURCES), st.sampled_from(SOURCES))


@given(
    grid=st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(cell, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    capacities=st.booleans(),
)
def test_the_best_number_that_nobody_measured_is_found_as_by_hand(
    grid: list[list[tuple[int, str, str]]], capacities: bool
) -> None:
    """Nothing is decided where a measured number is as large, nor where all are equal."""
    periods, decided, possible = 0, Fraction(0), Fraction(0)
    for cells in grid:
        gains = [gain for gain, _, _ in cells]
        more = max(gains) - Fraction(sum(gains), len(gains))
        measured = [
            gain
            for gain, count, capacity in cells
            if count in MEASURED and (capacity in MEASURED or not capacities)
        ]
        possible += more
        if more and max(gains) not in measured:
            periods, decided = periods + 1, decided + more
    flat = [(t, *one) for t, cells in enumerate(grid) for one in cells]
    table = pd.DataFrame(flat, columns=["period", "gain", "count_source", "capacity_source"])
    of = ["count_source", "capacity_source"] if capacities else ["count_source"]
    share = float(decided / possible) if decided else 0
    expected = {"periods": periods, "share": pytest.approx(share, abs=1e-6)}
    assert unmeasured_best(table, "gain", of) == expected


def test_nothing_is_decided_where_all_gains_are_equal_and_their_mean_is_rounded() -> None:
    table = pd.DataFrame({"period": 0, "gain": [0.7] * 3, "count_source": "carried"})
    assert unmeasured_best(table, "gain", ["count_source"]) == {"periods": 0, "share": 0.0}


def test_a_zero_that_may_hide_a_count_is_read_as_a_suppressed_one_is() -> None:
    """Of beds 4 the zero would be 1/2, above the best of the first period and not of the second."""
    rows = [(0, 2.0, 20, "suppressed"), (0, 4.0, 10, "reported"), (0, 0.0, 4, ZERO_OR_HIDDEN)]
    rows += [(1, 0.0, 20, "reported"), (1, 6.0, 10, "reported"), (1, 0.0, 4, ZERO_OR_HIDDEN)]
    table = pd.DataFrame(rows, columns=["period", "count", "capacity", "count_source"])
    table["gain"] = table["count"] / table["capacity"]
    share = round((0.4 - 0.5 / 3) / (0.4 - 0.5 / 3 + 0.6 - 0.2), 6)
    found = unmeasured_best(table, "gain", ["count_source"])
    assert found == {"periods": 0, "share": 0.0, "zero_share": share}
    alone = unmeasured_best(table.iloc[1:], "gain", ["count_source"])
    assert alone["zero_share"] == 0  # nothing says as what to read it


# One person --------------------------------------------------------------------------------------


@given(
    person=st.integers(1, 4),
    least=st.integers(2, 12),
    read_as=st.integers(1, 6),
    parts=st.sampled_from([1, 7]),
)
def test_the_largest_change_of_a_cleaned_count_by_trying_all_neighbours(
    person, least, read_as, parts
):
    """Whole counts reach the bound; sevenths, as in means of seven days, miss it by one seventh."""
    read_as = min(read_as, least)
    counts = [Fraction(number, parts) for number in range((least + 2 * person + 1) * parts)]
    cleaned = [Fraction(read_as) if 0 < count < least else count for count in counts]
    moves = [
        abs(cleaned[j] - cleaned[i])
        for i, low in enumerate(counts)
        for j, high in enumerate(counts)
        if 0 <= high - low <= person
    ]
    published = np.array([float(count) for count in counts if count == 0 or count >= least])
    bound = largest_change(person, published, read_as=read_as)
    # Where a published count equals what hidden ones are read as, it may be a hidden one.
    missed = (parts > 1) / parts + (read_as == least) / parts
    assert -1e-12 <= bound - max(moves) <= missed + 1e-12


@pytest.mark.parametrize("read_as", [1, 2, 3])
@pytest.mark.parametrize("days", range(1, 8))
@pytest.mark.parametrize("person", [1, 2])
def test_the_largest_change_of_a_cleaned_average_by_trying_all_neighbours(
    person: int, days: int, read_as: int
) -> None:
    """On each day, a person adds any number up to `person`; the bound is reached."""
    totals = range(4 * days + 2 * person * days + 4)
    averages = pd.Series([HIDDEN if 0 < n < 4 * days else repr(n / days) for n in totals])
    sums = pd.Series([HIDDEN if 0 < n < 4 else str(n) for n in totals])
    cells = {"hospital": "a", "week": pd.date_range("2021-01-03", periods=len(totals), freq="7D"),
             "state": "A", "patients": averages, "beds": "9", "patients_sum": sums,
             "patients_days": str(days)}  # fmt: skip
    rules = dataset(OF_COUNTS, suppressed_sum=read_as)
    of = typed(table_of("t.csv", pd.DataFrame(cells)), rules)
    cleaned = rows_of_stream(of, "S", ["A"], rules)["count"].to_numpy()
    moves = [
        abs(cleaned[n + more] - cleaned[n])
        for more in range(person * days + 1)
        for n in range(len(totals) - more)
    ]
    bound = largest_change_of_average(person, days, read_as=read_as)
    assert max(moves) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("cells", "read_as", "days", "times"),
    [
        ("*:*:7 5:35:7 *:15:5 9:63:7", 2, [5, 7], 1.2),
        # Just below 6 may be published; without the person it is hidden, and read as 2.
        ("*:*:7 *:*:. 5:35:7 9:63:7", 2, [7, 7], 4),
        # A published 4 to 5 without known days is hidden without the person, and read as 0.
        ("*:*:1 *:.:8 4 5.5", 0, [1, 7], 5),
        # So it is if no hidden count lacks its days, but a published one does.
        ("*:*:7 4.5:31:0 4 5.5", 2, [7, 7], 3),
    ],
)
def test_a_stream_knows_the_days_behind_its_hidden_sums(
    cells: str, read_as: float, days: list[int], times: float
) -> None:
    nine = "9 9 9 9"
    whole = "8.5:60:7 8:56:7 8:56:7 8:56:7"
    of = told(rows({"a": (cells, nine), "h": (whole, nine)}))
    panel = clean(of, dataset(SUMS, suppressed_value=read_as))
    made = build_stream(panel.table, "S", 1.0, {"sums": panel.reports[0].sums}, gain=THE_PAPERS)
    assert made.provenance[SUPPRESSED] == {"read_as": 2, "days": days, "times": times}
    assert "sums" not in made.provenance
    said = neighbours_of(made).taken_as_public
    assert said.startswith("which sums of days are suppressed (read as 2): the guarantee is for")
    over_a_week = f"({days[0]} days reported at least; 1.14 times over 7)"
    assert said.endswith(f"{times} times as large {over_a_week}")
