"""The game of the report, played in Chromium as in docs/teach.md."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from browser.test_lesson import AMG, BEYOND, PLAYERS, TEACH, lesson_rows
from browser.test_report import REPORTS, VIEWS, pytestmark, seen_by
from dpol.core.schemas import write_frame
from report.run_by_hand import page, write_run

__all__ = ["pytestmark"]  # of every test here
LINK, WEEK = (re.search(rf"#{it}\?[^`\s]+", TEACH)[0] for it in ("game", "week"))  # type: ignore[index]
LOW, HIGH = "μ = 1", "μ = 0.25"
Steps = list[list[Any]]


@pytest.fixture(scope="session")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Page with the game of the lesson."""
    folder = tmp_path_factory.mktemp("results") / "lesson"
    write_run(folder)
    write_frame(lesson_rows().assign(stream="nm"), folder / "replay.parquet")
    path = folder / "index.html"
    report = {"algorithms": [*PLAYERS]}
    path.write_text(page(folder, dataset=BEYOND.whole()["dataset"], report=report))
    return path


def play(path: Path, link: str, *steps: list[Any]) -> Any:
    """Play the steps with play.js, and return what it sees; nothing on the page may fail."""
    result = seen_by("play.js", f"{path}{link}", *VIEWS[0], json.dumps(steps))
    assert result["errors"] == []
    return result


def is_hidden(seen: dict[str, Any]) -> bool:
    """Return True if nothing shows the truth, the best choice or the algorithm's choice."""
    told = seen["bars"] or seen["numbers"] or seen["result"]
    told = told or seen["tags"] not in ("", "you")
    sheet = any(
        cell for row in seen["sheet"][1:] for cell in row[-4:] if re.match(r"−?\d+%?$", cell)
    )
    return not (
        told or sheet or seen["sheetShown"] or "chose" in seen["told"].replace("You chose", "")
    )


def test_the_lesson_is_played_as_it_is_written(lesson: Path) -> None:
    """In ten weeks at both levels, the results are the numbers of docs/teach.md."""
    ten: Steps = [["choose", AMG]] * 10
    game = play(lesson, LINK, *ten, ["set", "level", HIGH], *ten)
    begin, over, again, end = (game["seen"][number] for number in (0, 10, 11, 21))
    assert abs(begin["top"]) < 40, "the game is in sight"
    assert (begin["level"], again["level"]) == (LOW, HIGH)
    assert begin["week"] == again["week"] == "2021-01-15"
    for hidden in (game["seen"][:10], game["seen"][11:21]):
        assert all(is_hidden(state) for state in hidden)
        assert [one["told"][:12].strip() for one in hidden][::9] == ["Week 1 of 10", "Week 10 of 1"]
    assert len(game["asked"]) == 1, "before the score of the first game is lost"
    ends = over["result"], end["result"]
    cards = [{name: (score, share) for name, score, share in result} for result in ends]
    assert list(cards[0]) == ["you", "rw-meta", "at random", "best"]
    (you, part), (low, low_part), (high, high_part) = (
        cards[0]["you"], cards[0]["rw-meta"], cards[1]["rw-meta"]
    )  # fmt: skip
    uniform, best = cards[0]["at random"][0], cards[0]["best"][0]
    assert cards[1]["you"] == cards[0]["you"]
    for sentence in (
        f"rw-meta scored {low} at μ = 1 and {high} at μ = 0.25",
        f"drawn at random gives {uniform}, the best of every week {best}",
        f"in all ten weeks scores {you}",
        *(
            f"({score} − {uniform}) / ({best} − {uniform}) = {share.split()[0]}"
            for score, share in ((low, low_part), (high, high_part), (you, part))
        ),
    ):
        assert sentence in TEACH
    for name, column in (("you", 2), ("rw-meta", 3), ("at random", 4), ("best", 5)):
        beds = [float(row[column]) for row in over["sheet"][1:11]]
        whole = float(over["sheet"][11][column - 1])
        assert sum(beds) == pytest.approx(whole, abs=0.51), "exact sums, then rounded"
        assert cards[0][name][0] == f"{whole:.0f}"


