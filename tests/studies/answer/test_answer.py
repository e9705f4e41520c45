"""The answer of a page: its figures, its list and its tables, one line per system."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpol.report.lead import answer_of
from dpol.report.widgets import answer_widget
from dpol.show.entries import DASHED, GREY
from dpol.show.table import Table
from dpol.studies.answer.league import league_table
from dpol.studies.answer.privacy import privacy_table
from dpol.studies.answer.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.answer.switches import draw_switches, finding, regrets_of
from dpol.studies.answer.systems import CHOSEN, PLAYS_TOO, first_level, lines_of
from dpol.studies.study import Facts
from legible import assert_legible, lines, names_of_lines, points
from report.run_by_hand import config
from report.test_lead import FACTS, TWO, at_levels
from standings_by_hand import Row, frames_of, standings_of
from tables_by_hand import FACTS as HERE
from tables_by_hand import INF, rows, run, summary, texts

LEVELS = INF, 1.0
LOW = replace(FACTS, levels=LEVELS)
BOTH = replace(TWO, levels=LEVELS)
OURS = "ridge-w8-weak", "isotropic"


def drawn(frame: pd.DataFrame, facts: Facts = LOW) -> Figure:
    return draw_privacy_utility(frames_of(frame), facts)


def table(frame: pd.DataFrame, facts: Facts = LOW) -> Table:
    return answer_table({"standings": frame}, facts)


def league(frame: pd.DataFrame, facts: Facts = LOW) -> Table:
    return league_table(frames_of(frame), facts)


def cells(shown: Table) -> dict[str, dict[str, list[tuple[str, ...]]]]:
    """Return the texts of a table without sections, each with its notes, by group and label."""
    (section,) = shown.sections
    return {
        group.title: {label: [(it.text, *it.notes) for it in own] for label, own in group.lines}
        for group in section.groups
    }


def listed(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the lines of the list of the first panel."""
    panels: Any = answer_widget({"standings": frame}, LOW)[0]["panels"]
    return [*panels[0]["lines"]]


def test_levels_go_from_no_privacy_to_the_strictest_and_names_do_not_overlap() -> None:
    """The finding is of the first lead: at the strictest level no rule is above North, with 30."""
    gains = {"rw-meta": 20.0, "rw-ftpl": 20.1, "persistence": 20.2, "ridge-w8-weak": 20.3}
    made = (it for name, gain in gains.items() for it in at_levels(name, 45.0, 40.0, gain))
    frame = standings_of(made)
    figure = drawn(frame, FACTS)
    assert_legible(figure)
    assert first_level(frame, FACTS) == 1
    assert figure.get_label().startswith("At μ = 1 ")
    (ax,) = figure.axes
    # By hand: Phi(1 / 2) = 0.691, Phi(1 / 8) = 0.550.
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["none", "69.2%", "55%"]
    shown = {name: line for name, line in lines(ax).items() if not name.startswith("_")}
    assert list(shown) == [
        "best fixed expert",
        *(f"{it}, isotropic noise" for it in [*gains][::-1]),
    ]
    assert len(names_of_lines(ax)) == 5
    del shown["best fixed expert"]
    assert all([x for x, _ in points(line)] == [0, 1, 2] for line in shown.values())


def test_points_stand_at_their_shares_and_the_finding_tells_the_first_and_last() -> None:
    # By hand: uniform random 0, oracle 60; gains 41.25 without noise and 1 / 3 at mu = 1.
    figure = drawn(standings_of(rows()))
    drawn_lines = lines(figure.axes[0])
    high, low = points(drawn_lines["rw-meta, isotropic noise"])
    assert high == pytest.approx((0, 41.25 / 60))
    assert low == pytest.approx((1, 1 / 180))
    assert points(drawn_lines["best fixed expert"])[0][1] == pytest.approx(0.5)
    assert figure.get_label().endswith(
        "At μ = 1 ridge-w64-strong, isotropic noise, the best in hindsight, keeps 65.0% of the"
        " possible gain, and 70.0% without privacy. An attacker is right about one person in one"
        " round at most 69.2 times in 100 (a coin: 50) if each site adds noise to its exact counts."
    )
    assert "always North 50%" in names_of_lines(figure.axes[0])


