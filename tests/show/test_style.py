"""Common colours and texts of all figures."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpol.show import looks
from dpol.show.looks import ALGORITHMS, LABEL_LEARNERS, OTHERS, RIVALS, looks_of

KNOWN = {**ALGORITHMS, **RIVALS, **LABEL_LEARNERS}
SHARED = {looks.GREY, looks.BLACK}
USED = [*({look.colour for look in KNOWN.values()} - SHARED), looks.REFUTED, looks.ENVELOPE]


def test_a_colour_means_one_thing_in_all_figures() -> None:
    assert len(set(USED)) == len(USED)
    assert looks.BLACK not in {look.colour for look in KNOWN.values()}
    # Labels of one colour are one algorithm, except grey for algorithms without privacy.
    for one, two in itertools.combinations(KNOWN, 2):
        if KNOWN[one].colour == KNOWN[two].colour != looks.GREY:
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
    many = [f"mine-{number}" for number in range(60)]  # more than there are looks
    assert list(looks_of(many)) == many


# Simulation of red-green blindness in linear light: Machado, Oliveira and Fernandes, "A
# Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1.
BLIND = {
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "none": np.eye(3).tolist(),
}
TOGETHER = [
    "rw-meta persistence tree-ftpl-min-noise mf-ftpl tree-ftpl-min-regret l2p rw-ftpl",
    "rw-meta persistence tree-ftpl-min-noise mf-ftpl mf-window-8 mf-discounted-0.8",
    "l2p l2p-published l2p-one-round l2p-theorem-3.10 tree-ftpl-min-noise mf-ftpl",
    "l2p l2p-one-round l2p-theorem-3.12 lazy-regularised-weights ctrl dp-ftrl mf-dp-ftrl",
    "wma exp3 exp3-bayes membership randomised-response scheffe-tournament",
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
        assert nearest([KNOWN[name].colour for name in names.split()]) >= 10, names
    # A power check: each blindness confuses one red with a green; normal eyes do not.
    reds = {"deuteranopia": ["#5E9C2F", "#D1362F"], "protanopia": ["#7A7500", "#D55E00"]}
    assert {name for name, pair in reds.items() if nearest(pair) < 10} == {eye} - {"none"}
