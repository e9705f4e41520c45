"""What the league draws and lists: at most five lines, and every system at every level."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpol.report.widgets import answer_widget
from dpol.studies.league.figure import draw_privacy_utility
from dpol.studies.league.systems import (
    BEST,
    CURATOR,
    NOT_TOLD_APART,
    lines_of,
    others_not_told_apart,
)
from dpol.studies.league.table import league_table
from legible import assert_legible, lines, points
from report.run_by_hand import config
from standings_by_hand import at_levels, frames_of, played, standings_of
from tables_by_hand import INF, run, summary, texts

FACTS = replace(config().facts, streams={"nm": "Here"}, levels=(INF, 1.0, 0.25))


def test_the_figure_has_at_most_five_lines_and_each_is_at_its_share() -> None:
    frame = standings_of(played())
    figure = draw_privacy_utility(frames_of(frame), FACTS)
    assert_legible(figure)
    drawn = {name: it for name, it in lines(figure.axes[0]).items() if name[0] != "_"}
    assert list(drawn) == ["best fixed expert", "RW-Meta", "RW-FTPL", BEST, CURATOR]
    assert points(drawn[BEST])[1] == pytest.approx((1, 0.6))
    assert figure.get_label() == (
        "The best system without a curator keeps 100.0% at μ = ∞ and 40.0% at μ = 0.25."
    )
    (panel,) = answer_widget({"standings": frame}, FACTS)[0]["panels"]
    assert ["best fixed expert", *(it["name"] for it in panel["lines"])] == list(drawn)
    named = [it[3] for it in panel["lines"][2]["points"]]
    assert named == ["rw-adabatch with isotropic noise", *["persistence with capacity noise †"] * 2]
    assert not any(it[3] for line in panel["lines"][:2] for it in line["points"])


def test_a_named_algorithm_stands_in_place_of_rw_ftpl_and_no_curator_has_no_line() -> None:
    mine = at_levels("mine", 20.0, 20.0, 20.0, variant=True, exhibit="paper 1, Table 2")
    rows = [it for it in played() if it["model"] == "local" and it["guaranteed_mu"] != 2.0]
    systems = lines_of(standings_of([*rows, *mine]))
    assert [line.name for line in systems] == ["RW-Meta", "mine", BEST]


def test_a_curator_can_play_every_local_system_and_is_another_at_each_level() -> None:
    """Of 60, the tree gains 20 at mu = 1, less than persistence does."""
    weak = at_levels("tree-ftpl-min-noise", 60.0, 20.0, 59.0, model="central")
    local = at_levels("persistence", 12.0, 36.0, 24.0, noise="capacity")
    frame = standings_of([*weak, *local])
    curator = {it.name: it for it in lines_of(frame)}[CURATOR].rows.set_index("mu")["algorithm"]
    assert curator.to_dict() == {INF: weak[0]["algorithm"], 1.0: "persistence", 0.25: curator[INF]}
    (panel,) = answer_widget({"standings": frame}, FACTS)[0]["panels"]
    named = {it["name"]: [own[3] for own in it["points"]] for it in panel["lines"]}
    assert named[CURATOR][1] == named[BEST][1] == "persistence with capacity noise †"


def test_without_noise_an_algorithm_is_one_system() -> None:
    both = standings_of([run("rw-meta", INF, 30.0), run("rw-meta", INF, 30.0, noise="capacity")])
    assert both["not_told_apart"].all()
    assert others_not_told_apart(both, both.iloc[0]) == []


@pytest.mark.parametrize(("replicates", "enough"), [(9, False), (10, True)])
def test_nothing_is_said_to_be_not_told_apart_below_ten_runs(replicates: int, enough: bool) -> None:
    """Two systems swing around one mean, and a third is 20 points above both for certain."""
    swings = [30.0 + (-1) ** k for k in range(replicates)]
    totals = {"rw-meta": swings, "rw-ftpl": swings[::-1], "persistence": [10.0] * replicates}
    frame = standings_of(run(name, 1.0, 0.0, totals=own) for name, own in totals.items())
    assert frame["not_told_apart"].tolist() == [enough, enough, False]
    table = league_table(frames_of(frame), FACTS)
    assert (NOT_TOLD_APART in str(table.sections)) == enough
    assert ("9 runs are too few to say which systems are not" in table.footers[0]) != enough


def test_a_run_of_noise_has_a_width_and_one_without_noise_has_none() -> None:
    """The systems gain the same on average, but only without noise in every run."""
    noisy = [run(name, 1.0, 0.0, totals=[30.0, 30.6] * 5) for name in ("rw-meta", "rw-ftpl")]
    noisy[1]["totals"] = noisy[1]["totals"][::-1]
    free = [run(name, INF, 30.0) for name in ("rw-meta", "rw-ftpl")]
    frame = standings_of([*noisy, *free])
    assert frame["not_told_apart"].all()
    assert (frame["to_best"].abs() < 1e-12).all()
    other = ~frame["best"]
    assert (frame.loc[other, "to_best_half_width"] > 0).tolist() == [True, False]
    (group,) = league_table(frames_of(frame), FACTS).sections[0].groups
    for _, (at_infinity, at_one, *_) in group.lines:
        assert at_infinity.text == "50.0%"
        assert at_one.text.startswith("50.5% ± ")


def test_the_league_has_a_group_for_each_guarantee_and_ranks_within() -> None:
    stays = run("rw-ftpl", 1.0, 57.0, noise="capacity-memory", mu_8_weeks=3.5)
    table = league_table(frames_of(standings_of([*played(), stays])), FACTS)
    (section,) = table.sections
    groups = {group.title: dict(group.lines) for group in section.groups}
    assert [*groups] == [
        *("sees noisy gains only", "keeps the level for one week only", "sees raw gains"),
    ]
    local = groups["sees noisy gains only"]
    assert [(it.text, *it.notes) for it in local["persistence with capacity noise †"][1:3]] == [
        ("60.0%", "rank 1", "the best"),
        ("40.0%", "rank 1", "the best"),
    ]
    ridge = local["ridge-w8-weak with isotropic noise"]
    assert [it.notes[1:] for it in ridge[1:3]] == [(), (NOT_TOLD_APART,)]
    assert local["rw-meta with isotropic noise"][1].notes == ("rank 3",)
    (longer,) = groups["keeps the level for one week only"].values()
    assert [it.text for it in longer] == ["—", "95.0%", "—", "—"]
    assert groups["sees raw gains"]["follow-the-leader"][1].text == "—"


def test_a_weaker_guarantee_is_left_out_and_a_mu_of_zcdp_is_marked() -> None:
    rows = [*played(), run("mine", 1.0, 59.0, guaranteed_mu=1.5), run("open", 1.0, 9.0)]
    rows[-1] |= {"numerical": True, "guaranteed_mu": 0.9}
    table = league_table({"standings": standings_of(rows), "summary": summary(rows)}, FACTS)
    titles = [label for label, *_ in texts(table)]
    assert "open with isotropic noise, numerical μ" in titles
    assert not any("mine" in label for label in titles)
    assert any("mine with isotropic noise at mu-1" in it for it in table.footers)
    assert any(it.startswith("Numerical μ: ") for it in table.footers)


def test_means_over_the_streams_of_a_question_have_a_section_and_a_panel() -> None:
    asked = {f"{state}-{it}": it for state in ("nm", "pa") for it in ("share", "patients")}
    gains = {"nm-share": 30.0, "pa-share": 12.0, "nm-patients": 54.0, "pa-patients": 60.0}
    rows = [run("rw-meta", 1.0, gain, stream=it) for it, gain in gains.items()]
    titles = {"share": "Of the share", "patients": "Of the patients"}
    facts = replace(FACTS, streams={it: it for it in asked}, levels=(1.0,), questions=titles)
    frame = standings_of(rows, questions=asked, apart=True)
    figure = draw_privacy_utility(frames_of(frame), facts)
    assert_legible(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [*titles.values()]
    table = league_table(frames_of(frame), facts)
    assert [section.title for section in table.sections] == [*titles.values()]
    assert [line[1] for line in texts(table)] == ["35.0%", "95.0%"]
    data = answer_widget({"standings": frame}, facts)[0]
    assert [panel["lines"][0]["points"][0][0] for panel in data["panels"]] == [0.35, 0.95]


def test_a_single_run_and_a_run_without_private_rows_are_drawn() -> None:
    one = standings_of(it | {"totals": [it["mean_gain"]]} for it in played())
    assert draw_privacy_utility(frames_of(one), FACTS).get_label().startswith("The best system")
    (panel,) = answer_widget({"standings": one}, FACTS)[0]["panels"]
    assert panel["lines"][0]["points"][0][:3] == [0.2, None, "20.0%"], "JSON has no infinity"
    free = standings_of(row for row in played() if row["model"] == "none")
    figure = draw_privacy_utility(frames_of(free), FACTS)
    assert [it for it in lines(figure.axes[0]) if it[0] != "_"] == ["best fixed expert"]
    assert figure.get_label() == "The best system without a curator keeps nothing."
