"""The table of the paper's way beside ours, and beside every other private row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpol.core.frames import check_frame, check_streams
from dpol.data.settings import Stream
from dpol.show import footers
from dpol.show.table import Entry, Group, Section, TextTable
from dpol.show.words import mu_title, privacy_title

COLUMNS = (
    *("stream", "kind", "algorithm", "noise", "mu", "mean_gain", "ci_half_width"),
    *("other_algorithm", "other_noise", "other_mu", "other_model", "other_mean_gain"),
    *("other_ci_half_width", "other_ours", "other_learner", "common_noise", "difference"),
    *("difference_half_width", "verdict", "replicates", "confidence", "ci_comparisons"),
)
"""Columns the table of the comparison needs."""
REACHED, MISSED, UNDECIDED = "reached", "not reached", "undecided"
_BESIDE = {
    "above": "above",
    "equal": "equal to",
    "below": "below",
    "undecided": "undecided against",
}
_ABOUT = (
    "Above, below: the whole interval of the difference is. Undecided: it contains 0. An aim is"
    " reached if ours is above, or always equal to, everything that it names.",
    "Parts of ours: capacity noise, or an algorithm that is not in the papers. Every algorithm and"
    " every single learner with noise counts as a row. The best of several learners is chosen in"
    " hindsight; the intervals of all of them count.",
)
_MOST_NAMED = 4
_AIMS = ("aim-paper", "aim-learner")


def comparison_table(
    comparison: pd.DataFrame,
    summary: pd.DataFrame,
    *,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
) -> TextTable:
    """The paper's way and ours at every level, and the aims; every verdict is computed.

    Args:
        comparison: table of `dpol.studies.hospitals.comparison.compare`.
        summary: table of `dpol.studies.hospitals.summary.summarize`: sizes, and records of privacy.
        streams: label and config of the streams, in the order of the sections.
        levels: label and mu of the privacy levels, in the order of the lines.

    Raises:
        DataError: a column or a stream is missing, or the table is empty.
    """
    check_table(comparison, COLUMNS, "comparison", streams)
    sections = []
    for label, stream in streams.items():
        rows = comparison[comparison["stream"] == label]
        lines = [_level(rows[(rows["mu"] == mu)], mu) for mu in levels.values()]
        lines += [_aim(aim) for aim in aims_of(rows)]
        title = stream.title or label
        sections.append(Section(title, size_of(summary, label), (Group("", tuple(lines)),)))
    return TextTable(
        caption="The paper's way and ours at the same privacy: total gain",
        name="comparison",
        corner=("stream", "privacy"),
        headers=("the paper's", "ours †", "difference", "verdict"),
        sections=tuple(sections),
        footers=tuple(_comparison_footers(comparison, summary, streams, levels)),
        prose=("verdict",),
    )


def aims_of(rows: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each aim, in their order; one aim has a row per learner, or a single row."""
    aims = rows[rows["kind"].isin(_AIMS)]
    return [own for _, own in aims.groupby(["kind", "mu", "other_mu"], sort=False)]


def verdict_of_aim(aim: pd.DataFrame) -> str:
    """Whether ours is at or above everything that the aim names, all intervals together."""
    if (aim["verdict"] == "below").any():
        return MISSED
    return REACHED if aim["verdict"].isin(("above", "equal")).all() else UNDECIDED


def size_of(summary: pd.DataFrame, stream: str) -> str:
    """Numbers of experts and rounds of a stream."""
    row = summary[summary["stream"] == stream].iloc[0]
    return f"n = {row['n_experts']}, T = {row['n_rounds']}"


def check_table(
    frame: pd.DataFrame, columns: tuple[str, ...], name: str, streams: Mapping[str, Stream]
) -> None:
    """Refuse a table that lacks a column or a stream, or is empty. Raises DataError."""
    check_frame(frame, columns, f"the {name}")
    check_streams(frame, streams, f"the {name}")


def _level(rows: pd.DataFrame, mu: float) -> tuple[str, tuple[Entry, ...]]:
    """Both ways at one level, and ours against all other rows there."""
    paper = rows[rows["kind"] == "paper"].iloc[0]
    others = rows[rows["kind"] == "other"]
    text = f"{_BESIDE[paper['verdict']]} the paper's way"
    if mu == float("inf") or others.empty:
        return privacy_title(mu), (*_amounts(paper), Entry(text))
    every = "above" if (others["verdict"] == "above").all() else "not above"
    text = f"{text}; {every} every other private row"
    return privacy_title(mu), (*_amounts(paper), Entry(text, tuple(_rivals(others))))


