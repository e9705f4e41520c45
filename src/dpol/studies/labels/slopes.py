"""The table of slopes: how fast total variation falls with the rounds, on the hard class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpol.core.exponents import Exponent, fit_exponent
from dpol.core.intervals import standard_error
from dpol.labels.registry import title_of, variants
from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import Group, Section, Table, TableCell
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.table import fixed, value
from dpol.studies.study import Facts, Frames

PROVED, ASKED = -1 / 4, -1 / 2
"""The slope that Theorem 6 proves for private EXP3, and the slope that Remark 1 asks for."""
_ESTIMATES = {"tv_average": "average prediction", "tv_median": "median of groups"}


def slopes_table(frames: Frames, study: Labels, facts: Facts) -> Table:
    """Build the slopes of log TV on log T by learner, with intervals that hold together."""
    risks = frames["labels"]
    rows = risks[(risks["sweep"] == "rounds") & (risks["hypotheses"] == "hard")]
    played = set(zip(rows["algorithm"], rows["sensitivity_rule"], strict=True))
    learners = [variant for variant in variants() if variant in played]
    comparisons = len(learners) * len(_ESTIMATES)
    lines, numbers = [], []
    for name, rule in learners:
        of_learner = rows[(rows["algorithm"] == name) & (rows["sensitivity_rule"] == rule)]
        cells = []
        for column in _ESTIMATES:
            fit = _fit(of_learner, column, facts.confidence, comparisons)
            cells.append(TableCell(f"{fit.slope:.2f} ± {fit.half_width:.2f}", (_position(fit),)))
            facts_of = {"algorithm": name, "sensitivity_rule": rule, "estimate": column}
            numbers.append(facts_of | vars(fit))
        lines.append((title_of(name, rule), tuple(cells)))
    first, rounds = rows.iloc[0], sorted(set(rows["T"]))
    return Table(
        caption="Slopes of total variation against the rounds",
        corner=("class", "algorithm"),
        headers=tuple(_ESTIMATES.values()),
        sections=(Section(f"hard class: {fixed(first, 'T')}", "", (Group("", tuple(lines)),)),),
        footers=(
            f"Least-squares slopes of log TV on log T at T = {', '.join(map(value, rounds))}, where"
            f" TV is between estimate and truth; {first['replicates']} runs each. ±: intervals that"
            f" hold together with {facts.confidence:.0%}; they cover the runs, not deviations from"
            " a power of T.",
            f"“{DISTRIBUTIONS}”: Theorem 6 proves a bound of slope −1/4 for private EXP3, Remark 1"
            " asks for −1/2. The distance within each pair of the class shrinks as T^(−1/2), so no"
            " private learner is steeper in the long run. Below the slope: where its interval is.",
        ),
        numbers=pd.DataFrame(numbers),
    )


def _fit(of_learner: pd.DataFrame, column: str, confidence: float, comparisons: int) -> Exponent:
    errors = [float(standard_error(np.asarray(runs))) for runs in of_learner[f"{column}_runs"]]
    return fit_exponent(
        of_learner["T"],
        of_learner[column],
        errors,
        replicates=int(of_learner["replicates"].iloc[0]),
        confidence=confidence,
        comparisons=comparisons,
    )


def _position(fit: Exponent) -> str:
    """Describe where the interval is relative to the slopes −1/4 and −1/2."""
    lower, upper = fit.interval
    if upper <= ASKED:
        return "−1/2 or steeper"
    if lower > PROVED:
        return "flatter than −1/4"
    if lower > ASKED and upper <= PROVED:
        return "between −1/4 and −1/2"
    return "−1/4 or steeper" if upper <= PROVED else "open"
