"""What follows from a summary, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from dpol.core.intervals import verdict_on
from dpol.show.reported import load_reported
from dpol.studies.games.names import BEST_LINEAR
from dpol.studies.games.summary import rank_meta
from tables_by_hand import INF, run, summary

# --- Verdicts ---


@pytest.mark.parametrize(
    ("difference", "half", "verdict"),
    [
        (1.0, 0.99, "above"),
        (1.0, 1.0, "undecided"),
        (-1.0, 0.99, "below"),
        (-1.0, 1.0, "undecided"),
        (0.0, 0.0, "equal"),
        (0.0, 0.1, "undecided"),
        (1e-9, 0.0, "above"),
        (5.0, INF, "undecided"),
    ],
)
def test_verdicts(difference: float, half: float, verdict: str) -> None:
    assert verdict_on(difference, half) == verdict


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


# --- RW-Meta compared with the central trees ---


def test_rw_meta_is_above_or_below_only_if_intervals_are_apart() -> None:
    def pair(stream: str, meta: float, noise: float, regret: float) -> list[dict[str, Any]]:
        trees = {"tree-ftpl-min-noise": noise, "tree-ftpl-min-regret": regret}
        facts = {"stream": stream, "ci_half_width": 0.5}
        rivals = [run(name, 1.0, gain, model="central", **facts) for name, gain in trees.items()]
        return [run("rw-meta", 1.0, meta, **facts), *rivals]

    data = [
        *pair("a", 10.0, 8.0, 5.0),  # above both
        *pair("b", 10.0, 5.0, 9.5),  # overlaps the better one
        *pair("c", 10.0, 12.0, 5.0),  # below the better one
        *pair("d", 0.0, 2.0, 1.0),  # its interval reaches below 0
        run("rw-meta", INF, 99.0, stream="a"),  # without noise: does not count
        run("tree-ftpl-min-noise", INF, 9.0, stream="a", model="central"),
        run("rw-meta", 1.0, 99.0, stream="a", noise="capacity"),  # nor noise of its own alone
    ]
    ranking = rank_meta(summary(data))
    ours = ranking[ranking["source"] == "run"]
    assert ours["verdict"].tolist() == ["above", "undecided", "below", "below"]
    assert ours["other_mean_gain"].tolist() == [8.0, 9.5, 12.0, 2.0]
    assert ours["difference_half_width"].tolist() == [1.0] * 4
    assert ours["ratio"].tolist() == [10 / 8, 10 / 9.5, 10 / 12, 0.0]
    assert ours["ratio_lower"].tolist() == [9.5 / 8.5, 9.5 / 10, 9.5 / 12.5, -0.5 / 1.5]
    assert ours["ratio_upper"].tolist() == [10.5 / 7.5, 10.5 / 9, 10.5 / 11.5, 0.5 / 1.5]
    # The paper's Table 2: three streams, three levels with noise.
    paper = ranking[ranking["source"] == "paper"]
    assert paper["verdict"].tolist() == ["above"] * 9
    windows = {f"mf-window-{w}": gain for w, gain in ((4, 7.0), (8, 9.0))}
    rivals = [
        run(name, 1.0, gain, stream="a", noise="capacity", family="mf-window", model="central")
        for name, gain in windows.items()
    ]
    (best,) = rank_meta(summary(data + rivals)).query("noise == 'capacity'").to_dict("records")
    assert (best["rival"], best["other_algorithm"]) == ("factorised window sums", "mf-window-8")
    assert best["ratio"] == 11
    hidden = summary(data).assign(unmeasured_share=0.06)
    found = rank_meta(hidden).query("source == 'run'")["verdict"].tolist()
    behind = "behind at this reading"
    assert found == ["ahead at this reading", "undecided", behind, behind]
    without = summary([row for row in data if row["algorithm"] != "rw-meta"])
    assert set(rank_meta(without)["source"]) == {"paper"}


# --- Shares ---


def test_shares_are_empty_where_every_choice_gains_the_same() -> None:
    """A rounding error of the mean, over nothing that can be gained, is no share."""
    same = dict.fromkeys(("uniform_gain", "best_fixed_gain", "oracle_gain"), 30.0)
    row = summary([run("rw-meta", 1.0, 30.0 + 1e-12, **same)]).iloc[0]
    shares = row[["best_fixed_share", "gain_share", "gain_share_half_width"]]
    assert shares.isna().all()
