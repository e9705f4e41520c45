"""The paper's Table 2, stored beside this module: no number of it enters a computation.

The paper is "Prediction with Expert Advice under Local Differential Privacy".
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

import pandas as pd

from dpol.noise import ISOTROPIC
from dpol.show.papers import EXPERTS

PAPER = f"“{EXPERTS}”, Table 2"
PAPER_EXPERTS: Mapping[str, int] = {"NM": 24, "PA": 146, "CA": 293}
BEST_LINEAR = "best-linear-model"
PAPER_NOISE = ISOTROPIC.name
_PAPER_WEEKS = (148, pd.Timestamp("2020-08-09"), pd.Timestamp("2023-06-04"))

Reported = tuple[float, float | None]
"""Mean gain, and half width of its interval if the paper gives one."""


def load_reported() -> dict[tuple[str, str, float], Reported]:
    """The paper's numbers by stream, algorithm and mu."""
    text = (
        resources.files("dpol.studies.hospitals")
        .joinpath("reported_average_gain.csv")
        .read_text("utf-8")
    )
    lines = [line.split(",") for line in text.split()[1:]]
    return {
        (stream, algorithm, float(mu)): (float(mean), float(half) if half else None)
        for stream, algorithm, mu, mean, half in lines
    }


def reported_beside(label: str | None, run: pd.Series) -> dict[tuple[str, float], Reported]:
    """The paper's numbers of a stream by algorithm and mu; none if its periods are others.

    Args:
        label: what the paper calls the stream, if it has it.
        run: a row of the summary that is of the stream.
    """
    ends = pd.Timestamp(run["first_period"]), pd.Timestamp(run["last_period"])
    if (run["n_rounds"], *ends) != _PAPER_WEEKS:
        return {}
    return {
        (algorithm, mu): found
        for (stream, algorithm, mu), found in load_reported().items()
        if stream == label
    }


def describe_reported(experts: Mapping[str, tuple[int, str | None]], simulated: bool) -> list[str]:
    """What the paper's numbers are.

    Args:
        experts: streams (by title) with numbers of the paper: experts here, label in the paper.
        simulated: whether the data of any of them are simulated.
    """
    if not experts:
        return [f"The paper: {PAPER}; no number of it is comparable with those shown."]
    found = [f"[paper: …]: reported by the paper, not computed here: {PAPER}."]
    for title, (ours, label) in experts.items():
        theirs = PAPER_EXPERTS.get(label or "")
        if theirs is not None and theirs != ours:
            found.append(f"{title} has {ours} experts here and {theirs} in the paper.")
    if simulated:
        found.append("The paper's numbers are of real data, those beside them of simulated data.")
    return found
