"""The table of risks of learning a distribution from locally private labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from dpol.core.frames import check_frame
from dpol.core.rounding import rounded_up
from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import Entry, Group, Section, Table
from dpol.studies.labels.names import title_of, variant_title
from dpol.studies.labels.registry import learner_class, variants
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import BY_RUN, COLUMNS, Variant
from dpol.studies.study import Facts, Frames

PAPER = f"“{DISTRIBUTIONS}”"

SIGNS: Mapping[str, str] = {"K": "K", "M": "M", "T": "T", "epsilon": "ε"}
"""How the columns that a setting has are written."""
_SWEPT = {"rounds": "T", "labels": "M", "hypotheses": "K", "epsilons": "epsilon"}
_NOTHING = Entry("—")
_Cell = Callable[[pd.Series], Entry]


def labels(frames: Frames, study: Labels, facts: Facts) -> Table:
    """The table of risks."""
    risks = frames["labels"]
    numbers = risks.drop(columns=list(BY_RUN))
    return replace(label_table(risks, simulated=facts.simulated), numbers=numbers)


def label_table(risks: pd.DataFrame, *, simulated: bool) -> Table:
    """KL risk by sweep, log loss on hospitals, and where the bounds begin to say something.

    Args:
        risks: as `dpol.studies.labels.study` makes them (docs/reference/tables.md).
        simulated: whether the hospitals are simulated, which the table then says.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_frame(risks, COLUMNS, "labels")
    run = set(zip(risks["algorithm"], risks["sensitivity_rule"], strict=True))
    learners = [variant for variant in variants() if variant in run]
    synthetic = risks["sweep"] != "hospitals"
    sections = [
        _sweep(risks[risks["sweep"] == sweep], column, learners)
        for sweep, column in _SWEPT.items()
        if sweep in set(risks["sweep"])
    ]
    sections += _hospitals(risks[~synthetic], learners, simulated)
    sections += _informative(risks[synthetic], learners)
    return Table(
        caption="Learning a distribution from locally private labels",
        name="labels",
        corner=("what", "class", "setting"),
        headers=tuple(variant_title(*learner) for learner in learners),
        sections=tuple(sections),
        footers=_footers(risks, simulated),
    )


def _sweep(rows: pd.DataFrame, column: str, learners: Sequence[Variant]) -> Section:
    groups = []
    for hypotheses, of_class in rows.groupby("hypotheses", sort=False):
        fixed = ", ".join(
            f"{sign} = {_value(of_class[name].iloc[0])}"
            for name, sign in SIGNS.items()
            if name != column
        )
        lines = _lines(of_class, column, learners, _risk)
        groups.append(Group(f"{hypotheses}: {fixed}", lines))
    against = f"against {SIGNS[column]}"
    return Section("KL risk over T rounds, nats", against, tuple(groups))


def _hospitals(
    rows: pd.DataFrame, learners: Sequence[Variant], simulated: bool
) -> tuple[Section, ...]:
    """One section, or none if the streams were not played."""
    if rows.empty:
        return ()
    groups = []
    for stream, own in rows.groupby("hypotheses", sort=False):
        first = own.iloc[0]
        title = f"{stream}: K = {first['K']}, M = {first['M']}, T = {first['T']:,}"
        groups.append(Group(title, _lines(own, "epsilon", learners, _excess)))
    note = "simulated hospitals" if simulated else "hospitals"
    return (Section("log loss above the best forecast's, nats a patient", note, tuple(groups)),)


def _informative(rows: pd.DataFrame, learners: Sequence[Variant]) -> tuple[Section, ...]:
    """The first T at which a bound is below T log K, for every K and epsilon that was run."""
    if not rows["informative_from"].notna().any():
        return ()
    lines = []
    for (K, epsilon), own in rows.groupby(["K", "epsilon"]):
        cells = _entries(own, learners, _first_rounds)
        lines.append((f"K = {K}, ε = {epsilon:g}", cells))
    groups = (Group("any that has the truth", tuple(lines)),)
    return (Section("first T at which a bound says more than T log K", "Theorems 4, 5", groups),)


