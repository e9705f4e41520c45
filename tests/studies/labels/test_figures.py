from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.show.looks import BLACK, LABEL_LEARNERS, REFERENCES, Dashes
from dpol.studies.labels import figures
from dpol.studies.labels.settings import COLUMN_OF, Labels
from legible import names_of_lines, points
from studies.labels.by_hand import FACTS, SIMULATED, of_runs, table

LOOKS = {name: (look.colour, look.marker) for name, look in LABEL_LEARNERS.items()}
THEOREM, GUIDE = (REFERENCES[name].dashes for name in ("labels-theorem", "labels-guide"))
SWEEPS = [("rounds", "random"), ("rounds", "hard"), ("hypotheses", "random")]
PANELS = {
    "risk": [(sweep, "random", "mean_kl_risk") for sweep in ("labels", "epsilons")],
    "other_risk": [(*sweep, "mean_kl_risk") for sweep in SWEEPS],
    "selection": [(*sweep, y) for y in ("tv_average", "tv_median") for sweep in SWEEPS[:2]],
}
RISKS = table()
swept_figures = pytest.mark.parametrize("name", PANELS)
Points = list[tuple[float, float]]


def draw(name: str, risks: pd.DataFrame, *, simulated: bool = False) -> Figure:
    drawing: Callable[..., Figure] = getattr(figures, name)
    return drawing({"labels": risks}, Labels(), SIMULATED if simulated else FACTS)


@functools.cache
def drawn(name: str) -> Figure:
    """Return the figure of the whole table, for reading only."""
    return draw(name, RISKS)


def expected(sweep: str, kind: str, name: str, rule: str, y: str = "mean_kl_risk") -> Points:
    """Return the swept values in order with the numbers of their rows."""
    setting = {"sweep": sweep, "hypotheses": kind, "algorithm": name, "sensitivity_rule": rule}
    rows = RISKS[(RISKS[list(setting)] == list(setting.values())).all(axis=1)]
    x = COLUMN_OF.get(sweep, "epsilon")
    return [(float(a), float(b)) for a, b in rows.sort_values(x)[[x, y]].to_numpy()]


def lines(ax: Axes, colour: str, linestyle: str, marker: str | None = None) -> list[Line2D]:
    alike = [line for line in ax.lines if line.get_color() == colour]
    alike = [line for line in alike if line.get_linestyle() == linestyle]
    return [line for line in alike if marker in (None, line.get_marker())]


def guides_of(ax: Axes) -> dict[Dashes, Points]:
    """Return the points of the black lines by their dashes, which `get_linestyle` does not give."""
    black = [line for line in ax.lines if line.get_color() == BLACK]
    return {line._unscaled_dash_pattern[1]: points(line) for line in black}


def dots(ax: Axes, colour: str) -> Points:
    """Return the points of single runs."""
    return [point for line in lines(ax, colour, "None", ".") for point in points(line)]


@swept_figures
def test_every_panel_shows_its_own_means_and_beside_them_its_runs(name: str) -> None:
    for (sweep, kind, y), ax in zip(PANELS[name], drawn(name).axes, strict=True):
        low, high = ax.get_xlim()
        for learner, (colour, _) in LOOKS.items():
            (line,) = lines(ax, colour, "-")
            means = expected(sweep, kind, learner, "exact", y)
            np.testing.assert_allclose(points(line), means)
            assert ax.get_xticks().tolist() == [x for x, _ in means]
            runs = [(x, run) for x, mean in means for run in of_runs(mean)[:2]]
            for (x, run), (value, expected_run) in zip(dots(ax, colour), runs, strict=True):
                assert run == pytest.approx(expected_run)
                assert abs(math.log(x / value)) < 0.03 * math.log(high / low)
            published = [points(line) for line in lines(ax, colour, "--")]
            wanted = expected(sweep, kind, learner, "published", y)
            assert len(published) == (name != "selection")
            assert all(line == [pytest.approx(point) for point in wanted] for line in published)
        places = {dots(ax, colour)[0][0] for colour, _ in LOOKS.values()}
        assert len(places) == len(LOOKS)  # side by side


def test_bounds_are_in_the_panels_of_rounds_only() -> None:
    rounds = (1000, 10_000, 30_000)
    easy = {THEOREM: [(T, 3 * T**0.9) for T in rounds]}
    easy[GUIDE] = [(T, T * math.log(4)) for T in rounds]
    guides = {SWEEPS[0]: easy, SWEEPS[1]: {THEOREM: [(T, T / 1e5) for T in rounds]}}
    for name, named in {"risk": False, "other_risk": True}.items():
        (legend,) = drawn(name).legends
        texts = [text.get_text() for text in legend.get_texts()]
        assert ("bound of the paper" in texts) is named
    bounded = [*SWEEPS, ("labels", "random"), ("epsilons", "random")]
    axes = [*drawn("other_risk").axes, *drawn("risk").axes]
    for key, ax in zip(bounded, axes, strict=True):
        wanted = guides.get(key, {})
        assert guides_of(ax) == {
            dashes: [pytest.approx(point) for point in line] for dashes, line in wanted.items()
        }


def test_guides_of_the_selection_have_the_slopes_that_they_are_named_by() -> None:
    for ax in drawn("selection").axes:
        for dashes, power, title in ((THEOREM, -0.25, "slope −1/4"), (GUIDE, -0.5, "slope −1/2")):
            guide = guides_of(ax)[dashes]
            xs, ys = np.log(guide).T
            np.testing.assert_allclose(np.diff(ys) / np.diff(xs), power)
            end, names = guide[-1], names_of_lines(ax).items()
            (named,) = [name for name, text in names if text.xy == pytest.approx(end)]
            assert named.startswith(title)
