"""The systems that the first figure and table of a page show: an algorithm and its noise each."""

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
"""Width of the lines that are shown beside those compared."""
_THICK = 2.0
_CURATOR = "a curator"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A system: its name, its look and its rows of the summary, for all streams and levels."""

    name: str
    look: Look
    rows: pd.DataFrame

    @property
    def algorithm(self) -> str:
        """Label of its algorithm."""
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
        """The name, and what it stands for where it does not say so."""
        said = self.name.startswith(self.algorithm)
        return self.name if said else f"{self.name}: {self.algorithm}, {self.noise} noise"


def ordered_levels(levels: Mapping[str, float]) -> list[float]:
    """The privacy levels, from none to the most private."""
    return sorted(levels.values(), reverse=True)


def headline_levels(levels: Mapping[str, float], *, several: bool) -> list[float]:
    """The levels that the headline of a comparison names: the middle one with noise.

    Where the run asks several questions, the first one with noise comes before it.
    """
    noisy = [mu for mu in ordered_levels(levels) if mu < math.inf]
    middle = noisy[len(noisy) // 2]
    return list(dict.fromkeys((noisy[0], middle))) if several else [middle]


def lines_of(summary: pd.DataFrame, main: Games, facts: Facts) -> list[Line]:
    """The systems compared, the best tuned one and the best curator; or all systems.

    A run that compares nothing shows every algorithm, under the noise that is best for it at the
    most private level, the best algorithm first. Best: in hindsight, in the mean over all streams,
    and over all levels with noise where systems are compared.
    """
    rows = promised(summary[summary["stream"].isin(facts.streams)])
    return list(_compared(rows, main) if main.roles else _all(rows, main, facts))


def _compared(rows: pd.DataFrame, main: Games) -> Iterator[Line]:
    names = named_systems(rows, main)
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
    report, found = main.report, list[tuple[float, Line]]()
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
        found.append((_rank(line, facts), line))
    found.sort(key=lambda it: it[0], reverse=True)
    for place, (_, line) in enumerate(found):
        yield line if place else replace(line, look=replace(line.look, width=_THICK))


def _rank(line: Line, facts: Facts) -> float:
    """The share at the most private level; those without privacy come last."""
    share, _ = mean_share(line.rows, min(facts.levels.values()))
    return -math.inf if math.isnan(share) or line.model == "none" else share


def system_title(algorithm: str, noise: str) -> str:
    """An algorithm and its noise, with the mark of a noise that is ours.

    >>> system_title("rw-meta", "capacity")
    'rw-meta, capacity noise †'
    """
    return f"{algorithm}, {marked(f'{noise} noise', name_of(noise).ours)}"


def named_systems(summary: pd.DataFrame, settings: Games) -> dict[tuple[str, str], str]:
    """The baseline and ours, each with its name; without a comparison the best local algorithm.

    The latter is named with each of its noises, the best one first.
    """
    if settings.roles:
        return {settings.roles[way][0]: ROLES[way] for way in (BASELINE, OURS)}
    local = promised(summary[summary["algorithm"].isin(settings.report.algorithms)])
    local = local[(local["model"] == "local") & (local["mu"] < math.inf)]
    best = _best(local[local["mu"] == local["mu"].min()])
    if best is None:
        return {}
    noises = dict.fromkeys((best[1], *local.loc[local["algorithm"] == best[0], "noise"]))
    return {(best[0], noise): system_title(best[0], noise) for noise in noises}


def _best(rows: pd.DataFrame) -> tuple[str, str] | None:
    """Algorithm and noise of the largest mean share; None where no share is known."""
    known = rows.dropna(subset="gain_share")
    if known.empty:
        return None
    best: Any = known.groupby(["algorithm", "noise"], sort=False)["gain_share"].mean().idxmax()
    algorithm, noise = best
    return algorithm, noise


def _of(rows: pd.DataFrame, algorithm: str, noise: str) -> pd.DataFrame:
    return rows[(rows["algorithm"] == algorithm) & (rows["noise"] == noise)]


def promised(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that keep the promise of their level: by their guarantee no more guesses are right.

    An (epsilon, delta) guarantee bounds guesses less than a mu.
    """
    guesses = [
        best_guess_of_epsilon(epsilon, delta) if pd.isna(mu) else best_guess(mu)
        for mu, epsilon, delta in rows[["guaranteed_mu", "epsilon", "delta"]].to_numpy(dtype=float)
    ]
    return rows[np.array(guesses) <= rows["mu"].map(best_guess) + 1e-9]


def holds_for_stays(noises: pd.Series) -> pd.Series:
    """True for each noise that keeps the privacy of its level for every length of stay.

    Correlated noise keeps it for the unit only: who stays longer has less than with independent
    noise.
    """
    return noises.map(lambda name: find_noise(name).memory == "none")


def mean_share(rows: pd.DataFrame, mu: float, column: str = "gain_share") -> tuple[float, float]:
    """The share of a system at a level, a mean over streams, and the half width of its interval.

    Intervals of all streams hold together, so that of the mean is their mean.
    """
    at = rows[rows["mu"] == mu]
    return float(at[column].mean()), float(at[f"{column}_half_width"].mean())
