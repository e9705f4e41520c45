"""Audit an installation: does `dpol privatize` draw the noise that its guarantee needs?

A table of canaries (made-up people) goes through the installed command in a temporary folder, in
two runs. The counts are known, so the noise of each cell is known too. It should be independent and
normal, with a standard deviation of sqrt(2) s / mu.

Each cell is a game of Gaussian differential privacy: a coin chooses one of two counts, g people
apart, and an attacker names the likelier one. With the claimed deviation sigma the likelihood ratio
is right with probability Phi(g / (2 sigma)), and no test of one cell does better. The noise is
independent, so the number of right guesses is binomial. Its interval gives a lower bound on mu for
any distribution of the noise. Many canaries in one run are the
idea of Mahloujifar, Melis and Chaudhuri, "Auditing f-Differential Privacy in One Run", and of Xiang
et al., "Tight Privacy Audit in One Run". Their canaries share one model. Each of ours has its own
noise, so the bound is exact.
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
from dpol_weekly.prose import lines_of
from dpol_weekly.released.read import read_release

ERROR = 1e-4
"""Largest probability that a sound installation fails an audit."""
ENTITIES, PERIODS = 200, 100
"""Numbers of entities with canaries and of periods."""
_FIRST = datetime.date(2000, 1, 2)
_APART = 3.2  # In deviations: guesses between worlds this far apart tell most about mu.


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The outcome of an audit.

    Args:
        mu: the claimed mu.
        cells: number of released cells.
        failed: names of the failed tests.
        least_mu: lower bound on mu from the guesses, wrong with probability at most `ERROR`.
        shortfall: the audit notices noise that is too small by this share with probability 99%.
    """

    mu: float
    cells: int
    failed: tuple[str, ...]
    least_mu: float
    shortfall: float


def installed(arguments: Sequence[str]) -> None:
    """Run `dpol` with these arguments in a new process of this Python.

    Raises:
        DpolError: the command failed; the text has its last line.
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
    """Release canaries and test their noise.

    Args:
        mu: mu of the release, from 0.001 to 10.
        command: runs `dpol` with arguments.

    Raises:
        DpolError: the canaries cannot be released.
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
    """Return the share by which noise must be too small to be noticed with probability 99%.

    This counts only the chi-squared test of the sum of squares; other tests may notice more.

    Args:
        cells: number of cells with noise.
        error: error probability of the test.
    """
    return float(1 - math.sqrt(special.chdtri(cells, 1 - error) / special.chdtri(cells, 0.01)))


def tests(draws: Floats, shifts: Floats, scale: float) -> dict[str, float]:
    """Return the p-value of each test of the noise.

    Args:
        draws: (cells,) noise in units of the claimed deviation, in the order of the rows.
        shifts: (cells,) the other possible count minus the true one, in the same unit.
        scale: the claimed deviation in steps of the noise's grid.
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
    """Return (cells,) 1 where the noisy count is nearer to the true count than to the other."""
    return np.asarray(draws * np.sign(shifts) < np.abs(shifts) / 2, dtype=float)


def _released(
    folder: Path, mu: float, command: Callable[[Sequence[str]], None]
) -> tuple[Floats, Floats, float]:
    """Return the noise of canaries, the shifts and the scale, as in `tests`."""
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
    begin = ["--begin-after", (_FIRST - datetime.timedelta(days=1)).isoformat()]
    for weeks in (PERIODS // 2, PERIODS):  # a second run goes on where the first one ended
        with (folder / "canaries.csv").open("w", encoding="utf-8", newline="") as stream:
            known = rows[: weeks * ENTITIES]
            csv.writer(stream).writerows([("entity", "period", "count"), *known])
        command(["privatize", str(own), "--agree", read_deployment(agreement).sha256(), *begin])
        begin = []
    report = read_release(folder / f"audit-{days[-1]}.json")
    if len(report.rows) != len(rows):
        raise DataError("dpol privatize did not release all canaries; install dpol again")
    order = {(name, day): number for number, (name, day, _) in enumerate(rows)}
    placed = [order[row.entity, row.period] for row in report.rows]
    decimals = len(report.rows[0].noisy_count.partition(".")[2])
    noise = [
        int((Decimal(row.noisy_count) - Decimal(rows[place][2])).scaleb(decimals))
        for row, place in zip(report.rows, placed, strict=True)
    ]
    deviation = math.sqrt(2) / mu * 10**decimals
    shifts = gap * (1 - 2 * worlds.ravel()[placed]) * 10**decimals
    return np.array(noise) / deviation, shifts / deviation, deviation


def describe(found: Audit) -> list[str]:
    """Return the outcome in plain words; numbers are rounded to the safe side."""
    noticed = math.ceil(1e3 * found.shortfall) / 10
    return lines_of("audited", "holder", found=found, times=1 / ERROR, noticed=noticed)
