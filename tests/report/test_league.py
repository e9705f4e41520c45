"""League: by hand, how often ranks are wrong, and which players are joined."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from dpol.core.intervals import student_factor
from dpol.report.league import Game, Player, joined, league_of, lines_of

ONE = {"nm": Game(checksum="1", uniform=10.0, oracle=20.0)}
TWO = ONE | {"pa": Game(checksum="2", uniform=0.0, oracle=40.0)}
DRAWS = np.random.default_rng(20261121)


def player(
    label: str,
    nm: Sequence[float],
    pa: Sequence[float] = (),
    *,
    run: str = "a",
    seed: int = 1,
    mu: float = 1.0,
    rules: str = "",
) -> Player:
    cells = {("nm", mu): nm, ("pa", mu): pa}
    return Player(
        algorithm=label,
        noise="isotropic",
        runs=(run,),
        rules={"suites": rules},
        totals={
            cell: {(seed, number): total for number, total in enumerate(own)}
            for cell, own in cells.items()
            if own
        },
    )


def test_a_share_is_the_mean_over_the_streams_common_to_all_runs() -> None:
    """Shares 0.5, 0.6, 0.7 on one stream and 0.1, 0.2, 0.6 on the other: means 0.3, 0.4, 0.65."""
    meta = player("meta", [15.0, 16.0, 17.0], [4.0, 8.0, 24.0])
    leader = player("leader", [11.0] * 3, [4.0] * 3)
    league = league_of([leader, meta], [TWO, TWO], 0.9)
    best, last = league.to_dict("records")
    assert (best["algorithm"], best["streams"], best["replicates"]) == ("meta", 2, 3)
    assert best["gain_share"] == pytest.approx(0.45)
    half = student_factor(0.9, 3, 3) * np.std([0.3, 0.4, 0.65], ddof=1) / math.sqrt(3)
    assert best["gain_share_half_width"] == pytest.approx(half), "two shares and one difference"
    assert (last["gain_share"], last["gain_share_half_width"]) == (pytest.approx(0.1), 0.0)
    alone = league_of([leader, meta], [TWO, ONE], 0.9)
    assert alone["gain_share"].tolist() == pytest.approx([0.6, 0.1])


@pytest.mark.parametrize(("mu", "marked"), [(0.5, True), (math.inf, False)])
def test_equal_replicates_with_noise_are_marked(mu: float, marked: bool) -> None:
    cheat, meta = player("cheat", [18.1] * 3, mu=mu), player("meta", [15.0, 16.0, 17.0], mu=mu)
    lines = lines_of(league_of([cheat, meta], [ONE], 0.9))
    of_players = [line for line in lines if "meta" in line or "cheat" in line]
    assert [line.endswith("*") for line in of_players] == [marked, False]
    assert any(line.startswith("*: equal in all replicates") for line in lines) == marked


def test_without_a_common_game_there_is_no_league() -> None:
    other = {"nm": Game(checksum="9", uniform=10.0, oracle=20.0)}
    level = {"nm": Game(checksum="1", uniform=10.0, oracle=10.0)}
    for games in ([ONE, other], [level, level]):
        league = league_of([player("meta", [15.0, 16.0])], games, 0.95)
        assert league.empty
        assert lines_of(league)[0].startswith("no league")


def test_other_seeds_add_replicates_and_equal_numbers_count_once() -> None:
    meta = player("meta", [15.0, 16.0])
    again = player("meta", [15.0, 16.0, 17.0], run="b", rules="more")
    other = player("meta", [15.0, 14.0], run="c", seed=2)
    (one,) = joined([meta, again, other])
    assert one.runs == ("a", "b", "c")
    assert len(one.totals["nm", 1.0]) == 5
    league = league_of([meta, again, other], [ONE] * 3, 0.95)
    assert league["gain_share"].tolist() == pytest.approx([np.mean([0.5, 0.6, 0.7, 0.5, 0.4])])


@pytest.mark.parametrize(
    "new",
    [
        player("meta", [15.0, 16.5], run="b"),
        player("meta", [15.0, 16.0], run="b", seed=2, rules="other"),
    ],
    ids=["other numbers", "other rules"],
)
def test_different_players_with_one_name_stay_apart(new: Player) -> None:
    league = league_of([player("meta", [15.0, 16.0]), new], [ONE, ONE], 0.95)
    assert sorted(league["runs"]) == ["a", "b"]
    assert "runs" in lines_of(league)[1]


def ranked(gaps: Sequence[float], seeds: int, common: float) -> list[tuple[int, int]]:
    """Return rank intervals of players with these true shares; 30 replicates each.

    Args:
        gaps: True shares.
        seeds: 1 if all players have the same replicates, 2 if odd ones have others.
        common: Standard deviation of the noise that players with the same replicates share.
    """
    shared = DRAWS.normal(0, common, (seeds, 30))
    players = []
    for index, gap in enumerate(gaps):
        share = gap + shared[index % seeds] + DRAWS.normal(0, 0.02, 30)
        totals = (10 + 10 * share).tolist()
        players.append(player(str(index), totals, seed=index % seeds))
    rows = league_of(players, [ONE, ONE], 0.8).set_index("algorithm")
    low, high = rows["rank_low"], rows["rank_high"]
    return [(int(low[str(index)]), int(high[str(index)])) for index in range(len(gaps))]


@pytest.mark.parametrize("seeds", [1, 2])
def test_all_ranks_hold_jointly(seeds: int) -> None:
    """40 leagues at confidence 80%: more than 21 are wrong with probability 1e-6 (binomial).

    Players are equal in pairs, so an interval is right if it contains both ranks of the pair.
    """
    wrong = 0
    for _ in range(40):
        intervals = ranked([0.6, 0.6, 0.59, 0.59], seeds, 0.05)
        true = [(1, 2), (1, 2), (3, 4), (3, 4)]
        pairs = zip(intervals, true, strict=True)
        wrong += any(low > first or high < last for (low, high), (first, last) in pairs)
    assert wrong <= 21


def test_clear_differences_separate_ranks() -> None:
    """Shares 10 standard errors apart; common noise of 50 does not hide this if paired."""
    assert ranked([0.6, 0.64, 0.56], 1, 0.2) == [(2, 2), (1, 1), (3, 3)]
    assert ranked([0.6, 0.64], 2, 0.2) == [(1, 2), (1, 2)]
