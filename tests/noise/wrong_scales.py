"""Scales of other packages that are no scales everywhere, and what they would draw."""

from __future__ import annotations

import itertools
from decimal import Decimal

import numpy as np

from dpol.noise import CAPACITY, ISOTROPIC, Noise


def at(value, where=lambda stream, mu: np.arange(stream.n_experts) == 3):
    """Return a change that puts a value where a condition holds, by default at one place."""
    return lambda scale, stream, mu: np.where(where(stream, mu), value, scale)


def objects(value):
    """Return a change that makes the first number another object."""

    def change(scale, stream, mu):
        made = scale.astype(object)
        made[0, 0] = value
        return made

    return change


COUNT = itertools.count()

# A change maps (scale, stream, mu) to another scale.
REFUSED = {
    "negative at one place": at(-1e-6),
    "negative at one level": at(-1e-6, lambda stream, mu: mu < 0.9),
    "negative at large capacities": lambda scale, stream, mu: 0.2 - 0.01 * stream.capacity,
    "negative in the last round": at(
        -1.0, lambda stream, mu: (np.arange(stream.n_rounds) == stream.n_rounds - 1)[:, None]
    ),
    "minus infinity": at(-np.inf),
    "infinite": at(np.inf),
    "nan late in time": at(
        np.nan, lambda stream, mu: (np.arange(stream.n_rounds) == stream.n_rounds - 1)[:, None]
    ),
    "complex": lambda scale, stream, mu: scale + 0j,
    "true": lambda scale, stream, mu: scale > 0,
    "text": lambda scale, stream, mu: scale.astype(str),
    "one text": lambda scale, stream, mu: "0.1",
    "None": lambda scale, stream, mu: None,
    "None in a cell": objects(None),
    "Decimal in a cell": objects(Decimal("-0.1")),
    "durations": lambda scale, stream, mu: np.ones(scale.shape, "m8[D]"),
    "one number": lambda scale, stream, mu: float(scale.max()),
    "a row": lambda scale, stream, mu: scale[0],
    "a column": lambda scale, stream, mu: scale[:, :1],
    "transposed": lambda scale, stream, mu: scale.T,
    "rows of several lengths": lambda scale, stream, mu: [[0.1], [0.1, 0.2]],
    "a dictionary": lambda scale, stream, mu: {"scale": scale},
    "masked and negative": lambda scale, stream, mu: np.ma.masked_less(
        at(-1e-6)(scale, stream, mu), 0
    ),
    "too large for float64": lambda scale, stream, mu: np.full(
        scale.shape, np.longdouble("1e4000")
    ),
    "smaller in each second call": lambda scale, stream, mu: scale / (1 + next(COUNT) % 2),
}
"""Scales that dpol refuses."""

RECORDED = {
    "0 at one place": at(0.0),
    "-0.0 at one place": at(-0.0),
    "-0.0 everywhere": lambda scale, stream, mu: 0.0 * -scale,
    "next to 0 at one place": at(1e-320),
    "whole numbers": lambda scale, stream, mu: np.ceil(scale).astype(int),
    "a list": lambda scale, stream, mu: scale.tolist(),
    "float32": lambda scale, stream, mu: scale.astype(np.float32),
    "masked": lambda scale, stream, mu: np.ma.masked_greater(scale, 0.1),
}
"""Scales that dpol draws as they are."""

BASES = {
    "Gaussian on gains": (ISOTROPIC, {}),
    "Gaussian on counts": (CAPACITY, {}),
    "Laplace on counts": (CAPACITY, {"law_name": "Laplace"}),
}


def noise_of(label: str, base: str) -> Noise:
    """Return noise of another package, with the scale of a noise of dpol and a change."""
    ours, facts = BASES[base]
    change = (REFUSED | RECORDED)[label]
    return Noise(
        name="theirs",
        title=label,
        origin="other",
        needs_capacities=ours.needs_capacities,
        scale=lambda stream, mu: change(np.array(ours.scale(stream, mu)), stream, mu),
        **facts,
    )
