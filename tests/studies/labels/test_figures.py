"""Figures of learning a distribution from locally private labels."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from dpol.show import style
from dpol.show.looks import BLACK
from dpol.studies.labels import figures
from dpol.studies.labels.registry import title_of
from dpol.studies.labels.settings import Labels
from legible import assert_legible, legend_texts, names_of_lines, plain, points
from studies.labels.by_hand import FACTS, SIMULATED, STREAMS, of_runs, table

LOOKS = {name: (look.colour, look.marker) for name, look in figures.looks().items()}
TITLES = {title_of(name): colour for name, (colour, _) in LOOKS.items()}
COLUMNS = {"rounds": "T", "labels": "M", "hypotheses": "K", "epsilons": "epsilon"}
SWEEPS = [("rounds", "random"), ("rounds", "hard")]
SWEEPS += [(sweep, "random") for sweep in ("labels", "hypotheses", "epsilons")]
Y_LABELS = {"mean_kl_risk": "KL risk (nats)", "tv_average": "average", "tv_median": "median"}
PANELS = {
    "risk": [(*it, "mean_kl_risk") for it in SWEEPS],
    "selection": [(*it, y) for y in ("tv_average", "tv_median") for it in SWEEPS[:2]],
}
ROUNDS = [1000, 10_000, 30_000]
RISKS = table()
DRAWN = ("risk", "selection", "hospitals")
Points = list[tuple[float, float]]


def draw(name: str, risks: pd.DataFrame, *, simulated: bool = False) -> Figure:
    drawing: Callable[..., Figure] = getattr(figures, name)
    return drawing({"labels": risks}, Labels(), SIMULATED if simulated else FACTS)


@functools.cache
def drawn(name: str) -> Figure:
    """The figure of the whole table, to look at."""
    return draw(name, RISKS)


def panels(name: str) -> dict[tuple[str, str, str], Axes]:
    return dict(zip(PANELS[name], drawn(name).axes, strict=True))


def risk_panels() -> dict[tuple[str, str], Axes]:
    return dict(zip(SWEEPS, drawn("risk").axes, strict=True))


def expected(sweep: str, kind: str, name: str, rule: str, y: str = "mean_kl_risk") -> Points:
    """Swept values in order, and the numbers of their rows."""
    facts = {"sweep": sweep, "hypotheses": kind, "algorithm": name, "sensitivity_rule": rule}
    own = RISKS[(RISKS[list(facts)] == list(facts.values())).all(axis=1)]
    x = COLUMNS.get(sweep, "epsilon")
    return [(float(a), float(b)) for a, b in own.sort_values(x)[[x, y]].to_numpy()]


def lines(ax: Axes, colour: str, linestyle: str, marker: str | None = None) -> list[Line2D]:
    found = [line for line in ax.lines if line.get_linestyle() == linestyle]
    found = [line for line in found if line.get_color() == colour]
    return [line for line in found if marker is None or line.get_marker() == marker]


def dots(ax: Axes, colour: str) -> Points:
    """The single runs."""
    return [point for line in lines(ax, colour, "None", ".") for point in points(line)]


@pytest.mark.parametrize("name", ["risk", "selection"])
def test_every_panel_shows_its_own_means_and_beside_them_its_runs(name: str) -> None:
    for (sweep, kind, y), ax in panels(name).items():
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
        assert Y_LABELS[y] in ax.get_ylabel()
        assert ax.get_title(loc="left").startswith(f"{kind} class: ")
        low, high = ax.get_xlim()
        for learner, (colour, _) in LOOKS.items():
            (line,) = lines(ax, colour, "-")
            means = expected(sweep, kind, learner, "exact", y)
            np.testing.assert_allclose(points(line), means)
            assert ax.get_xticks().tolist() == [x for x, _ in means]
            runs = [(x, run) for x, mean in means for run in of_runs(mean)[:2]]
            for (x, run), (value, own) in zip(dots(ax, colour), runs, strict=True):
                assert run == pytest.approx(own)
                assert abs(math.log(x / value)) < 0.03 * math.log(high / low)
            published = [points(line) for line in lines(ax, colour, "--")]
            wanted = expected(sweep, kind, learner, "published", y)
            assert len(published) == (name == "risk")
            assert all(line == [pytest.approx(it) for it in wanted] for line in published)
        places = {dots(ax, colour)[0][0] for colour, _ in LOOKS.values()}
        assert len(places) == len(LOOKS)  # side by side


def test_two_values_are_no_rate_and_have_no_line() -> None:
    rows = table("rounds", "labels", "epsilons")
    (ax,) = draw("risk", rows[rows["K"] != 8]).axes
    assert {line.get_linestyle() for line in ax.lines} == {"None"}
    for look in LOOKS.values():
        assert [x for x, _ in points(lines(ax, look[0], "None", look[1])[-1])] == [2, 16]
    (ax,) = draw("risk", rows).axes
    assert {line.get_linestyle() for line in ax.lines} == {"-", "--", "None"}


def test_titles_say_what_is_fixed() -> None:
    thousand = "T = 3·10⁴"
    assert {key: ax.get_title(loc="left") for key, ax in risk_panels().items()} == {
        ("rounds", "random"): "random class: K = 4, M = 100, ε = 4",
        ("rounds", "hard"): "hard class: K = 4, M = 8, ε = 4",
        ("labels", "random"): f"random class: K = 4, {thousand}, ε = 4",
        ("hypotheses", "random"): f"random class: M = 100, {thousand}, ε = 4",
        ("epsilons", "random"): f"random class: K = 4, M = 100, {thousand}",
    }
    axis = [ax.get_xlabel() for ax in risk_panels().values()]
    rounds = "rounds T"
    assert axis == [rounds, rounds, "labels M", "hypotheses K", "privacy ε of one message"]
    title = plain(drawn("risk").get_suptitle().lower())
    for words in ("means over 7 runs", "not an interval", "dashed, pale: as published", "†: ours"):
        assert words in title


def test_bounds_are_in_the_panels_of_rounds_only() -> None:
    guides = {
        ("rounds", "random"): {
            "-.": [(T, 3 * T**0.9) for T in ROUNDS],
            ":": [(T, T * math.log(4)) for T in ROUNDS],
        },
        ("rounds", "hard"): {"-.": [(T, T / 1e5) for T in ROUNDS]},
    }
    for key, ax in risk_panels().items():
        black = [line for line in ax.lines if line.get_color() == BLACK]
        found = {line.get_linestyle(): points(line) for line in black}
        assert len(black) == len(found)
        assert found == {
            look: [pytest.approx(point) for point in line]
            for look, line in guides.get(key, {}).items()
        }


def test_lines_are_labelled_directly() -> None:
    extra = {
        ("rounds", "random"): [
            "upper bound of EXP3, Theorem 5",
            "T log K: higher bounds say nothing",
        ],
        ("rounds", "hard"): ["lower bound, Theorem 3"],
    }
    for key, ax in risk_panels().items():
        assert set(names_of_lines(ax)) == {*TITLES, *extra.get(key, [])}
        for title, colour in TITLES.items():
            text, (line,) = names_of_lines(ax)[title], lines(ax, colour, "-")
            assert text.get_color() == style.text_colour(colour)
            assert text.xy == pytest.approx(points(line)[-1])


def test_all_risks_and_bounds_are_inside_their_panel() -> None:
    for ax in drawn("risk").axes:
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        for x, y in (point for line in ax.lines for point in points(line)):
            assert left < x < right
            assert bottom < y < top
    assert len({ax.get_ylim() for ax in drawn("risk").axes[2:]}) == 1


@pytest.mark.parametrize("name", DRAWN)
def test_texts_are_legible(name: str) -> None:
    assert_legible(drawn(name))


def test_the_cell_without_a_panel_explains_the_marks() -> None:
    figure = drawn("risk")
    names = ["mean, exact sensitivity (ours)", "mean, sensitivity as published"]
    assert legend_texts(figure)[:2] == names
    box = figure.legends[0].get_window_extent()
    assert not any(box.overlaps(ax.bbox) for ax in figure.axes)
    beside = (it for ax in figure.axes for it in names_of_lines(ax).values())
    assert not any(box.overlaps(Text.get_window_extent(it)) for it in beside)
    assert box.x1 <= figure.bbox.x1


def test_only_the_sweeps_that_were_run_are_drawn() -> None:
    (ax,) = draw("risk", table("rounds", "labels", "hypotheses")).axes
    assert ax.get_xlabel() == "privacy ε of one message"
    easy = RISKS[RISKS["hypotheses"] != "hard"]
    assert [len(draw(name, easy).axes) for name in ("risk", "selection")] == [4, 2]


@pytest.mark.parametrize("name", DRAWN)
def test_an_algorithm_that_was_not_run_is_neither_drawn_nor_named(name: str) -> None:
    figure = draw(name, RISKS[RISKS["algorithm"] != "membership"])
    assert "dots: the 7 runs, not an interval" in plain(figure.get_suptitle())
    for ax in figure.axes:
        colours = {line.get_color() for line in ax.lines}
        assert LOOKS["membership"][0] not in colours
        assert LOOKS["randomised-response"][0] in colours
        assert not any("membership" in text for text in names_of_lines(ax))


def test_guides_of_the_selection_have_the_slopes_that_they_are_named_by() -> None:
    for ax in drawn("selection").axes:
        for look, power, title in (("-.", -0.25, "slope −1/4"), (":", -0.5, "slope −1/2")):
            (line,) = lines(ax, BLACK, look)
            xs, ys = np.log(points(line)).T
            np.testing.assert_allclose(np.diff(ys) / np.diff(xs), power)
            at_end = [
                it for it in names_of_lines(ax).values() if it.xy == pytest.approx(points(line)[-1])
            ]
            assert [text.get_text().startswith(title) for text in at_end] == [True]


def test_hospitals_show_the_excess_per_patient() -> None:
    axes = drawn("hospitals").axes
    ticks = [label.get_text() for label in axes[-1].get_xticklabels()]
    assert ticks == ["0.25", "4"]
    for ax, (stream, M) in zip(axes, STREAMS.items(), strict=True):
        assert ax.get_title(loc="left") == f"State of {stream}: {M} hospitals, 1,000 patients"
        for name, (colour, marker) in LOOKS.items():
            (line,) = lines(ax, colour, "None", marker)
            means = [mean for _, mean in expected("hospitals", stream, name, "exact")]
            xs, ys = np.array(points(line)).T
            np.testing.assert_allclose(ys, (np.array(means) - 50) / 1000)
            assert np.round(xs).tolist() == [0, 1]  # nearest to the tick of its epsilon
            runs = (np.array([of_runs(mean) for mean in means]) - 50) / 1000
            np.testing.assert_allclose([y for _, y in dots(ax, colour)], runs.ravel())
        (zero,) = lines(ax, BLACK, ":")
        assert np.asarray(zero.get_ydata()).tolist() == [0, 0]


def test_hospitals_say_what_the_numbers_are() -> None:
    figure = drawn("hospitals")
    assert figure.get_suptitle().startswith("Real data")
    other = draw("hospitals", RISKS, simulated=True)
    assert other.get_suptitle().startswith("Simulated data, not measurements")
    assert "nats per patient" in figure.get_supylabel()
    title = plain(figure.get_suptitle())
    assert "below 0: a mixture beats its best member" in title
    rows = RISKS[(RISKS["sweep"] == "hospitals") & (RISKS["sensitivity_rule"] == "exact")]
    farthest = ((rows["mean_kl_risk"] - 50) / 1000).abs().max()
    (said,) = re.findall(r"All means are within ([0-9.]+) nats of it", title)
    assert farthest <= float(said) <= 1.1 * farthest
    assert legend_texts(figure) == list(TITLES)