def _lines(
    rows: pd.DataFrame, column: str, learners: Sequence[Variant], show: _Cell
) -> tuple[tuple[str, tuple[Entry, ...]], ...]:
    """A line for each value of a column, in increasing order."""
    return tuple(
        (f"{SIGNS[column]} = {_value(value)}", _entries(own, learners, show))
        for value, own in ((own[column].iloc[0], own) for _, own in rows.groupby(column))
    )


def _entries(rows: pd.DataFrame, learners: Sequence[Variant], show: _Cell) -> tuple[Entry, ...]:
    """A cell per learner; a dash where it was not run."""
    found = rows.groupby(["algorithm", "sensitivity_rule"]).head(1)
    cells = {(row["algorithm"], row["sensitivity_rule"]): show(row) for _, row in found.iterrows()}
    return tuple(cells.get(learner, _NOTHING) for learner in learners)


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


def _first_rounds(row: pd.Series) -> Entry:
    if math.isnan(row["informative_from"]):
        return _NOTHING
    lead, power = f"{row['informative_from']:.1e}".split("e")
    return Entry(f"{lead} × 10^{int(power)}")


def _uncovered(row: pd.Series) -> tuple[str, ...]:
    """A mark where the messages do not have the privacy that they claim."""
    guaranteed = row["guaranteed_epsilon"]
    if guaranteed == math.inf or guaranteed <= row["epsilon"] * (1 + 1e-9):
        return ()
    return (f"only ε = {rounded_up(guaranteed, 4)}",)


def _value(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def _footers(risks: pd.DataFrame, simulated: bool) -> tuple[str, ...]:
    data = "The hospitals are simulated, not measured. " if simulated else ""
    runs = risks["replicates"].iloc[0]
    return (
        f"Means over {runs} runs; below them the smallest and the largest of the {runs}, which is"
        " not a confidence interval. The runs differ in their noise and, on random and hard"
        " classes, in which hypothesis is true; they do not cover other classes, states or years."
        " Student's intervals of the risks are in labels.parquet. A dash: not run, or the"
        " paper has no such bound.",
        "Privacy: local model; unit: one person's label in one round; adjacent: two labels of the"
        f" same round. Every message is (ε, δ)-private at the ε of its line{_except(risks)}. “only"
        " ε”: the published sensitivity does not cover its claim there; what its noise gives.",
        "Bounds: on the KL risk if a hypothesis of the class is true, with the constants of the"
        " paper's proofs. Without any message the average of all hypotheses costs at most T log K,"
        " so below that T a bound says nothing.",
        f"{data}Log loss above the best forecast's: that of the best one in hindsight is 0; below"
        " 0, a mixture of forecasts beats its best member.",
        f"{PAPER}, Algorithms 1 and 2, Theorems 4 and 5. †: ours, not in the paper: the exact"
        f" sensitivity and composition{_ours(risks)}.",
    )


def _except(risks: pd.DataFrame) -> str:
    """Which learners have no privacy, and which a delta."""
    open_ones = risks.loc[risks["guaranteed_epsilon"] == math.inf, "algorithm"].unique()
    titles = [f"“{title_of(name)}”" for name in open_ones]
    sees = "sees" if len(titles) == 1 else "see"
    text = f", but for {', '.join(titles)}, which {sees} the labels" if titles else ""
    deltas = risks[risks["delta"] > 0].groupby("algorithm", sort=False)["delta"].max()
    found = [f"{title_of(str(name))} has δ = {delta:g}" for name, delta in deltas.items()]
    return f"{text}; {', '.join(found)}, all others δ = 0" if found else text


def _ours(risks: pd.DataFrame) -> str:
    """The learners of ours that were run."""
    names = [name for name in risks["algorithm"].unique() if learner_class(name).origin == "ours"]
    return "".join(f"; {title_of(name).removesuffix(' †')}" for name in names)
