"""The table of risks of learning a distribution from locally private labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from dpol.core.frames import check_frame
from dpol.core.rounding import rounded_up
from dpol.distributions.bounds import informative_from
from dpol.distributions.registry import REGISTRY, title_of
from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import Entry, Group, Section, TextTable

PAPER = f"“{DISTRIBUTIONS}”"
COLUMNS = (
    *("sweep", "hypotheses", "algorithm", "calibration", "K", "M", "T", "epsilon", "delta"),
    *("guaranteed_epsilon", "replicates", "mean_kl_risk", "kl_runs", "mean_log_loss", "best_kl"),
)
"""Columns the table needs."""
BY_RUN = ("kl_runs", "tv_average_runs", "tv_median_runs")
"""Columns with a list in each cell, which a CSV cannot hold."""

_NAMES: Mapping[tuple[str, str], str] = {
    ("wma", "exact"): "private WMA, exact †",
    ("wma", "published"): "private WMA, published",
    ("exp3", "exact"): "private EXP3, exact †",
    ("exp3", "published"): "private EXP3, published",
    ("exp3-bayes", "exact"): "EXP3 messages, Bayes learner †",
    ("membership", "exact"): "membership response †",
    ("randomised-response", "exact"): "randomised response",
    ("bayes", "exact"): "Bayes, no privacy",
}


def _title(name: str, calibration: str) -> str:
    if (name, calibration) in _NAMES:
        return _NAMES[name, calibration]
    return title_of(name) if calibration == "exact" else f"{title_of(name)}, {calibration}"


_TITLES: Mapping[tuple[str, str], str] = {
    (name, calibration): _title(name, calibration)
    for name, entry in REGISTRY.items()
    for calibration in entry.calibrations
}
"""Of the columns, in their order."""
_BOUNDS: Mapping[tuple[str, str], str] = {
    ("wma", "exact"): "wma-exact",
    ("wma", "published"): "wma-published",
    ("exp3", "exact"): "exp3",
    ("exp3", "published"): "exp3",
}
"""Which bound holds for a column, as `informative_from` calls it."""
_SWEPT: Mapping[str, tuple[str, str]] = {
    "rounds": ("T", "T"),
    "labels": ("M", "M"),
    "hypotheses": ("K", "K"),
    "epsilons": ("epsilon", "ε"),
}
_NOTHING = Entry("—")
_Learner = tuple[str, str]
_Cell = Callable[[pd.Series], Entry]


def distribution_table(risks: pd.DataFrame, *, simulated: bool) -> TextTable:
    """KL risk by sweep, log loss on hospitals, and where the bounds begin to say something.

    Args:
        risks: as `dpol.evaluation.distributions` makes them (docs/reference/tables.md).
        simulated: whether the hospitals are simulated, which the table then says.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_frame(risks, COLUMNS, "distributions")
    run = set(zip(risks["algorithm"], risks["calibration"], strict=True))
    learners = [learner for learner in _TITLES if learner in run]
    sections = [
        _sweep(risks[risks["sweep"] == sweep], *names, learners)
        for sweep, names in _SWEPT.items()
        if sweep in set(risks["sweep"])
    ]
    sections += _hospitals(risks[risks["sweep"] == "hospitals"], learners, simulated)
    sections += _informative(risks[risks["sweep"] != "hospitals"], learners)
    return TextTable(
        caption="Learning a distribution from locally private labels",
        name="distributions",
        corner=("what", "class", "setting"),
        headers=tuple(_TITLES[learner] for learner in learners),
        sections=tuple(sections),
        footers=_footers(risks, simulated),
    )


def _sweep(rows: pd.DataFrame, column: str, sign: str, learners: Sequence[_Learner]) -> Section:
    groups = []
    for hypotheses, of_class in rows.groupby("hypotheses", sort=False):
        lines = [
            (
                f"{sign} = {_value(value)}",
                _entries(of_class[of_class[column] == value], learners, _risk),
            )
            for value in sorted(set(of_class[column]))
        ]
        groups.append(Group(f"{hypotheses}: {_fixed(of_class, column)}", tuple(lines)))
    return Section("KL risk over T rounds, nats", f"against {sign}", tuple(groups))


