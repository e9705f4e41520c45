"""What follows from a summary, computed by hand."""

from __future__ import annotations

from dpol.show.reported import load_reported
from dpol.studies.games.names import BEST_LINEAR
from tables_by_hand import INF, run, summary

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
