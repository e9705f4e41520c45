"""The tables of the paper's way beside ours, and of what each part of a system loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpol.config import Stream, System
from dpol.errors import DataError
from dpol.tables import footers
from dpol.tables.text import Entry, Group, Section, TextTable
from dpol.wording import mu_title, privacy_title

COLUMNS = (
    *("stream", "kind", "algorithm", "calibration", "mu", "mean_gain", "ci_half_width"),
    *("other_algorithm", "other_calibration", "other_mu", "other_mean_gain"),
    *("other_ci_half_width", "other_ours", "other_learner", "common_noise", "difference"),
    *("difference_half_width", "verdict", "replicates", "confidence", "ci_comparisons"),
)
"""Columns the table of the comparison needs."""
ABLATION_COLUMNS = (
    *("stream", "mu", "algorithm", "calibration", "learners", "mean_gain", "reference", "oracle"),
    *("noise", "noise_half_width", "learner", "learner_half_width", "selection"),
    *("selection_half_width", "total", "total_half_width", "own_noise", "own_noise_half_width"),
    *("replicates", "confidence", "ci_comparisons"),
)
"""Columns the table of ablations needs."""

REACHED, MISSED, UNDECIDED = "reached", "not reached", "undecided"
_BESIDE = {"above": "above", "equal": "equal to", "below": "below", "undecided": "undecided against"}
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
        comparison: table of `dpol.evaluation.comparison.compare`.
        summary: table of `dpol.evaluation.summary.summarize`: sizes, and records of privacy.
        streams: label and config of the streams, in the order of the sections.
        levels: label and mu of the privacy levels, in the order of the lines.

    Raises:
        DataError: a column or a stream is missing, or the table is empty.
    """
    _check(comparison, COLUMNS, "comparison", streams)
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


def _check(
    frame: pd.DataFrame, columns: tuple[str, ...], name: str, streams: Mapping[str, Stream]
) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing or frame.empty:
        what = f"has no column {', '.join(missing)}" if missing else "is empty"
        raise DataError(f"the table of the {name} {what}; delete it and run again")
    if unknown := [label for label in streams if label not in set(frame["stream"])]:
        raise DataError(
            f"the table of the {name} has no stream {', '.join(unknown)}; delete it and run again"
        )


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


def _names(rows: pd.DataFrame) -> str:
    shown = [
        f"{row['other_algorithm']} ({row['other_calibration']} noise):"
        f" {_difference(row)}, {row['verdict']}"
        for row in rows.head(_MOST_NAMED).to_dict("records")
    ]
    more = len(rows) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more else "")


def _aim(aim: pd.DataFrame) -> tuple[str, tuple[Entry, ...]]:
    """An aim, with the numbers of the largest of what it names."""
    row = aim.sort_values("other_mean_gain", kind="stable").iloc[-1]
    against, at = "the paper's way", f"at {mu_title(row['other_mu'])}"
    if row["kind"] == "aim-learner":
        against = f"the best of the paper's {len(aim)} learners"
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
    return f"{row['difference']:+.2f} ± {row['difference_half_width']:.2f}"


def _comparison_footers(
    comparison: pd.DataFrame,
    summary: pd.DataFrame,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
) -> Iterator[str]:
    paper = comparison[comparison["kind"] == "paper"]
    first = paper.iloc[0]
    yield (
        f"The paper's way: {first['other_algorithm']}, {first['other_calibration']} noise."
        f" Ours: {first['algorithm']}, {first['calibration']} noise. Means over"
        f" {first['replicates']} runs of the gain summed over all T rounds; same seeds, data"
        " and privacy level in both."
    )
    yield _describe_intervals(comparison)
    shared = "the same" if paper["common_noise"].all() else "independent"
    yield (
        "Differences are taken replicate by replicate. Replicates of one number have the same"
        " noise where stream, calibration and µ agree. Of the paper's way and ours it is"
        f" {shared}" + ("." if shared == "the same" else ", so pairing does not narrow theirs.")
    )
    yield (
        "Above, below: the whole interval of the difference is. Undecided: it contains 0. An aim"
        " is reached if ours is above, or always equal to, everything that it names."
    )
    yield (
        "Parts of ours: capacity noise, or an algorithm that is not in the papers. Every algorithm"
        " and every single learner with noise counts as a row. The best of several learners"
        " is chosen in hindsight; the intervals of all of them count."
    )
    titles = {stream.title or label: label for label, stream in streams.items()}
    simulated = summary.groupby("stream")["simulated"].any()
    yield footers.describe_data({title: bool(simulated[it]) for title, it in titles.items()})
    systems = {
        "the paper's": (first["other_algorithm"], first["other_calibration"]),
        "ours": (first["algorithm"], first["calibration"]),
    }
    yield from footers.describe_guarantee(
        {title: _runs(summary, *system) for title, system in systems.items()},
        list(levels.values()),
    )
    yield "†: ours, not in the paper."


