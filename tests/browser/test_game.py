"""The game of the report, played in Chromium as in docs/teach.md."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from browser.test_lesson import AMG, BEYOND, TEACH, lesson_rows
from browser.test_report import CHROMIUM, HERE, VIEWS, pytestmark
from dpol.core.schemas import write_frame
from report.run_by_hand import page, write_run

__all__ = ["pytestmark"]  # of every test here
LINK = re.search(r"#game\?[^`\s]+", TEACH)[0]  # type: ignore[index]
LOW, HIGH = "μ = 1", "μ = 0.25"
Steps = list[list[Any]]


@pytest.fixture(scope="session")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Page with the game of the lesson."""
    folder = tmp_path_factory.mktemp("results") / "lesson"
    write_run(folder)
    write_frame(lesson_rows().assign(stream="nm"), folder / "replay.parquet")
    path = folder / "index.html"
    path.write_text(page(folder, dataset=BEYOND.whole()["dataset"]))
    return path


def play(path: Path, link: str, *steps: list[Any]) -> Any:
    """Play the steps with play.js, and return what it sees; nothing on the page may fail."""
    command = ["node", "play.js", str(CHROMIUM), f"{path}{link}", *map(str, VIEWS[0])]
    done = subprocess.run(
        [*command, json.dumps(steps)], cwd=HERE, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
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
        beds = [int(row[column]) for row in over["sheet"][1:11]]
        assert sum(beds) == int(cards[0][name][0]), "a pupil who adds gets the same"


WRONG = {
    "#game": "mu is missing",
    "#game?mu=1&from=2021-01-15": "weeks is missing",
    "#game?mu=1&mu=1&from=2021-01-15&weeks=10": "mu is given more than once",
    "#game?mu=1.0&from=2021-01-15&weeks=10": "mu=1.0 is not one of 1, 0.25",
    "#game?mu=1&noise=none&from=2021-01-15&weeks=10": "noise=none is not one of isotropic",
    "#game?mu=1&from=2021-01-16&weeks=10": "from=2021-01-16 is not one of 2021-01-01, 2021-01-08",
    "#game?mu=1&from=2022-07-22&weeks=3": "weeks=3 is not one of 1, 2",
    "#game?mu=1&from=2021-01-15&weeks=010": "weeks=010 is not one of 1, 2",
    "#game?mu=1&from=2021-01-15&weeks=10&start=1": "start is unknown",
}


def test_a_link_that_starts_no_game_says_why(lesson: Path) -> None:
    first, *others = WRONG
    example = "#game?mu=1&noise=isotropic&from=2021-01-01&weeks=10"
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
    fair = (two.dropna().reset_index(drop=True) <= 0.4).to_numpy()
    assert 0 < fair.sum() < len(fair)
    least = ((single - by_chance) / (all_best - by_chance))[fair].idxmin()
    opening = replay.loc[replay["round"] == least + 1, "period"].iloc[0]
    assert during[0]["week"] == f"{opening:%Y-%m-%d}"
    assert "10 weeks from" in over["sheet"][0][0] or over["result"]


def test_a_score_is_lost_only_if_the_player_agrees(lesson: Path) -> None:
    start, other = ["click", "Play 10 weeks"], f"{LINK}&noise=isotropic"
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
