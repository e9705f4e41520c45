"""The paper's Table 2 and Figure 2 on the streams of a run, with the paper's numbers in grey."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
from matplotlib import dates
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from dpol.core.intervals import ABOVE, BELOW, verdict_on
from dpol.data.stream import MANY_UNMEASURED
from dpol.experts.registry import make_members
from dpol.show import footers, panels
from dpol.show.looks import ENVELOPE, GREY, REFERENCES, looks_of
from dpol.show.papers import EXPERTS, cited
from dpol.show.reported import (
    BEST_LINEAR,
    PAPER_FIRST,
    PAPER_LAST,
    PAPER_STATES,
    PAPER_WEEKS,
    describe_fillings,
    has_papers_periods,
    load_reported,
)
from dpol.show.table import Column, Table, TableCell, one_section
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.gains import COLUMNS, best_of_columns, gain_lines
from dpol.studies.games.settings import (
    BEST_FIXED,
    LINEAR,
    META,
    MIN_NOISE,
    PAPER_NOISE,
    TITLES,
    Games,
    is_papers,
)
from dpol.studies.games.systems import (
    REFERENCE_NAMES,
    describe_stream,
    ordered_levels,
    sized_titles,
)
from dpol.studies.study import Facts, Frames

RUN, PAPER = "run", "paper"
"""Sources of the numbers."""
HEADERS = {**TITLES, BEST_LINEAR: "best linear model"}
"""Headers by column."""
_REPRODUCED = "reproduced?"
RANGE_LABEL = "linear models"
_RANGE_ALPHA = 0.35
_BOLD_CHARACTERS_PER_INCH = 12.5
_MANY = 4
"""Number of levels above which titles are wrapped and dates are fewer."""
# Without markers, which would look like measured points.
_LOOKS = {label: replace(look, marker="") for label, look in looks_of(TITLES).items()}


# ---- Table 2 -------------------------------------------------------------------------------------


def table_2(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build Table 2: a section per stream and per state of the paper, a line per level.

    Of the linear models, only the best of each cell is there. The paper's numbers are there at the
    levels of the run, if it asks the paper's question. The numbers have `source` and `COLUMNS`.

    Args:
        frames: the summary.
        main: the confidence of the intervals.
        facts: streams, levels, and the states of the paper among the streams.
    """
    summary, mus = frames["summary"], ordered_levels(facts.levels)
    run = _of_run(summary[summary["stream"].isin(facts.streams)], facts)
    paper = _of_paper()
    paper = paper[paper["mu"].isin(mus) & facts.asks_the_papers]
    marked = pd.concat([run, *_marks(run, paper, facts)])
    columns = [*HEADERS, *([_REPRODUCED] if len(paper) else [])]
    sections = [
        one_section(
            gain_lines(rows, columns, mus, _gain, name=mu_title),
            title,
            describe_stream(rows.iloc[0]),
        )
        for stream, title in facts.streams.items()
        if len(rows := marked[marked["stream"] == stream])
    ]
    sections += [
        one_section(
            gain_lines(rows, columns, sorted({*rows["mu"]}, reverse=True), _gain, name=mu_title),
            f"{title}, in the paper",
            f"n = {size}; {_compared(summary, facts, state)}",
            cited=True,
        )
        for state, (title, size) in PAPER_STATES.items()
        if len(rows := paper[paper["stream"] == state])
    ]
    both = pd.concat([run.assign(source=RUN), paper.assign(source=PAPER)], ignore_index=True)
    return Table(
        caption="The paper’s Table 2: total gain",
        corner=("data", "privacy"),
        headers=(*HEADERS.values(), *(Column(it, prose=True) for it in columns[len(HEADERS) :])),
        sections=tuple(sections),
        footers=tuple(_footers(summary, main, facts)),
        numbers=both.reindex(columns=["source", *COLUMNS]).astype({"ci_comparisons": "Int64"}),
    )


