"""Table 2 of the first paper on the streams of a run, with the paper's numbers in grey.

`FURTHER` has the columns beside the means: each is a header and a function of a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import pandas as pd

from dpol.core.rounding import fixed
from dpol.show import footers
from dpol.show.entries import PAPER_1
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
from dpol.studies.games.names import (
    BEST_LINEAR,
    LINEAR,
    META,
    MIN_NOISE,
    PAPER_NOISE,
    TABLE_2,
)
from dpol.studies.games.order import ORDER, column_pairs
from dpol.studies.study import Facts, Frames
from dpol.studies.verdicts import BELOW, EQUAL, UNDECIDED

COLUMNS = [
    "source", "stream", "stream_title", "n_experts", "n_rounds", "first_period", "last_period",
    "mu", "column", "algorithm", "noise", "model", "ours", "mean_gain", "ci_half_width",
    "confidence", "ci_comparisons", "replicates", "uniform_gain", "best_fixed_gain", "oracle_gain",
    "gain_share", "simulated",
]  # fmt: skip
"""Columns of the numbers, named as in the summary, with a row per mean: `source` is the run or the
paper, and `algorithm` of the best linear model is the label of the best."""
NOT_PUBLISHED = [
    "noise", "model", "ours", "ci_comparisons", "uniform_gain", "best_fixed_gain", "oracle_gain",
    "gain_share", "simulated",
]  # fmt: skip
"""Those of them that are empty in the paper's rows."""
_TO_META = ["to_baseline", "to_baseline_half_width"]
"""Columns of the standings: how far a variant is from RW-Meta, in shares of the possible gain."""
HEADERS = {**PAPER_1, BEST_LINEAR: "best linear model"}
"""Headers by column."""
FurtherColumn: TypeAlias = tuple[Column, Callable[[pd.DataFrame, Facts], TableCell | None]]
"""A column beside the means, and a function that makes its cell of a line of the run, or None.
The function takes the rows of the summary whose means the line shows, and facts about the run."""


def reproduced(rows: pd.DataFrame, facts: Facts) -> TableCell | None:
    """Say what of the paper's line at the same level is reproduced; None if it has no such line.

    The order is that of the four columns. Totals are comparable only for the paper's state and
    weeks.
    """
    own, (stream, mu) = rows[~rows["variant"]], rows[["stream", "mu"]].iloc[0]
    paper = _of_paper(facts).loc[lambda it: it["mu"] == mu]
    if paper.empty:
        return None
    totals = "totals not comparable"
    state = paper[paper["stream"] == facts.reported.get(stream)].set_index("column")
    if len(state) and not facts.simulated and has_papers_periods(own).all():
        share = own.set_index("column")["mean_gain"][META] / state["mean_gain"][META]
        totals = f"{HEADERS[META]} has {share:.0%} of the paper’s total"
    return TableCell(f"order {own['order'].iloc[0]}, {totals}")


FURTHER: Sequence[FurtherColumn] = ((Column("reproduced?", prose=True), reproduced),)
"""Columns beside the means. A table leaves out those without a cell in any line."""


def table_2(frames: Frames, facts: Facts) -> Table:
    """Build Table 2 with the columns of `FURTHER`.

    Args:
        frames: the summary, the standings, and the total gains.
        facts: streams, levels, and the states of the paper among the streams.
    """
    return table_2_with(FURTHER, frames, facts)


def table_2_with(further: Sequence[FurtherColumn], frames: Frames, facts: Facts) -> Table:
    """Build Table 2: a section per stream and per state of the paper, a line per level.

    Of the linear models, only the best of each cell is there. The paper's numbers are there at the
    levels of the run, if it asks the paper's question. The numbers have `COLUMNS`.

    Args:
        further: columns beside the means.
        frames: as for `table_2`.
        facts: as for `table_2`.
    """
    summary = frames["summary"]
    titles = {**HEADERS, **{it: it for it in variants_of(summary)}}
    run, paper = _of_run(summary, titles, facts), _of_paper(facts)
    ahead = frames["standings"].query("variant")[["stream", "algorithm", "noise", "mu", *_TO_META]]
    run = run.merge(ahead, how="left")
    run = run.merge(orders_of(column_pairs(summary, frames["totals"])), how="left")
    levels = run.groupby(["stream", "mu"])
    further = [it for it in further if any(it[1](rows, facts) for _, rows in levels)]
    sections = [
        one_section(_lines(rows, titles, further, facts), title, describe_stream(rows.iloc[0]))
        for stream, title in facts.streams.items()
        if len(rows := run[run["stream"] == stream])
    ]
    sections += [
        one_section(
            _lines(rows, titles, [(header, _no_cell) for header, _ in further], facts),
            f"{title}, in the paper",
            f"n = {size}; {_how_data_differ(summary, facts, state)}",
            cited=True,
        )
        for state, (title, size) in PAPER_STATES.items()
        if len(rows := paper[paper["stream"] == state])
    ]
    both = [run.assign(source="run")[COLUMNS], paper.assign(source="paper")[COLUMNS]]
    return Table(
        caption="The paper’s Table 2: total gain",
        corner=("data", "privacy"),
        headers=(*titles.values(), *(header for header, _ in further)),
        sections=tuple(sections),
        footers=tuple(_footers(summary, facts)),
        numbers=pd.concat(both, ignore_index=True).astype({"ci_comparisons": "Int64"}),
    )


