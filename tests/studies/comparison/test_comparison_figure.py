"""The figure that compares the baseline with ours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from comparison_by_hand import AT_BEST, COMPARISON, LEVELS, cell, cells, frames
from comparison_by_hand import FACTS as COMPARED_FACTS
from dpol.show.looks import looks_of
from dpol.studies.comparison.cells import Cell
from dpol.studies.comparison.comparison_figure import BASELINE_LEVEL, NO_PRIVACY, draw_comparison
from dpol.studies.games import bounds
from legible import assert_legible, lines, names_of_lines, plain, points

FACTS = replace(COMPARED_FACTS, streams={"nm": "New Mexico", "pa": "A & B_<c>% $x$"})
RUNS = [*cells(), *cells("pa")]


def draw(made: dict[str, pd.DataFrame] | None = None, **facts: Any) -> Figure:
    return draw_comparison(made or frames(RUNS), COMPARISON, replace(FACTS, **facts))


def test_lines_have_the_means_of_their_levels_from_left_to_right() -> None:
    for ax in draw().axes:
        drawn = lines(ax)
        assert points(drawn["ours"]) == [(0, 18.0), (1, 17.0), (2, 15.0)]
        assert points(drawn["baseline"]) == [(0, 14.0), (1, 12.0), (2, 8.0)]
        # kalman-a, with capacity noise where there is noise; the only row with a curator.
        assert points(drawn["best other\nlocal row"]) == [(0, 18.5), (1, 17.5), (2, 15.5)]
        assert points(drawn["best with a\ncurator"]) == [(0, 8.5), (1, 8.5), (2, 8.5)]
    turned = draw(levels=dict(reversed(LEVELS.items()))).axes[0]
    # Less private is on the left, whatever the order of the levels in a config.
    assert points(lines(turned)["ours"]) == [(0, 18.0), (1, 17.0), (2, 15.0)]
    assert [tick.get_text() for tick in turned.get_xticklabels()] == ["none", "69%", "55%"]


def test_correlated_noise_does_not_count_as_the_same_privacy() -> None:
    memory = [cell("kalman-a", "capacity-memory", mu, [19.0, 19.0]) for mu in LEVELS.values()]
    drawn = lines(draw(frames([*cells(), *memory]), streams=COMPARED_FACTS.streams).axes[0])
    assert points(drawn["best other\nlocal row"]) == [(0, 18.5), (1, 17.5), (2, 15.5)]


def test_the_reference_without_privacy_is_a_line_and_the_aim_is_dotted_from_the_baseline() -> None:
    drawn = lines(draw().axes[0])
    assert set(np.asarray(drawn[NO_PRIVACY].get_ydata())) == {17.0}
    assert points(drawn[BASELINE_LEVEL]) == [(1, 12.0), (2, 12.0)]
    without = frames(RUNS, COMPARISON.model_copy(update={"aims": []}))
    assert BASELINE_LEVEL not in lines(draw(without).axes[0])


def test_names_stand_beside_the_ends_of_their_lines_and_do_not_overlap() -> None:
    figure = draw()
    assert_legible(figure)
    names = {"ours", "baseline", "best other local row", "best with a curator"}
    names |= {"best of the paper's learners, no privacy", *bounds.NAMES.values()}
    for ax in figure.axes:
        labels = names_of_lines(ax)
        assert set(labels) == names
        assert labels["ours"].xy == (2.0, 15.0)
        assert labels["baseline"].xy == (2.0, 8.0)


def test_the_tuned_baseline_is_a_thin_line_of_its_best_form_and_part_of_the_finding() -> None:
    """Ridge-a has 17 without noise, 15 and 11 with it: always more than ridge-b."""
    many = [*cells(spread=0.1, times=50), *cells("pa", spread=0.1, times=50)]
    figure = draw(frames(many, AT_BEST))
    assert_legible(figure)
    drawn = lines(figure.axes[0])
    assert points(drawn["tuned\nbaseline"]) == [(0, 17.0), (1, 15.0), (2, 11.0)]
    assert drawn["tuned\nbaseline"].get_linewidth() < drawn["baseline"].get_linewidth()
    assert figure.get_label().startswith(
        "Ours gains more than the baseline in 4 of 4 and more than the tuned baseline in 4 of 4"
    )
    at_one = [
        with_more(run) if (run.algorithm, run.mu) == ("ridge-b", 1.0) else run for run in many
    ]
    assert "the tuned baseline in 2 of 4 cells" in draw(frames(at_one, AT_BEST)).get_label()


def with_more(it: Cell) -> Cell:
    """Add 4 to the gain, so that ridge-b has more than ours."""
    return replace(it, totals=it.totals + 4.0)


def test_algorithms_keep_their_colours() -> None:
    made = frames(RUNS)
    names = {"meta": "rw-meta", "bayes": "empirical-bayes"}
    made["comparison"] = made["comparison"].replace(names)
    drawn = lines(draw(made).axes[0])
    for line, look in zip(("baseline", "ours"), looks_of(names.values()).values(), strict=True):
        assert drawn[line].get_color() == look.colour


def test_the_title_names_data_and_systems() -> None:
    title = plain(draw().get_suptitle())
    assert title.startswith("Real data, means over 2 runs")
    assert "the baseline: meta, isotropic noise" in title
    assert "ours: bayes, capacity noise" in title


@pytest.mark.parametrize("number", [1, 2, 4])
def test_each_stream_has_a_panel(number: int) -> None:
    names = {f"s{k}": f"Stream {k}" for k in range(number)}
    made = frames([run for name in names for run in cells(name)])
    figure = draw(made, streams=names)
    titles = [f"{name} (n = 2)" for name in names.values()]
    assert [ax.get_title(loc="left") for ax in figure.axes] == titles
