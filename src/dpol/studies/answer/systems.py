"""What the page compares: systems (an algorithm and its noise), and references for gains."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpol.core.rounding import percent
from dpol.core.words import unmeasured_in_words
from dpol.privacy.account import best_guess
from dpol.show.footers import plus_minus
from dpol.show.looks import DASHED, SHORT, SOLID, Look, looks_of
from dpol.show.names import marked, name_of
from dpol.show.words import mu_title
from dpol.studies.games.levels import promised
from dpol.studies.games.names import OURS, REFERENCE_NAMES, REFERENCE_TOTALS, Roles, Shown
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
    hindsight: str = ""
    """What the rows are the best of at each level, if the system is chosen in hindsight."""

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
        which = self.hindsight or f"{self.algorithm}, {self.noise} noise"
        return self.name if said else f"{self.name}: {which}"


def lines_of(summary: pd.DataFrame, main: Shown, facts: Facts) -> list[Line]:
    """Return the systems compared and the best with a curator, or all systems.

    The best of a rival's systems is chosen at each level, the best curator over all levels with
    noise. A run that compares nothing shows every algorithm with its best noise at the strictest
    level, the best algorithm first. "Best" is in hindsight, by the mean over all streams.
    """
    rows = promised(summary[summary["stream"].isin(facts.streams)])
    return list(_of_roles(rows, main) if main.roles else _all(rows, main, facts))


def _of_roles(rows: pd.DataFrame, main: Shown) -> Iterator[Line]:
    curator = _best(rows[(rows["model"] == "central") & (rows["mu"] < math.inf)])
    systems = {**main.roles, **({_CURATOR: (curator,)} if curator else {})}
    looks = looks_of_roles(systems)
    for name, own in systems.items():
        kept = _best_of(rows, own)
        if kept["gain_share"].notna().any():
            yield Line(name=name, look=looks[name], rows=kept, hindsight=in_hindsight(own))


def looks_of_roles(roles: Roles) -> dict[str, Look]:
    """Return the look of each role: thick for the baseline, the first rival and ours.

    A role has the colour of its last system, since the first of several may have a role of its own.
    Dashes tell the second role of a colour from the first.
    """
    looks, made = looks_of(systems[-1][0] for systems in roles.values()), dict[str, Look]()
    before = set[str]()
    for place, (role, systems) in enumerate(roles.items()):
        algorithm = systems[-1][0]
        look = replace(looks[algorithm], dashes=DASHED if algorithm in before else SOLID)
        made[role] = look if place < 2 or role == OURS else replace(look, width=THIN)
        before.add(algorithm)
    return made


def in_hindsight(systems: Sequence[tuple[str, str]]) -> str:
    """Say that the best of several systems is chosen in hindsight; empty text for one system.

    >>> in_hindsight([("rw-meta", "capacity"), ("rw-meta-short", "capacity")])
    'best of 2 forms in hindsight, capacity noise'
    """
    noises = " or ".join(dict.fromkeys(noise for _, noise in systems))
    return f"best of {len(systems)} forms in hindsight, {noises} noise" if len(systems) > 1 else ""


def _best_of(rows: pd.DataFrame, systems: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return the rows of the best system at each level."""
    own = pd.concat([_of(rows, *system) for system in systems])
    best = [_of(at, *system) for _, at in own.groupby("mu", sort=False) if (system := _best(at))]
    return pd.concat(best) if best else own


def share_text(share: float, half_width: float) -> str:
    """Write a share of the possible gain with its interval.

    >>> share_text(0.561, 0.011), share_text(0.69, 0.0)
    ('56.1% ± 1.1', '69.0%')
    """
    half = plus_minus(100 * half_width, 1) if 0 < half_width < math.inf else ""
    return percent(share, 1) + half


def attacked(mu: float, unit: str = "") -> str:
    """Say how often an attacker is right about a unit, at most.

    >>> attacked(0.25)
    'At μ = 0.25 an attacker is right at most 55 times in 100 (a coin: 50).'
    """
    about = f" about {unit}" if unit else ""
    guesses = f"{100 * best_guess(mu):.0f} times in 100 (a coin: 50)"
    return f"At {mu_title(mu)} an attacker is right{about} at most {guesses}."


def _all(rows: pd.DataFrame, main: Shown, facts: Facts) -> Iterator[Line]:
    lines = list[tuple[float, Line]]()
    shown = {label: rows["algorithm"] == label for label in main.algorithms}
    if main.envelope:
        shown.setdefault(main.envelope, rows["family"] == main.envelope)
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


def mean_share(rows: pd.DataFrame, mu: float) -> tuple[float, float]:
    """Return a system's share at a level, mean over the streams, and its half-width.

    The intervals of all streams hold jointly, so the mean of their half-widths is valid.
    """
    at = rows[rows["mu"] == mu]
    return float(at["gain_share"].mean()), float(at["gain_share_half_width"].mean())


def describe_stream(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    """Describe the size of a stream and its reference gains, from a row of the summary."""
    gains = ", ".join(
        f"{name} {row[REFERENCE_TOTALS[label]]:.2f}" for label, name in REFERENCE_NAMES.items()
    )
    size = f"n = {row['n_experts']}, T = {row['n_rounds']}; {gains}"
    if not row["unmeasured_periods"]:
        return size
    periods, share = row["unmeasured_periods"], row["unmeasured_share"]
    return f"{size}; {unmeasured_in_words(periods, share, of=row['n_rounds'], period='round')}"


def sized_titles(titles: Mapping[str, str], summary: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the streams by label, each with its number of experts."""
    sizes = summary.groupby("stream")["n_experts"].first()
    return {label: f"{titles[label]} (n = {sizes[label]})" for label in titles if label in sizes}
