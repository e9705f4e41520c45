"""Table 2 of the first paper on the streams of a run, with the paper's numbers in grey."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import fixed
from dpol.show import footers
from dpol.show.papers import EXPERTS, cited
from dpol.show.reported import (
    PAPER_FIRST,
    PAPER_LAST,
    PAPER_STATES,
    PAPER_WEEKS,
    describe_fillings,
    has_papers_periods,
    load_reported,
)
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.show.words import mu_title
from dpol.studies.answer.systems import describe_stream
from dpol.studies.games.levels import ordered_levels
from dpol.studies.games.names import (
    BEST_LINEAR,
    LINEAR,
    META,
    MIN_NOISE,
    PAPER_NOISE,
    TABLE_2,
    TITLES,
    VARIANT,
)
from dpol.studies.study import Facts, Frames

RUN, PAPER = "run", "paper"
"""Sources of the numbers."""
COLUMNS = [
    "source", "stream", "stream_title", "n_experts", "n_rounds", "first_period", "last_period",
    "mu", "column", "algorithm", "noise", "model", "ours", "mean_gain", "ci_half_width",
    "confidence", "ci_comparisons", "replicates", "uniform_gain", "best_fixed_gain", "oracle_gain",
    "gain_share", "simulated",
]  # fmt: skip
"""Columns of the numbers, named as in the summary, with a row per cell that is not empty. `column`
is the header; its `algorithm` may be the best of the linear models."""
HEADERS = {**TITLES, BEST_LINEAR: "best linear model"}
"""Headers by column."""
_REPRODUCED = "reproduced?"


def table_2(frames: Frames, facts: Facts) -> Table:
    """Build Table 2: a section per stream and per state of the paper, a line per level.

    Of the linear models, only the best of each cell is there. The paper's numbers are there at the
    levels of the run, if it asks the paper's question. The numbers have `COLUMNS`.

    Args:
        frames: the summary, and the standings.
        facts: streams, levels, and the states of the paper among the streams.
    """
    summary, mus = frames["summary"], ordered_levels(facts.levels)
    titles = {**HEADERS, **{it: it for it in variants_of(summary)}}
    run = _of_run(summary[summary["stream"].isin(facts.streams)], titles, facts)
    run = run.merge(_beside_meta(frames["standings"]), how="left")
    paper = _of_paper()
    paper = paper[paper["mu"].isin(mus) & facts.asks_the_papers]
    marked = pd.concat([run, *_marks(run, paper, facts)])
    columns = [*titles, *([_REPRODUCED] if len(paper) else [])]
    sections = [
        one_section(_lines(rows, columns, mus), title, describe_stream(rows.iloc[0]))
        for stream, title in facts.streams.items()
        if len(rows := marked[marked["stream"] == stream])
    ]
    sections += [
        one_section(
            _lines(rows, columns, sorted({*rows["mu"]}, reverse=True)),
            f"{title}, in the paper",
            f"n = {size}; {_how_data_differ(summary, facts, state)}",
            cited=True,
        )
        for state, (title, size) in PAPER_STATES.items()
        if len(rows := paper[paper["stream"] == state])
    ]
    both = pd.concat([run.assign(source=RUN), paper.assign(source=PAPER)], ignore_index=True)
    return Table(
        caption="The paper’s Table 2: total gain",
        corner=("data", "privacy"),
        headers=(*titles.values(), *(Column(it, prose=True) for it in columns[len(titles) :])),
        sections=tuple(sections),
        footers=tuple(_footers(summary, facts)),
        numbers=both.reindex(columns=COLUMNS).astype({"ci_comparisons": "Int64"}),
    )


def variants_of(rows: pd.DataFrame) -> list[str]:
    """Return the labels of the variants of the paper's algorithms among rows with `exhibit`."""
    return [*dict.fromkeys(rows.loc[rows["exhibit"].str.startswith(VARIANT), "algorithm"])]


def _of_run(summary: pd.DataFrame, columns: Iterable[str], facts: Facts) -> pd.DataFrame:
    """Return the best row of each column; the run may play more of the family than the paper."""
    rows = summary[summary["mu"].isin(facts.levels.values())]
    exhibits = rows["exhibit"].str.removeprefix(TABLE_2).str.removeprefix(VARIANT)
    rows = pd.concat({name: rows[exhibits == name] for name in columns}, names=["column"])
    rows = rows.reset_index("column").reset_index(drop=True)
    # Ties go to the first label.
    ordered = rows.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    best = ordered.drop_duplicates(["column", "stream", "mu"]).sort_index()
    return best.assign(stream_title=best["stream"].map(facts.streams))


def _beside_meta(standings: pd.DataFrame) -> pd.DataFrame:
    """Return how far the total gain of each variant is from RW-Meta's, replicate by replicate."""
    rows = standings[standings["exhibit"].str.startswith(VARIANT)]
    possible = rows["oracle_gain"] - rows["uniform_gain"]
    ends = {"ahead": "to_baseline", "ahead_half_width": "to_baseline_half_width"}
    rows = rows.assign(**{name: possible * rows[column] for name, column in ends.items()})
    return rows[["stream", "algorithm", "noise", "mu", *ends]]


