"""The tables of average gains.

One for each noise, and one for the algorithms without any. Below them: what each mechanism
guarantees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pandas as pd

from dpol.core.rounding import percent, rounded_up
from dpol.noise import NO_NOISE, in_order
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.mechanisms import mechanisms_table
from dpol.show.names import ACCOUNTED, explain_mark, marked, name_of
from dpol.show.reported import BEST_LINEAR
from dpol.show.table import Line, Table, TableCell, one_section
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import REFERENCE_TOTALS, describe_stream, is_weaker
from dpol.studies.study import Facts, Frames

CSV_COLUMNS = (
    *("stream", "stream_title", "n_experts", "n_rounds", "level", "mu"),
    *("column", "best_of", "algorithm", "noise", "model", "ours"),
    *("mean_gain", "ci_half_width", "confidence", "ci_comparisons", "replicates"),
    *("uniform_gain", "best_fixed_gain", "oracle_gain", "gain_share"),
    "simulated",
)
"""Columns of the CSV, named as in the summary; a row per cell that is not empty.

`column` is the heading in the table, `best_of` the family whose best member it shows (empty for a
single algorithm). `algorithm`, the numbers and `ours` are empty where nothing was run.
"""
OWN_NOISE = "own noise"
"""Note to a number with noise in a row without privacy."""
_ON_BOUNDS = (
    "Uniform random: an expert drawn uniformly in every round. Best fixed expert: the best single"
    " expert in hindsight. Oracle: the best expert of every round."
)
_ON_OWN_NOISE = (
    f"“{OWN_NOISE}”, and μ = ∞ without “no privacy”: noise is added even where no privacy is"
    " requested."
)
WEAKER = "not at this level: μ ="
"""Beginning of the note to a number whose guarantee is weaker than the level of its line."""
_ON_WEAKER = f"“{WEAKER}”: the noise guarantees only this μ, which is weaker than the line’s."
UNMOVED = "unmoved by noise"
"""Note to a number that is the same in all replicates."""
_ON_UNMOVED = (
    f"“{UNMOVED}”: all replicates have equal gains in every round although their noise differs."
    " The algorithm ignores the noise, or has seen the gains without noise."
)
Run = Mapping[Any, Any]
"""A row of the summary."""


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of the tables.

    Args:
        title: its header, without a mark: an algorithm, or the best of a family.
        best_of: the family whose best member it shows; empty for a single algorithm.
        runs: rows of the summary of the algorithm, or of all members, with `shown_at`: the noise
            whose table shows them.
        model: `local`, `central`, `central/local`, or `none`.
        ours: whether the header bears the mark †.
        noises: noises whose tables have the column; empty for an algorithm without noise.
    """

    title: str
    best_of: str
    runs: pd.DataFrame
    model: str
    ours: bool
    noises: Sequence[str]

    @property
    def header(self) -> str:
        """The header."""
        return marked(self.title, self.ours)


Cells = Mapping[tuple[str, str, str, str], Run | None]
"""Runs by stream, noise, level and title of the column; None where a table has no number."""


