"""An audit of an installation: whether `dpol privatize` draws the noise that its guarantee needs.

A table of canaries, people who are made up, goes through the installed command in a folder of its
own, in two runs. Their counts are known, so the noise of each cell is known too. By the claim it is
independent and normal, with a deviation of sqrt(2) s / mu.

The guesses are the game of Gaussian differential privacy, in each cell at once: its count is one of
two, g people apart, chosen by a coin, and an attacker names the likelier one. With the claimed
deviation sigma the likelihood ratio is right with probability Phi(g / (2 sigma)), and no test of
one cell does better. The noise is independent, so the right guesses of a run are binomial. Their
interval gives a lower bound on mu, whatever the law of the noise. Many canaries in one run are the
idea of Mahloujifar, Melis and Chaudhuri, "Auditing f-Differential Privacy in One Run", and of Xiang
et al., "Tight Privacy Audit in One Run". Their canaries share one model. Each of ours has noise of
its own, so that the bound is exact.
"""

from __future__ import annotations

import csv
import datetime
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
from scipy import special

from dpol.core.errors import DataError, DpolError
from dpol.core.files import write_text
from dpol.core.randomness import Floats
from dpol_weekly.deployment import read_deployment
from dpol_weekly.released.read import read_release

ERROR = 1e-4
"""The chance that a sound installation fails an audit, at most."""
ENTITIES, PERIODS = 200, 100
"""The number of entities with canaries, and of periods."""
_FIRST = datetime.date(2000, 1, 2)
_APART = 3.2  # In deviations: guesses between worlds this far apart tell most about mu.


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The outcome of an audit.

    Args:
        mu: the claim.
        cells: the number of cells that were released.
        failed: in words, the tests that a sound installation passes and this one fails.
        least_mu: a lower bound on mu by the guesses; it fails with probability `ERROR` at most.
        shortfall: noise too small by this share is noticed with a chance of 99%.
    """

    mu: float
    cells: int
    failed: tuple[str, ...]
    least_mu: float
    shortfall: float


def installed(arguments: Sequence[str]) -> None:
    """Run `dpol` with some arguments, by this Python, as a command of its own.

    Raises:
        DpolError: it fails; the text has its last line.
    """
    command = [sys.executable, "-m", "dpol", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stderr.strip() or "no message").splitlines()[-1]
        raise DpolError(f"dpol privatize failed on the canaries: {said.removeprefix('error: ')}")


def audit(
    mu: float,
    command: Callable[[Sequence[str]], None] = installed,
) -> Audit:
    """Release canaries, and test the noise that they got.

    Args:
        mu: with which they are released, from 0.001 to 10.
        command: runs `dpol` with some arguments.

    Raises:
        DpolError: they cannot be released.
    """
    with tempfile.TemporaryDirectory(prefix="dpol-audit-") as folder:
        draws, shifts, scale = _released(Path(folder), mu, command)
    chances, cells = tests(draws, shifts, scale), draws.size
    alpha = ERROR / len(chances)
    right = int(_right(draws, shifts).sum())
    bound = special.betaincinv(right, cells - right + 1, ERROR) if right else 0.0
    return Audit(
        mu=mu,
        cells=cells,
        failed=tuple(name for name, chance in chances.items() if chance < alpha),
        least_mu=max(0.0, float(2 * special.ndtri(bound) / np.abs(shifts).max() * mu)),
        shortfall=shortfall(cells, alpha),
    )


def shortfall(cells: int, error: float) -> float:
    """The share by which noise must be too small to be noticed with a chance of 99%.

    By the test of the total of squares, a chi-squared variable, alone; other tests may add to it.

    Args:
        cells: how many have noise.
        error: of the test.
    """
    return float(1 - math.sqrt(special.chdtri(cells, 1 - error) / special.chdtri(cells, 0.01)))


def tests(draws: Floats, shifts: Floats, scale: float) -> dict[str, float]:
    """The chance, for each test, that a sound installation looks as odd as this one.

    Args:
        draws: (cells,) noise in units of the claimed deviation, in the order of the rows.
        shifts: (cells,) the count of the other world of each cell less the true one, in that unit.
        scale: the claimed deviation in steps of the grid of the noise.
    """
    cells, total = draws.size, float((draws**2).sum())
    right = int(_right(draws, shifts).sum())
    most = special.ndtr(np.abs(shifts).max() / 2)
    # Sums of products of draws at each distance in rows, around a circle.
    products = np.fft.irfft(np.abs(np.fft.rfft(draws)) ** 2, cells)[1 : cells // 2 + 1]
    products[-1] /= 1 if cells % 2 else math.sqrt(2)  # there each product is counted twice
    farthest = np.abs(products).max() / math.sqrt(cells)
    again = cells - len(np.unique(draws))
    equal = cells * (cells - 1) / 4 / math.sqrt(math.pi) / scale  # pairs, by chance
    ranks = np.arange(cells + 1) / cells
    below = special.ndtr(np.sort(draws))
    distance = max((ranks[1:] - below).max(), (below - ranks[:-1]).max())
    return {
        "someone who guesses is right more often than mu allows": special.bdtrc(
            right - 1, cells, most
        ),
        "the noise is too small": special.chdtr(cells, total),
        "the noise is larger than stated": special.chdtrc(cells, total),
        "the noise of some cells depends on the noise of other cells": min(
            1.0, 2 * len(products) * special.ndtr(-farthest)
        ),
        "the same noise comes back": special.pdtrc(again - 1, equal) if again else 1.0,
        "the noise does not have the shape of a Gaussian": special.kolmogorov(
            math.sqrt(cells) * distance
        ),
    }


def _right(draws: Floats, shifts: Floats) -> Floats:
    """(cells,) 1 where the noisy count is nearer to the true world."""
    return np.asarray(draws * np.sign(shifts) < np.abs(shifts) / 2, dtype=float)


def _released(
    folder: Path, mu: float, command: Callable[[Sequence[str]], None]
) -> tuple[Floats, Floats, float]:
    """The noise of canaries, the other worlds and the scale, as in `tests`."""
    gap = math.ceil(_APART * math.sqrt(2) / mu)
    names = [f"canary-{number}" for number in range(ENTITIES)]
    agreement, own = folder / "deployment.yaml", folder / "hospital.yaml"
    agreed = {
        "name": "audit",
        "periods": {"first": _FIRST.isoformat()},
        "entities": {name: {"capacity": 10 * gap} for name in names},
        "mu": mu,
        "longest_stay": 1,
        "budget_mu": mu,
        "disjoint": True,
    }
    write_text(agreement, json.dumps(agreed))  # YAML reads JSON
    table = {"table": "canaries.csv", "columns": {"entity": "entity"}, "output": "."}
    write_text(own, json.dumps({"deployment": agreement.name, "entities": names, **table}))
    coins = np.random.default_rng()
    others, worlds = (coins.integers(0, 2, (PERIODS, ENTITIES)) for _ in range(2))
    counts = others + gap * worlds
    days = [(_FIRST + datetime.timedelta(days=7 * week)).isoformat() for week in range(PERIODS)]
    rows = [
        (name, day, str(count))
        for day, of_day in zip(days, counts.tolist(), strict=True)
        for name, count in zip(names, of_day, strict=True)
    ]
    for weeks in (PERIODS // 2, PERIODS):  # a second run goes on where the first one ended
        with (folder / "canaries.csv").open("w", encoding="utf-8", newline="") as stream:
            known = rows[: weeks * ENTITIES]
            csv.writer(stream).writerows([("entity", "period", "count"), *known])
        command(["privatize", str(own), "--agree", read_deployment(agreement).sha256()])
    report = read_release(folder / f"audit-{days[-1]}.zip")
    if len(report.rows) != len(rows):
        raise DataError("dpol privatize did not release all canaries; install dpol again")
    order = {(name, day): number for number, (name, day, _) in enumerate(rows)}
    placed = [order[row.cells.entity, row.cells.period] for row in report.rows]
    decimals = len(report.rows[0].cells.noisy_count.partition(".")[2])
    noise = [
        int((Decimal(row.cells.noisy_count) - Decimal(rows[place][2])).scaleb(decimals))
        for row, place in zip(report.rows, placed, strict=True)
    ]
    deviation = math.sqrt(2) / mu * 10**decimals
    shifts = gap * (1 - 2 * worlds.ravel()[placed]) * 10**decimals
    return np.array(noise) / deviation, shifts / deviation, deviation


def describe(found: Audit) -> list[str]:
    """The outcome in plain words; numbers rounded to the safe side."""
    times = f"{1 / ERROR:,.0f}"
    return [
        f"{found.cells:,} canaries were released: their noise is consistent with mu ="
        f" {found.mu:g}. A sound installation fails this audit once in {times} times, at most.",
        f"Noise {math.ceil(1e3 * found.shortfall) / 10:g}% too small would have been noticed with"
        " a chance of 99%.",
        f"Guesses about the canaries show a mu of at least {found.least_mu:.3g}.",
    ]
