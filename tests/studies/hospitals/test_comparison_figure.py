"""The figure of the paper's way beside ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text

from comparison_by_hand import COMPARISON, INF, LEVELS, cells, shown
from dpol.show import style
from dpol.studies.hospitals.ablation import ablate
from dpol.studies.hospitals.comparison import compare
from dpol.studies.hospitals.comparison_figure import (
    NO_PRIVACY,
    PAPER_LEVEL,
    draw_comparison,
)

STREAMS = {"nm": "New Mexico", "pa": "A & B_<c>% $x$"}
SHARED: dict[str, Any] = {"levels": LEVELS, "confidence": 0.95}
RUNS = [*cells(), *cells("pa")]


def frames() -> tuple[pd.DataFrame, pd.DataFrame]:
    return compare(RUNS, COMPARISON, **SHARED), ablate(RUNS, COMPARISON, **SHARED)


def draw(
    comparison: pd.DataFrame | None = None, *, simulated: bool = False, **changes: Any
) -> Figure:
    made, ablation = frames()
    found = shown(**{**STREAMS, **changes})
    found.summary["simulated"] = simulated
    return draw_comparison(made if comparison is None else comparison, ablation, found)


def lines(ax: Axes) -> dict[str, Line2D]:
    """The line of every container of points with intervals, by label, and the bare lines."""
    found = {str(box.get_label()): box.lines[0] for box in ax.containers}
    bare = {str(line.get_label()): line for line in ax.lines}
    return bare | found


def points(line: Line2D) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def written(ax: Axes) -> dict[str, Annotation]:
    found = [text for text in ax.texts if isinstance(text, Annotation)]
    return {text.get_text().replace("\n", " "): text for text in found}


def test_lines_have_the_means_of_their_levels_from_left_to_right() -> None:
    for ax in draw().axes:
        found = lines(ax)
        assert points(found["ours"]) == [(0, 18.0), (1, 17.0), (2, 15.0)]
        assert points(found["paper"]) == [(0, 14.0), (1, 12.0), (2, 8.0)]
        # kalman-a, with capacity noise where there is noise; the only row with a curator.
        assert points(found["other"]) == [(0, 18.5), (1, 17.5), (2, 15.5)]
        assert points(found["central"]) == [(0, 8.5), (1, 8.5), (2, 8.5)]
    turned = draw(levels=dict(reversed(LEVELS.items()))).axes[0]
    assert points(lines(turned)["ours"]) == [(0, 15.0), (1, 17.0), (2, 18.0)]
    assert [it.get_text() for it in turned.get_xticklabels()] == ["0.25", "1", "∞\nno privacy"]


def test_what_has_no_privacy_is_a_line_and_the_aim_is_dotted_from_the_papers_way() -> None:
    ax = draw().axes[0]
    reference = lines(ax)[NO_PRIVACY]
    assert set(np.asarray(reference.get_ydata())) == {17.0}
    assert points(lines(ax)[PAPER_LEVEL]) == [(1, 12.0), (2, 12.0)]
    without = COMPARISON.model_copy(update={"aims": []})
    bare = draw(compare(RUNS, without, **SHARED)).axes[0]
    assert PAPER_LEVEL not in lines(bare)


def test_bars_are_the_intervals_that_are_finite() -> None:
    comparison, _ = frames()
    comparison["ci_half_width"] = INF
    row = comparison[(comparison["kind"] == "paper") & (comparison["mu"] == 0.25)].iloc[0]
    ax = draw(comparison).axes[0]
    for label, half in {"ours": 0.0, "paper": row["other_ci_half_width"]}.items():
        (box,) = [box for box in ax.containers if box.get_label() == label]
        bars = box.lines[2][0]
        assert isinstance(bars, LineCollection)
        low, high = bars.get_segments()[-1][:, 1]
        assert (high - low) / 2 == pytest.approx(half)


def test_names_stand_beside_the_ends_of_the_lines_and_apart() -> None:
    figure = draw()
    for ax in figure.axes:
        found = written(ax)
        assert set(found) == {
            "ours",
            "the paper's way",
            "best other local row",
            "best with a curator",
            "best of the paper's learners, no privacy",
        }
        assert found["ours"].xy == (2.0, 15.0)
        assert found["the paper's way"].xy == (2.0, 8.0)
        boxes = [Text.get_window_extent(text) for text in found.values()]  # without arrows
        pairs = [(a, b) for i, a in enumerate(boxes) for b in boxes[i + 1 :]]
        assert not any(a.y0 < b.y1 and b.y0 < a.y1 for a, b in pairs)
        assert max(box.x1 for box in boxes) <= figure.bbox.x1


def test_algorithms_keep_their_colours() -> None:
    runs = compare(RUNS, COMPARISON, **SHARED).replace(
        {"meta": "rw-meta", "bayes": "empirical-bayes"}
    )
    found = lines(draw(runs).axes[0])
    assert found["paper"].get_color() == style.ALGORITHM_STYLES["rw-meta"].colour
    assert found["ours"].get_color() == style.ALGORITHM_STYLES["empirical-bayes"].colour


def test_the_title_says_what_is_drawn() -> None:
    title = draw().get_suptitle().replace("\xa0", " ").replace("\n", " ")
    assert title.startswith("Real data, means over 2 runs")
    assert "the paper's way: meta, isotropic noise" in title
    assert "ours: bayes, capacity noise" in title
    assert draw(simulated=True).get_suptitle().startswith("Simulated\xa0data,\xa0not")


@pytest.mark.parametrize("number", [1, 2, 4])
def test_any_number_of_streams_has_a_panel_each(number: int) -> None:
    names = {f"s{k}": f"Stream {k}" for k in range(number)}
    runs = [it for name in names for it in cells(name)]
    frames = compare(runs, COMPARISON, **SHARED), ablate(runs, COMPARISON, **SHARED)
    figure = draw_comparison(*frames, shown(**names))
    titles = [f"{name} (n = 2)" for name in names.values()]
    assert [ax.get_title(loc="left") for ax in figure.axes] == titles
