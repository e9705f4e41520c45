"""A question's gains, sensitivity, noise and mu have closed forms; bad questions are refused."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from data.drawn import clean, dataset, streams, week
from dpol.core.errors import DataError
from dpol.data.settings import THE_PAPERS, Gain
from dpol.data.stream import (
    COUNTED,
    GAIN,
    SUPPRESSED,
    UNMEASURED,
    build_stream,
    read_stream,
    write_stream,
)
from dpol.noise import privatize
from dpol.noise.neighbours import neighbours_of
from dpol.noise.noisy_gains import noise_scale

BEDS = np.array([[10.0, 60.0, 400.0], [12.0, 50.0, 380.0]])
COUNTS = np.array([[5.0, 30.0, 100.0], [6.0, 20.0, 190.0]])
LARGE, PATIENTS = Gain(min_capacity=50), Gain(of="count", bound=200)
SENSITIVITY = 2.0
MU = 0.5


def panel(counts=COUNTS, beds=BEDS, gain=THE_PAPERS):
    """Return the panel of streams NM and PA of entities a, b and c."""
    lines = [[" ".join(map(str, cells)) for cells in grid.T] for grid in (counts, beds)]
    drawn = dict(zip("abc", zip(*lines, strict=True), strict=True))
    return clean(drawn, dataset(), streams(NM=["A"], PA=["A"]), gain).table


def stream(gain=THE_PAPERS, rows=None, **options):
    rows = panel() if rows is None else rows
    return build_stream(rows, "NM", SENSITIVITY, {"file": "table"}, gain=gain, **options)


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
    made, whole = stream(gain), np.full((2, 2), 200.0) if whole is None else whole
    assert "".join(made.entities) == entities
    assert made.periods.astype(str).tolist() == [week(0), week(1)]
    np.testing.assert_allclose(made.gains, gains, rtol=1e-15)
    delta = np.sqrt(2) * SENSITIVITY / whole.min(axis=1)
    np.testing.assert_allclose(made.sensitivity, delta, rtol=1e-15)
    assert made.largest_change == pytest.approx(SENSITIVITY / whole.min())
    every = np.broadcast_to(delta[:, None] / MU, gains.shape)
    np.testing.assert_allclose(noise_scale(made, "isotropic", MU), every, rtol=1e-15)
    expected = np.sqrt(2) * SENSITIVITY / (MU * whole)
    np.testing.assert_allclose(noise_scale(made, "capacity", MU), expected, rtol=1e-15)
    noisy = privatize(made, "capacity", MU, seed=1, replicates=1)
    assert noisy.guarantee.mu == pytest.approx(MU, rel=1e-12)


def test_a_share_may_be_above_1_up_to_a_public_bound():
    """Loans per seat give the same game as shares of 30 times the seats, except for the unit."""
    loans = COUNTS * [20.0, 50.0, 3.0]
    seats = Gain(at_most=30)
    made = stream(seats, panel(loans, gain=seats), counted="loans")
    np.testing.assert_allclose(made.gains, np.minimum(loans / BEDS, 30), rtol=1e-15)
    np.testing.assert_allclose(made.sensitivity, np.sqrt(2) * SENSITIVITY / BEDS.min(axis=1))
    assert made.gain_range == 30
    assert made.provenance[GAIN] == {"of": "share", "at_most": 30, "left_out": 0, "clipped": 0}
    unit = privatize(made, "capacity", MU, seed=1, replicates=1).guarantee.unit
    assert unit == "one person who changes a count of loans by up to 2 in one round"
    trick = stream(rows=panel(loans, 30 * BEDS))
    for noise in ("isotropic", "capacity"):
        per_seat, in_thirtieths = (
            privatize(played, noise, MU, seed=3, replicates=2) for played in (made, trick)
        )
        np.testing.assert_allclose(per_seat.gains, 30 * in_thirtieths.gains, rtol=1e-12)
        assert per_seat.guarantee.mu == pytest.approx(in_thirtieths.guarantee.mu, rel=1e-12)


def test_what_was_asked_is_kept_with_the_stream(tmp_path):
    plain = {"file": "table", UNMEASURED: {"periods": 0, "share": 0.0}}
    assert stream().provenance == stream(Gain(title="largest")).provenance == plain
    assert stream(counted="loans").provenance[COUNTED] == "loans"
    made = stream(LARGE.model_copy(update={"title": "large"}), named="NM-large")
    assert made.label == "NM-large"
    assert made.provenance[GAIN] == {"of": "share", "min_capacity": 50, "left_out": 1}
    write_stream(made, tmp_path / "stream.parquet")
    assert read_stream(tmp_path / "stream.parquet").provenance == made.provenance


def test_only_a_share_depends_on_a_capacity_that_nobody_reported():
    rows = panel().assign(capacity_source="carried")
    assert stream(rows=rows).provenance[UNMEASURED] == {"periods": 2, "share": 1.0}
    assert stream(PATIENTS, rows).provenance[UNMEASURED] == {"periods": 0, "share": 0.0}


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
    made = build_stream(
        clean(drawn, dataset(suppressed_value=read_as)).table, "S", 1.0, {}, gain=THE_PAPERS
    )
    assert made.provenance[SUPPRESSED] == {"read_as": read_as, "times": times}
    assert SUPPRESSED not in stream().provenance
    said = neighbours_of(made).taken_as_public
    assert said.startswith(f"which counts are suppressed (read as {read_as})")
    assert said.endswith(f"one person's μ is up to {times} times as large")


def test_a_capacity_that_falls_below_once_is_too_small():
    beds = BEDS.copy()
    beds[1, 1] = 49.0
    with pytest.raises(DataError, match="1 of 3 entities have a capacity of at least 50 in every"):
        stream(LARGE, panel(beds=beds))


def test_counts_above_the_bound_are_clipped_and_counted():
    gain = Gain(of="count", bound=100)
    made = stream(gain)
    np.testing.assert_array_equal(made.gains, np.minimum(COUNTS / 100, 1))  # not over 190
    assert made.provenance[GAIN]["clipped"] == 1


@pytest.mark.parametrize(
    "keys",
    [
        {"of": "count", "bound": 5, "at_most": 2},
        {"at_most": 0},
        {"bound": 10},
        {"min_capacity": 0},
    ],
)
def test_a_question_is_whole(keys):
    with pytest.raises(ValidationError):
        Gain.model_validate(keys)