def _rivals(others: pd.DataFrame) -> Iterator[str]:
    """How many other private rows ours is above, and which not."""
    for of_whom, rows in (
        ("rows of the papers", others[~others["other_ours"]]),
        ("rows with parts of ours", others[others["other_ours"]]),
    ):
        if rows.empty:
            continue
        rest = rows[rows["verdict"] != "above"].sort_values("difference")
        count = f"{len(rows) - len(rest)} of {len(rows)}"
        text = f"Above {count} {of_whom}"
        yield f"{text}; not above {_names(rest)}." if len(rest) else f"{text}."
    central = others[others["other_model"] == "central"].sort_values("other_mean_gain")
    if not central.empty:
        row = central.iloc[-1]
        amount = footers.amount(row["other_mean_gain"], row["other_ci_half_width"])
        yield f"Best with a curator: {row['other_algorithm']}, {amount}."


def _names(rows: pd.DataFrame) -> str:
    shown = [
        f"{_name(row)}: {_difference(row)}, {row['verdict']}"
        for row in rows.head(_MOST_NAMED).to_dict("records")
    ]
    more = len(rows) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _name(row: dict[Any, Any]) -> str:
    """A row; noises are those of local noise."""
    noise = "a curator" if row["other_model"] == "central" else f"{row['other_noise']} noise"
    return f"{row['other_algorithm']} ({noise})"


def _aim(aim: pd.DataFrame) -> tuple[str, tuple[Entry, ...]]:
    """An aim, with the numbers of the largest of what it names."""
    row = aim.sort_values("other_mean_gain", kind="stable").iloc[-1]
    against, at = "the paper's way", f"at {mu_title(row['other_mu'])}"
    if row["kind"] == "aim-learner":
        several = f"the best of the paper's {len(aim)} learners"
        against = several if len(aim) > 1 else "the paper's learner"
    if row["other_mu"] == float("inf"):
        at = "without privacy"
    label = f"Aim: ours at {mu_title(row['mu'])} is at or above {against} {at}"
    paper, ours, difference = _amounts(row)
    if row["kind"] == "aim-learner":
        paper = Entry(paper.text, (row["other_algorithm"],))
    verdict = verdict_of_aim(aim)
    notes = ("The interval contains 0.",) if verdict == UNDECIDED else ()
    return label, (paper, ours, difference, Entry(verdict, notes))


def _amounts(row: pd.Series) -> tuple[Entry, Entry, Entry]:
    return (
        Entry(footers.amount(row["other_mean_gain"], row["other_ci_half_width"])),
        Entry(footers.amount(row["mean_gain"], row["ci_half_width"])),
        Entry(_difference(row)),
    )


def _difference(row: dict[Any, Any] | pd.Series) -> str:
    return f"{row['difference']:+.2f}{footers.plus_minus(row['difference_half_width'])}"


def _comparison_footers(
    comparison: pd.DataFrame,
    summary: pd.DataFrame,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
) -> Iterator[str]:
    paper = comparison[comparison["kind"] == "paper"]
    first = paper.iloc[0]
    yield (
        f"The paper's way: {first['other_algorithm']}, {first['other_noise']} noise."
        f" Ours: {first['algorithm']}, {first['noise']} noise. Means over"
        f" {first['replicates']} runs of the gain summed over all T rounds; same seeds, data"
        " and privacy level in both."
    )
    yield describe_intervals(comparison)
    noisy = paper[paper["mu"] < float("inf")]
    shared = "the same" if noisy["common_noise"].all() else "independent"
    yield (
        "Differences are taken replicate by replicate. Replicates of one number have the same"
        " noise where stream, noise and μ agree. Of the paper's way and ours it is"
        f" {shared}" + ("." if shared == "the same" else ", so pairing does not narrow theirs.")
    )
    yield from _ABOUT
    titles = {stream.title or label: label for label, stream in streams.items()}
    simulated = summary.groupby("stream")["simulated"].any()
    yield footers.describe_data({title: bool(simulated[it]) for title, it in titles.items()})
    systems = {
        "the paper's": (first["other_algorithm"], first["other_noise"]),
        "ours": (first["algorithm"], first["noise"]),
    }
    yield from footers.describe_guarantee(
        {title: _runs(summary, *system) for title, system in systems.items()},
        list(levels.values()),
    )
    yield "†: ours, not in the paper."


def describe_intervals(frame: pd.DataFrame) -> str:
    """What the half widths are, in a table with `confidence` and `ci_comparisons`."""
    first = frame.iloc[0]
    return footers.describe_interval(
        first["confidence"],
        first["ci_comparisons"],
        "intervals of the numbers behind this table (.csv)",
    )


def _runs(summary: pd.DataFrame, algorithm: str, noise: str) -> pd.DataFrame:
    same = (summary["algorithm"] == algorithm) & (summary["noise"] == noise)
    return summary[same]