def _value(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def _fixed(rows: pd.DataFrame, swept: str) -> str:
    """What a group of lines shares."""
    first = rows.iloc[0]
    return ", ".join(
        f"{sign} = {_value(first[name])}"
        for name, sign in (("K", "K"), ("M", "M"), ("T", "T"), ("epsilon", "ε"))
        if name != swept
    )


def _hospitals(
    rows: pd.DataFrame, learners: Sequence[_Learner], simulated: bool
) -> tuple[Section, ...]:
    """One section, or none if the streams were not played."""
    if rows.empty:
        return ()
    groups = []
    for stream, own in rows.groupby("hypotheses", sort=False):
        first = own.iloc[0]
        lines = [
            (f"ε = {epsilon:g}", _entries(own[own["epsilon"] == epsilon], learners, _excess))
            for epsilon in sorted(set(own["epsilon"]))
        ]
        title = f"{stream}: K = {first['K']}, M = {first['M']}, T = {first['T']:,}"
        groups.append(Group(title, tuple(lines)))
    note = "simulated hospitals" if simulated else "hospitals"
    return (Section("log loss above the best forecast's, nats a patient", note, tuple(groups)),)


def _informative(rows: pd.DataFrame, learners: Sequence[_Learner]) -> tuple[Section, ...]:
    """The first T at which a bound is below T log K, for every K and epsilon that was run."""
    bounded = [learner for learner in learners if learner in _BOUNDS]
    if rows.empty or not bounded:
        return ()
    deltas = rows.loc[rows["algorithm"] == "wma", "delta"]
    delta = float(deltas.iloc[0]) if len(deltas) else math.nan
    lines = []
    for K, epsilon in sorted(set(zip(rows["K"], rows["epsilon"], strict=True))):
        cells = tuple(
            Entry(_power(informative_from(_BOUNDS[learner], K, epsilon, delta)))
            if learner in bounded
            else _NOTHING
            for learner in learners
        )
        lines.append((f"K = {K}, ε = {epsilon:g}", cells))
    groups = (Group("any that has the truth", tuple(lines)),)
    return (Section("first T at which a bound says more than T log K", "Theorems 4, 5", groups),)


def _entries(rows: pd.DataFrame, learners: Sequence[_Learner], show: _Cell) -> tuple[Entry, ...]:
    """A cell per learner; a dash where it was not run."""
    cells = []
    for algorithm, calibration in learners:
        chosen = (rows["algorithm"] == algorithm) & (rows["calibration"] == calibration)
        found = rows[chosen]
        cells.append(_NOTHING if found.empty else show(found.iloc[0]))
    return tuple(cells)


def _risk(row: pd.Series) -> Entry:
    mean, runs = row["mean_kl_risk"], row["kl_runs"]
    digits = 0 if mean >= 100 else 1
    span = f"{min(runs):,.{digits}f} to {max(runs):,.{digits}f}"
    return Entry(f"{mean:,.{digits}f}", (span, *_uncovered(row)))


def _excess(row: pd.Series) -> Entry:
    """Beside what the best forecast has in hindsight; the log loss itself as a note."""
    excess, *ends = (
        (kl - row["best_kl"]) / row["T"]
        for kl in (row["mean_kl_risk"], min(row["kl_runs"]), max(row["kl_runs"]))
    )
    span = f"{ends[0]:+.4f} to {ends[1]:+.4f}"
    return Entry(f"{excess:+.4f}", (span, f"log loss {row['mean_log_loss']:.4f}", *_uncovered(row)))


def _uncovered(row: pd.Series) -> tuple[str, ...]:
    """A mark where the messages do not have the privacy that they claim."""
    guaranteed = row["guaranteed_epsilon"]
    if guaranteed == math.inf or guaranteed <= row["epsilon"] * (1 + 1e-9):
        return ()
    return (f"only ε = {rounded_up(guaranteed, 4)}",)


def _power(value: float) -> str:
    lead, power = f"{value:.1e}".split("e")
    return f"{lead} × 10^{int(power)}"


def _footers(risks: pd.DataFrame, simulated: bool) -> tuple[str, ...]:
    data = "The hospitals are simulated, not measured. " if simulated else ""
    runs = risks["replicates"].iloc[0]
    return (
        f"Means over {runs} runs; below them the smallest and the largest of the {runs}, which is"
        " not a confidence interval. The runs differ in their noise and, on random and hard"
        " classes, in which hypothesis is true; they do not cover other classes, states or years."
        " Student's intervals of the risks are in distributions.parquet. A dash: not run, or the"
        " paper has no such bound.",
        "Privacy: local model; unit: one person's label in one round; adjacent: two labels of the"
        f" same round. Every message is (ε, δ)-private at the ε of its line{_except(risks)}. “only"
        " ε”: the published calibration does not cover its claim there; what its noise gives.",
        "Bounds: on the KL risk if a hypothesis of the class is true, with the constants of the"
        " paper's proofs. Without any message the average of all hypotheses costs at most T log K,"
        " so below that T a bound says nothing.",
        f"{data}Log loss above the best forecast's: that of the best one in hindsight is 0; below"
        " 0, a mixture of forecasts beats its best member.",
        f"{PAPER}, Algorithms 1 and 2, Theorems 4 and 5. †: ours, not in the paper (the exact"
        " calibration, the Bayes learner of EXP3 messages, membership response"
        f"{''.join(f', {name}' for name in _further(risks))}).",
    )


def _except(risks: pd.DataFrame) -> str:
    """Which learners have no privacy, and which a delta."""
    without = set(risks.loc[risks["guaranteed_epsilon"] == math.inf, "algorithm"])
    titles = [f"“{title}”" for (name, _), title in _TITLES.items() if name in without]
    sees = "sees" if len(titles) == 1 else "see"
    text = f", but for {', '.join(titles)}, which {sees} the labels" if titles else ""
    deltas = risks[risks["delta"] > 0].groupby("algorithm", sort=False)["delta"].max()
    names = {"wma": "private WMA"}
    found = [f"{names.get(str(name), name)} has δ = {delta:g}" for name, delta in deltas.items()]
    return f"{text}; {', '.join(found)}, all others δ = 0" if found else text


def _further(risks: pd.DataFrame) -> list[str]:
    """Learners of ours that have no name in `_NAMES`."""
    return [
        name
        for name in dict.fromkeys(risks["algorithm"])
        if (name, "exact") not in _NAMES and title_of(name).endswith("†")
    ]
