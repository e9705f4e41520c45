"""Releasing the counts of ended periods: each once, with noise from a secret, in one table.

Numbers are whole steps of 10^-6. A person moves a count by at most s, which is S steps, rounded up.
The scale of the noise is that of an experiment times S / s, rounded up to steps, plus one. So the
release hides the person at least as well as the experiment's does: a count has at most
S / (scale - 1), as `dpol.noise.keyed` shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pandas as pd

from dpol.core.errors import DataError
from dpol.noise.keyed import keyed_noise
from dpol.noise.noises import CAPACITY, CONSTANT, ISOTROPIC

RELEASED_NOISES = (ISOTROPIC.name, CONSTANT.name, CAPACITY.name)
"""Noises that are Gaussian and independent between rounds."""
RELEASED_COLUMNS = (
    *("place", "period", "count", "deviation", "capacity", "noise", "change", "version"),
)
"""Columns of the table, which `dpol.noise.released` describes."""
DECIMALS = 6
_SLACK = 1 + 1e-12  # more than what products of floats lose


@dataclass(frozen=True, kw_only=True)
class Release:
    """A table of released numbers after a release.

    Args:
        table: the table, as text, in the columns `RELEASED_COLUMNS`.
        new: places and periods that were released for the first time.
        changed: those whose count is another one than before.
        times: how many times one of `changed` had been released at most; 0 without any.
    """

    table: pd.DataFrame
    new: tuple[tuple[str, str], ...]
    changed: tuple[tuple[str, str], ...]
    times: int


def release(
    counts: pd.DataFrame,
    released: pd.DataFrame,
    *,
    secret: bytes,
    purpose: Sequence[str | int],
    noise: str,
    change: float,
    again: bool = False,
    file: str = "the table",
) -> Release:
    """Release every count that has no row yet; equal arguments give an equal table.

    Args:
        counts: counts of ended periods, in the order of the new rows, with the columns `entity`,
            `period`, `count`, `capacity` (what divides the count) and `deviation` (of its noise in
            an experiment, in people).
        released: the table so far, as text; empty before the first release.
        secret: 32 random bytes.
        purpose: what sets this release apart from others of the same secret.
        noise: name of the noise.
        change: the most by which one person can change one count.
        again: whether a count that has changed is released another time, in place of the first.
        file: name of the table in messages.

    Raises:
        DataError: the table so far is not as this function made it.
    """
    rows = dict[tuple[str, str], dict[str, Any]]()
    for number, cells in zip(released.index, released.to_dict("records"), strict=True):
        made: dict[str, Any] = {str(name): cell for name, cell in cells.items()}
        try:
            made |= {"noisy": _steps(made["count"]), "scale": max(1, _steps(made["deviation"]))}
            rows[made["place"], made["period"]] = made | {"version": int(made["version"])}
        except (ArithmeticError, ValueError):
            raise DataError(
                f"{file}, row {number}: is not as dpol release wrote it; put back the table that it"
                " wrote"
            ) from None

    def noisy(key: tuple[str, str], version: int, count: float, scale: int) -> int:
        place, period = key
        fields: dict[str, Any] = {"place": place, "period": period, "version": version}
        steps = _steps(count)
        return steps + keyed_noise(secret, purpose, **fields, steps=steps, scale=scale)

    new, changed, times = list[tuple[str, str]](), list[tuple[str, str]](), 0
    for it in counts.to_dict("records"):
        key, count, version = (it["entity"], it["period"]), it["count"], 1
        if (row := rows.get(key)) is None:
            new.append(key)
        elif noisy(key, row["version"], count, row["scale"]) == row["noisy"]:
            continue
        else:
            changed.append(key)
            times, version = max(times, row["version"]), row["version"] + 1
            if not again:
                continue
        scale = math.ceil(it["deviation"] * (10**DECIMALS + 1 / change) * _SLACK) + 1
        rows[key] = {
            **dict(zip(("place", "period"), key, strict=True)),
            "count": _text(noisy(key, version, count, scale)),
            "deviation": _text(scale),
            "capacity": it["capacity"],
            "noise": noise,
            "change": change,
            "version": version,
        }
    table = pd.DataFrame([*rows.values()], columns=[*RELEASED_COLUMNS])
    return Release(table=table, new=tuple(new), changed=tuple(changed), times=times)


def _steps(number: object) -> int:
    """Return a number in steps, rounded half up, so that whole steps move it by as many."""
    return int(Decimal(str(number)).scaleb(DECIMALS).to_integral_value(ROUND_HALF_UP))


def _text(steps: int) -> str:
    return f"{Decimal(steps).scaleb(-DECIMALS):f}"