def without(key: str, said: str = "") -> str:
    """Return the link of the lesson without a key, or with another value."""
    return re.sub(f"{key}=[^&]*&?", said, LINK)


WRONG = {
    "#game": "mu is missing",
    without("weeks"): "weeks is missing",
    LINK + "&mu=1": "mu is given more than once",
    without("mu", "mu=1.0&"): "mu=1.0 is not one of 1, 0.25",
    without("noise", "noise=none&"): "noise=none is not one of isotropic",
    without(
        "algorithm", "algorithm=me&"
    ): "algorithm=me is not one of tree-ftpl-min-noise, rw-meta",
    without("from", "from=2021-01-16&"): "from=2021-01-16 is not one of 2021-01-01, 2021-01-08",
    without("from", "from=2022-07-22&"): "weeks=10 is not one of 1, 2",
    without("weeks", "weeks=010&"): "weeks=010 is not one of 1, 2",
    without("truth", "truth=never"): "truth=never is not one of end, each",
    LINK + "&start=1": "start is unknown",
    WEEK + "&weeks=10": "weeks is unknown",
}


def test_a_link_that_starts_no_game_says_why(lesson: Path) -> None:
    first, *others = WRONG
    example = without("algorithm", f"algorithm={PLAYERS[0]}&").replace("01-15", "01-01")
    game = play(lesson, first, *([["open", hash] for hash in [*others, example]]))
    *refused, started = game["seen"]
    for seen, wrong in zip(refused, WRONG.values(), strict=True):
        assert wrong in seen["refused"]
        assert seen["refused"].endswith(example)
        assert not is_hidden(seen)
    assert started["refused"] == ""
    assert is_hidden(started)