def variants_of(rows: pd.DataFrame) -> list[str]:
    """Return the labels of the variants of the paper's algorithms among rows with `variant`."""
    return [*dict.fromkeys(rows.loc[rows["variant"], "column"])]


def _of_run(summary: pd.DataFrame, columns: Iterable[str], facts: Facts) -> pd.DataFrame:
    """Return the best row of each column; the run may play more of the family than the paper."""
    rows = summary[(summary["exhibit"] == TABLE_2) & summary["stream"].isin(facts.streams)]
    rows = rows[rows["mu"].isin(facts.levels)]
    rows = pd.concat([rows[rows["column"] == it] for it in columns], ignore_index=True)
    # Ties go to the first label.
    ordered = rows.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    best = ordered.drop_duplicates(["column", "stream", "mu"]).sort_index()
    return best.assign(stream_title=best["stream"].map(facts.streams))


def _of_paper(facts: Facts) -> pd.DataFrame:
    """Return the paper's numbers at the levels of a run that asks its question, with `COLUMNS`.

    The paper does not name the best linear models.
    """
    rows = load_reported()
    titles, sizes = ({key: state[i] for key, state in PAPER_STATES.items()} for i in (0, 1))
    rows = rows.assign(
        stream_title=rows["stream"].map(titles),
        n_experts=rows["stream"].map(sizes),
        n_rounds=PAPER_WEEKS,
        first_period=PAPER_FIRST,
        last_period=PAPER_LAST,
        column=rows["algorithm"],
        algorithm=rows["algorithm"].where(rows["algorithm"] != BEST_LINEAR, ""),
        confidence=rows["ci_half_width"].notna().map({True: 0.95, False: math.nan}),
        replicates=100,
        **dict.fromkeys(NOT_PUBLISHED, math.nan),
    )
    return rows[rows["mu"].isin(facts.levels) & facts.asks_the_papers]


def orders_of(pairs: pd.DataFrame) -> pd.DataFrame:
    """Say for each `stream` and `mu` whether its columns have the paper's order: column `order`.

    It is `yes` if every column is above the next, and `no` if one is not above a later one.
    Otherwise it names the neighbours that are undecided.

    Args:
        pairs: table of `column_pairs`, with all columns.
    """
    said = []
    for (stream, mu), own in pairs.groupby(["stream", "mu"], sort=False):
        verdicts = own.set_index(["column", "other"])["verdict"]
        unclear = [
            f"{HEADERS[column]} and {HEADERS[other]}"
            for column, other in pairwise(ORDER)
            if verdicts[column, other] == UNDECIDED
        ]
        word = f"undecided: {'; '.join(unclear)}" if unclear else "yes"
        said.append((stream, mu, "no" if verdicts.isin([BELOW, EQUAL]).any() else word))
    return pd.DataFrame(said, columns=["stream", "mu", "order"])


def _lines(
    rows: pd.DataFrame, columns: Iterable[str], further: Iterable[FurtherColumn], facts: Facts
) -> list[Line]:
    """Return a line for each level: the mean of each column, and the cells of further columns."""
    lines = list[Line]()
    for mu in sorted({*rows["mu"]}, reverse=True):
        own = rows[rows["mu"] == mu]
        means = {row["column"]: _mean(row) for row in own.to_dict("records")}
        cells = [*map(means.get, columns), *(cell(own, facts) for _, cell in further)]
        lines.append((mu_title(mu), tuple(cell or TableCell("—") for cell in cells)))
    return lines


def _no_cell(_: pd.DataFrame, __: Facts) -> None:
    """Leave a cell empty: the paper's lines have means alone."""


def _mean(row: Mapping[Any, Any]) -> TableCell:
    gain, notes = row["mean_gain"], tuple[str, ...]()
    if row["column"] == BEST_LINEAR and row["algorithm"]:
        notes = (row["algorithm"].removeprefix(f"{LINEAR}-"),)
    if not math.isnan(row.get("to_baseline", math.nan)):
        possible = row["oracle_gain"] - row["uniform_gain"]
        ahead, half = (possible * row[name] for name in _TO_META)
        notes = (f"{fixed(ahead, 2, '+')}{footers.plus_minus(half, 2)} to {HEADERS[META]}",)
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
            "Reproduced: whether the four columns have the paper’s order, by paired differences"
            f" whose {facts.confidence:.0%} intervals hold jointly; undecided where the interval of"
            " neighbours contains 0. Totals are comparable only for the same hospitals in the same"
            " weeks."
        )
    if facts.asks_the_papers and not facts.simulated:
        yield describe_fillings()
    linear = summary.loc[summary["column"] == BEST_LINEAR, "algorithm"].nunique()
    yield (
        f"{HEADERS[BEST_LINEAR]}: the one of {linear} with the largest mean,"
        " chosen in hindsight for each cell; below it are its window and penalty. The Bonferroni"
        " correction counts the cells of all of them, so its interval holds despite the choice."
    )
    yield footers.describe_interval(facts.confidence, summary["ci_comparisons"].iloc[0])
    free = summary[(summary["mu"] == math.inf) & (summary["noise"] == PAPER_NOISE)]
    noisy = free.loc[free["guaranteed_mu"] < math.inf, "algorithm"].unique()
    if named := [title for label, title in PAPER_1.items() if label in noisy]:
        yield f"{' and '.join(named)}: adds noise even where no privacy is requested."
    yield footers.describe_data(facts.simulated)
