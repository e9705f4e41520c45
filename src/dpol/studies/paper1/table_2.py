"""Table 2 of the first paper on the streams of a run, with the paper's numbers in grey."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.core.words import counted, listed
from dpol.data.stream import unmeasured_in_words
from dpol.show.entries import NOT_PAPERS, PAPER_1, reference
from dpol.show.reported import (
    PAPER_FIRST,
    PAPER_LAST,
    PAPER_STATES,
    PAPER_WEEKS,
    has_papers_periods,
    load_reported,
    reported_ratios,
)
from dpol.show.table import Line, Table, TableCell, one_section
from dpol.show.words import (
    EXPERTS,
    amount,
    cited,
    describe_data,
    describe_interval,
    mu_title,
)
from dpol.studies.games.names import (
    BEST_LINEAR,
    CELL,
    FTPL,
    LINEAR,
    META,
    MIN_NOISE,
    MIN_REGRET,
    PAPER_NOISE,
    REFERENCE_TOTALS,
    TABLE_2,
    gains_by_cell,
)
from dpol.studies.study import Facts, Frames
from dpol.studies.verdicts import ABOVE, BELOW, EQUAL, UNDECIDED, verdict_between

COLUMNS = [
    "source", "stream", "stream_title", "n_experts", "n_rounds", "first_period", "last_period",
    "mu", "column", "algorithm", "noise", "model", "origin", "mean_gain", "ci_half_width",
    "confidence", "ci_comparisons", "replicates", "uniform_gain", "best_fixed_gain", "oracle_gain",
    "gain_share", "simulated",
]  # fmt: skip
"""Columns of the numbers, named as in the summary, with a row per mean: `source` is the run or the
paper, and `algorithm` of the best linear model is the label of the best."""
HEADERS = {**PAPER_1, BEST_LINEAR: "best linear model"}
"""Headers by column."""
ORDER = (BEST_LINEAR, META, MIN_NOISE, MIN_REGRET)
"""Columns from the largest gain to the smallest, in every state of the paper and at every level."""


class Verdict(NamedTuple):
    """What of the paper's Table 2 a run reproduces, in words.

    Args:
        heading: the order of the columns.
        said: where the order differs or is undecided, and whether totals can be compared.
        why: why the curators lose to RW-Meta, who sees less; empty if they do not.
    """

    heading: str
    said: str
    why: str


def verdict(frames: Frames, facts: Facts) -> Verdict | None:
    """Say what of Table 2 is reproduced; None for a run that asks another question.

    The order is that of the four columns, at the levels of the paper. Totals are comparable only
    for the paper's state and weeks.

    Args:
        frames: the summary, and the total gains.
        facts: as for `table_2`.
    """
    if (paper := _of_paper(facts)).empty:
        return None
    rows = _of_run(frames["summary"], HEADERS, facts)
    pairs = column_pairs(frames["summary"], frames["totals"])
    pairs = pairs[pairs["mu"].isin(paper["mu"]) & pairs["stream"].isin(facts.streams)]
    apart = dict(iter(pairs.groupby("verdict")))
    heading, found = order_in_words(pairs), ""
    for it, said in {BELOW: "Reversed", EQUAL: "Equal", UNDECIDED: "Undecided"}.items():
        found += f" {said}: {_places(apart[it], pairs, facts)}." if it in apart else ""
    meant = {META: " (the paper’s method)", BEST_LINEAR: " (picked afterwards)"}
    names = [HEADERS[it] + meant.get(it, "") for it in ORDER]
    ranked = f"Table 2 ranks four algorithms by total gain: {', '.join(names)}."
    of_meta = pairs[(pairs["column"] == META) & (pairs["other"] == MIN_NOISE)]
    why = (
        f"{HEADERS[MIN_NOISE]} and {HEADERS[MIN_REGRET]} are curators, who see all numbers without"
        f" noise. They lose because they follow sums since the first round; {HEADERS[META]}"
        " forecasts the next."
    )
    why *= bool((of_meta["verdict"] == ABOVE).all())
    return Verdict(heading, f"{ranked}{found} {_totals(rows, paper, facts)}", why)


def column_pairs(summary: pd.DataFrame, totals: pd.DataFrame) -> pd.DataFrame:
    """Return the difference in total gain of each two columns, on each stream and at each level.

    The gain of a column is that of the algorithm with the largest mean. Differences are paired by
    replicate, and their intervals hold jointly. Each follows from the intervals of all pairs of
    algorithms of the two columns, so it allows for the choice of the largest.

    Args:
        summary: table of the main study.
        totals: table of the main study.

    Returns:
        Columns `stream`, `mu`, `column`, `other` (a later one of `ORDER`), `difference`, its
        interval from `lower` to `upper`, and `verdict`, one of those on a difference.
    """
    rows = summary[(summary["exhibit"] == TABLE_2) & ~summary["variant"]]
    gains = gains_by_cell(totals)
    pairs: list[tuple[Any, ...]] = []
    for level, own in rows.groupby(["stream", "mu"], sort=False):
        samples = {
            column: np.stack([gains[it] for it in cells[CELL].itertuples(index=False, name=None)])
            for column, cells in own.groupby("column", sort=False)
        }
        played = [column for column in ORDER if column in samples]
        pairs += [
            (*level, column, other, samples[column][:, np.newaxis] - samples[other])
            for place, column in enumerate(played)
            for other in played[place + 1 :]
        ]
    comparisons = sum(apart[..., 0].size for *_, apart in pairs)
    compared = []
    for *key, apart in pairs:
        mean = apart.mean(axis=-1)
        half = half_width(np.moveaxis(apart, -1, 0), rows["confidence"].iloc[0], comparisons)
        # The largest mean of the first minus the largest of the second.
        difference, lower, upper = (
            float(it.min(axis=1).max()) for it in (mean, mean - half, mean + half)
        )
        compared.append((*key, difference, lower, upper, verdict_between(lower, upper)))
    columns = ["stream", "mu", "column", "other", "difference", "lower", "upper", "verdict"]
    return pd.DataFrame(compared, columns=columns)


def order_in_words(pairs: pd.DataFrame) -> str:
    """Say in how many of the decided pairs of columns the order is the paper's.

    Args:
        pairs: some rows of `column_pairs`.

    >>> pairs = {"column": "a", "other": ["b", "c"], "mu": 1.0, "verdict": ["above", "undecided"]}
    >>> order_in_words(pd.DataFrame(pairs))
    'Reproduced: the order of 3 columns at 1 level in 1 of 1 decided pair (1 undecided)'
    """
    verdicts = pairs["verdict"]
    right, open_ = (int((verdicts == it).sum()) for it in (ABOVE, UNDECIDED))
    decided = len(verdicts) - open_
    word = "Reproduced" if right == decided > 0 else "Not reproduced"
    columns = counted(pd.concat([pairs["column"], pairs["other"]]).nunique(), "column")
    levels = counted(pairs["mu"].nunique(), "level")
    said = f"{word}: the order of {columns} at {levels} in {right} of"
    said += f" {counted(decided, 'decided pair')}"
    return said + f" ({open_} undecided)" * (open_ > 0)


def _places(rows: pd.DataFrame, pairs: pd.DataFrame, facts: Facts) -> str:
    """Name pairs of columns with their levels, or with the number of cases in several streams."""
    told, cases = [], len(pairs.drop_duplicates(["stream", "mu"]))
    for (column, other), own in rows.groupby(["column", "other"], sort=False):
        where = f"at {listed(map(mu_title, sorted(own['mu'], reverse=True)), 4)}"
        if len(facts.streams) > 1:
            where = f"in {len(own)} of {cases} cases"
        told.append(f"{HEADERS[str(column)]} and {HEADERS[str(other)]} {where}")
    return listed(told, 2)


def _totals(rows: pd.DataFrame, paper: pd.DataFrame, facts: Facts) -> str:
    """Say how large RW-Meta's total gains are beside the paper's, or why nobody can compare."""
    weeks = has_papers_periods(rows)
    meta = rows[(rows["column"] == META) & weeks]
    both = meta.assign(state=meta["stream"].map(facts.reported)).merge(
        paper[paper["column"] == META], left_on=["state", "mu"], right_on=["stream", "mu"]
    )
    if facts.simulated:
        return "Total gains are not comparable: hospitals are simulated."
    if len(both):
        shares = 100 * both["mean_gain_x"] / both["mean_gain_y"]
        ends = dict.fromkeys(f"{it:.0f}" for it in (shares.min(), shares.max()))
        return f"Total gains of {HEADERS[META]} are {' to '.join(ends)}% of the paper’s."
    other = "other hospitals" if weeks.all() else "other hospitals or weeks"
    return f"Total gains are not comparable: {other}."


def table_2(frames: Frames, facts: Facts) -> Table:
    """Build Table 2: a section per stream and per state of the paper, a line per level.

    Of the linear models, only the best of each cell is there. Columns that the paper lacks stand
    behind its own. The paper's numbers are there at the
    levels of the run, if it asks the paper's question. The numbers have `COLUMNS`.

    Args:
        frames: the summary, and the total gains.
        facts: streams, levels, and the states of the paper among the streams.
    """
    summary = frames["summary"]
    titles = {**HEADERS, **variants_of(summary)}
    run, paper = _of_run(summary, titles, facts), _of_paper(facts)
    sections = [
        one_section(_lines(rows, titles), title, _size_and_references(rows.iloc[0]))
        for stream, title in facts.streams.items()
        if len(rows := run[run["stream"] == stream])
    ]
    sections += [
        one_section(
            _lines(rows, titles),
            f"{title}, in the paper",
            f"n = {size}; {_how_data_differ(summary, facts, state)}",
            cited=True,
        )
        for state, (title, size) in PAPER_STATES.items()
        if len(rows := paper[paper["stream"] == state])
    ]
    both = [run.assign(source="run")[COLUMNS], paper.assign(source="paper")]
    return Table(
        caption="The paper’s Table 2: total gain",
        corner=("data", "privacy"),
        headers=tuple(titles.values()),
        sections=tuple(sections),
        footers=tuple(_footers(summary, facts, verdict(frames, facts))),
        numbers=pd.concat(both, ignore_index=True).astype({"ci_comparisons": "Int64"}),
    )


def _size_and_references(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    """Describe the size of a stream and its reference gains, from a row of the summary."""
    gains = ", ".join(
        f"{reference(label)} {row[column]:.2f}" for label, column in REFERENCE_TOTALS.items()
    )
    size = f"n = {row['n_experts']}, T = {row['n_rounds']}; {gains}"
    if not row["unmeasured_periods"]:
        return size
    periods, share = row["unmeasured_periods"], row["unmeasured_share"]
    return f"{size}; {unmeasured_in_words(periods, share, of=row['n_rounds'], period='round')}"


def variants_of(rows: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the columns that the paper lacks, by column, of rows with `variant`."""
    return {it: f"{it}, {NOT_PAPERS}" for it in rows.loc[rows["variant"], "column"]}


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
    """Return the paper's numbers at the levels of a run that asks its question.

    They have the `COLUMNS` that the paper tells. It does not name the best linear models.
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
    )
    return rows[rows["mu"].isin(facts.levels) & facts.asks_the_papers]


def _lines(rows: pd.DataFrame, columns: Iterable[str]) -> list[Line]:
    """Return a line for each level: the mean of each column."""
    lines = list[Line]()
    for mu in sorted({*rows["mu"]}, reverse=True):
        own = rows[rows["mu"] == mu]
        means = {row["column"]: _mean(row) for row in own.to_dict("records")}
        lines.append((mu_title(mu), tuple(means.get(it, TableCell("—")) for it in columns)))
    return lines


def _mean(row: Mapping[Any, Any]) -> TableCell:
    gain, notes = row["mean_gain"], tuple[str, ...]()
    if row["column"] == BEST_LINEAR and row["algorithm"]:
        notes = (row["algorithm"].removeprefix(f"{LINEAR}-"),)
    return TableCell(amount(gain, row["ci_half_width"]), notes, order=gain)


def _ratios(summary: pd.DataFrame, facts: Facts) -> Iterator[str]:
    """Say what RW-Meta gains beside RW-FTPL, which it extends, and beside the best linear model."""
    key = ["stream", "mu"]
    rows = _of_run(summary, (META, BEST_LINEAR), facts).set_index(key)
    meta, best = (rows[rows["column"] == it] for it in (META, BEST_LINEAR))
    classical = summary[(summary["algorithm"] == FTPL) & (summary["noise"] == PAPER_NOISE)]
    ratio = (meta["mean_gain"] / classical.set_index(key)["mean_gain"]).dropna()
    if len(ratio):
        texts = _by_level(ratio, ".2f")
        yield f"Gain of {HEADERS[META]} divided by that of RW-FTPL, which it extends: {texts}."
    share = meta["mean_gain"] / best["mean_gain"]
    theirs = reported_ratios(META, BEST_LINEAR)
    models = best["algorithm"].str.removeprefix(f"{LINEAR}-").groupby("mu").unique()[::-1]
    named = [
        f"{listed(own)} at {mu_title(mu)}" for mu, own in zip(models.index, models, strict=True)
    ]
    yield (
        f"Gain of {HEADERS[META]} as a share of that of the {HEADERS[BEST_LINEAR]}:"
        f" {_by_level(share, '.1%')}. The paper says about 90%, and its table has"
        f" {theirs.min():.1%} to {theirs.max():.1%}. The {HEADERS[BEST_LINEAR]} is"
        f" {'; '.join(named)}."
    )


def _by_level(ratios: pd.Series, form: str) -> str:
    """Return the smallest and the largest ratio of each level in words, the weakest level first."""
    by_mu = ratios.groupby("mu").agg(["min", "max"])[::-1]
    ends = [" to ".join(dict.fromkeys(f"{it:{form}}" for it in row)) for row in by_mu.to_numpy()]
    return ", ".join(f"{text} ({mu_title(mu)})" for text, mu in zip(ends, by_mu.index, strict=True))


def _how_data_differ(summary: pd.DataFrame, facts: Facts, state: str) -> str:
    """Say how the paper's data differ from the run's."""
    if facts.simulated:
        return "real hospitals"
    weeks = "same" if has_papers_periods(summary).all() else "other"
    if state in facts.reported.values():
        return f"{weeks} weeks, same state"
    return f"{weeks} weeks{' and' if weeks == 'other' else ', other'} hospitals"


def _footers(summary: pd.DataFrame, facts: Facts, found: Verdict | None) -> Iterator[str]:
    replicates = summary["replicates"].max()
    paper = f"Table 2 of {cited(EXPERTS)}"
    beside = f"Not shown: {paper} (other question: not comparable)."
    if facts.asks_the_papers:
        beside = f"Not computed here: the lines of {paper} (±: 95% interval, where known)."
    # The page shows the first note, and folds the others.
    yield (
        f"Total gain over all T rounds of n experts, mean over {replicates} runs with"
        f" {PAPER_NOISE} noise (μ = ∞: no privacy). {beside}"
    )
    yield (
        f"{HEADERS[META]} and the {HEADERS[BEST_LINEAR]} use regressors that we chose, because no"
        f" source names the paper’s. {HEADERS[MIN_NOISE]} adds noise for the largest sensitivity"
        f" of any round, {HEADERS[META]} for that of each round."
    )
    if found:
        yield (
            f"{found.heading}. {found.said} A pair is decided by its paired differences, whose"
            f" {facts.confidence:.0%} intervals hold jointly."
        )
        yield from _ratios(summary, facts)
    linear = summary.loc[summary["column"] == BEST_LINEAR, "algorithm"].nunique()
    yield (
        f"{HEADERS[BEST_LINEAR]}: of {linear} linear models, the one with the largest mean, chosen"
        " in hindsight for each cell. Its window and penalty are below it. The Bonferroni"
        " correction counts the cells of all of them, so its interval holds despite the choice."
    )
    yield describe_interval(facts.confidence, summary["ci_comparisons"].iloc[0])
    free = summary[(summary["mu"] == math.inf) & (summary["noise"] == PAPER_NOISE)]
    noisy = free.loc[free["guaranteed_mu"] < math.inf, "algorithm"].unique()
    if named := [title for label, title in PAPER_1.items() if label in noisy]:
        yield f"{' and '.join(named)}: adds noise even where no privacy is requested."
    yield describe_data(facts.simulated)
