"""The tables of the comparison: the paper's way and ours, and what each system loses where."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from dpol.show import footers
from dpol.show.names import OURS, name_of
from dpol.show.table import Column, Entry, Line, Table, one_section
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.ablation import TERMS
from dpol.studies.games.bounds import describe_stream
from dpol.studies.games.privacy_utility import holds_for_stays
from dpol.studies.games.settings import (
    CEILING,
    THEIRS,
    TUNED,
    WAYS,
    Comparison,
    Games,
)
from dpol.studies.games.verdicts import ABOVE, EQUAL, UNDECIDED
from dpol.studies.study import Facts, Frames

_BESIDE = {EQUAL: "equal to", UNDECIDED: "undecided against"}
_ABOUT = (
    "Above, below: the whole interval of the difference is. Undecided: it contains 0. An aim is"
    " reached if ours is above, or always equal to, everything that it names.",
    "Parts of ours: capacity noise, or an algorithm that is not in the papers. Every algorithm and"
    " every single learner with noise counts as a row. The best of several learners is chosen in"
    " hindsight; the intervals of all of them count.",
)
_ABOUT_LOSSES = (
    "Noise + learner + selection = total loss; negative: a gain. Noise: what the best of"
    " the paper's learners loses to the noise of the system; for noise with memory, to"
    " independent noise of its kind, as they know no other. Learner: what the best of"
    " the system's learners, the oracle selector, loses to it under the same noise."
    " Selection: what the system loses to the oracle; an average of learners can be above"
    " it. Own noise: what the system itself loses to noise; not part of the sum.",
    "The best of several learners is chosen in hindsight, by stream, μ and noise, on the"
    " runs that it is scored on: its mean is biased upwards, so that selection is rather"
    " overstated, and noise understated.",
)
_MOST_NAMED = 4
_Row = Mapping[Any, Any]


def comparison_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """The paper's way and ours at every level, and the aims; every verdict is computed.

    Args:
        frames: the summary and the comparison.
        main: streams, in the order of the sections, and levels, in the order of the lines.
        facts: titles of the streams, and whether they are simulated.
    """
    comparison, summary = frames["comparison"], frames["summary"]
    sections = []
    for label, title in facts.streams.items():
        rows = comparison[comparison["stream"] == label]
        lines = [_level(rows[rows["mu"] == mu], mu) for mu in main.levels.values()]
        aims = rows[rows["aim_verdict"] != ""].groupby(["kind", "mu", "other_mu"], sort=False)
        lines += [_aim(aim) for _, aim in aims]
        sections.append(one_section(lines, title, _size(summary, label)))
    return Table(
        caption="The paper's way and ours at the same privacy: total gain",
        name="comparison",
        corner=("stream", "privacy"),
        headers=("the paper's", "ours †", "difference", Column("verdict", prose=True)),
        sections=tuple(sections),
        footers=tuple(_footers(comparison, summary, main, facts)),
        numbers=comparison,
    )


def _size(summary: pd.DataFrame, stream: str) -> str:
    return describe_stream(summary[summary["stream"] == stream].iloc[0])


def _level(rows: pd.DataFrame, mu: float) -> Line:
    """Comparison of both ways at one level, and of ours with all other rows there."""
    paper = rows[rows["kind"] == THEIRS].to_dict("records")[0]
    tuned, others = (rows[rows["kind"] == kind] for kind in (TUNED, "other"))
    text = f"{_BESIDE.get(paper['verdict'], paper['verdict'])} the paper's way"
    notes: tuple[str, ...] = ()
    if not tuned.empty:
        every = "above" if (tuned["verdict"] == ABOVE).all() else "not above"
        text, notes = f"{text}; {every} {WAYS[TUNED]}", (_forms(tuned),)
    for row in rows[rows["kind"] == CEILING].to_dict("records"):
        amount = footers.amount(row["other_mean_gain"], row["other_ci_half_width"])
        notes = (*notes, f"Ceiling, classes known: {amount}.")
    if mu < math.inf and not others.empty:
        every = "above" if (others["verdict"] == ABOVE).all() else "not above"
        text, notes = f"{text}; {every} every other private row", (*notes, *_rivals(others))
    return privacy_title(mu), (*_amounts(paper), Entry(text, notes))


def _forms(tuned: pd.DataFrame) -> str:
    """The gain of each tuned system."""
    rows = tuned.to_dict("records")
    amounts = [footers.amount(it["other_mean_gain"], it["other_ci_half_width"]) for it in rows]
    named = [f"{it['other_algorithm']} {own}" for it, own in zip(rows, amounts, strict=True)]
    return f"{WAYS[TUNED].capitalize()}: {', '.join(named)}."


def _rivals(others: pd.DataFrame) -> Iterator[str]:
    """Number of other private rows below ours, and names of those that are not."""
    for of_whom, rows in (
        ("rows of the papers", others[~others["other_ours"]]),
        ("rows with parts of ours", others[others["other_ours"]]),
    ):
        if rows.empty:
            continue
        rest = rows[rows["verdict"] != ABOVE].sort_values("difference")
        text = f"Above {len(rows) - len(rest)} of {len(rows)} {of_whom}"
        yield f"{text}; not above {_names(rest)}." if len(rest) else f"{text}."
    central = others[others["other_model"] == "central"].sort_values("other_mean_gain")
    for row in central.tail(1).to_dict("records"):
        amount = footers.amount(row["other_mean_gain"], row["other_ci_half_width"])
        yield f"Best with a curator: {row['other_algorithm']}, {amount}."


def _names(rows: pd.DataFrame) -> str:
    """The rows with the largest lead over ours; noises are those of local noise."""
    named = []
    stays = holds_for_stays(rows["other_noise"])
    for row in rows.assign(stays=stays).head(_MOST_NAMED).to_dict("records"):
        noise = "a curator" if row["other_model"] == "central" else f"{row['other_noise']} noise"
        noise += "" if row["stays"] else ", more μ for longer stays"
        named.append(f"{row['other_algorithm']} ({noise}): {footers.signed(row)}, {row['verdict']}")
    more = len(rows) - len(named)
    return "; ".join([*named, *([f"and {more} more"] if more else [])])


def _aim(aim: pd.DataFrame) -> Line:
    """An aim, with the numbers of the largest of what it names."""
    row = aim.sort_values("other_mean_gain", kind="stable").to_dict("records")[-1]
    at = f"at {mu_title(row['other_mu'])}" if row["other_mu"] < math.inf else "without privacy"
    paper, *others = _amounts(row)
    against = "the paper's way"
    if row["kind"] == "aim-tuned":
        against = WAYS[TUNED]
        paper = Entry(paper.text, (row["other_algorithm"],))
    if row["kind"] == "aim-learner":
        against = f"the best of {len(aim)} learners" if len(aim) > 1 else "the learner"
        paper = Entry(paper.text, (row["other_algorithm"],))
    label = f"Aim: ours at {mu_title(row['mu'])} is at or above {against} {at}"
    notes = ("The interval contains 0.",) if row["aim_verdict"] == UNDECIDED else ()
    return label, (paper, *others, Entry(row["aim_verdict"], notes))


def _amounts(row: _Row) -> tuple[Entry, Entry, Entry]:
    return (
        Entry(footers.amount(row["other_mean_gain"], row["other_ci_half_width"])),
        Entry(footers.amount(row["mean_gain"], row["ci_half_width"])),
        Entry(footers.signed(row)),
    )


def _footers(
    comparison: pd.DataFrame, summary: pd.DataFrame, main: Games, facts: Facts
) -> Iterator[str]:
    paper = comparison[comparison["kind"] == "paper"]
    first = paper.iloc[0]
    yield (
        f"The paper's way: {first['other_algorithm']}, {first['other_noise']} noise."
        f" Ours: {first['algorithm']}, {first['noise']} noise. Means over"
        f" {first['replicates']} runs of the gain summed over all T rounds; same seeds, data"
        " and privacy level in both."
    )
    tuned = comparison[comparison["kind"] == TUNED]
    if not tuned.empty:
        forms = ", ".join(dict.fromkeys(tuned["other_algorithm"]))
        yield (
            f"{WAYS[TUNED].capitalize()}: {forms}, {tuned['other_noise'].iloc[0]} noise. Ours is"
            " above it if it is above all of them."
        )
    if (comparison["kind"] == CEILING).any():
        yield (
            "Ceiling: ours, if it knew which of its models each expert follows, by the true gains"
            " of all rounds. It knows the future, has no privacy, and is not a rival. Ours without"
            " noise is the line without privacy."
        )
    yield footers.describe_intervals_behind(comparison)
    same = paper.loc[paper["mu"] < math.inf, "common_noise"].all()
    shared = "the same." if same else "independent, so pairing does not narrow theirs."
    yield (
        "Differences are taken replicate by replicate. Replicates of one number have the same"
        f" noise where stream, noise and μ agree. Of the paper's way and ours it is {shared}"
    )
    yield from _ABOUT
    yield footers.describe_data(facts.simulated)
    runs = {}
    for title, side in (("the paper's", "other_"), ("ours", "")):
        of_algorithm = summary[summary["algorithm"] == first[f"{side}algorithm"]]
        runs[title] = of_algorithm[of_algorithm["noise"] == first[f"{side}noise"]]
    for noise, own in summary[summary["noise_memory"] != ""].groupby("noise"):
        runs[name_of(str(noise)).long] = own
    yield from footers.describe_guarantee(runs, list(main.levels.values()))
    yield f"{OURS}."


def ablation_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Table of losses of each system: to noise, in its learners, by selection, in total.

    Args:
        frames: the summary and the ablation.
        main: streams and levels, in the order of the sections, and which system is ours.
        facts: titles of the streams, and whether they are simulated.
    """
    ablation, sections = frames["ablation"], []
    for label, title in facts.streams.items():
        for mu in main.levels.values():
            rows = ablation[(ablation["stream"] == label) & (ablation["mu"] == mu)]
            first = rows.iloc[0]
            size = _size(frames["summary"], label)
            best = f"{first['reference']}, {first['reference_gain']:.2f}"
            note = f"{size}; best of the paper's learners without noise: {best}"
            lines = [_losses(row, main.comparison) for row in rows.to_dict("records")]
            sections.append(one_section(lines, f"{title}, {privacy_title(mu)}", note))
    names = ("gain", "noise", "learner", "selection", "total loss", "own noise")
    return Table(
        caption="Loss against the best of the paper's learners without noise, in parts",
        name="ablation",
        corner=("stream", "system"),
        headers=(*names, Column("oracle", prose=True)),
        sections=tuple(sections),
        footers=(
            *_ABOUT_LOSSES,
            footers.describe_intervals_behind(ablation),
            f"Means over {ablation['replicates'].iloc[0]} runs. What is guaranteed at each μ: below"
            " the table of the comparison, and in summary.parquet for every system.",
        ),
        numbers=ablation,
    )


def _losses(row: _Row, comparison: Comparison | None) -> Line:
    label = f"{row['algorithm']}, {row['noise']} noise"
    ours = comparison and (comparison.ours.algorithm, comparison.ours.noise)
    if ours == (row["algorithm"], row["noise"]):
        label += " (ours)"
    terms = [
        # Not -0.00.
        Entry(footers.amount(round(row[name], 2) + 0.0, row[f"{name}_half_width"]))
        for name in TERMS
    ]
    return label, (Entry(f"{row['mean_gain']:.2f}"), *terms, Entry(row["oracle"]))
