"""What the league shows: at most five lines, a table of all systems, and one answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpol.report.lead import answer_of
from dpol.report.widgets import answer_widget
from dpol.studies.league.figure import draw_privacy_utility
from dpol.studies.league.systems import MOST, lines_of, not_separated
from dpol.studies.league.table import league_table
from dpol.studies.study import Facts
from legible import assert_legible, lines, points
from report.run_by_hand import config
from standings_by_hand import Row, frames_of, standings_of
from tables_by_hand import INF, run

FACTS = replace(config().facts, streams={"nm": "Here"}, levels=(INF, 1.0, 0.25))
TWO = replace(FACTS, streams={"nm": "Here", "pa": "There"})


def at_levels(algorithm: str, *gains: float, **changes: object) -> list[Row]:
    """Return runs without noise, at mu = 1 and at 0.25; the possible gain is 60."""
    return [
        run(algorithm, mu, gain, **changes)
        for mu, gain in zip((INF, 1.0, 0.25), gains, strict=True)
    ]


def played(stream: str = "nm") -> list[Row]:
    """The paper's method keeps 20, 30 and 10; persistence 50, 60 and 40; a curator everything."""
    return [
        *at_levels("rw-meta", 12.0, 18.0, 6.0, stream=stream),
        *at_levels("rw-ftpl", 6.0, 6.0, 6.0, stream=stream),
        *at_levels("persistence", 30.0, 36.0, 24.0, stream=stream, noise="capacity", ours=True),
        *at_levels("ridge-w8-weak", 36.0, 30.0, 24.0, stream=stream, family="ridge"),
        *at_levels("tree-ftpl-min-noise", 60.0, 60.0, 60.0, model="central", stream=stream),
        *at_levels("rw-adabatch", 60.0, 60.0, 60.0, guaranteed_mu=2.0, stream=stream),
        run("follow-the-leader", INF, 60.0, model="none", noise="none", stream=stream),
    ]


def said(rows: list[Row], facts: Facts = FACTS, **asked: object) -> list[str]:
    frame = standings_of(rows, **asked)  # type: ignore[arg-type]
    return [text for text, _ in answer_of(frames_of(frame), facts, config()).texts]


def test_the_figure_has_at_most_five_lines_and_each_is_at_its_share() -> None:
    frame = standings_of(played())
    figure = draw_privacy_utility(frames_of(frame), FACTS)
    assert_legible(figure)
    drawn = {name: it for name, it in lines(figure.axes[0]).items() if name[0] != "_"}
    assert list(drawn) == ["best fixed expert", "RW-Meta", "RW-FTPL", MOST, "the best curator"]
    assert points(drawn[MOST])[1] == pytest.approx((1, 0.6))
    assert figure.get_label() == (
        "At μ = 0.25, persistence with capacity noise † keeps most: 40.0%."
    )
    data = answer_widget({"standings": frame}, FACTS)[0]
    names = [it["name"] for it in data["panels"][0]["lines"]]
    assert ["best fixed expert", *names] == list(drawn)
    best = data["panels"][0]["lines"][2]["points"]
    assert [it[3].partition(" ")[0] for it in best] == ["rw-adabatch", "persistence", "persistence"]


def test_a_named_algorithm_stands_in_place_of_rw_ftpl_and_no_curator_has_no_line() -> None:
    mine = at_levels("mine", 20.0, 20.0, 20.0, variant=True, exhibit="paper 1, Table 2")
    rows = [it for it in played() if it["model"] == "local" and it["guaranteed_mu"] != 2.0]
    systems = lines_of(standings_of([*rows, *mine]))
    assert [line.name for line in systems] == ["RW-Meta", "mine", MOST]


def test_the_answer_names_the_papers_method_the_best_and_what_is_not_separated() -> None:
    free, low, high = said(played())
    right = "right about one person in one week at most 55 times in 100 (a coin: 50)"
    assert high == (
        "RW-Meta (the paper’s) keeps 10 of 100 points (0: a random choice; 100: the best of every"
        " week). Of 4 private systems, persistence with capacity noise † keeps most, 40, picked in"
        " hindsight. Not separated from it by these runs: ridge-w8-weak with isotropic noise."
        " Always North keeps 50. Without noise rw-adabatch keeps most, 100. An attacker is"
        f" {right} if each site adds noise to its exact counts."
    )
    assert "Not separated" not in low
    assert "rw-adabatch with" not in free, "without noise, a system is its algorithm"


def test_means_over_streams_lead_where_people_differ() -> None:
    rows = [*played(), *played("pa")]
    means, one = (said(rows, TWO, apart=apart)[1] for apart in (True, False))
    assert "of 100 points on average over 2 streams (0:" in means
    assert "of 100 points in Here (0:" in one


def test_few_runs_that_tell_nothing_say_so_and_levels_that_nobody_keeps() -> None:
    swings = [run("rw-meta", 1.0, 0, totals=[60.0, -12.0])]
    free, low, _ = said(swings)
    assert free == "No private algorithm was played at no privacy (μ = ∞)."
    assert "do not tell it from a random choice; raise replicates." in low


def test_without_noise_an_algorithm_is_one_system() -> None:
    both = [run("rw-meta", INF, 30.0), run("rw-meta", INF, 30.0, noise="capacity")]
    assert not_separated(standings_of(both)).empty


def test_the_league_has_a_group_for_each_guarantee_and_ranks_within() -> None:
    stays = run("rw-ftpl", 1.0, 57.0, noise="capacity-memory", mu_8_weeks=3.5)
    frame = standings_of([*played(), stays])
    table = league_table(frames_of(frame), FACTS)
    (section,) = table.sections
    groups = {group.title: dict(group.lines) for group in section.groups}
    assert [*groups] == [
        *("sees noisy gains only", "keeps the level for one week only", "sees raw gains"),
    ]
    local = groups["sees noisy gains only"]
    cells = local["persistence, capacity noise †"]
    assert [(it.text, *it.notes) for it in cells[1:3]] == [
        ("60.0%", "rank 1 *"),
        ("40.0%", "rank 1 *"),
    ]
    assert local["rw-meta, isotropic noise"][1].notes == ("rank 3",)