def _of_run(summary: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    """Return the best row of each column; the run may play more of the family than the paper."""
    rows = summary[is_papers(summary) & summary["mu"].isin(facts.levels.values())]
    columns = {label: rows[rows["algorithm"] == label] for label in TITLES}
    best = best_of_columns({**columns, BEST_LINEAR: rows[rows["family"] == LINEAR]})
    return best.assign(stream_title=best["stream"].map(facts.streams))


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
    for (stream, mu), own in run.groupby(["stream", "mu"]):
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


def _gain(row: Any) -> TableCell:
    if row["column"] == _REPRODUCED:
        return TableCell(row["algorithm"])
    gain, model = row["mean_gain"], ""
    if row["column"] == BEST_LINEAR:
        model = row["algorithm"].removeprefix(f"{LINEAR}-")
    notes = (model,) if model else ()
    return TableCell(footers.amount(gain, row["ci_half_width"]), notes, order=gain)


def _compared(summary: pd.DataFrame, facts: Facts, state: str) -> str:
    """Say how the paper's data differ from the run's."""
    if facts.simulated:
        return "real hospitals"
    weeks = "same" if has_papers_periods(summary).all() else "other"
    if state in facts.reported.values():
        return f"{weeks} weeks, same state"
    return f"{weeks} weeks{' and' if weeks == 'other' else ', other'} hospitals"


def _footers(summary: pd.DataFrame, main: Games, facts: Facts) -> Iterator[str]:
    replicates = summary["replicates"].max()
    paper = f"Table 2 of {cited(EXPERTS)}"
    beside = f"Not shown: {paper} (other question: not comparable)."
    if facts.asks_the_papers:
        beside = f"Grey: {paper}, not computed here (±: 95% interval, where known)."
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
    yield (
        f"{HEADERS[BEST_LINEAR]}: the one of {len(make_members(LINEAR))} with the largest mean,"
        " chosen in hindsight for each cell; below it are its window and penalty. The Bonferroni"
        " correction counts the cells of all of them, so its interval holds despite the choice."
    )
    yield footers.describe_interval(main.report.confidence, summary["ci_comparisons"].iloc[0])
    free = summary[(summary["mu"] == math.inf) & (summary["noise"] == PAPER_NOISE)]
    noisy = free.loc[free["guaranteed_mu"] < math.inf, "algorithm"].unique()
    if named := [title for label, title in TITLES.items() if label in noisy]:
        yield f"{' and '.join(named)}: adds noise even where no privacy is requested."
    yield footers.describe_data(facts.simulated)


# ---- Figure 2 ------------------------------------------------------------------------------------


def draw_figure_2(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw mean cumulative gain over time: a row of panels per stream, a column per level.

    Args:
        frames: the summary; and `cumulative`, one row per stream, algorithm, noise, mu and round,
            with the best fixed expert among the algorithms.
        main: the confidence of the intervals.
        facts: titles of the streams, levels, and whether the data are simulated.
    """
    levels = ordered_levels(facts.levels)
    rows = _shown(frames["cumulative"], facts)
    titles = sized_titles(facts.streams, frames["summary"])
    width = {1: 4.2, 2: 2.7}.get(len(levels), panels.WIDTH / len(levels))
    height = {1: 2.6, 2: 1.9}.get(len(facts.streams), 1.5)
    cells, size = list(product(facts.streams, levels)), (width, height)
    # All panels share both axes, as in the paper.
    with panels.panels(
        len(cells), len(levels), size, "cumulative gain", sharex=True, sharey=True
    ) as drawn:
        for ax, (stream, mu) in zip(drawn.axes, cells, strict=True):
            own = rows[rows["stream"] == stream]
            _draw_panel(ax, own[(own["mu"] == mu) | (own["algorithm"] == BEST_FIXED)])
        for ax, mu in zip(drawn.grid[0], levels, strict=True):
            text = privacy_title(mu)
            ax.set_title(text.replace(" (", "\n(") if len(levels) > _MANY else text)
        for ax, stream in zip(drawn.grid[:, 0], facts.streams, strict=True):
            # A bracket such as (n = 24) stays on one line.
            title = re.sub(r"\([^()]{,12}\)", lambda m: m[0].replace(" ", "\xa0"), titles[stream])
            wrapped = textwrap.fill(title, int(height * _BOLD_CHARACTERS_PER_INCH))
            ax.set_ylabel(wrapped, fontweight="bold", parse_math=False)
        most = 4 if len(levels) > _MANY else 5
        _set_scales(drawn.axes[0], most, dated=bool(rows["period"].notna().all()))
        drawn.legend(_legend_keys())
        drawn.title(*_subtitle(rows, main, facts))
        depends = bool(frames["summary"]["unmeasured_share"].max() > MANY_UNMEASURED)
        drawn.find(_finding(rows, facts) + " This depends on unmeasured numbers." * depends)
    return drawn.figure


def _shown(cumulative: pd.DataFrame, facts: Facts) -> pd.DataFrame:
    """Return the paper's algorithms with its noise and the best fixed expert, with `x`."""
    rows = cumulative[is_papers(cumulative) | (cumulative["algorithm"] == BEST_FIXED)]
    rows = rows[rows["stream"].isin(facts.streams)].sort_values("round", kind="stable")
    dated = bool(rows["period"].notna().all())
    return rows.assign(x=dates.date2num(rows["period"]) if dated else rows["round"])


def _draw_panel(ax: Axes, rows: pd.DataFrame) -> None:
    values = rows[rows["family"] == LINEAR].groupby("x")["mean_cumulative_gain"]
    low, high = values.min(), values.max()
    shade = ax.fill_between(low.index, low, high, color=ENVELOPE, linewidth=0, zorder=1)
    shade.set(alpha=_RANGE_ALPHA, label=RANGE_LABEL)
    for label, look in _LOOKS.items():
        own = rows[rows["algorithm"] == label]
        panels.add_band(ax, own[["x", "mean_cumulative_gain", "ci_half_width"]], look, label)
    fixed, look = rows[rows["algorithm"] == BEST_FIXED], REFERENCES[BEST_FIXED]
    ax.plot(fixed["x"], fixed["mean_cumulative_gain"], zorder=4, label=BEST_FIXED, **look.line)


def _set_scales(ax: Axes, most: int, *, dated: bool) -> None:
    """Set the scales that all panels share, with at most `most` dates or rounds."""
    ax.margins(x=0.02)
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
    if not dated:
        ax.xaxis.set_major_locator(MaxNLocator(nbins=most - 1, steps=[1, 2, 5, 10], integer=True))
        return
    locator = dates.AutoDateLocator(minticks=2, maxticks=most)
    ax.xaxis.set_major_locator(locator)
    # The subtitle has the years: the formatter's own would overlap the next panel.
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator, show_offset=False))