def _of_paper() -> pd.DataFrame:
    """Return the paper's numbers; it does not name the best linear models."""
    rows = load_reported()
    titles, sizes = ({key: state[i] for key, state in PAPER_STATES.items()} for i in (0, 1))
    known = rows["ci_half_width"].notna()
    return rows.assign(
        stream_title=rows["stream"].map(titles),
        n_experts=rows["stream"].map(sizes),
        n_rounds=PAPER_WEEKS,
        first_period=PAPER_FIRST,
        last_period=PAPER_LAST,
        column=rows["algorithm"],
        algorithm=rows["algorithm"].where(rows["algorithm"] != BEST_LINEAR, ""),
        confidence=known.map({True: 0.95, False: math.nan}),
        replicates=100,
    )


def _marks(run: pd.DataFrame, paper: pd.DataFrame, facts: Facts) -> Iterator[pd.DataFrame]:
    """Yield a row for each stream and level that says what of the paper's line is reproduced.

    The order is that of the four means. Totals are comparable only for the paper's state and weeks.
    """
    for (stream, mu), own in run[run["column"].isin(HEADERS)].groupby(["stream", "mu"]):
        same = paper[paper["mu"] == mu]
        orders = [_order(rows) for _, rows in same.groupby("stream")]
        totals = "totals not comparable"
        state = same[same["stream"] == facts.reported.get(str(stream))].set_index("column")
        if len(state) and not facts.simulated and has_papers_periods(own).all():
            share = own.set_index("column")["mean_gain"][META] / state["mean_gain"][META]
            totals = f"{HEADERS[META]} has {share:.0%} of the paper’s total"
        if orders:
            text = f"order {'yes' if _order(own) in orders else 'no'}, {totals}"
            yield own.head(1).assign(column=_REPRODUCED, algorithm=text)


def _order(rows: pd.DataFrame) -> list[str]:
    return rows.sort_values("mean_gain")["column"].tolist()


def _lines(rows: pd.DataFrame, columns: Collection[str], mus: Sequence[float]) -> list[Line]:
    """Return a line for each level, with a cell for each column; rows have `column`."""
    lines = list[Line]()
    for mu in mus:
        of_column = {row["column"]: row for row in rows[rows["mu"] == mu].to_dict("records")}
        cells = (_gain(of_column[it]) if it in of_column else TableCell("—") for it in columns)
        lines.append((mu_title(mu), tuple(cells)))
    return lines


def _gain(row: Any) -> TableCell:
    if row["column"] == _REPRODUCED:
        return TableCell(row["algorithm"])
    gain, model = row["mean_gain"], ""
    if row["column"] == BEST_LINEAR:
        model = row["algorithm"].removeprefix(f"{LINEAR}-")
    notes = (model,) if model else ()
    if not math.isnan(row.get("ahead", math.nan)):
        ahead = fixed(row["ahead"], 2, "+") + footers.plus_minus(row["ahead_half_width"], 2)
        notes = (f"{ahead} to {HEADERS[META]}",)
    return TableCell(footers.amount(gain, row["ci_half_width"]), notes, order=gain)


def _how_data_differ(summary: pd.DataFrame, facts: Facts, state: str) -> str:
    """Say how the paper's data differ from the run's."""
    if facts.simulated:
        return "real hospitals"
    weeks = "same" if has_papers_periods(summary).all() else "other"
    if state in facts.reported.values():
        return f"{weeks} weeks, same state"
    return f"{weeks} weeks{' and' if weeks == 'other' else ', other'} hospitals"


def _footers(summary: pd.DataFrame, facts: Facts) -> Iterator[str]:
    replicates = summary["replicates"].max()
    paper = f"Table 2 of {cited(EXPERTS)}"
    beside = f"Not shown: {paper} (other question: not comparable)."
    if facts.asks_the_papers:
        beside = f"Not computed here: the lines of {paper} (±: 95% interval, where known)."
    # The page shows the first note, and folds the others.
    yield (
        f"Total gain over all T rounds of n experts, mean over {replicates} runs with"
        f" {PAPER_NOISE} noise (μ = ∞: no privacy). {beside} {HEADERS[META]} and the"
        f" {HEADERS[BEST_LINEAR]} rest on regressors that are our reading: no source gives the"
        f" paper’s. {HEADERS[MIN_NOISE]} adds noise for the largest sensitivity of any round,"
        f" {HEADERS[META]} for that of each round."
    )
    if facts.asks_the_papers:
        yield (
            "Reproduced: whether the four means have the paper’s order. Totals are comparable only"
            " for the same hospitals in the same weeks."
        )
    if facts.asks_the_papers and not facts.simulated:
        yield describe_fillings()
    linear = summary.loc[summary["exhibit"] == f"{TABLE_2}{BEST_LINEAR}", "algorithm"].nunique()
    yield (
        f"{HEADERS[BEST_LINEAR]}: the one of {linear} with the largest mean,"
        " chosen in hindsight for each cell; below it are its window and penalty. The Bonferroni"
        " correction counts the cells of all of them, so its interval holds despite the choice."
    )
    yield footers.describe_interval(facts.confidence, summary["ci_comparisons"].iloc[0])
    free = summary[(summary["mu"] == math.inf) & (summary["noise"] == PAPER_NOISE)]
    noisy = free.loc[free["guaranteed_mu"] < math.inf, "algorithm"].unique()
    if named := [title for label, title in TITLES.items() if label in noisy]:
        yield f"{' and '.join(named)}: adds noise even where no privacy is requested."
    yield footers.describe_data(facts.simulated)
