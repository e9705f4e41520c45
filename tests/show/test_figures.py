"""Panels, colours and heat maps of all figures."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from scipy.optimize import isotonic_regression

import laplace_noise
from dpol.experts.registry import REGISTRY
from dpol.labels.registry import LEARNERS, SELECTORS
from dpol.noise import NOISES, find_noise
from dpol.show import entries, panels
from dpol.show.entries import (
    ALGORITHMS,
    DASHED,
    ENTRIES,
    LABEL_LEARNERS,
    OTHERS,
    Look,
    looks_of,
    noise_entry,
)
from dpol.show.heat_map import least_usual
from legible import assert_legible, legend_texts, lines, plain, points

LABELS = st.lists(st.tuples(st.floats(-0.2, 1.2), st.floats(0.01, 0.1)), min_size=1, max_size=10)
LOOK = Look("#0072B2", DASHED, "o")
FINDING = "Lines that are named at their ends are found again without a legend beside the panels."
SUFFIXES = ".svg", ".png", ".pdf"
POINTS = pd.DataFrame({"x": [0, 1, 2], "mean": [1.0, 2.0, 2.0], "half": [0.5, math.inf, 0.25]})


def draw(
    number: int = 3, named: int = 3, width: float = math.inf, *, titled: bool = True
) -> Figure:
    with panels.panels(number, 2, (2.5, 2.0), "gain", form=(width, titled)) as drawn:
        for ax in drawn.axes:
            panels.name_panel(ax, "A & B_<c>% $x$")
            panels.set_guesses(ax, [1.0, 0.691, 0.55])
            panels.add_bars(ax, POINTS, LOOK, "bars")
            panels.add_band(ax, POINTS.assign(mean=POINTS["mean"] + 1), LOOK, "band")
            for name in range(named):
                drawn.name_line(ax, (2, 2.0), f"line {name}\nof many", LOOK.colour)
        drawn.legend([panels.key(f"a line {number}", **LOOK.line) for number in range(7)])
        drawn.caption("Simulated data", "means over 20 runs", "one fact that is rather long")
        drawn.find(FINDING)
    return drawn.figure


def test_last_digits_of_the_layout_are_in_no_file(tmp_path, monkeypatch) -> None:
    """The solver's last digits differ from process to process; names of lines follow them."""
    execute, made = panels.ConstrainedLayoutEngine.execute, []
    for apart in (0.0, 1e-10, -3e-11):

        def moved(engine, figure, apart=apart):
            execute(engine, figure)
            for ax in figure.axes:
                ends = ax.get_position(original=True).get_points() * (1 + apart)
                ax._set_position(Bbox(ends))

        monkeypatch.setattr(panels.ConstrainedLayoutEngine, "execute", moved)
        paths = [tmp_path / f"{apart}{suffix}" for suffix in SUFFIXES]
        panels.save_figure(figure := draw(), paths)
        places = [
            (ax.get_position().bounds, *map(Text.get_position, ax.texts)) for ax in figure.axes
        ]
        made.append([places, *(path.read_bytes() for path in paths)])
    assert made[0] == made[1] == made[2]


@given(LABELS)
def test_spread_keeps_order_and_room(labels: list[tuple[float, float]]) -> None:
    wanted, sizes = zip(*labels, strict=True)
    places = panels.spread(wanted, sizes)
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    for one, two in itertools.pairwise(order):
        assert places[two] - places[one] >= (sizes[one] + sizes[two]) / 2 - 1e-9
    for place, size in zip(places, sizes, strict=True):
        assert size / 2 - 1e-9 <= place <= 1 - size / 2 + 1e-9
    heights = np.array(sizes)[order]
    below = heights.cumsum() - heights / 2
    nearest = isotonic_regression(np.array(wanted)[order] - below).x
    expected = nearest.clip(0, max(0, 1 - heights.sum())) + below
    np.testing.assert_allclose(np.array(places)[order], expected, atol=1e-12)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_everything_is_inside_the_figure_and_nothing_overlaps(number: int) -> None:
    figure = draw(number)
    assert len(figure.axes) == number
    assert_legible(figure)
    boxes = [own.get_window_extent() for own in (*figure.legends, *figure.texts, *figure.axes)]
    assert all(min(box.x0, box.y0) >= 0 for box in boxes)
    assert all(box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1 for box in boxes)
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))
    assert legend_texts(figure) == [f"a line {number}" for number in range(7)]
    title, caption = figure.get_suptitle(), figure.texts[-1]
    assert plain(title) == figure.get_label() == FINDING
    assert "means over 20 runs" in plain(caption.get_text())
    below = caption.get_window_extent().y1
    assert all(own.get_window_extent().y0 > below for own in (*figure.legends, *figure.axes))


