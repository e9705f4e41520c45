"""What follows from a summary, computed by hand."""

from __future__ import annotations

import pytest

from dpol.show.reported import load_reported
from dpol.studies.games.names import BEST_LINEAR
from tables_by_hand import INF, run, summary

# --- Best of a family ---


def test_the_best_of_a_family_has_the_largest_mean_of_its_setting() -> None:
    data = [
        run("b", 1.0, 2.0, family="f"),
        run("a", 1.0, 2.0, family="f"),  # ties go to the first label
        run("c", 1.0, 9.0, family="g"),
        run("b", 1.0, 3.0, family="f", noise="capacity"),
        run("b", INF, 1.0, family="f"),
        run("a", 1.0, 0.0, family="f", stream="pa"),
    ]
    assert summary(data)["best_of_family"].tolist() == [False, *[True] * 5]


# --- Costs ---


def test_costs_are_differences_from_the_same_algorithm_without_noise() -> None:
    data = [
        run("rw-meta", INF, 40.0, ci_half_width=0.5),
        run("rw-meta", 1.0, 30.0, ci_half_width=1.0),
        run("rw-meta", INF, 41.0, noise="capacity", ci_half_width=0.25),
        run("rw-meta", 1.0, 43.05, noise="capacity", ci_half_width=0.25),
        run("rw-meta", 1.0, 1.0, stream="pa"),  # never played without noise there
        run("stays", INF, 30.0, epsilon=0.9),  # noise although no privacy is requested
        run("stays", 1.0, 30.0),
        run("loses", INF, -1.0),
        run("loses", 1.0, -2.0),
    ]
    frame = summary(data)
    known = frame[frame["noise_cost"].notna()]
    assert known.index.tolist() == [1, 3]
    assert known["gain_without_noise"].tolist() == [40.0, 41.0]
    assert known["noise_cost"].tolist() == pytest.approx([10.0, -2.05])
    assert known["noise_cost_half_width"].tolist() == [1.5, 0.5]
    assert known["noise_cost_share"].tolist() == pytest.approx([0.25, -0.05])
    assert frame.loc[frame["noise_cost"].isna(), "noise_cost_half_width"].isna().all()


# --- The paper's numbers ---


def test_reported_numbers_are_the_paper_s() -> None:
    numbers = load_reported().set_index(["stream", "algorithm", "mu"])
    assert len(numbers) == 48
    assert numbers.loc[("CA", "rw-meta", 0.25)].tolist() == [33.34, 1.30]
    assert numbers.loc[("NM", "tree-ftpl-min-regret", INF), "mean_gain"] == 13.38
    assert numbers.loc[("PA", BEST_LINEAR, 0.5), "mean_gain"] == 38.06
    assert numbers["ci_half_width"].notna().sum() == 9


# --- Shares ---


def test_shares_are_empty_where_every_choice_gains_the_same() -> None:
    """A rounding error of the mean, over nothing that can be gained, is no share."""
    same = dict.fromkeys(("uniform_gain", "best_fixed_gain", "oracle_gain"), 30.0)
    row = summary([run("rw-meta", 1.0, 30.0 + 1e-12, **same)]).iloc[0]
    shares = row[["best_fixed_share", "gain_share", "gain_share_half_width"]]
    assert shares.isna().all()
