"""Regret against sequences that switch, on gains worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dpol.studies.league.switches import draw_switches, finding, regrets_of
from dpol.studies.league.systems import BEST, CURATOR, lines_of
from legible import assert_legible, lines, names_of_lines
from standings_by_hand import standings_of
from tables_by_hand import FACTS, INF, run

SWITCHES = pd.DataFrame(
    {"stream": "nm", "switches": [0, 1, 2, 3], "best_gain": [30.0, 36.0, 48.0, 60.0]}
)
"""Gains of the best sequences; uniform random has 0 and the oracle 60."""


def switching() -> pd.DataFrame:
    """Return standings in which a curator's system is the best, and one keeps no level."""
    return standings_of(
        [
            run("rw-meta", 1.0, 36.3),
            run("rw-meta", 1.0, 42.0, noise="capacity"),
            run("tree-ftpl-min-noise", 1.0, 45.0, model="central"),
            run("persistence", 1.0, 50.0, guaranteed_mu=2.0),
        ]
    )


def test_each_line_has_the_regret_of_its_system() -> None:
    regrets = {line.name: regrets_of(line, SWITCHES, 1.0) for line in lines_of(switching())}
    expected = {
        "RW-Meta": [-0.105, -0.005, 0.195, 0.395],
        BEST: [-0.2, -0.1, 0.1, 0.3],
        CURATOR: [-0.25, -0.15, 0.05, 0.25],
    }
    assert [*regrets] == [*expected]
    for name, own in regrets.items():
        assert own["regret"].tolist() == pytest.approx(expected[name])
    best = regrets[BEST]
    assert finding("it", best).startswith("a sequence with 2 switches or more")
    assert finding("it", best.assign(half=0.1000001)).startswith("a sequence with 3 switches")
    assert finding("it", best.assign(half=0.4)) == "no sequence surely gains more than it."


def test_the_figure_says_how_many_switches_the_best_system_is_worth() -> None:
    figure = draw_switches({"standings": switching(), "switches": SWITCHES}, FACTS)
    assert_legible(figure)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2", "3"]
    assert len(names_of_lines(ax)) == 3
    said = "New Mexico, μ = 1: a sequence with 2 switches or more surely gains more than"
    assert figure.get_label() == f"{said} {BEST}."


def test_each_stream_has_a_panel_and_a_system_that_keeps_no_level_has_no_line() -> None:
    gains = {"nm": 30.0, "pa": 40.0}
    rows = [run("rw-meta", 1.0, gain, stream=it) for it, gain in gains.items()]
    two = {"switches": pd.concat([SWITCHES, SWITCHES.assign(stream="pa")])}
    facts = replace(FACTS, streams={"nm": "New Mexico", "pa": "There"})
    figure = draw_switches(two | {"standings": standings_of(rows)}, facts)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["New Mexico", "There"]
    ends = [lines(ax)["RW-Meta"].get_ydata()[-1] for ax in figure.axes]
    assert ends == pytest.approx([0.5, 1 / 3])
    weak = standings_of(run("rw-meta", mu, 36.0, guaranteed_mu=2.0) for mu in (INF, 1.0))
    assert draw_switches(two | {"standings": weak}, facts).get_label() == ""