def _legend_keys() -> list[Artist]:
    fixed = panels.key(REFERENCE_NAMES[BEST_FIXED], **REFERENCES[BEST_FIXED].line)
    range_name = f"range of the {len(make_members(LINEAR))} linear models"
    band = "shade in a line's colour: its interval"
    return [
        *(panels.key(TITLES[label], **look.line) for label, look in _LOOKS.items()),
        fixed,
        Patch(facecolor=ENVELOPE, alpha=_RANGE_ALPHA, label=range_name),
        Patch(facecolor=GREY, alpha=panels.BAND_ALPHA, label=band),
    ]


def _subtitle(rows: pd.DataFrame, main: Games, facts: Facts) -> tuple[str, ...]:
    when = f"rounds 1 to {rows['round'].max()}"
    if rows["period"].notna().all():
        when = f"{rows['period'].min():%Y-%m-%d} to {rows['period'].max():%Y-%m-%d}"
    return (
        f"{panels.data_title(facts.simulated)}, {when}",
        f"{PAPER_NOISE} noise",
        f"joint {100 * main.report.confidence:g}% intervals for the noise",
    )


def _finding(rows: pd.DataFrame, facts: Facts) -> str:
    """Count the panels in which RW-Meta ends above or below the best fixed expert."""
    last = rows[rows["round"] == rows["round"].max()]
    fixed = last[last["algorithm"] == BEST_FIXED].set_index("stream")["mean_cumulative_gain"]
    meta = last[(last["algorithm"] == META) & last["mu"].isin(facts.levels.values())]
    lead = meta["mean_cumulative_gain"] - meta["stream"].map(fixed)
    verdicts = list(map(verdict_on, lead, meta["ci_half_width"]))
    return (
        f"{TITLES[META]} ends above the best fixed expert in"
        f" {verdicts.count(ABOVE)} of {len(verdicts)} panels, and below it in"
        f" {verdicts.count(BELOW)}."
    )
