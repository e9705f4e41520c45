"""The figure of regret against sequences that switch, by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from matplotlib.figure import Figure

from dpol.studies.answer.switches import draw_switches, finding, regrets_of
from dpol.studies.answer.systems import lines_of
from dpol.studies.study import Facts
from legible import assert_legible, lines, names_of_lines
from standings_by_hand import standings_of
from tables_by_hand import FACTS, INF, LEVELS, run

SWITCHES = pd.DataFrame(
    {"stream": "nm", "switches": [0, 1, 2, 3], "best_gain": [30.0, 36.0, 48.0, 60.0]}
)
"""Gains of the best sequences; uniform random has 0 and the oracle 60."""


def rows() -> pd.DataFrame:
    """Return the standings; the half-width of 36 and 48 is that of two replicates."""
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


def drawn(frame: pd.DataFrame, best: pd.DataFrame = SWITCHES, facts: Facts = FACTS) -> Figure:
    return draw_switches({"standings": frame, "switches": best}, facts)


def test_each_algorithm_has_its_best_noise_and_the_linear_models_their_best() -> None:
    regrets = {line.name: regrets_of(line, SWITCHES, 1.0) for line in lines_of(rows())}
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
    figure = drawn(rows())
    assert_legible(figure)
    (ax,) = figure.axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "2", "3"]
    assert len(names_of_lines(ax)) == 3
    said = "New Mexico, μ = 1: a sequence with {} switches or more surely gains more than"
    assert figure.get_label().startswith(f"{said.format(2)} rw-meta, capacity noise †")
    ours = standings_of([run("rw-ftpl", 1.0, 20.0), run("rw-meta", 1.0, 30.0)],
                        ("rw-ftpl", "isotropic"))  # fmt: skip
    assert drawn(ours).get_label() == f"{said.format(0)} our method."


def test_each_stream_has_a_panel() -> None:
    gains = {"nm": 30.0, "pa": 40.0}
    two = standings_of(run("rw-meta", 1.0, gain, stream=it) for it, gain in gains.items())
    switches = pd.concat([SWITCHES, SWITCHES.assign(stream="pa")])
    figure = drawn(two, switches, replace(FACTS, streams={"nm": "New Mexico", "pa": "There"}))
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["New Mexico", "There"]
    ends = [lines(ax)["rw-meta, isotropic noise"].get_ydata()[-1] for ax in figure.axes]
    assert ends == pytest.approx([0.5, 1 / 3])


def test_nothing_is_said_of_a_system_that_does_not_keep_the_level() -> None:
    weak = standings_of(run("rw-meta", mu, 36.0, guaranteed_mu=2.0) for mu in (INF, 1.0))
    assert FACTS.levels == LEVELS
    assert "rw-meta" not in drawn(weak).get_label()
