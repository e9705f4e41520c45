"""The figure of cumulative gains, and the style it shares with later ones."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from dpol.data.settings import Stream
from dpol.show import style
from dpol.studies.hospitals.cumulative_gain import (
    ENVELOPE_LABEL,
    draw_cumulative_gain,
)
from dpol.studies.hospitals.settings import BEST_STATIC, Report
from dpol.studies.hospitals.shown import Shown

INF = math.inf
ROUNDS = 6
TITLES = {"nm": "New Mexico", "ca": "A & B_<c>% $x$"}
STREAMS = {label: Stream(groups=["G"], title=title) for label, title in TITLES.items()}
LEVELS = {"none": INF, "low": 1.0, "high": 0.25}
ALGORITHMS = ["rw-meta", "tree-ftpl-min-noise", "follow-the-leader"]


def block(stream: str, algorithm: str, mu: float, gain: float, **changes: Any) -> pd.DataFrame:
    rounds = np.arange(1, ROUNDS + 1)
    columns = {
        "stream": stream,
        "algorithm": algorithm,
        "family": algorithm,
        "noise": "isotropic",
        "level": "label",
        "mu": mu,
        "round": rounds,
        "period": pd.date_range("2020-08-09", periods=ROUNDS, freq="7D"),
        "mean_cumulative_gain": gain * rounds,
        "ci_half_width": 0.1,
    }
    return pd.DataFrame(columns | changes)


def cumulative() -> pd.DataFrame:
    blocks = []
    for stream in STREAMS:
        blocks.append(block(stream, BEST_STATIC, math.nan, 0.5, noise="none"))
        blocks.append(block(stream, "follow-the-leader", INF, 0.3, noise="none"))
        for mu in LEVELS.values():
            blocks.append(block(stream, "rw-meta", mu, 0.6))
            blocks.append(block(stream, "tree-ftpl-min-noise", mu, 0.2))
            blocks.append(block(stream, "ridge-w8-weak", mu, 0.4, family="ridge"))
            blocks.append(block(stream, "ridge-w64-weak", mu, 0.7, family="ridge"))
            other = {"family": "ridge", "noise": "capacity"}
            blocks.append(block(stream, "ridge-w8-weak", mu, 9.0, **other))
    return pd.concat(blocks)


def draw(
    frame: pd.DataFrame | None = None,
    *,
    simulated: bool = False,
    streams: dict[str, Stream] | None = None,
    **report: Any,
) -> Figure:
    facts = {"stream": list(STREAMS), "n_experts": 24, "simulated": simulated}
    asked = Report(**{"algorithms": ALGORITHMS} | report)
    shown = Shown(pd.DataFrame(facts), STREAMS if streams is None else streams, LEVELS, asked)
    frame = cumulative() if frame is None else frame
    return draw_cumulative_gain(frame, shown)


def lines(axes: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in axes.lines}


def envelopes(axes: Axes) -> list[PolyCollection]:
    polygons = [it for it in axes.collections if it.get_label() == ENVELOPE_LABEL]
    assert all(isinstance(it, PolyCollection) for it in polygons)
    return polygons  # type: ignore[return-value]


def legend_texts(figure: Figure) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_panels_have_the_right_artists() -> None:
    figure = draw()
    assert len(figure.axes) == len(STREAMS) * len(LEVELS)
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in figure.axes}) == 1
    assert figure.axes[0].get_ylim()[0] == 0
    for axes, (_, mu) in zip(figure.axes, itertools.product(STREAMS, LEVELS.values()), strict=True):
        expected = {"rw-meta", "tree-ftpl-min-noise", BEST_STATIC}
        expected |= {"follow-the-leader"} if mu == INF else set()
        drawn = lines(axes)
        assert set(drawn) == expected
        assert drawn[BEST_STATIC].get_linestyle() == ":"
        assert drawn[BEST_STATIC].get_color() == style.BLACK
        assert len(envelopes(axes)) == 1
        assert len(axes.collections) == len(expected)  # envelope, and a band for each algorithm
        assert np.allclose(drawn["rw-meta"].get_ydata(), 0.6 * np.arange(1, ROUNDS + 1))


def test_envelope_is_the_range_of_the_family_at_the_reported_noise() -> None:
    (polygon,) = envelopes(draw().axes[0])
    vertices = polygon.get_paths()[0].vertices
    assert isinstance(vertices, np.ndarray)
    last = vertices[vertices[:, 0] == vertices[:, 0].max(), 1]
    assert (last.min(), last.max()) == pytest.approx((0.4 * ROUNDS, 0.7 * ROUNDS))


def test_titles_and_legend() -> None:
    figure = draw()
    assert [axes.get_title() for axes in figure.axes[:3]] == [
        "no privacy (μ = ∞)",
        "μ = 1",
        "μ = 0.25",
    ]
    titles = [
        axes.get_ylabel().replace("\n", " ").replace("\xa0", " ") for axes in figure.axes[::3]
    ]
    assert titles == [f"{title} (n = 24)" for title in TITLES.values()]
    assert not any(axes.yaxis.label.get_parse_math() for axes in figure.axes[::3])  # "$x$" as it is
    assert legend_texts(figure) == [
        *ALGORITHMS,
        "best static expert",
        "range of the 2 ridge learners",
    ]


def test_subtitle_tells_where_the_data_come_from() -> None:
    real, simulated = (draw(simulated=value).get_suptitle() for value in (False, True))
    assert real.replace("\xa0", " ").startswith("Real data, 2020-08-09 to 2020-09-13")
    assert simulated.replace("\xa0", " ").startswith("Simulated data, not measurements")
    wider = draw(confidence=0.9).get_suptitle().replace("\xa0", " ")
    assert "bands of lines: 90% intervals for the noise, all together" in wider


def test_without_the_family_there_is_no_envelope() -> None:
    figure = draw(envelope="kalman")
    assert not any(envelopes(axes) for axes in figure.axes)
    assert len(legend_texts(figure)) == len(ALGORITHMS) + 1


def test_other_noise_is_drawn_and_named() -> None:
    frame = cumulative()
    meta = frame[frame["algorithm"] == "rw-meta"].assign(noise="capacity")
    meta["mean_cumulative_gain"] += 1
    both = pd.concat([frame, meta])
    figure = draw(both, noise="capacity")
    for drawn, shift in ((figure, 1.0), (draw(both), 0.0)):
        gains = lines(drawn.axes[0])["rw-meta"].get_ydata()
        assert np.allclose(gains, 0.6 * np.arange(1, ROUNDS + 1) + shift)
    assert legend_texts(figure)[:3] == [
        "rw-meta",
        "tree-ftpl-min-noise (isotropic)",
        "follow-the-leader",
    ]
    assert "capacity noise (not in the paper)" in figure.get_suptitle().replace("\xa0", " ")


def test_no_text_overlaps_or_leaves_the_figure() -> None:
    figure = draw()
    with style.figure_style():
        texts = [figure.legends[0], *figure.texts, *(axes.yaxis.label for axes in figure.axes[::3])]
        texts += [axes.title for axes in figure.axes[:3]]
        boxes = [text.get_window_extent() for text in texts]
        boxes += [axes.get_window_extent() for axes in figure.axes]
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height
    assert not any(one.overlaps(two) for one, two in itertools.combinations(boxes, 2))


def test_equal_figures_are_equal_files_whatever_the_settings_of_the_user(tmp_path: Path) -> None:
    suffixes = (".svg", ".png", ".pdf")
    one, two = ([tmp_path / f"{name}{suffix}" for suffix in suffixes] for name in ("one", "two"))
    style.save_figure(draw(), one)
    with matplotlib.rc_context({"lines.linewidth": 9, "font.size": 30, "savefig.dpi": 7}):
        before = dict(matplotlib.rcParams)
        style.save_figure(draw(), two[::-1])
        assert dict(matplotlib.rcParams) == before
    assert sorted(tmp_path.iterdir()) == sorted([*one, *two])
    for first, second in zip(one, two, strict=True):
        assert first.read_bytes() == second.read_bytes()
        # Both may have been written in the same second.
        assert not any(date in first.read_bytes() for date in (b"CreationDate", b"dc:date"))


def test_unknown_suffix_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"figure\.bmp"):
        style.save_figure(draw(), [tmp_path / "figure.svg", tmp_path / "figure.bmp"])
    assert not list(tmp_path.iterdir())


def test_rounds_without_dates_are_counted() -> None:
    figure = draw(cumulative().assign(period=pd.NaT))
    for axes in figure.axes:
        assert lines(axes)["rw-meta"].get_xdata().tolist() == list(range(1, ROUNDS + 1))
        assert all(tick == int(tick) for tick in axes.get_xticks())
        (shade,) = envelopes(axes)
        assert set(shade.get_paths()[0].vertices[:, 0]) == set(range(1, ROUNDS + 1))
    (title,) = [it.get_text() for it in figure.texts if "data" in it.get_text()]
    assert "rounds\xa01\xa0to\xa06" in title
    assert "NaT" not in title


def test_input_is_left_alone() -> None:
    frame = cumulative()
    before = frame.copy(deep=True)
    draw(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_styles_are_fixed_distinct_and_reserved() -> None:
    names = [*style.ALGORITHM_STYLES, *(f"mine-{number}" for number in range(8))]
    styles = style.algorithm_styles(names)
    assert list(styles) == names
    assert styles == style.algorithm_styles(reversed(names))
    assert {name: styles[name] for name in style.ALGORITHM_STYLES} == style.ALGORITHM_STYLES
    looks = [(it.colour, it.dashes) for it in styles.values()]
    assert len(set(looks)) == len(looks)
    used = {colors.to_hex(it.colour) for it in styles.values()}
    assert not used & {colors.to_hex(style.ENVELOPE), colors.to_hex(style.STATIC)}
    many = [f"mine-{number}" for number in range(60)]  # more than there are styles
    assert list(style.algorithm_styles(many)) == many