def test_what_sees_raw_numbers_without_privacy_is_last_and_grey() -> None:
    """The shaded family is shown by its best member with noise: 39 of 60, the other has 38."""
    systems = lines_of(standings_of(rows()))
    names = ["ridge-w64-strong", "rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]
    assert [line.name.partition(",")[0] for line in systems] == names
    assert [line.rows["model"].iloc[0] for line in systems] == ["local", "local", "central", "none"]
    assert (systems[2].name.rpartition(", ")[2], systems[2].look.dashes) == (
        "sees raw numbers",
        DASHED,
    )
    widths = [line.look.width for line in systems]
    assert widths[0] > widths[1] == widths[2] == widths[3]
    free = systems[-1]
    assert (free.name, free.look.colour) == ("follow-the-leader, no privacy", GREY)
    assert [it["points"][1] is None for it in listed(standings_of(rows()))] == [False] * 3 + [True]
    (*_, last) = lines_of(standings_of(it for it in rows() if it["mu"] == INF))
    assert last.name == free.name, "also where nothing else has privacy"
    assert first_level(standings_of(it for it in rows() if it["model"] == "none"), LOW) == 1


def test_the_noise_of_an_algorithm_is_the_best_over_all_streams() -> None:
    gains = {("isotropic", "nm"): 42.0, ("isotropic", "pa"): 6.0}
    gains |= {("capacity", stream): 36.0 for stream in ("nm", "pa")}
    frame = standings_of(run("rw-meta", 1.0, it, noise=n, stream=s) for (n, s), it in gains.items())
    (line,) = lines_of(frame)
    assert {*line.rows["noise"]} == {"capacity"}
    assert drawn(frame, BOTH).axes[0].get_title(loc="left") == "Here (n = 24)"


def test_the_best_curator_is_another_at_each_level() -> None:
    gains = {INF: 10.0, 1.0: 29.0}
    better = [run("mf-ftpl", mu, gain, model="central") for mu, gain in gains.items()]
    for more, best in (([], "tree-ftpl-min-noise"), (better, "mf-ftpl")):
        systems = lines_of(standings_of([*rows(), *more], OURS))
        roles = ["RW-Meta, the paper’s method", "the strongest rival", "our method"]
        roles.append("the best curator")
        assert [line.name for line in systems] == roles
        chosen = systems[-1].rows.set_index("mu")["algorithm"].to_dict()
        assert chosen == {INF: "rw-meta", 1.0: best}
        others = "the best curator: the best of all others at each level"
        assert systems[-1].explained == f"{others}; {PLAYS_TOO}"
        assert [line.look.dashes == DASHED for line in systems] == [False, True, False, True]
        (shown,) = cells(table(standings_of([*rows(), *more], OURS))).values()
        both = [("rw-meta, isotropic noise", PLAYS_TOO), (f"{best}, isotropic noise",)]
        assert [tuple(notes) for _, *notes in shown["the best curator"]] == both


def test_the_strongest_rival_is_another_at_each_level() -> None:
    """Form a has less than form b without noise, and more with it."""
    gains = {"rw-meta": (40, 20), "form-a": (30, 26), "form-b": (50, 24), "mine": (50, 30)}
    played = [
        run(name, mu, gain)
        for name, own in gains.items()
        for mu, gain in zip((INF, 1.0), own, strict=True)
    ]
    frame = standings_of(played, ("mine", "isotropic"))
    systems = {it.name: it for it in lines_of(frame)}
    rival = systems["the strongest rival"]
    assert rival.rows.set_index("mu")["algorithm"].to_dict() == {INF: "form-b", 1.0: "form-a"}
    assert rival.explained == f"the strongest rival: {CHOSEN[rival.name]} at each level"
    (shown,) = (it for it in listed(frame) if it["name"] == "the strongest rival")
    assert shown["points"] == [
        [0.833333, 0.0, "83.3%", "form-b with isotropic noise"],
        [0.433333, 0.0, "43.3%", "form-a with isotropic noise"],
    ]
    (own,) = (
        it for name, it in table(frame).sections[0].groups[0].lines if name in rival.explained
    )
    assert [cell.notes[0][:6] for cell in own[:2]] == ["form-b", "form-a"]


def test_a_row_whose_guarantee_is_weaker_than_its_level_is_left_out() -> None:
    weaker = [it | {"guaranteed_mu": 1.01} for it in rows()]
    assert {mu for line in lines_of(standings_of(weaker)) for mu in line.rows["mu"]} == {INF}
    shown = league_table({"standings": standings_of(weaker), "summary": summary(weaker)}, LOW)
    assert any(it.startswith("Left out, since no μ is proved") for it in shown.footers)


def test_a_mu_of_zcdp_is_marked() -> None:
    marked = [it | {"numerical": it["algorithm"] == "rw-meta"} for it in rows()]
    shown = league(standings_of(marked))
    names = [label for label, *_ in texts(shown)]
    assert [it for it in names if "numerical" in it] == ["rw-meta, isotropic noise, numerical μ"]
    assert any(it.startswith("Numerical μ: ") for it in shown.footers)


def test_a_single_replicate_and_a_run_without_private_rows_are_drawn() -> None:
    one = standings_of(it | {"totals": [it["mean_gain"]]} for it in rows())
    assert "rw-meta, isotropic noise" in lines(drawn(one).axes[0])
    points_of = next(it["points"] for it in listed(one) if it["name"].startswith("rw-meta"))
    assert points_of[0][:3] == [0.6875, None, "68.8%"], "JSON has no infinity"
    free = standings_of(row for row in rows() if row["model"] == "none")
    named = ["best fixed expert", "follow-the-leader, no privacy"]
    assert [it for it in lines(drawn(free).axes[0]) if it[0] != "_"] == named


def test_means_over_the_streams_of_a_question_have_a_section_and_a_panel() -> None:
    asked = {f"{state}-{it}": it for state in ("nm", "pa") for it in ("share", "patients")}
    gains = {"nm-share": 30.0, "pa-share": 12.0, "nm-patients": 54.0, "pa-patients": 60.0}
    played = [
        run("rw-meta", mu, gain, stream=it) for it, gain in gains.items() for mu in (INF, 1.0)
    ]
    titles = {"share": "Of the share", "patients": "Of the patients"}
    facts = replace(BOTH, streams={it: it for it in asked}, questions=titles)
    frame = standings_of(played, questions=asked, apart=True)
    figure = drawn(frame, facts)
    assert_legible(figure)
    assert [ax.get_title(loc="left") for ax in figure.axes] == [*titles.values()]
    ends = [points(lines(ax)["rw-meta, isotropic noise"])[-1][1] for ax in figure.axes]
    assert ends == pytest.approx([0.35, 0.95])
    for shown in (table(frame, facts), league(frame, facts)):
        assert [section.title for section in shown.sections] == [*titles.values()]
    assert [line[2] for line in texts(table(frame, facts))[::2]] == ["35.0%", "95.0%"]
    assert table(frame, facts).corner == ("question", "system")
    data = answer_widget({"standings": frame}, facts)[0]
    assert [panel["lines"][0]["points"][1][0] for panel in data["panels"]] == [0.35, 0.95]


# --- A planted row ---


def shown_where(frame: pd.DataFrame, name: str, at: int) -> dict[str, bool]:
    """Say where the name of a system stands at a level, by its place."""
    widget = [it for it in listed(frame) if it["points"][at] is not None]
    (section,) = table(frame).sections
    columns = [own for own in section.groups[0].lines if own[1][at].text != "—"]
    of_figure = lines(drawn(frame).axes[0]).items()
    return {
        "lead": name in " ".join(answer_of(frames_of(frame), LOW, config()).texts[at]),
        "figure": any(name in label and len(points(it)) > at for label, it in of_figure),
        "list": any(name in f"{it['name']} {it['points'][at][3]}" for it in widget),
        "answer": any(name in " ".join([title, *cells[at].notes]) for title, cells in columns),
        "league": any(name in label for label, *_ in texts(league(frame))),
    }


@pytest.mark.parametrize(
    ("ours", "changes"),
    [
        (None, {}),
        (OURS, {}),
        (None, {"guaranteed_mu": 1.5}),
        (OURS, {"model": "central", "guaranteed_mu": 1.5}),
        (None, {"model": "none", "noise": "none", "guaranteed_mu": INF}),
    ],
)
def test_a_planted_row_is_shown_everywhere_or_nowhere(
    ours: tuple[str, str] | None, changes: Row
) -> None:
    """It has the largest share of all at mu = 1; with another, its row at mu = inf is all."""
    planted = [run("planted", mu, 59.0, **changes) for mu in (INF, 1.0)]
    frame = standings_of([*rows(), *planted], ours)
    rows_at_one = frame[(frame["algorithm"] == "planted") & (frame["mu"] == 1.0)]
    kept = not changes
    assert rows_at_one["guarantee"].tolist() == ["the level"] * kept
    assert rows_at_one["strongest"].tolist() == [True] * kept
    found = shown_where(frame, "planted", 1)
    if ours and kept:
        assert found.pop("figure") is False, "the line is that of the strongest rival"
        line = lines(drawn(frame).axes[0])["the strongest rival"]
        assert points(line)[1][1] == pytest.approx(59 / 60)
    assert found == dict.fromkeys(found, kept) | {"league": True}


# --- The league ---


def test_the_league_has_a_group_for_each_guarantee_and_ranks_within() -> None:
    stays = run("rw-ftpl", 1.0, 57.0, noise="capacity-memory", mu_8_weeks=3.5)
    weak = run("rw-adabatch", 1.0, 59.0, guaranteed_mu=1.5)
    found = cells(league(standings_of([*rows(), stays, weak])))
    assert [*found] == [
        *("sees noisy gains only", "keeps the level for one week only", "sees raw gains"),
    ]
    local = found["sees noisy gains only"]
    # The best at mu = 1 first; what keeps one week only has 57 of 60, and the strongest 39.
    best_first = ["ridge-w64-strong", "ridge-w8-weak", "rw-meta"]
    assert [it.partition(",")[0] for it in local] == best_first
    assert local["ridge-w64-strong, isotropic noise"][1:3] == [
        ("65.0%", "rank 1"),
        ("2.83",),
    ]
    assert local["rw-meta, isotropic noise"][0] == ("68.8%", "rank 3", "-2.9 exact, below")
    (longer,) = found["keeps the level for one week only"].values()
    assert longer[:3] == [("—",), ("95.0%", "rank 1", "+30.0 exact, above"), ("3.5",)]
    assert found["sees raw gains"]["follow-the-leader"][1:3] == [("—",), ("—",)]


def test_systems_that_noise_may_have_ordered_share_a_rank() -> None:
    """15 points are decided where the replicates are alike, and not where they swing."""
    gains = {"rw-meta": [30.0] * 3, "rw-ftpl": [39.0] * 3, "persistence": [20.0, 30.0, 49.0]}
    frame = standings_of(run(name, 1.0, 0.0, totals=it) for name, it in gains.items())
    (own,) = cells(league(frame)).values()
    ranks = {label.partition(",")[0]: it[1][1] for label, it in own.items()}
    assert ranks == {"rw-meta": "rank 2", "rw-ftpl": "rank 1", "persistence": "rank 1"}
    # Both numbers of the system that swings have their intervals.
    share, _, difference = own["persistence, isotropic noise"][1]
    assert share.startswith("55.0% ± ")
    assert re.fullmatch(r"-10\.0 ± [\d.]+, undecided", difference)
    compared = cells(league(standings_of([*rows()], OURS)))["sees noisy gains only"]
    assert compared["rw-meta, isotropic noise"][1][2] == "-62.8 exact, below", (
        "to ours, if there is one"
    )


# ---- how private is it? --------------------------------------------------------------------------

STAYS = "mu_1_week", "mu_2_weeks", "mu_4_weeks", "mu_8_weeks"
# Phi(sqrt(w) / 2) for w = 1 and 8 is 0.69146 and 0.92135.
INDEPENDENT = ("69.2%", "92.2% in 8 rounds")


def privacy(*rows: Row, **facts: Any) -> Table:
    frames = {"summary": summary(rows), "standings": standings_of(rows)}
    return privacy_table(frames, replace(LOW, **facts))


def guesses(shown: Table) -> dict[str, list[tuple[str, ...]]]:
    return cells(shown)[""]


def test_guesses_are_the_largest_and_rounded_up_and_the_file_has_the_rest() -> None:
    shown = privacy(
        run("rw-meta", INF, 1.0),
        run("rw-meta", 1.0, 1.0, epsilon=4.5, taken_as_public="the list"),
        run("rw-ftpl", 0.5, 1.0, epsilon=4.886),
        levels=(INF, 1.0, 0.5),
    )
    assert [column.title for column in shown.columns] == ["μ = 1", "μ = 0.5"]
    # Phi(1 / 4) and Phi(sqrt(8) / 4) are 0.59871 and 0.76025.
    assert guesses(shown) == {
        "rw-meta, isotropic noise": [INDEPENDENT, ("—",)],
        "rw-ftpl, isotropic noise": [("—",), ("59.9%", "76.1% in 8 rounds")],
    }
    first = shown.numbers.query("mu == 1").iloc[0]
    assert first[["rounds", "epsilon", "count_noise"]].tolist() == [1, 4.5, 2**0.5]
    assert "Protected: one person in one round." in shown.footers[0]
    assert "not covered by any μ: the list." in shown.footers[0]
    # The hand-made factor is sqrt(5).
    assert "in up to 4 further rounds, which multiplies μ by 2.24 at most" in shown.footers[2]
    assert "Anyone with the seed can remove the noise." in shown.footers[3]


@pytest.mark.parametrize("order", [1, -1])
def test_the_weakest_guarantee_of_all_streams_is_shown(order: int) -> None:
    better = dict(zip(STAYS, (0.5, 0.6, 0.7, 0.8), strict=True))
    better |= {"stream": "pa", "epsilon": 0.4, "guaranteed_mu": 0.5, "count_noise": 1.0}
    for changes, expected in (
        ({}, INDEPENDENT),
        (dict.fromkeys(STAYS, np.nan), ("69.2%",)),
    ):
        rows = [run("rw-meta", 1.0, 1.0, **changes), run("rw-meta", 1.0, 1.0, **better)]
        shown = privacy(*rows[::order], streams={"nm": "NM", "pa": "PA"})
        assert [*guesses(shown).values()] == [[expected]]


def test_systems_with_equal_numbers_share_a_line() -> None:
    shown = privacy(*(run(f"mean-{k}", 1.0, 1.0) for k in range(5)))
    names = ", ".join(f"mean-{k}, isotropic noise" for k in range(3))
    assert [*guesses(shown)] == [f"{names} and 2 others"]


def test_correlated_noise_says_what_longer_stays_pay() -> None:
    # Phi(1 / 2) and Phi(2) are 0.69146 and 0.97725.
    paid = dict(zip(STAYS, (1.0, 2.0, 3.0, 4.0), strict=True)) | {"noise_memory": "b of 0.8"}
    shown = privacy(
        run("rw-ftpl", 1.0, 30.0), run("rw-ftpl", 1.0, 20.0, noise="capacity-memory", **paid)
    )
    assert guesses(shown)["capacity correlated noise"] == [("69.2%", "97.8% in 8 rounds")]


@pytest.mark.parametrize("changes", [{"model": "none"}, {}])
def test_without_noise_nothing_is_claimed(changes: dict[str, Any]) -> None:
    shown = privacy(run("rw-meta", INF, 1.0, **changes))
    assert guesses(shown) == {"no noise was added": [("—",)]}
    assert shown.numbers.empty


# ---- regret against sequences that switch --------------------------------------------------------

SWITCHES = pd.DataFrame(
    {"stream": "nm", "switches": [0, 1, 2, 3], "best_gain": [30.0, 36.0, 48.0, 60.0]}
)
"""Gains of the best sequences; uniform random has 0 and the oracle 60."""


def switching() -> pd.DataFrame:
    """Return standings; the half-width of 36 and 48 is that of two replicates."""
    return standings_of(
        [
            run("rw-meta", 1.0, 36.3),
            run("rw-meta", 1.0, 0.0, noise="capacity", totals=[42.0 - 1e-3, 42.0 + 1e-3]),
            run("tree-ftpl-min-noise", 1.0, 24.0, model="central"),
            run("persistence", 1.0, 50.0, guaranteed_mu=2.0),
            run("ridge-w8-weak", 1.0, 33.0, family="ridge"),
            run("ridge-w64-strong", 1.0, 39.0, family="ridge"),
        ]
    )


def regret(frame: pd.DataFrame, best: pd.DataFrame = SWITCHES, facts: Facts = HERE) -> Figure:
    return draw_switches({"standings": frame, "switches": best}, facts)


def test_each_algorithm_has_its_best_noise_and_the_linear_models_their_best() -> None:
    regrets = {line.name: regrets_of(line, SWITCHES, 1.0) for line in lines_of(switching())}
    expected = {
        "rw-meta, capacity noise †": [-0.2, -0.1, 0.1, 0.3],
        "ridge-w64-strong, isotropic noise": [-0.15, -0.05, 0.15, 0.35],
        "tree-ftpl-min-noise, isotropic noise, sees raw numbers": [0.1, 0.2, 0.4, 0.6],
    }
    assert [*regrets] == [*expected]
    for name, own in regrets.items():
        assert own["regret"].tolist() == pytest.approx(expected[name])
    meta = regrets["rw-meta, capacity noise †"]
    assert finding("it", meta).startswith("a sequence with 2 switches or more")
    assert finding("it", meta.assign(half=0.1000001)).startswith("a sequence with 3 switches")
    assert finding("it", meta.assign(half=0.4)) == "no sequence surely gains more than it."


def test_the_figure_says_how_many_switches_the_first_system_is_worth() -> None:
    figure = regret(switching())
    assert_legible(figure)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2", "3"]
    assert len(names_of_lines(ax)) == 3
    said = "New Mexico, μ = 1: a sequence with {} switches or more surely gains more than"
    assert figure.get_label().startswith(f"{said.format(2)} rw-meta, capacity noise †")
    ours = standings_of([run("rw-ftpl", 1.0, 20.0), run("rw-meta", 1.0, 30.0)],
                        ("rw-ftpl", "isotropic"))  # fmt: skip
    assert regret(ours).get_label() == f"{said.format(0)} our method."


def test_each_stream_has_a_panel() -> None:
    gains = {"nm": 30.0, "pa": 40.0}
    two = standings_of(run("rw-meta", 1.0, gain, stream=it) for it, gain in gains.items())
    switches = pd.concat([SWITCHES, SWITCHES.assign(stream="pa")])
    figure = regret(two, switches, replace(HERE, streams={"nm": "New Mexico", "pa": "There"}))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["New Mexico", "There"]
    ends = [lines(ax)["rw-meta, isotropic noise"].get_ydata()[-1] for ax in figure.axes]
    assert ends == pytest.approx([0.5, 1 / 3])


def test_nothing_is_said_of_a_system_that_does_not_keep_the_level() -> None:
    weak = standings_of(run("rw-meta", mu, 36.0, guaranteed_mu=2.0) for mu in (INF, 1.0))
    assert "rw-meta" not in regret(weak).get_label()
