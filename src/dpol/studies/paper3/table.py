"""The table of risks of learning a distribution from locally private labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.show.names import marked
from dpol.show.papers import DISTRIBUTIONS
from dpol.show.table import Group, Line, Section, Table, TableCell
from dpol.studies.paper3.settings import COLUMN_OF, Labels
from dpol.studies.study import Facts, Frames

SIGNS: Mapping[str, str] = {"K": "K", "M": "M", "T": "T", "epsilon": "ε"}
"""Symbols of the columns of a setting."""
RUNS: Mapping[str, str] = {
    "mean_kl_risk": "kl_runs",
    "tv_average": "tv_average_runs",
    "tv_median": "tv_median_runs",
}
"""Columns with a list of the runs, which a CSV cannot hold, by the column of their mean."""
Variant = tuple[str, str]
"""A learner's name and a sensitivity rule."""
_VARIANT = ["algorithm", "sensitivity_rule"]
_NOTHING = TableCell("—")
_Cell = Callable[[pd.Series], TableCell]


def value(number: float) -> str:
    """Format a number as in the texts of the study: `0.25`, `30,000`."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:g}"


def labels_table(frames: Frames, study: Labels, facts: Facts) -> Table:
    """Build the table: KL risk by sweep, log loss on hospitals, first T of informative bounds."""
    every = frames["labels"]
    risks = every[every["mean_kl_risk"].notna()]
    headers = _headers(risks)
    learners = list(headers)
    sections = []
    for sweep, column in COLUMN_OF.items():
        groups = _groups(risks[risks["sweep"] == sweep], learners, column, _risk)
        note = f"against {SIGNS.get(column, column)}"
        sections.append(Section("KL risk over T rounds, nats", note, groups))
    hospitals = risks["sweep"] == "hospitals"
    note = "simulated hospitals" if facts.simulated else "hospitals"
    groups = _groups(risks[hospitals], learners, "epsilon", _excess)
    sections.append(Section("log loss above the best forecast, nats per patient", note, groups))
    bounds = risks[~hospitals]
    if bounds["informative_from"].notna().any():
        lines = _lines(bounds, learners, ["K", "epsilon"], _first_rounds)
        title = "first T at which a bound is below T log K"
        sections.append(Section(title, "Theorems 4, 5", (Group("any with the truth", lines),)))
    return Table(
        caption="Learning a distribution from locally private labels",
        corner=("what", "class", "setting"),
        headers=tuple(headers.values()),
        sections=tuple(section for section in sections if section.groups),
        footers=_footers(risks, facts.simulated),
        numbers=every.drop(columns=["title", *RUNS.values()]),
    )


def titles_of(rows: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the algorithms of some rows in their order, marked if ours."""
    named = rows[["algorithm", "title", "origin"]].drop_duplicates()
    each = named.itertuples(index=False, name=None)
    return {name: marked(title, origin == "ours") for name, title, origin in each}


def _headers(risks: pd.DataFrame) -> dict[Variant, str]:
    """Return the headers; a learner that played by several rules names them. `exact` is ours."""
    headers, played = {}, risks.drop_duplicates(_VARIANT)
    by_rules = played["algorithm"].duplicated(keep=False)
    columns = (played[name] for name in (*_VARIANT, "title", "origin"))
    for name, rule, title, origin, named in zip(*columns, by_rules, strict=True):
        ours = origin == "ours" or (named and rule == "exact")
        headers[name, rule] = marked(f"{title}, {rule}" if named else title, ours)
    return headers


def _groups(
    rows: pd.DataFrame, learners: Sequence[Variant], column: str, show: _Cell
) -> tuple[Group, ...]:
    """Return a group for each class, with a line for each value of a column."""
    return tuple(
        Group(f"{name}: {fixed(part.iloc[0], column)}", _lines(part, learners, [column], show))
        for name, part in rows.groupby("hypotheses", sort=False)
    )


def fixed(row: pd.Series, swept: str, show: Callable[[float], str] = value) -> str:
    """Format the columns that a sweep does not change: `K = 4, M = 100, ε = 4`."""
    return ", ".join(f"{sign} = {show(row[name])}" for name, sign in SIGNS.items() if name != swept)


