"""The tables of released numbers: what was released, the algorithms, the noise."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from dpol.core.words import counted
from dpol.show.footers import describe_data
from dpol.show.table import Column, Entry, Table, number, one_section
from dpol.studies.released import NO_TRUTH
from dpol.studies.released.settings import ReleasedGames
from dpol.studies.study import Facts, Frames

_LATEST = 12  # Periods that the table of noise shows.


def reports(frames: Frames, settings: ReleasedGames, facts: Facts) -> Table:
    """Table of the reports, the noise on them, and the cost to a person."""
    frame = frames["released_reports"]
    last, due, there = frame.iloc[-1], frame["entities"].sum(), frame["reported"].sum()
    weeks, stay = int(last["unit_weeks"]), int(last["longest_stay"])
    lines = [
        ("periods", Entry(f"{len(frame)}, from {_day(frame['period'].min())} to {_day(last)}")),
        ("entities that take part", Entry(_span(frame["entities"]))),
        ("reports", Entry(f"{there:,} of {due:,}; missing: {due - there:,}")),
        ("corrections", Entry(f"{last['corrections']}")),
        ("noise on a share, median of all periods", Entry(f"{frame['noise_median'].median():.3g}")),
        ("noise on a share, largest", Entry(f"{frame['noise_largest'].max():.3g}")),
        (f"μ of a person in {counted(weeks, 'period')}", Entry(f"{last['mu']:.3g}")),
        (f"μ of a person in {counted(stay, 'period')}", Entry(f"{last['mu_of_stay']:.3g}")),
    ]
    return Table(
        caption="What was released",
        name="released",
        corner=("what",),
        headers=(Column("found", prose=True),),
        sections=(one_section((title, (cell,)) for title, cell in lines),),
        footers=(
            NO_TRUTH,
            "Noise: standard deviation. μ: Gaussian differential privacy of that person, at most,"
            " over all releases, those included that a correction has superseded.",
            describe_data(facts.simulated),
        ),
        numbers=frame,
    )


def algorithms(frames: Frames, settings: ReleasedGames, facts: Facts) -> Table:
    """Table of how often algorithms agree, and how often a report falls where it was predicted."""
    frame = frames["released_algorithms"]
    lines = [(row["algorithm"], _cells(row)) for row in frame.to_dict("records")]
    first = frame.iloc[0]
    return Table(
        caption="Algorithms on the released numbers",
        name="released-algorithms",
        corner=("algorithm",),
        headers=(
            "periods decided",
            "same first choice as the deployment’s",
            Column("reports in their 90% interval", prose=True),
            "reports checked",
        ),
        sections=(one_section(lines),),
        footers=(
            f"{NO_TRUTH} No column says which algorithm is better: an interval that holds 90% of"
            " the reports says that the algorithm knows how far to trust itself.",
            "The interval of a report is that of the predicted share with the known noise of the"
            " report. Reports whose noise depends on earlier noise are not checked. In brackets:"
            f" the {100 * first['confidence']:g}% confidence interval (Clopper-Pearson, reports of"
            " a period taken as dependent, periods as independent), Bonferroni-corrected over"
            f" {first['ci_comparisons']} algorithms. Right is 90%.",
            describe_data(facts.simulated),
        ),
        numbers=frame,
    )


def _cells(row: Mapping[Hashable, Any]) -> tuple[Entry, ...]:
    agreement, coverage = Entry("the deployment’s"), Entry("predicts none")
    if not row["of_deployment"]:
        agreement = _percent(row["agreement"])
    if row["checked"]:
        low, high = (f"{100 * row[f'coverage_{end}']:.1f}%" for end in ("low", "high"))
        text = f"{100 * row['coverage']:.1f}% ({low} to {high}){_verdict(row)}"
        coverage = Entry(text, order=row["coverage"])
    return number(row["periods"]), agreement, coverage, number(row["checked"])


def _verdict(row: Mapping[Hashable, Any]) -> str:
    if row["coverage_high"] < 0.9:
        return ", too few"
    return ", too many" if row["coverage_low"] > 0.9 else ""


def _percent(share: float) -> Entry:
    return Entry("—") if pd.isna(share) else number(share, f"{100 * share:.0f}%")


def noise(frames: Frames, settings: ReleasedGames, facts: Facts) -> Table:
    """Reports and noise of the latest periods."""
    frame = frames["released_reports"]
    lines = [
        (
            _day(row["period"]),
            (
                number(row["reported"]),
                number(row["entities"] - row["reported"]),
                *(
                    Entry("—") if pd.isna(row[name]) else number(row[name], f"{row[name]:.3g}")
                    for name in ("noise_median", "noise_largest")
                ),
            ),
        )
        for row in frame[::-1][:_LATEST].to_dict("records")
    ]
    return Table(
        caption=f"Reports and noise of the latest {counted(len(lines), 'period')}",
        name="released-noise",
        corner=("period",),
        headers=("reported", "missing", "median noise", "largest noise"),
        sections=(one_section(lines),),
        footers=(
            "Noise: standard deviation of the noise on a share. All periods are in the .csv.",
            describe_data(facts.simulated),
        ),
        numbers=frame,
    )


def _day(period: Any) -> str:
    day = period["period"] if isinstance(period, pd.Series) else period
    return f"{day:%Y-%m-%d}"


def _span(values: pd.Series) -> str:
    low, high = values.min(), values.max()
    return f"{low}" if low == high else f"{low} to {high}"
