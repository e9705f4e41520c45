"""The table of risks of learning a distribution from locally private labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import Entry, Group, Section, Table
from dpol.studies.labels.registry import LEARNERS, Variant, title_of, variants
from dpol.studies.labels.settings import Labels
from dpol.studies.labels.study import BY_RUN
from dpol.studies.study import Facts, Frames

SIGNS: Mapping[str, str] = {"K": "K", "M": "M", "T": "T", "epsilon": "ε"}
"""How the columns that a setting has are written."""
COLUMN_OF = {"rounds": "T", "labels": "M", "hypotheses": "K", "epsilons": "epsilon"}
"""The column that a sweep changes."""
_NOTHING = Entry("—")
_Cell = Callable[[pd.Series], Entry]


def labels(frames: Frames, study: Labels, facts: Facts) -> Table:
    """KL risk by sweep, log loss on hospitals, and where the bounds begin to say something."""
    risks = frames["labels"]
    known = set(zip(risks["algorithm"], risks["sensitivity_rule"], strict=True))
    learners = [variant for variant in variants() if variant in known]
    sections = [
        Section("KL risk over T rounds, nats", f"against {SIGNS[column]}", groups)
        for sweep, column in COLUMN_OF.items()
        if (groups := _groups(risks[risks["sweep"] == sweep], learners, column, _risk))
    ]
    hospitals = risks["sweep"] == "hospitals"
    if groups := _groups(risks[hospitals], learners, "epsilon", _excess):
        note = "simulated hospitals" if facts.simulated else "hospitals"
        title = "log loss above the best forecast's, nats a patient"
        sections.append(Section(title, note, groups))
    bounds = risks[~hospitals]
    if bounds["informative_from"].notna().any():
        lines = tuple(
            (f"K = {K}, ε = {epsilon:g}", _cells(own, learners, _first_rounds))
            for (K, epsilon), own in bounds.groupby(["K", "epsilon"])
        )
        title = "first T at which a bound says more than T log K"
        sections.append(Section(title, "Theorems 4, 5", (Group("any that has the truth", lines),)))
    return Table(
        caption="Learning a distribution from locally private labels",
        name="labels",
        corner=("what", "class", "setting"),
        headers=tuple(title_of(*learner) for learner in learners),
        sections=tuple(sections),
        footers=_footers(risks, facts.simulated),
        numbers=risks.drop(columns=list(BY_RUN)),
    )


def _groups(
    rows: pd.DataFrame, learners: Sequence[Variant], column: str, show: _Cell
) -> tuple[Group, ...]:
    """A group for each class, with a line for each value of a column."""
    return tuple(
        Group(
            f"{name}: {_fixed(of_class.iloc[0], column)}",
            tuple(
                (f"{SIGNS[column]} = {_value(own[column].iloc[0])}", _cells(own, learners, show))
                for _, own in of_class.groupby(column)
            ),
        )
        for name, of_class in rows.groupby("hypotheses", sort=False)
    )


def _fixed(first: pd.Series, column: str) -> str:
    return ", ".join(
        f"{sign} = {_value(first[name])}" for name, sign in SIGNS.items() if name != column
    )


def _cells(rows: pd.DataFrame, learners: Sequence[Variant], show: _Cell) -> tuple[Entry, ...]:
    """A cell per learner; a dash where it was not run."""
    first = rows.drop_duplicates(["algorithm", "sensitivity_rule"])
    cells = {(row["algorithm"], row["sensitivity_rule"]): show(row) for _, row in first.iterrows()}
    return tuple(cells.get(learner, _NOTHING) for learner in learners)


def _risk(row: pd.Series) -> Entry:
    digits = 0 if row["mean_kl_risk"] >= 100 else 1
    mean, low, high = (f"{number:,.{digits}f}" for number in _mean_and_ends(row))
    return Entry(mean, (f"{low} to {high}", *_uncovered(row)))


def _excess(row: pd.Series) -> Entry:
    """Beside what the best forecast has in hindsight; the log loss itself as a note."""
    mean, low, high = (f"{(kl - row['best_kl']) / row['T']:+.4f}" for kl in _mean_and_ends(row))
    return Entry(
        mean, (f"{low} to {high}", f"log loss {row['mean_log_loss']:.4f}", *_uncovered(row))
    )


def _mean_and_ends(row: pd.Series) -> tuple[float, float, float]:
    return row["mean_kl_risk"], min(row["kl_runs"]), max(row["kl_runs"])


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
    names = [name for name in risks["algorithm"].unique() if LEARNERS[name].origin == "ours"]
    ours = "".join(f"; {LEARNERS[name].title}" for name in names)
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
        f"“{DISTRIBUTIONS}”, Algorithms 1 and 2, Theorems 4 and 5. †: ours, not in the paper: the"
        f" exact sensitivity and composition{ours}.",
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