def _lines(
    rows: pd.DataFrame, learners: Sequence[Variant], columns: list[str], show: _Cell
) -> tuple[Line, ...]:
    """Return a line for each setting of some columns, with a dash if a learner was not run."""
    lines = []
    for _, of_line in rows.groupby(columns):
        values = ((column, of_line[column].iloc[0]) for column in columns)
        label = ", ".join(
            at if isinstance(at, str) else f"{SIGNS[column]} = {value(at)}" for column, at in values
        )
        first = of_line.drop_duplicates(_VARIANT)
        cells = {(row[_VARIANT[0]], row[_VARIANT[1]]): show(row) for _, row in first.iterrows()}
        lines.append((label, tuple(cells.get(learner, _NOTHING) for learner in learners)))
    return tuple(lines)


def _risk(row: pd.Series) -> TableCell:
    digits = 0 if row["mean_kl_risk"] >= 100 else 1
    return _with_ends(row, lambda kl: f"{kl:,.{digits}f}")


def _excess(row: pd.Series) -> TableCell:
    """Format the loss above the best forecast in hindsight, with the log loss as a note."""
    note = f"log loss {row['mean_log_loss']:.4f}"
    return _with_ends(row, lambda kl: f"{(kl - row['best_kl']) / row['T']:+.4f}", note)


def _with_ends(row: pd.Series, show: Callable[[float], str], *notes: str) -> TableCell:
    """Format a mean and its extreme runs, and the privacy of messages that lack what they claim."""
    if math.inf > row["guaranteed_epsilon"] > row["epsilon"] * (1 + 1e-9):
        notes = (*notes, f"only ε = {rounded_up(row['guaranteed_epsilon'], 4)}")
    ends = f"{show(min(row['kl_runs']))} to {show(max(row['kl_runs']))}"
    return TableCell(show(row["mean_kl_risk"]), (ends, *notes))


def _first_rounds(row: pd.Series) -> TableCell:
    if math.isnan(row["informative_from"]):
        return _NOTHING
    lead, power = f"{row['informative_from']:.1e}".split("e")
    return TableCell(f"{lead} × 10^{int(power)}")


def _footers(risks: pd.DataFrame, simulated: bool) -> tuple[str, ...]:
    data = "The hospitals are simulated, not measured. " if simulated else ""
    runs = risks["replicates"].iloc[0]
    ours = "".join(f"; {title}" for title in risks.loc[risks["origin"] == "ours", "title"].unique())
    return (
        f"Means over {runs} runs; below them the smallest and the largest run, which are not a"
        " confidence interval. The runs differ in their noise, on random classes also in the class,"
        " and on random and hard classes in the hypothesis that is true; they do not cover other"
        " states or years. Student's intervals of the risks are in labels.parquet. A dash: not run,"
        " or the paper has no such bound.",
        "Privacy: local model; unit: one person's label in one round; adjacent: two labels of the"
        f" same round. Every message is (ε, δ)-private at the ε of its line{_except(risks)}. “only"
        " ε”: the published sensitivity does not cover its claim; the noise gives only this ε.",
        "Bounds: on the KL risk if a hypothesis of the class is true, with the constants of the"
        " paper's proofs. Without any message the average of all hypotheses costs at most T log K,"
        " so a larger bound is vacuous.",
        f"{data}Log loss above the best forecast: 0 is the best forecast in hindsight; below 0, a"
        " mixture of forecasts beats its best member.",
        f"“{DISTRIBUTIONS}”, Algorithms 1 and 2, Theorems 4 and 5. †: ours, not in the paper: the"
        f" exact sensitivity and composition{ours}.",
    )


def _except(risks: pd.DataFrame) -> str:
    """Describe the exceptions: learners without privacy, and learners with a delta."""
    named = titles_of(risks)
    open_ones = risks.loc[risks["guaranteed_epsilon"] == math.inf, "algorithm"].unique()
    titles = [f"“{named[name]}”" for name in open_ones]
    sees = "sees" if len(titles) == 1 else "see"
    text = f", except for {', '.join(titles)}, which {sees} the labels" if titles else ""
    deltas = risks[risks["delta"] > 0].groupby("algorithm", sort=False)["delta"].max()
    with_delta = [f"{named[str(name)]} has δ = {delta:g}" for name, delta in deltas.items()]
    return f"{text}; {', '.join(with_delta)}, all others δ = 0" if with_delta else text
