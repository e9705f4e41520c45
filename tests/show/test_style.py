"""Colours and texts that all figures share."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest

from dpol.show import style
from dpol.studies.audits.figure import _COLOURS as VERDICTS
from dpol.studies.hospitals.noise_memory_figure import _COLOURS as UNITS
from dpol.studies.labels import figures as labels
from legible import assert_legible

SHARED = {style.GREY, style.BLACK}
USED = [*style.COLOURS.values(), *UNITS, style.REFUTED, style.ENVELOPE]


def test_contrast_by_hand() -> None:
    # sRGB 0.5 is 0.2140 in linear light: 1.05 / (0.2140 + 0.05) = 3.98.
    assert style.contrast("#808080") == pytest.approx(3.95, abs=0.01)
    assert style.contrast("#FFFFFF") == pytest.approx(1.0)
    assert style.contrast("#FF0000") == pytest.approx(1.05 / (0.2126 + 0.05))


def test_lines_stand_out_from_white_and_text_more() -> None:
    for colour in {*USED, *style._FURTHER} - {style.ENVELOPE}:
        assert style.contrast(colour) >= 3.0, colour
        assert style.contrast(style.text_colour(colour)) >= 4.5, colour
    # What is dark enough stays, and what was too pale is just dark enough.
    assert style.text_colour(style.BLACK) == style.BLACK
    assert style.contrast(style.text_colour("#56B4E9")) < 4.8


def test_a_colour_means_one_thing_in_all_figures() -> None:
    assert len(set(USED)) == len(USED)
    assert not SHARED & set(USED)
    looks = labels.looks()
    assert all(looks[name][0] == style.COLOURS[name] for name in looks if name in style.COLOURS)
    assert {VERDICTS[it] for it in VERDICTS} == {style.GREY, style.REFUTED}
    # Labels of one colour are one algorithm, but for those without privacy, which are grey.
    for one, two in itertools.combinations(style.ALGORITHM_STYLES, 2):
        looks_of = [style.ALGORITHM_STYLES[it].colour for it in (one, two)]
        if looks_of[0] == looks_of[1] != style.GREY:
            assert one.split("-")[0] == two.split("-")[0]
    # Whatever is not in the table gets a colour of its own.
    unknown = style.algorithm_styles([f"mine-{number}" for number in range(12)])
    assert not {it.colour for it in unknown.values()} & {*USED, *SHARED}


def test_svg_has_real_text_in_fonts_that_browsers_have(tmp_path: Path) -> None:
    with style.figure_style():
        figure = style.new_figure(3.0, 2.0)
        ax = figure.subplots()
        ax.plot([1, 1e5], [1e-3, 1e4], label="μ = 0.5")
        ax.set(xscale="log", yscale="log", title="ε < 1 & T", xlabel="T")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(style.PowerFormatter())
            axis.set_minor_formatter(style.PowerFormatter())
        figure.legend()
        style.freeze_layout(figure)
    assert_legible(figure)
    style.save_figure(figure, [tmp_path / "a.svg"])
    svg = (tmp_path / "a.svg").read_text()
    shown = re.findall(r"<text [^>]*>([^<]*)</text>", svg)
    assert {"μ = 0.5", "ε &lt; 1 &amp; T", "T", "10⁴", "0.01"} <= set(shown)
    assert "<tspan" not in svg
    fonts = set(re.findall(r"font-family: ([^;\"]*)", svg))
    assert fonts == {"'DejaVu Sans', 'Verdana', 'Arial', 'Helvetica', sans-serif"}


@pytest.mark.parametrize("fault", [{"color": "#56B4E9"}, {"fontsize": 6}, {"text": "$x$ and $y$"}])
def test_what_is_illegible_is_found(fault: dict[str, object]) -> None:
    with style.figure_style():
        figure = style.new_figure(2.0, 2.0)
        figure.text(0.5, 0.5, **({"s": fault.pop("text", "x")} | fault))
    with pytest.raises(AssertionError):
        assert_legible(figure)


# Simulation of red-green blindness in linear light: Machado, Oliveira and Fernandes, "A
# Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
BLIND = {
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "none": np.eye(3).tolist(),
}
TOGETHER = [
    "rw-meta persistence tree-ftpl-min-noise mf-ftpl tree-ftpl-min-regret l2p rw-ftpl",
    "rw-meta persistence tree-ftpl-min-noise mf-ftpl mf-window mf-discounted",
    "l2p l2p-published l2p-one-round l2p-theorem tree-ftpl-min-noise mf-ftpl",
    "l2p l2p-one-round l2p-theorem dp-ftrl",
    "wma exp3 exp3-bayes membership randomised-response",
    "rw-adabatch rw-adabatch-reflection",
    "rw-meta random-effects tree-ftpl-min-noise",
]


def seen(colour: str, eye: str) -> np.ndarray:
    """A colour in CIELAB, as an eye sees it."""
    srgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(BLIND[eye]) @ linear, 0, 1)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(xyz @ linear / [0.9505, 1.0, 1.089], 0.0089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("eye", BLIND)
def test_colours_of_one_figure_differ_for_every_eye(eye: str) -> None:
    def nearest(colours: list[str]) -> float:
        pairs = itertools.combinations(colours, 2)
        return min(math.dist(seen(one, eye), seen(two, eye)) for one, two in pairs)

    for names in TOGETHER:
        assert nearest([style.COLOURS[it] for it in names.split()]) >= 10, names
    # A power check: each blindness takes a red for a green, and no other eye does.
    reds = {"deuteranopia": ["#5E9C2F", "#D1362F"], "protanopia": ["#7A7500", "#D55E00"]}
    assert {name for name, pair in reds.items() if nearest(pair) < 10} == {eye} - {"none"}
