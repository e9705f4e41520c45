"""Figures of regret: measured, and the rates that the paper states."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.show.looks import BLACK, GREY
from dpol.studies.lazy import STUDY
from dpol.studies.lazy.rates import RATE_PANELS, draw_rates
from dpol.studies.lazy.shown import GAMES, LOOKS, TITLES, Game, convex_rate, draw_regret
from dpol.studies.looks import looks_of
from dpol.studies.study import Facts
from legible import assert_legible, legend_texts, points

EXPERTS, CONVEX = GAMES["lazy"], GAMES["convex"]
SETTINGS = STUDY.settings.model_construct()
FACTS = Facts({}, False, 0.9)
ROUNDS = (10_000, 100, 1000)
ALGORITHMS = {
    "experts": ("l2p-sound", "l2p-published", "tree-ftpl-min-noise", "multiplicative-weights"),
    "convex": ("l2p-sound", "l2p-theorem-3.12", "dp-ftrl", "gradient-descent"),
}
COLOURS = {name: look.colour for name, look in {**looks_of(TITLES), **LOOKS}.items()}
BOTH = pytest.mark.parametrize("game", [EXPERTS, CONVEX], ids=["experts", "convex"])


def regret(kind: int, T: int, d: int, epsilon: float, algorithm: int) -> float:
    """A number that tells its setting from all others."""
    return math.sqrt(T) * (1 + kind / 2 + d / 10 + algorithm / 7) + 3 / epsilon


def table(game: Game, sizes: tuple[int, ...] = (2, 10, 30)) -> pd.DataFrame:
    """Rows of T and epsilon come in no order."""
    rows = []
    for (kind, adversary), T, d, epsilon, (number, algorithm) in itertools.product(
        enumerate(game.losses), ROUNDS, sizes, (4.0, 0.5), enumerate(ALGORITHMS[game.name])
    ):
        value = regret(kind, T, d, epsilon, number)
        own = {"T": T, "d": d, "epsilon": epsilon, "algorithm": algorithm, "adversary": adversary}
        rows.append({**own, "mean_regret": value, "ci_half_width": value / 10})
    found = pd.DataFrame(rows).assign(delta=1e-6, replicates=20, confidence=0.9, ci_comparisons=48)
    return found if len(game.losses) > 1 else found.drop(columns="adversary")


def draw(rows: pd.DataFrame, game: Game) -> Figure:
    return draw_regret({"lazy" if game is EXPERTS else "convex": rows}, SETTINGS, FACTS)


def panels(figure: Figure) -> list[list[Axes]]:
    """Axes by rows; those of the last row have names of their horizontal axis."""
    columns = sum(bool(ax.get_xlabel()) for ax in figure.axes)
    return [figure.axes[at : at + columns] for at in range(0, len(figure.axes), columns)]


def shown(ax: Axes, colour: str, linestyle: str) -> list[Line2D]:
    drawn = [line for line in ax.lines if len(np.asarray(line.get_xdata()))]
    return [it for it in drawn if (it.get_color(), it.get_linestyle()) == (colour, linestyle)]


def bars(ax: Axes) -> list[float]:
    """The ends of all intervals, rising."""
    lines = [it for it in ax.collections if isinstance(it, LineCollection)]
    return sorted(float(y) for it in lines for segment in it.get_segments() for _, y in segment)


@BOTH
def test_every_panel_has_the_regrets_of_its_setting(game: Game) -> None:
    figure = draw(table(game), game)
    assert_legible(figure)
    for row, d in zip(panels(figure), (2, 10, 30), strict=True):
        assert len({ax.get_ylim() for ax in row}) == 1
        for ax, epsilon in zip(row, (0.5, 4.0), strict=True):
            every: list[float] = []
            for kind, algorithm in itertools.product(range(len(game.losses)), range(4)):
                colour = COLOURS[ALGORITHMS[game.name][algorithm]]
                (line,) = shown(ax, colour, ("-", "--")[kind])
                expected = [regret(kind, T, d, epsilon, algorithm) for T in sorted(ROUNDS)]
                xs, ys = np.asarray(line.get_xydata()).T
                np.testing.assert_allclose(ys, expected)
                np.testing.assert_allclose(xs, sorted(ROUNDS), rtol=0.16)  # side by side
                every += expected
            # Bars: from 0.9 to 1.1 of the mean here.
            assert bars(ax) == pytest.approx(sorted(s * it for s in (0.9, 1.1) for it in every))
            low, high = zip(ax.get_xlim(), ax.get_ylim(), strict=True)
            drawn = np.array([point for line in ax.lines for point in points(line)])
            assert ((drawn > low) & (drawn < high)).all()


@BOTH
def test_two_horizons_are_no_rate_and_have_no_line(game: Game) -> None:
    rows = table(game).query("T != 100")
    figure, kinds = draw(rows, game), len(game.losses)
    for ax in figure.axes:
        found = [line for line in ax.lines if line.get_color() != BLACK]
        assert {line.get_linestyle() for line in found} == {"None"}
        # Side by side.
        assert len({float(np.asarray(line.get_xdata())[0]) for line in found}) == 4 * kinds
        # Filled and open markers tell the two kinds of losses apart.
        assert sum(line.get_markerfacecolor() == "white" for line in found) == 4 * (kinds - 1)


@BOTH
def test_a_run_that_is_missing_is_a_line_less(game: Game) -> None:
    rows = table(game).query(f"algorithm != '{ALGORITHMS[game.name][1]}'")
    figure = draw(rows, game)
    for ax in figure.axes:
        missing, there = (COLOURS[name] for name in ALGORITHMS[game.name][1:3])
        assert not shown(ax, missing, "-")
        assert shown(ax, there, "-")
    assert set(legend_texts(figure)) < set(legend_texts(draw(table(game), game)))


def test_negative_regrets_are_not_drawn() -> None:
    rows = table(EXPERTS, sizes=(2,)).query("adversary == 'stochastic'")
    chosen = (rows["algorithm"] == "multiplicative-weights") & (rows["T"] == 1000)
    rows.loc[chosen, "mean_regret"] = -5.0
    for ax in draw(rows, EXPERTS).axes:
        (line,) = shown(ax, GREY, "-")
        np.testing.assert_allclose(np.asarray(line.get_xdata()), [100, 10_000], rtol=0.16)


def test_rate_of_theorem_3_12_by_hand() -> None:
    """T = 10^6, d = 4, eps = 1/8: 1000 + 100 sqrt(4 log 10^6) log(10^12) 4."""
    log = math.log(10)
    expected = 1000 + 400 * math.sqrt(24 * log) * 12 * log
    assert convex_rate(np.array([1e6]), 4, 0.125, 1e-6)[0] == pytest.approx(expected, rel=1e-12)


def test_the_rate_goes_through_the_first_point_of_l2p() -> None:
    for row, d in zip(panels(draw(table(CONVEX), CONVEX)), (2, 10, 30), strict=True):
        for ax, epsilon in zip(row, (0.5, 4.0), strict=True):
            (line,) = (it for it in ax.lines if it.get_color() == BLACK)
            xs, ys = np.asarray(line.get_xydata()).T
            assert xs.tolist() == [100, 1000, 10_000]
            rates = convex_rate(xs, d, epsilon, 1e-6)
            np.testing.assert_allclose(ys, regret(0, 100, d, epsilon, 0) * rates / rates[0])
    for ax in draw(table(EXPERTS), EXPERTS).axes:
        assert BLACK not in {line.get_color() for line in ax.lines}


# ---- the rates of the paper ----------------------------------------------------------------------

RATES = [
    # new and prior at a = 0, 1/4, 1/2, 1
    ([1 / 2, 1 / 2, 2 / 3, 1], [1 / 2, 7 / 12, 3 / 4, 1]),
    ([1 / 2, 2 / 3, 5 / 6, 1], [13 / 24, 17 / 24, 5 / 6, 1]),
    ([1 / 2, 1 / 2, 2 / 3, 1], [1 / 2, 7 / 12, 4 / 5, 1]),
]
"""Rates by hand. Prior of the first at 1/4: min(5/8, max(1/2, 7/12, 9/16)) = 7/12; at 1/2: min(3/4,
max(5/6, 3/4)) = 3/4. Of the second at 0: min(7/12, max(1/2, 1/2, 13/24)); at 1/4: min(17/24,
max(3/4, 35/48)); at 1/2: min(5/6, max(1, 11/12)). Of the third at 1/4: min(3/4, 7/12, 3/5); at 1/2:
min(1, 5/6, 4/5). At 1 all are capped.
"""
POINTS = np.array([0.0, 0.25, 0.5, 1.0])


def test_where_the_rates_are_worse_than_prior_work_and_that_they_rise() -> None:
    """Rates are worse for d = T^(1/3) only: 1/2 + 2a/3 > 7/12 + a/2 for 1/2 < a < 5/6."""
    a = np.linspace(0, 1, 97)
    for number, panel in enumerate(RATE_PANELS):
        new, prior = panel.new(a), panel.prior(a)
        worse = a[new > prior + 1e-12]
        assert worse.tolist() == (a[(a > 0.5) & (a < 5 / 6 - 1e-9)].tolist() if number == 1 else [])
        assert (prior - new).max() > 0.03
        for curve in (new, prior):
            assert (np.diff(curve) >= 0).all()
            assert curve.max() <= 1
            assert curve.min() >= 0.5


def test_the_figure_of_rates_shows_them() -> None:
    figure = draw_rates({}, SETTINGS, FACTS)
    (row,) = panels(figure)
    for ax, (new, prior) in zip(row, RATES, strict=True):
        for colour, expected in ((looks_of(["l2p"])["l2p"].colour, new), (GREY, prior)):
            (line,) = [line for line in ax.lines if line.get_color() == colour]
            ys = np.interp(POINTS, np.asarray(line.get_xdata()), np.asarray(line.get_ydata()))
            np.testing.assert_allclose(ys, expected, rtol=1e-9)
    # Where L2P is worse, and only there, the panel says so.
    assert [len(ax.texts) for ax in row] == [0, 1, 0]
    (shade,) = row[1].patches
    assert shade.get_extents().transformed(row[1].transData.inverted()).intervalx == pytest.approx(
        [0.5, 5 / 6], abs=0.01
    )
    assert_legible(figure)
    # The lower bound, where it is known, is the new rate.
    bounds = [[line for line in ax.lines if line.get_color() == BLACK] for ax in row]
    assert [len(lines) for lines in bounds] == [0, 0, 1]
    np.testing.assert_allclose(
        np.interp(POINTS, *np.asarray(bounds[2][0].get_xydata()).T), RATES[2][0], rtol=1e-9
    )
