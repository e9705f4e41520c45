"""Draw docs/images/dividing-help.png: help for three hospitals, from few units to many.

`python tools/pictures.py` saves it. A test compares the curves with values by hand.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
from matplotlib.figure import Figure

from dpol.divide import equal_chances, short_chance
from dpol.show.looks import DASHED, RULE, SHORT, SOLID, looks_of
from dpol.show.panels import name_panel, panels, set_ticks
from dpol.show.style import text_colour

PICTURE = "dividing-help.png"
NAMES = ("A", "B", "C")
MEAN, DEVIATION = np.array([10.0, 4.0, 1.0]), np.array([1.0, 2.0, 3.0])
UNITS = np.linspace(0.0, 25.0, 501)


def drawn() -> Figure:
    """Return the figure: what each hospital gets, and its chance to fall short."""
    mean, deviation = (np.tile(values, (len(UNITS), 1)) for values in (MEAN, DEVIATION))
    held = equal_chances(mean, deviation, UNITS)
    curves = {"units received": held, "chance to fall short": short_chance(mean, deviation, held)}
    first = [UNITS[(gets > 1e-9).argmax()] for gets in held.T[1:]]  # units that reach B, and C
    looks = [
        replace(look, dashes=dashes)
        for look, dashes in zip(looks_of(NAMES).values(), (SOLID, DASHED, SHORT), strict=True)
    ]
    with panels(2, 2, (3.3, 2.5)) as figure:
        for ax, (name, values) in zip(figure.axes, curves.items(), strict=True):
            name_panel(ax, name)
            for reached in first:
                ax.axvline(reached, color=RULE, linewidth=0.8, zorder=1)
            for label, look, curve in zip(NAMES, looks, values.T, strict=True):
                ax.plot(UNITS, curve, **look.line, label=label)
            ax.set_xlim(0, UNITS[-1])
        received, chance = figure.axes
        laws = zip(NAMES, looks, MEAN, DEVIATION, held[-1], strict=True)
        for name, look, m, s, end in laws:
            figure.name_line(received, (UNITS[-1], end), f"{name}: {m:g} ± {s:g}", look.colour)
        small = {"fontsize": 7, "ha": "center", "va": "center"}
        for name, look, height in zip(NAMES, looks, (1.04, 0.93, 0.58), strict=True):
            chance.text(first[0] / 2, height, name, color=text_colour(look.colour), **small)
        helped = ("A gets help", "A and B", "A, B and C")
        for (left, right), names in zip(pairwise([0.0, *first, UNITS[-1]]), helped, strict=True):
            chance.text((left + right) / 2, 1.15, names, **small)
        chance.set_ylim(0, 1.2)
        set_ticks(chance.yaxis, np.linspace(0, 1, 6), "{:.0%}".format)
        figure.name_x("units to divide")
        figure.title("Three hospitals", "patients expected: mean ± standard deviation")
        figure.find("every hospital that gets help falls short with the same chance")
    return figure.figure
