"""A picture of a table: a row for each place, a column for each period, a colour for a number."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from dpol.core.randomness import Floats
from dpol.show.panels import WIDTH, name_panel, panels

MOST, FEW = 100, 60
"""Largest number of places that are drawn, and that are named in larger text."""
_ROW, _SMALL_ROW, _LOW, _OF_SEVERAL = 0.13, 0.075, 1.2, 2.0
"""Inches: the height of a row in larger and in smaller text, the smallest height of a panel, and
its height beside others."""
_LONGEST, _TICKS = 24, 8  # characters of a name; dates below a panel


def heat_map(table: pd.DataFrame, number: str, of: str) -> Figure:
    """Draw numbers of places, ordered by likeness, so that unlike rows and columns jump to the eye.

    Of more than `MOST` places those are drawn that are least usual, the least usual first.

    Args:
        table: the columns stream, which has a panel each, entity, perhaps name, period and the
            number.
        number: the column to draw.
        of: what it is.
    """
    who = "entity"
    if "name" in table and table[["name", "entity"]].drop_duplicates()["name"].is_unique:
        who = "name"
    tables = {
        str(name): part.pivot(index="period", columns=who, values=number)
        for name, part in table.groupby("stream", sort=False)
    }
    alone = len(tables) == 1
    most, periods = (max(it.shape[k] for it in tables.values()) for k in (1, 0))
    row = _ROW if most <= FEW else _SMALL_ROW
    height = max(_LOW, row * min(most, MOST)) if alone else _OF_SEVERAL
    colours = PowerNorm(0.5, 0, max(it.to_numpy().max() for it in tables.values()) or 1)
    width, columns = (WIDTH, 1) if alone else (WIDTH / 2, 2)
    with panels(len(tables), columns, (width, height + 0.5)) as drawn:
        places = sum(it.shape[1] for it in tables.values())
        drawn.find(f"{places:,} places, {periods} periods")
        few = most <= MOST
        order = "places that rise and fall together are neighbours"
        order = order if few else f"the {MOST} least usual places, the least usual first"
        drawn.caption(f"A row is a place; {order}", f"colour: {of}")
        for ax, (name, wide) in zip(drawn.axes, tables.items(), strict=True):
            wide = wide.iloc[:, (_by_likeness if few else least_usual)(wide.to_numpy())[:MOST]]
            image = ax.imshow(wide.T, aspect="auto", interpolation="nearest", norm=colours)
            ax.grid(visible=False)
            names = [it if len(it) <= _LONGEST else f"{it[:9]}…{it[-15:]}" for it in map(str, wide)]
            ax.set_yticks(
                range(len(names) * alone), names * alone, fontsize=7 if most <= FEW else 5
            )
            ticks = min(_TICKS // columns, 1 + len(wide) // 6)
            at = np.unique(np.linspace(0, len(wide) - 1, ticks).astype(int))
            ax.set_xticks(at, [f"{wide.index[k]:%b %Y}" for k in at])
            if not alone:
                name_panel(ax, name)
        drawn.figure.colorbar(image, ax=drawn.axes[:columns], pad=0.02)
    return drawn.figure


def _by_likeness(numbers: Floats) -> NDArray[np.intp]:
    """Return an order of columns in which those that are correlated are neighbours."""
    distances = squareform(np.clip(1 - _correlations(numbers), 0, 2), checks=False)
    tree = optimal_leaf_ordering(linkage(distances, "average"), distances)
    return np.asarray(leaves_list(tree), np.intp)


def least_usual(numbers: Floats) -> NDArray[np.intp]:
    """Return the order of columns from the least to the most usual.

    A column is as unusual as its farthest feature is from the median of all columns, in standard
    deviations: its size, its share of zeros, its largest step, and its correlations with all others
    together and with the nearest one.
    """
    size, like = numbers.mean(axis=0), _correlations(numbers)
    np.fill_diagonal(like, -1)
    steps = np.abs(np.diff(numbers, axis=0)).max(axis=0) / np.fmax(size, 1e-12)
    features = [np.log(np.fmax(size, 1e-12)), (numbers == 0).mean(axis=0), steps]
    each = np.stack([*features, like.mean(axis=0), like.max(axis=0)])
    apart = np.abs(each - np.median(each, axis=1, keepdims=True))
    far = (apart / np.fmax(each.std(axis=1, keepdims=True), 1e-12)).max(axis=0)
    return np.argsort(-far, kind="stable")


def _correlations(numbers: Floats) -> Floats:
    apart = numbers - numbers.mean(axis=0)
    unit = apart / np.fmax(np.sqrt((apart**2).sum(axis=0)), 1e-12)
    return np.asarray(unit.T @ unit)