def test_a_figure_for_a_paper_has_the_width_of_a_column_and_no_title() -> None:
    """Its finding stays its alternative text."""
    figure, titled = draw(width=2.7, titled=False), draw(width=2.7)
    assert figure.get_figwidth() == 2.7
    assert len({ax.get_position().x0 for ax in figure.axes}) == 1, "panels stand below each other"
    assert (figure.get_suptitle(), figure.get_label()) == ("", FINDING)
    assert figure.get_figheight() < titled.get_figheight()
    assert_legible(figure)
    assert_legible(titled)


def test_finite_intervals_are_drawn_at_levels_side_by_side_and_no_privacy_is_shaded() -> None:
    (ax,) = draw(1).axes
    (bars,) = ax.containers
    ends = [segment[:, 1].tolist() for segment in bars.lines[2][0].get_segments()]
    assert ends == [[0.5, 1.5], [2.0, 2.0], [1.75, 2.25]]
    assert points(lines(ax)["band"]) == [(0, 2.0), (1, 3.0), (2, 3.0)]
    band = ax.collections[-1].get_paths()[0].vertices
    assert {(0.0, 1.5), (0.0, 2.5), (1.0, 3.0), (2.0, 2.75), (2.0, 3.25)} == set(map(tuple, band))
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["none", "69.1%", "55%"]
    panels.set_percent(ax.yaxis)
    assert ax.yaxis.get_major_formatter()(0.25, 0) == "25%"
    (shade,) = ax.patches
    ends = shade.get_extents().transformed(ax.transData.inverted()).intervalx
    assert ends == pytest.approx([-0.5, 0.5])


def test_equal_figures_give_equal_files_whatever_the_user_s_settings(tmp_path: Path) -> None:
    one, two = ([tmp_path / f"{name}{suffix}" for suffix in SUFFIXES] for name in ("one", "two"))
    panels.save_figure(draw(), one)
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "savefig.dpi": 7}):
        before = dict(matplotlib.rcParams)
        panels.save_figure(draw(), two[::-1])
        assert dict(matplotlib.rcParams) == before
    for first, second in zip(one, two, strict=True):
        assert first.read_bytes() == second.read_bytes()
        # Both may have been written in the same second.
        assert not any(date in first.read_bytes() for date in (b"CreationDate", b"dc:date"))
    panels.save_figure(draw(named=2), two[:1])
    assert one[0].read_bytes() != two[0].read_bytes()


# ---- colours and names ---------------------------------------------------------------------------

KNOWN = {**ALGORITHMS, **LABEL_LEARNERS}
SHARED = {entries.GREY, entries.BLACK}
USED = [*({look.colour for look in KNOWN.values()} - SHARED), entries.ENVELOPE]


def test_a_colour_means_one_thing_in_all_figures() -> None:
    assert len(set(USED)) == len(USED)
    assert entries.BLACK not in {look.colour for look in KNOWN.values()}
    # Labels of one colour are one algorithm, except grey for algorithms without privacy.
    for one, two in itertools.combinations(KNOWN, 2):
        if KNOWN[one].colour == KNOWN[two].colour != entries.GREY:
            assert one.split("-")[0] == two.split("-")[0]
    # Labels without a look get other colours.
    assert not {look.colour for look in OTHERS} & {*USED, *SHARED}


def test_looks_of_one_figure_differ_and_do_not_depend_on_their_order() -> None:
    names = [*ALGORITHMS, *(f"mine-{number}" for number in range(8))]
    together = looks_of(names)
    assert list(together) == names
    assert together == looks_of(reversed(names))
    assert {name: together[name] for name in ALGORITHMS} == ALGORITHMS
    lines = [(look.colour, look.dashes) for look in together.values()]
    assert len(set(lines)) == len(lines)
    assert looks_of(["mine", "rw-meta"])["mine"] == looks_of(["mine"])["mine"]
    many = [f"mine-{number}" for number in range(60)]  # more than there are looks
    assert list(looks_of(many)) == many


def test_every_name_of_a_registry_has_an_entry() -> None:
    registered = {
        "algorithms": REGISTRY,
        "noises": NOISES,
        "label_learners": {**LEARNERS, **SELECTORS},
    }
    lost = [name for kind, names in registered.items() for name in {*names} - {*ENTRIES[kind]}]
    assert lost == [], "add `NAME: {}` to src/dpol/show/entries.yaml"


@pytest.mark.parametrize("name", [*NOISES, laplace_noise.NAME])
def test_a_noise_that_is_not_in_the_papers_has_the_mark(name: str) -> None:
    assert noise_entry(name).beyond == (find_noise(name).origin != "paper")


# ---- heat maps -----------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "most": lambda numbers: 50 * numbers,
    "nothing at first": lambda numbers: np.where(np.arange(len(numbers)) < 20, 0.0, numbers),
    "turned round": lambda numbers: numbers[::-1],
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_column_unlike_the_others_comes_first(change: str) -> None:
    wave = 5 + np.sin(np.arange(40))[:, None] + 0.2 * np.arange(40)[:, None]
    numbers = wave + 0.1 * np.random.default_rng(1).random((40, 12))
    numbers[:, 7] = CHANGES[change](numbers[:, 7])
    assert least_usual(numbers)[0] == 7