def test_ten_weeks_are_played_from_the_first_screen_where_no_single_choice_is_best(
    lesson: Path,
) -> None:
    game = play(lesson, "", ["play"], *[["choose", AMG]] * 10)
    start, *during, _, over = game["seen"]
    assert start["play"][0] == "Play 10 weeks"
    assert start["play"][1] < 900, "the button is on the first screen"
    assert len({state["rows"] for state in during}) == 1, "no row moves between two clicks"
    replay = lesson_rows()
    replay = replay[replay["mu"] == replay["mu"].iloc[0]]
    weeks = replay[replay["shown"]].pivot_table(index="round", columns="expert", values="gain")
    best = replay[replay["oracle"]].set_index("round")["gain"]
    uniform = replay.drop_duplicates("round").set_index("round")["uniform_gain"]
    ends = weeks.rolling(10).sum().max(axis=1), best.rolling(10).sum(), uniform.rolling(10).sum()
    single, all_best, by_chance = (each.dropna().reset_index(drop=True) for each in ends)
    possible = best - uniform
    two = possible.rolling(10).apply(lambda it: it.nlargest(2).sum() / it.sum(), raw=False)
    two = two.dropna().reset_index(drop=True).clip(lower=0.4)
    stake = all_best - by_chance
    worth = stake >= sorted(stake)[len(stake) // 2]
    assert (two[worth] == 0.4).any()
    kept = (single - by_chance) / stake
    least = pd.DataFrame({"two": two, "kept": kept})[worth].sort_values(["two", "kept"]).index[0]
    opening = replay.loc[replay["round"] == least + 1, "period"].iloc[0]
    assert during[0]["week"] == f"{opening:%Y-%m-%d}"
    assert "10 weeks from" in over["sheet"][0][0] or over["result"]


def test_the_address_is_the_whole_state_of_a_week_and_of_a_game(lesson: Path) -> None:
    """Also of a game after some choices, which its address does not tell."""
    steps: Steps = [
        ["set", "level", HIGH],
        ["set", "round", "2021-02-05"],
        ["set", "truth", "after each choice"],
    ]
    opened, *_, moved, _ = play(lesson, WEEK, *steps)["seen"]
    assert (opened["level"], opened["opponent"], opened["week"]) == (LOW, "rw-meta", "2021-01-01")
    assert "rw-meta chose" in opened["told"]
    told = f"{opened['bound'][:25]} {opened['whiskers'] > 10}"
    assert told == "±1.96 standard deviations True"
    (again,) = play(lesson, moved["hash"])["seen"]
    kept = ("level", "opponent", "week", "told", "score", "hash", "tags")
    assert {it: again[it] for it in kept} == {it: moved[it] for it in kept}
    game = play(lesson, LINK, ["choose", AMG], ["open", WEEK], ["open", LINK])["seen"]
    assert game[0]["hash"] == game[1]["hash"] == game[3]["hash"] == LINK
    assert game[2]["hash"] == WEEK
    assert [seen["told"] for seen in (game[0], game[2])] == [
        seen["told"] for seen in (game[3], opened)
    ]


@pytest.mark.parametrize(
    "path", ["lesson", *REPORTS], ids=lambda path: str(path).split("/report/")[0][-20:]
)
def test_every_stretch_can_be_won_and_its_shares_are_exact(lesson: Path, path: str | Path) -> None:
    """Of a run in results/, some of each level and noise; foresight chooses among its rows."""
    page_of, rows = (lesson, lesson_rows()) if path == "lesson" else (Path(path), None)
    if rows is None:
        file = page_of.parents[1] / "replay.parquet"
        if 'id="replay-data"' not in page_of.read_text():
            pytest.skip("a private table has no game")
        rows = pd.read_parquet(file)
    step = os.environ.get("STRETCHES", "3" if path == "lesson" else "37")
    games = seen_by("stretches.js", page_of, step, timeout=1200)
    assert len(games) > 30
    rows = rows.assign(date=rows["period"].dt.strftime("%Y-%m-%d"))
    for (noise, mu), own in rows.groupby(["noise", "mu"]):
        rounds = own.drop_duplicates("round").set_index("date")
        best = own[own["oracle"]].set_index("date")["gain"]
        played = own.assign(name=own["chosen_by"].str.split()).explode("name").set_index("date")
        for game in games:
            if (game["noise"], float(game["mu"])) != (noise, mu):
                continue
            weeks = rounds.index[rounds.index.get_loc(game["from"]) :][:10]
            chance, most = rounds.loc[weeks, "uniform_gain"].sum(), best[weeks].sum()
            theirs = played.loc[weeks].query("name == @game['algorithm']")["gain"].sum()
            cards = {
                name: int(share.split("%")[0].replace("−", "-")) for name, _, share in game["cards"]
            }
            assert [*cards] == ["you", game["algorithm"], "at random", "best"], game["refused"]
            exact = 100 * (theirs - chance) / (most - chance)
            assert abs(cards[game["algorithm"]] - exact) <= 0.5001, game
            assert (cards["at random"], cards["best"]) == (0, 100)
            assert cards["you"] >= 95, game


def test_a_score_is_lost_only_if_the_player_agrees(lesson: Path) -> None:
    start, other = ["click", "Play 10 weeks"], without("mu", "mu=0.25&")
    losing: Steps = [["set", "level", HIGH], start, ["open", other]]
    agreed: Steps = []
    for change in (["set", "level", HIGH], start, ["open", LINK]):
        agreed += [["choose", AMG], change]
    refused: Steps = [["choose", AMG], ["answer", False], *losing, ["answer", True]]
    game = play(lesson, LINK, *refused, *agreed)
    _, chosen, _, *seen = game["seen"]
    assert len(game["asked"]) == 6
    for kept in seen[:3]:
        assert (kept["level"], kept["score"]) == (LOW, chosen["score"])
    for begun in seen[5::2]:
        assert "Choices so far" not in begun["score"]
        assert is_hidden(begun)