def average_gain_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build the table of total gains with its following tables; the numbers have `CSV_COLUMNS`.

    Args:
        frames: the summary, as `dpol.studies.games.summary.conclude` returns it.
        main: the algorithms to show.
        facts: streams and levels in the order of the lines, and whether the data are simulated.
    """
    summary = frames["summary"]
    sizes = summary.drop_duplicates("stream").set_index("stream").to_dict("index")
    of_title = _runs_by_title(summary, main, facts)
    played = {noise for _, runs in of_title.values() for noise in runs["noise"]}
    noises = in_order(played - {NO_NOISE}) or [NO_NOISE]
    columns = [_column(title, *own, noises=noises) for title, own in of_title.items()]
    cells = _cells(columns, noises, facts)
    tables = [
        _table(cells, [column for column in columns if noise in column.noises], noise, sizes, facts)
        for noise in noises
    ]
    if plain := [column for column in columns if not column.noises]:
        tables.append(_without_noise(cells, plain, facts))
    mechanisms = mechanisms_table(
        {column.title: column.runs for column in columns},
        list(facts.levels.values()),
        name="mechanisms",
    )
    first, *others = tables
    notes = _footers(cells, columns, noises=noises, summary=summary, main=main, facts=facts)
    return replace(
        first,
        name="average-gain",
        footers=tuple(notes),
        numbers=_numbers(cells, columns, sizes, main, facts),
        following=(*others, *([mechanisms] if mechanisms else [])),
    )


def _runs_by_title(
    summary: pd.DataFrame, main: Games, facts: Facts
) -> dict[str, tuple[str, pd.DataFrame]]:
    """Return the family whose best member a column shows, if any, and its runs, by its title."""
    levels = list(facts.levels.values())
    runs = summary[summary["stream"].isin(facts.streams) & summary["mu"].isin(levels)]
    report = main.report
    of_title = {label: ("", runs[runs["algorithm"] == label]) for label in report.algorithms}
    family = report.envelope
    if len(members := runs[runs["family"] == family]):
        label = BEST_LINEAR if family == "ridge" else f"best-{family}"
        of_title[label.replace("-", " ")] = family, members
    return of_title


def _column(title: str, best_of: str, runs: pd.DataFrame, *, noises: Sequence[str]) -> _Column:
    runs = runs.assign(shown_at=runs["noise"].where(runs["noise"] != NO_NOISE, noises[0]))
    runs = runs.sort_values("shown_at", key=lambda it: it.map(noises.index), kind="stable")
    models = sorted({*runs["model"]} - {"none"})
    # If nothing was played with noise, there is only one table.
    plain = not models and list(noises) != [NO_NOISE]
    # With several noises, the noises bear the marks.
    marking = runs if len(noises) == 1 else runs.loc[[not name_of(it).ours for it in runs["noise"]]]
    return _Column(
        title=title,
        best_of=best_of,
        runs=runs,
        model="/".join(models) or "none",
        ours=title not in ACCOUNTED and bool(marking["ours"].any()),
        noises=[] if plain else list(dict.fromkeys(runs["shown_at"])) or noises[:1],
    )


def _cells(columns: Sequence[_Column], noises: Sequence[str], facts: Facts) -> Cells:
    best: dict[tuple[str, str, str, str], Run] = {}
    for column in columns:
        for run in column.runs.to_dict("records"):
            key = run["stream"], run["shown_at"], facts.labels[run["mu"]], column.title
            if key not in best or run["mean_gain"] > best[key]["mean_gain"]:
                best[key] = run
    return {
        key: best.get(key)
        for stream, noise, level in product(facts.streams, noises, facts.levels)
        for column in columns
        if (key := (stream, noise, level, column.title)) in best or noise in column.noises
    }


def _table(
    cells: Cells,
    columns: Sequence[_Column],
    noise: str,
    sizes: Mapping[Any, Run],
    facts: Facts,
) -> Table:
    """Build the table of one noise: a section per stream, a line per level."""
    sections = []
    for stream, title in facts.streams.items():
        lines = [
            _line(mu, [cells[stream, noise, level, it.title] for it in columns], columns)
            for level, mu in facts.levels.items()
        ]
        sections.append(one_section(lines, title, describe_stream(sizes[stream])))
    name = "" if noise == NO_NOISE else f", {marked(f'{noise} noise', name_of(noise).ours)}"
    return Table(
        caption=f"Average total gain{name}",
        name=f"average-gain-{noise}",
        corner=("stream", "privacy"),
        headers=tuple(column.header for column in columns),
        sections=tuple(sections),
    )


def _without_noise(cells: Cells, columns: Sequence[_Column], facts: Facts) -> Table:
    """Build the table of the algorithms that never have noise: a line per stream."""
    played = {(stream, title): run for (stream, _, _, title), run in cells.items()}
    lines = []
    for stream, title in facts.streams.items():
        runs = [played.get((stream, column.title)) for column in columns]
        lines.append((title, _line(math.inf, runs, columns)[1]))
    return Table(
        caption="Average total gain, algorithms without noise or privacy",
        name="average-gain-none",
        corner=("stream",),
        headers=tuple(column.header for column in columns),
        sections=(one_section(lines),),
    )


def _line(mu: float, runs: Sequence[Run | None], columns: Sequence[_Column]) -> Line:
    """Return the line of a level; it is "no privacy" only if the noise can be switched off."""
    guaranteed = {run["guaranteed_mu"] for run in runs if run}
    noisy = any(value < math.inf for value in guaranteed) and math.inf not in guaranteed
    title = mu_title(mu) if noisy else privacy_title(mu)
    pairs = zip(runs, columns, strict=True)
    return title, tuple(_entry(run, title, column.best_of) for run, column in pairs)


def _entry(run: Run | None, title: str, best_of: str) -> TableCell:
    if run is None:
        return TableCell("—")
    notes = [] if math.isnan(run["gain_share"]) else [percent(run["gain_share"])]
    if title == privacy_title(math.inf) and run["guaranteed_mu"] < math.inf:
        notes.append(OWN_NOISE)
    if is_weaker(run["guaranteed_mu"], run["mu"]):
        notes.append(f"{WEAKER} {rounded_up(run['guaranteed_mu'], 3)}")
    if run["unmoved"]:
        notes.append(UNMOVED)
    if run["noise_memory"]:
        mus = ", ".join(rounded_up(run[name], 3) for name in MU_OF_STAYS)
        notes.append(f"μ for {', '.join(map(str, STAYS))} rounds: {mus}")
    gain = run["mean_gain"]
    member = run["algorithm"] if best_of else ""
    return TableCell(
        footers.amount(gain, run["ci_half_width"]), tuple(notes), order=gain, hint=member
    )


def _footers(
    cells: Cells,
    columns: Sequence[_Column],
    *,
    noises: Sequence[str],
    summary: pd.DataFrame,
    main: Games,
    facts: Facts,
) -> Iterator[str]:
    runs = [run for run in cells.values() if run]
    replicates = sorted({run["replicates"] for run in runs}) or [0]
    number = " to ".join(f"{count}" for count in dict.fromkeys((replicates[0], replicates[-1])))
    yield (
        "Each number is the total gain over all T rounds of a stream of n experts, mean over"
        f" {number} runs. Below it: its share of the possible gain (0% is uniform random, 100% the"
        " oracle)."
    )
    yield _ON_BOUNDS
    yield footers.describe_interval(main.report.confidence, summary["ci_comparisons"].iloc[0])
    if any(run["mu"] == math.inf and run["guaranteed_mu"] < math.inf for run in runs):
        yield _ON_OWN_NOISE
    if any(is_weaker(run["guaranteed_mu"], run["mu"]) for run in runs):
        yield _ON_WEAKER
    if any(run["unmoved"] for run in runs):
        yield _ON_UNMOVED
    for column in columns:
        if column.best_of:
            yield footers.describe_best(column.title, column.best_of)
    yield footers.describe_data(facts.simulated)
    yield from footers.describe_guarantee(pd.concat([column.runs for column in columns]))
    if len(runs) < len(cells):
        yield "—: not run."
    ours = [f"{name} noise" for name in noises if len(noises) > 1 and name_of(name).ours]
    yield from explain_mark([*ours, *(column.title for column in columns if column.ours)])
    accounted = [column.title for column in columns if column.title in ACCOUNTED]
    yield from (f"{title}: {ACCOUNTED[title]}." for title in accounted)


def _numbers(
    cells: Cells,
    columns: Sequence[_Column],
    sizes: Mapping[Any, Run],
    main: Games,
    facts: Facts,
) -> pd.DataFrame:
    of_stream = ("n_experts", "n_rounds", "simulated", "ci_comparisons", *REFERENCE_TOTALS.values())
    of_run = ("algorithm", "replicates", "mean_gain", "ci_half_width", "gain_share", "ours")
    of_title, rows = {column.title: column for column in columns}, []
    for (stream, noise, level, title), run in cells.items():
        column = of_title[title]
        row = {
            "stream": stream,
            "stream_title": facts.streams[stream],
            "level": level,
            "mu": facts.levels[level],
            "column": title,
            "best_of": column.best_of,
            "noise": "none" if column.model == "none" else noise,
            "model": column.model,
            "confidence": main.report.confidence,
        }
        row |= {name: sizes[stream][name] for name in of_stream}
        row |= {name: run[name] if run else None for name in of_run}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(CSV_COLUMNS)).astype(
        {"replicates": "Int64", "ours": "boolean"}
    )
