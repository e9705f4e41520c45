"""Systems (an algorithm and its noise) of the first figure and table of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpol.noise import find_noise
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show.looks import DASHED, SHORT, SOLID, Look, looks_of
from dpol.show.names import marked, name_of
from dpol.studies.games.settings import BASELINE, OURS, ROLES, TUNED, Games
from dpol.studies.study import Facts

THIN = 0.7
"""Width of lines beside the systems compared."""
_THICK = 2.0
_CURATOR = "a curator"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A system: its name, look and rows of the summary for all streams and levels."""

    name: str
    look: Look
    rows: pd.DataFrame

    @property
    def algorithm(self) -> str:
        """Label of the line's algorithm."""
        return str(self.rows["algorithm"].iloc[0])

    @property
    def noise(self) -> str:
        """Name of its noise; `none` without privacy."""
        return str(self.rows["noise"].iloc[0])

    @property
    def model(self) -> str:
        """`local`, `central`, or `none` without privacy."""
        return str(self.rows["model"].iloc[0])

    @property
    def explained(self) -> str:
        """The name, with algorithm and noise unless the name has them."""
        said = self.name.startswith(self.algorithm)
        return self.name if said else f"{self.name}: {self.algorithm}, {self.noise} noise"


def ordered_levels(levels: Mapping[str, float]) -> list[float]:
    """Return the privacy levels, from no privacy to the strictest."""
    return sorted(levels.values(), reverse=True)


def headline_level(levels: Mapping[str, float]) -> float:
    """Return the level that headlines name: the middle one with noise, or `inf` without any."""
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf] or [math.inf]
    return noisy[len(noisy) // 2]


def lines_of(summary: pd.DataFrame, main: Games, facts: Facts) -> list[Line]:
    """Return the systems compared with the best tuned baseline and curator, or all systems.

    A run that compares nothing shows every algorithm with its best noise at the strictest level,
    the best algorithm first. "Best" is in hindsight, by the mean over all streams; where systems
    are compared, over all levels with noise too.
    """
    rows = promised(summary[summary["stream"].isin(facts.streams)])
    return list(_compared(rows, main) if main.roles else _all(rows, main, facts))


def _compared(rows: pd.DataFrame, main: Games) -> Iterator[Line]:
    names = {main.roles[way][0]: ROLES[way] for way in (BASELINE, OURS)}
    labels = dict.fromkeys((*main.report.algorithms, *main.report.rivals))
    central = rows[(rows["model"] == "central") & rows["algorithm"].isin(labels)]
    tuned = [_of(rows, *system) for system in main.roles.get(TUNED, ())]
    for name, among in ((ROLES[TUNED], pd.concat([rows[:0], *tuned])), (_CURATOR, central)):
        if best := _best(among[among["mu"] < math.inf]):
            names.setdefault(best, name)
    looks, before = looks_of(algorithm for algorithm, _ in names), set[str]()
    for (algorithm, noise), name in names.items():
        own = _of(rows, algorithm, noise)
        look = replace(looks[algorithm], dashes=DASHED if algorithm in before else SOLID)
        if name == ROLES[TUNED]:
            look = replace(looks[algorithm], width=THIN)
        if own["gain_share"].notna().any():
            before.add(algorithm)
            yield Line(name=name, look=look, rows=own)


def _all(rows: pd.DataFrame, main: Games, facts: Facts) -> Iterator[Line]:
    report, lines = main.report, list[tuple[float, Line]]()
    shown = {label: rows["algorithm"] == label for label in (*report.algorithms, *report.rivals)}
    if report.envelope:
        shown.setdefault(report.envelope, rows["family"] == report.envelope)
    looks = looks_of(shown)
    for label, of_label in shown.items():
        played = rows[of_label].dropna(subset="gain_share")
        strictest = played[played["mu"] == played["mu"].min()]
        if (best := _best(strictest)) is None:
            continue
        algorithm, noise = best
        model = strictest["model"].iloc[0]
        dashes = {"local": SOLID, "central": DASHED}.get(model, SHORT)
        line = Line(
            name=algorithm if model == "none" else system_title(algorithm, noise),
            look=replace(looks[label], dashes=dashes, width=THIN),
            rows=_of(rows, algorithm, noise),
        )
        lines.append((_rank(line, facts), line))
    lines.sort(key=lambda ranked: ranked[0], reverse=True)
    for place, (_, line) in enumerate(lines):
        yield line if place else replace(line, look=replace(line.look, width=_THICK))


def _rank(line: Line, facts: Facts) -> float:
    """Return the share at the strictest level; lines without privacy come last."""
    share, _ = mean_share(line.rows, min(facts.levels.values()))
    return -math.inf if math.isnan(share) or line.model == "none" else share


def system_title(algorithm: str, noise: str) -> str:
    """Name an algorithm and its noise, with a mark if the noise is ours.

    >>> system_title("rw-meta", "capacity")
    'rw-meta, capacity noise †'
    """
    return f"{algorithm}, {marked(f'{noise} noise', name_of(noise).ours)}"


def _best(rows: pd.DataFrame) -> tuple[str, str] | None:
    """Return the algorithm and noise with the largest mean share; None if no share is known."""
    known = rows.dropna(subset="gain_share")
    if known.empty:
        return None
    best: Any = known.groupby(["algorithm", "noise"], sort=False)["gain_share"].mean().idxmax()
    algorithm, noise = best
    return algorithm, noise


def _of(rows: pd.DataFrame, algorithm: str, noise: str) -> pd.DataFrame:
    return rows[(rows["algorithm"] == algorithm) & (rows["noise"] == noise)]


def promised(rows: pd.DataFrame) -> pd.DataFrame:
    """Keep the rows whose guarantee allows no more right guesses than their level.

    An (epsilon, delta) guarantee bounds guesses less than a mu.
    """
    guesses = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for mu, epsilon, delta in rows[["guaranteed_mu", "epsilon", "delta"]].to_numpy(dtype=float)
    ]
    return rows[np.array(guesses) <= rows["mu"].map(best_guess) + 1e-9]


def holds_for_stays(noises: pd.Series) -> pd.Series:
    """Return True for each noise that protects longer stays as well as independent noise does.

    Correlated noise keeps its level for the unit only; longer stays lose more privacy.
    """
    return noises.map(lambda name: find_noise(name).memory == "none")


def mean_share(rows: pd.DataFrame, mu: float) -> tuple[float, float]:
    """Return a system's share at a level, mean over the streams, and its half-width.

    The intervals of all streams hold jointly, so the mean of their half-widths is valid.
    """
    at = rows[rows["mu"] == mu]
    return float(at["gain_share"].mean()), float(at["gain_share_half_width"].mean())
