"""Sentences below a table: the meaning of its numbers, and the guarantees."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.show.words import each, mu_title


def amount(mean: float, half_width: float) -> str:
    """A mean and the half width of its interval, unless that is not a number.

    >>> amount(41.25, 0.126), amount(0.5, float("nan"))
    ('41.25 ± 0.13', '0.50')
    """
    return f"{mean:.2f}" + ("" if math.isnan(half_width) else plus_minus(half_width))


def plus_minus(half_width: float, digits: int = 2) -> str:
    """A half width as it is written behind its number.

    >>> [plus_minus(half) for half in (0.125, 0.001, 0.0, float("inf"))]
    [' ± 0.12', ' ± <0.01', ' exact', ' ± ∞']
    """
    if half_width in (0.0, float("inf")):
        return " ± ∞" if half_width else " exact"
    text = f"{half_width:,.{digits}f}"
    return f" ± {text}" if float(text.replace(",", "")) > 0 else f" ± <{10.0**-digits:.{digits}f}"


def signed(row: Mapping[Any, Any]) -> str:
    """The difference of a row of a result table, with its sign and half width."""
    return f"{row['difference']:+.2f}{plus_minus(row['difference_half_width'])}"


MODELS = {
    "local": "each site adds noise to its own gains",
    "central": "a trusted curator sees the raw gains",
}
"""Clauses on where the noise of each model is added, and by whom."""
AS_HARD_AS = "Telling adjacent inputs apart is at least as hard as telling N(0, 1) from N(μ, 1)."
"""The meaning of a guarantee with a mu."""
SAMPLERS = {
    "seeded": "Noise: seeded, so that anyone can repeat the run. Anyone who has the seed can remove"
    " the noise. The guarantee is what the mechanisms would give with secret noise.",
    "secure": "Noise: secure, from the operating system. Nobody can reproduce it.",
}
"""The source of noise, and what follows for those who know it."""


def describe_data(simulated: bool) -> str:
    """A sentence that says if the data are simulated."""
    return "Data: simulated, not measured." if simulated else "Data: real."


COVERS = (
    "The intervals cover the noise, the randomness of the runs, on this one data set. They do not"
    " cover other data, such as other states or years."
)
"""A sentence on the limits of every interval of a run."""


def describe_interval(
    confidence: float, comparisons: int, intervals: str = "cells", covers: str = COVERS
) -> str:
    """A sentence that defines the half widths.

    Args:
        confidence: of all intervals together.
        comparisons: their number.
        intervals: what there is one interval for.
        covers: what they cover.
    """
    return (
        f"±: half width of the {100 * confidence:g}% confidence interval (Student's t),"
        f" Bonferroni-corrected over {comparisons:,} {intervals}. exact: all runs give the"
        f" same number. {covers}"
    )


def describe_intervals_behind(numbers: pd.DataFrame) -> str:
    """A sentence that defines the half widths of the numbers behind a table."""
    return describe_interval(
        numbers["confidence"].iloc[0],
        numbers["ci_comparisons"].iloc[0],
        "intervals of the numbers behind this table (.csv)",
    )


def describe_best(column: str, family: str) -> str:
    """A sentence on a column that picks the best of a family, and why its intervals hold."""
    return (
        f"{column}: the member of the family {family} with the largest mean, chosen in hindsight"
        " for each cell and named in it (in HTML under the pointer). The cells of all members count"
        " in the Bonferroni correction, so the interval of the chosen one holds despite the choice."
    )


def describe_models(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences that name the local, the central and the non-private columns."""
    names = {model: f"{model.capitalize()} model ({text})" for model, text in MODELS.items()}
    sentences = []
    for model, name in (names | {"none": "No privacy"}).items():
        if titles := [title for title, of_column in columns if model in of_column.split("/")]:
            sentences.append(f"{name}: {', '.join(titles)}.")
    return sentences