def _describe_intervals(frame: pd.DataFrame) -> str:
    first = frame.iloc[0]
    return (
        f"±: half width of the {100 * first['confidence']:g}% confidence interval (Student's t),"
        f" Bonferroni-corrected over all {first['ci_comparisons']:,} intervals of the numbers"
        " behind this table (.csv)."
    )


def _runs(summary: pd.DataFrame, algorithm: str, calibration: str) -> pd.DataFrame:
    same = (summary["algorithm"] == algorithm) & (summary["calibration"] == calibration)
    return summary[same]


def ablation_table(
    ablation: pd.DataFrame,
    summary: pd.DataFrame,
    *,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    ours: System,
) -> TextTable:
    """What each system loses to noise, in its learners and by selection, and in total.

    Args:
        ablation: table of `dpol.evaluation.ablation.ablate`.
        summary: as for `comparison_table`.
        streams: as for `comparison_table`.
        levels: as for `comparison_table`.
        ours: the system that is marked as such.

    Raises:
        DataError: as `comparison_table`.
    """
    _check(ablation, ABLATION_COLUMNS, "ablations", streams)
    sections = []
    for label, stream in streams.items():
        for mu in levels.values():
            rows = ablation[(ablation["stream"] == label) & (ablation["mu"] == mu)]
            lines = tuple(_losses(row, ours) for row in rows.to_dict("records"))
            title = f"{stream.title or label}, {privacy_title(mu)}"
            best = f"best of the paper's learners without noise: {_reference(rows)}"
            note = f"{size_of(summary, label)}; {best}"
            sections.append(Section(title, note, (Group("", lines),)))
    first = ablation.iloc[0]
    return TextTable(
        caption="Loss against the best of the paper's learners without noise, in parts",
        name="ablation",
        corner=("stream", "system"),
        headers=("gain", "noise", "learner", "selection", "total loss", "own noise", "oracle"),
        sections=tuple(sections),
        footers=(
            "Noise + learner + selection = total loss; negative: a gain. Noise: what the best of"
            " the paper's learners loses to the noise of the system. Learner: what the best of"
            " the system's learners, the oracle selector, loses to it under the same noise."
            " Selection: what the system loses to the oracle; an average of learners can be above"
            " it. Own noise: what the system itself loses to noise; not part of the sum.",
            "The best of several learners is chosen in hindsight, by stream, µ and noise, on the"
            " runs that it is scored on: its mean is biased upwards, so that selection is rather"
            " overstated, and noise understated.",
            _describe_intervals(ablation),
            f"Means over {first['replicates']} runs. What is guaranteed at each µ: below the table"
            " of the comparison, and in summary.parquet for every system.",
        ),
        prose=("oracle",),
    )


def _reference(rows: pd.DataFrame) -> str:
    row = rows.iloc[0]
    return f"{row['reference']}, {row['mean_gain'] + row['total']:.2f}"


def _losses(row: dict[Any, Any], ours: System) -> tuple[str, tuple[Entry, ...]]:
    system = (row["algorithm"], row["calibration"])
    mark = " (ours)" if system == (ours.algorithm, ours.calibration) else ""
    terms = [
        # Not -0.00.
        Entry(footers.amount(round(row[name], 2) + 0.0, row[f"{name}_half_width"]))
        for name in ("noise", "learner", "selection", "total", "own_noise")
    ]
    label = f"{row['algorithm']}, {row['calibration']} noise{mark}"
    return label, (Entry(f"{row['mean_gain']:.2f}"), *terms, Entry(str(row["oracle"])))
