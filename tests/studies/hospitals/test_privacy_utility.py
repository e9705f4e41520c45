"""The privacy-utility curve: what stands where."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from scipy.stats import norm

from dpol.studies.hospitals.privacy_utility import REPORTED, draw_privacy_utility, shown_rows
from legible import lines, points
from tables_by_hand import FACTS, INF, main, rows, summary


def drawn(frame: pd.DataFrame) -> dict[str, list[tuple[float, float]]]:
    """Points of the lines of the first panel, by label."""
    figure = draw_privacy_utility({"summary": frame}, main(), FACTS)
    return {name: points(line) for name, line in lines(figure.axes[0]).items()}


def test_points_stand_at_the_guess_and_the_share() -> None:
    # By hand: chance 0, foresight 60; gains 0.33 at mu = 1 and 41.25 without noise.
    low, high = drawn(summary())["rw-meta, isotropic"]
    assert low == pytest.approx((norm.cdf(0.5), 0.33 / 60), abs=1e-3)
    assert high == pytest.approx((1.0, 41.25 / 60))


def test_numbers_of_the_paper_are_beside_real_data_only() -> None:
    real = drawn(summary())[REPORTED]
    assert (1.0, pytest.approx(40.14 / 60)) in real
    assert drawn(summary().assign(simulated=True))[REPORTED] == []


def test_a_guarantee_decides_where_a_row_stands_and_is_drawn_once() -> None:
    frame = summary().assign(guaranteed_mu=0.5)
    assert set(shown_rows(frame, main())["guess"]) == {norm.cdf(0.25)}
    assert len(drawn(frame)["rw-meta, isotropic"]) == 1
    # Of a guarantee that is not Gaussian DP: (e^eps + delta) / (e^eps + 1), with eps = log 3.
    frame = summary().assign(guaranteed_mu=math.nan, epsilon=math.log(3), delta=0.0)
    assert set(shown_rows(frame, main())["guess"].round(12)) == {0.75}


def test_algorithms_without_privacy_and_those_not_shown_are_left_out() -> None:
    assert "follow-the-leader" not in set(shown_rows(summary(), main())["algorithm"])
    few = main(algorithms=["rw-meta"])
    assert set(shown_rows(summary(), few)["algorithm"]) == {"rw-meta"}


def test_a_run_of_one_replicate_and_one_without_private_rows_are_drawn() -> None:
    one = summary([row | {"ci_half_width": INF} for row in rows()])
    assert drawn(one.assign(gain_share_half_width=INF))["rw-meta, isotropic"]
    assert "rw-meta, isotropic" not in drawn(summary().assign(model="none"))