def describe_guarantee(columns: Mapping[str, pd.DataFrame], levels: Sequence[float]) -> list[str]:
    """The privacy guarantees, mechanism by mechanism.

    Args:
        columns: rows of the summary by the title of the table's column that shows them.
        levels: privacy levels in the order of the table.
    """
    runs = pd.concat(columns, names=["column"]).reset_index("column")
    noisy = runs[runs["model"] != "none"]
    private = noisy[noisy["epsilon"] < float("inf")]
    if private.empty:
        return ["Guarantee: none, no run has privacy noise."]
    lines = [
        f"Guarantee: μ-Gaussian differential privacy of {each(private['unit'])}. Adjacent inputs:"
        f" {each(private['adjacency'])}. {AS_HARD_AS} The μ of a row is the requested level. Each"
        " mechanism guarantees there, to three digits:"
    ]
    for (mechanism, model), own in noisy.groupby(["mechanism", "model"], sort=False):
        titles: dict[str, list[str]] = {}
        for title, these in own.groupby("column", sort=False):
            titles.setdefault(_by_level(these, levels), []).append(str(title))
        for text, same in titles.items():
            # Columns are named where one mechanism guarantees them different things.
            whose = f", {', '.join(same)}" if len(titles) > 1 else ""
            lines.append(f"{mechanism} ({model}{whose}): {text}; {_moved(own)}.")
    lines += _describe_stays(private[private["mu"] < float("inf")])
    lines += describe_public(private)
    lines += [SAMPLERS[name] for name in dict.fromkeys(private["sampler"])]
    return lines


def _describe_stays(runs: pd.DataFrame) -> list[str]:
    """The cost of longer stays, and of counts carried forward; empty if there are none."""
    lines, longer = [], list(runs.columns[runs.columns.str.fullmatch(r"mu_\d+_weeks")])
    if factors := _times_asked(runs, longer):
        weeks = ", ".join(name.split("_")[1] for name in longer)
        lines.append(
            f"For a person who is counted in {weeks} weeks, in a row or not, μ is at most {factors}"
            " times the requested one."
        )
    if factors := _times_asked(runs, ["mu_carried"]):
        lines.append(
            "Counts are taken as true. Where a missing count repeats the last one, a person is"
            f" counted in up to {counted(int(runs['carried_weeks'].max()), 'further week')}. For"
            f" that person μ is at most {factors} times the requested one."
        )
    return lines


def _times_asked(runs: pd.DataFrame, columns: list[str]) -> str:
    """The largest mu of each column over the level; whose it is, unless it holds for all."""
    known = runs[runs[columns].notna().all(axis=1)]
    found: dict[str, list[str]] = {}
    for mechanism, own in known.groupby("mechanism", sort=False):
        largest = own[columns].div(own["mu"], axis=0).max()
        text = ", ".join(rounded_up(factor, 3) for factor in largest)
        found.setdefault(text, []).append(str(mechanism))
    if len(found) < 2 and len(known) in (0, len(runs)):
        return "".join(found)
    return "; ".join(f"{text} ({', '.join(same)})" for text, same in found.items())


def describe_public(runs: pd.DataFrame) -> list[str]:
    """Data that were computed from private data and that no guarantee covers; empty if none."""
    found = dict.fromkeys(runs["taken_as_public"])
    return [f"Taken as public, and not covered by any μ: {text}." for text in found if text]


def _moved(runs: pd.DataFrame) -> str:
    """Largest change of what is released, between adjacent inputs."""
    units = runs.groupby("sensitivity_unit", sort=False)["sensitivity"]
    return ", ".join(f"sensitivity {_at_most(values)} ({unit})" for unit, values in units)


def _by_level(runs: pd.DataFrame, levels: Sequence[float]) -> str:
    """The guarantee at each level; levels with the same guarantee share a text."""
    found: dict[str, list[str]] = {}
    for mu in levels:
        at_level = runs[runs["mu"] == mu]
        if not at_level["epsilon"].max() < float("inf"):  # nothing was run there, or without noise
            continue
        text = f"ε {_at_most(at_level['epsilon'])}"
        largest = at_level["guaranteed_mu"].max()
        if pd.isna(largest):
            text += " (not Gaussian DP)"
        elif f"{largest:.3g}" != f"{mu:.3g}":
            text += f" (guaranteed μ {_at_most(at_level['guaranteed_mu'])})"
        found.setdefault(text, []).append(mu_title(mu).removeprefix("μ = "))
    if not found:
        return "none"
    delta = each(f"{value:g}" for value in runs["delta"])
    texts = [f"μ = {', '.join(same)}: {text}" for text, same in found.items()]
    return f"{'; '.join(texts)}; at δ = {delta}"


def _at_most(values: pd.Series) -> str:
    """The largest value, rounded up, and whether others were smaller."""
    shown = {rounded_up(value, 3) for value in values}
    return f"{'=' if len(shown) == 1 else 'at most'} {rounded_up(values.max(), 3)}"
