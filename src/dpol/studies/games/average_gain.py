"""The table of average gains, with the paper's numbers where they are comparable."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.noise.noises import in_order
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.names import ACCOUNTED, explain_mark, marked, name_of
from dpol.show.table import Entry, Group, Line, Section, Table
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.bounds import TOTALS, describe_stream
from dpol.studies.games.reported import BEST_LINEAR, describe_reported
from dpol.studies.games.settings import Games
from dpol.studies.study import Facts, Frames

CSV_COLUMNS = (
    *("stream", "stream_title", "n_experts", "n_rounds", "level", "mu"),
    *("column", "best_of", "algorithm", "noise", "model", "ours"),
    *("mean_gain", "ci_half_width", "confidence", "ci_comparisons", "replicates"),
    *("chance_gain", "best_static_gain", "foresight_gain", "gain_share"),
    *("reported_mean_gain", "reported_ci_half_width", "simulated"),
)
"""Columns of the CSV, named as in the summary.

`column` is the heading in the table, `best_of` the family whose best member it shows (empty for an
algorithm's own column); `algorithm`, the numbers and `ours` are empty where nothing was run.
"""
OWN_NOISE = "own noise"
"""Note to a number with noise in a row without privacy."""
_ON_BOUNDS = (
    "Chance: an expert drawn uniformly in every round. Best fixed expert: in hindsight. Foresight:"
    " the largest gain of every round."
)
_ON_OWN_NOISE = (
    f"μ = ∞, not called “no privacy”, and “{OWN_NOISE}”: noise that is added even where no privacy"
    " is asked for."
)
UNMOVED = "unmoved by noise"
"""Note to a number that is the same in all replicates."""
_ON_UNMOVED = (
    f"“{UNMOVED}”: all replicates have equal gains in every round, although their noise differs."
    " The algorithm ignores its noise, or has seen the gains without it."
)
_KEY = ["stream", "row_noise", "mu", "label"]
_REPORTED = ["reported_mean_gain", "reported_ci_half_width"]


def average_gain_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """The table of a summary; the numbers behind it have `CSV_COLUMNS`.

    Args:
        frames: the summary, as `dpol.studies.games.findings.conclude` makes it.
        main: streams and levels in the order of the lines, and the algorithms that are shown.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    runs = _runs(summary, main)
    columns = _columns(runs, main)
    cells = _cells(runs, columns, summary, main, facts)
    several = cells["row_noise"].nunique() > 1
    return Table(
        caption="Average total gain",
        name="average-gain",
        corner=("stream", "noise", "privacy") if several else ("stream", "privacy"),
        headers=tuple(map(marked, columns["column"], columns["marked"])),
        sections=tuple(_sections(cells, list(columns["label"]))),
        footers=tuple(_footers(cells, columns, runs, main, facts)),
        numbers=cells[list(CSV_COLUMNS)],
    )


def _runs(summary: pd.DataFrame, main: Games) -> pd.DataFrame:
    """The runs of each column (`label`), at all levels, with the noise of their rows.

    The column of a family has all of its members. Runs without noise of their own are in the
    first rows (`row_noise`). `used`: of a stream and a level that are shown.
    """
    report = main.report
    best = BEST_LINEAR if report.envelope == "ridge" else f"best-{report.envelope}"
    own = summary[summary["algorithm"].isin(report.algorithms)]
    members = summary[summary["family"] == report.envelope]
    own = own.assign(label=own["algorithm"], best_of="")
    members = members.assign(label=best, best_of=report.envelope)
    runs = pd.concat([own, members], ignore_index=True)
    used = runs["stream"].isin(main.streams) & runs["mu"].isin(main.levels.values())
    noises = set(runs["noise"][used]) - {"none"}
    names = in_order(noises) or ["none"]
    row_noise = runs["noise"].where(runs["noise"] != "none", names[0])
    return runs.assign(row_noise=pd.Categorical(row_noise, names, ordered=True), used=used)


def _columns(runs: pd.DataFrame, main: Games) -> pd.DataFrame:
    """A row per column; `only_with`: the noise of the rows that show it, empty for all rows.

    A column without local noise that was played under one noise only is shown once.
    """
    noises = runs["row_noise"].cat.categories
    order = [*main.report.algorithms, *runs.loc[runs["best_of"] != "", "label"]]
    found = []
    for label in dict.fromkeys(order):
        own = runs[runs["label"] == label]
        best_of = own["best_of"].iloc[0]
        models = sorted(set(own["model"]) - {"none"})
        # Rows of several noises bear the marks of those that are ours.
        marking = own if len(noises) == 1 else own[[not name_of(it).ours for it in own["noise"]]]
        played = own.loc[own["used"], "row_noise"]
        everywhere = "local" in models or played.nunique() > 1
        found.append(
            {
                "label": label,
                "best_of": best_of,
                "column": label.replace("-", " ") if best_of else label,
                "model": "/".join(models) or "none",
                "marked": label not in ACCOUNTED and bool(marking["ours"].any()),
                "only_with": "" if everywhere else noises[0] if played.empty else played.min(),
            }
        )
    return pd.DataFrame(found)


def _cells(
    runs: pd.DataFrame,
    columns: pd.DataFrame,
    summary: pd.DataFrame,
    main: Games,
    facts: Facts,
) -> pd.DataFrame:
    """A row per cell that is not empty, in the order of the table; no `algorithm`: not run."""
    axes: dict[str, list[str]] = {
        "stream": list(main.streams),
        "row_noise": list(runs["row_noise"].cat.categories),
        "level": list(main.levels),
        "label": list(columns["label"]),
    }
    cells = pd.MultiIndex.from_product(list(axes.values()), names=list(axes)).to_frame(index=False)
    cells = cells.merge(columns, how="left", on="label")
    cells = cells[(cells["only_with"] == "") | (cells["only_with"] == cells["row_noise"])]
    of_stream = ["n_experts", "n_rounds", "simulated", *TOTALS.values()]
    sizes = summary.groupby("stream")[of_stream].first()
    played = runs[runs["used"] & ((runs["best_of"] == "") | runs["best_of_family"])]
    played = played.sort_values("mean_gain", ascending=False).drop_duplicates(_KEY)
    played[_REPORTED] = played[_REPORTED].where(played["reported_as"] == played["label"])
    numbers = ["algorithm", "replicates", "mean_gain", "ci_half_width", "gain_share"]
    numbers += ["guaranteed_mu", "unmoved", "ours", "noise_memory", *MU_OF_STAYS]
    truths = {"unmoved": "boolean", "ours": "boolean"}
    played = played.astype({"row_noise": str, "replicates": "Int64", **truths})
    return (
        cells.assign(
            mu=cells["level"].map(main.levels),
            stream_title=cells["stream"].map(facts.streams),
            noise=cells["row_noise"].mask(cells["model"] == "none", "none"),
            confidence=main.report.confidence,
            ci_comparisons=int(summary["ci_comparisons"].iloc[0]),
        )
        .join(sizes, on="stream")
        .merge(played[[*_KEY, *numbers, *_REPORTED]], how="left", on=_KEY)
    )


def _sections(cells: pd.DataFrame, labels: Sequence[str]) -> Iterator[Section]:
    for _, of_stream in cells.groupby("stream", sort=False):
        groups = []
        for noise, of_noise in of_stream.groupby("row_noise", sort=False):
            title = marked(str(noise), name_of(str(noise)).ours)
            rows = of_noise.groupby("level", sort=False)
            groups.append(Group(title, tuple(_line(row, labels) for _, row in rows)))
        first = of_stream.iloc[0]
        yield Section(first["stream_title"], describe_stream(first), tuple(groups))


def _line(cells: pd.DataFrame, labels: Sequence[str]) -> Line:
    """A privacy level; "no privacy" only if noise was switched off: one noise never does so."""
    mu, guaranteed = float(cells["mu"].iloc[0]), cells["guaranteed_mu"].max()
    title = mu_title(mu) if guaranteed < math.inf else privacy_title(mu)
    entries = {cell["label"]: _entry(cell, title) for cell in cells.to_dict("records")}
    return title, tuple(entries.get(label, Entry("")) for label in labels)


def _entry(cell: Mapping[Any, Any], title: str) -> Entry:
    if pd.isna(cell["mean_gain"]):
        return Entry("—")
    notes = [] if pd.isna(cell["gain_share"]) else [f"{100 * cell['gain_share']:.0f}%"]
    if pd.notna(cell["reported_mean_gain"]):
        reported = footers.amount(cell["reported_mean_gain"], cell["reported_ci_half_width"])
        notes.append(f"[paper: {reported}]")
    if title == privacy_title(math.inf) and cell["guaranteed_mu"] < math.inf:
        notes.append(OWN_NOISE)
    if cell["unmoved"]:
        notes.append(UNMOVED)
    if cell["noise_memory"]:
        mus = ", ".join(rounded_up(cell[it], 3) for it in MU_OF_STAYS)
        notes.append(f"μ of {', '.join(map(str, STAYS))} weeks: {mus}")
    gain = cell["mean_gain"]
    member = cell["algorithm"] if cell["best_of"] else ""
    text = footers.amount(gain, cell["ci_half_width"])
    return Entry(text, tuple(notes), order=gain, hint=member)


def _footers(
    cells: pd.DataFrame,
    columns: pd.DataFrame,
    runs: pd.DataFrame,
    main: Games,
    facts: Facts,
) -> Iterator[str]:
    replicates = cells["replicates"].dropna()
    number = " to ".join(dict.fromkeys((f"{replicates.min()}", f"{replicates.max()}")))
    yield (
        f"Each number is the mean, over {number} runs, of the gain summed over all T rounds"
        " of a stream of n experts. Below it: its share of the possible gain, 0% for chance and"
        " 100% for foresight."
    )
    yield _ON_BOUNDS
    yield footers.describe_interval(main.report.confidence, cells["ci_comparisons"].iloc[0])
    if ((cells["mu"] == math.inf) & (cells["guaranteed_mu"] < math.inf)).any():
        yield _ON_OWN_NOISE
    if cells["unmoved"].any():
        yield _ON_UNMOVED
    named = columns.set_index("column")
    for title, family in named["best_of"].items():
        if family:
            yield footers.describe_best(str(title), family)
    yield footers.describe_data(facts.simulated)
    yield from footers.describe_models(
        [(str(title), model) for title, model in named["model"].items()]
    )
    used = runs[runs["used"]].sort_values("row_noise", kind="stable")
    own = {str(title): used[used["label"] == label] for title, label in named["label"].items()}
    yield from footers.describe_guarantee(own, list(main.levels.values()))
    if cells["algorithm"].isna().any():
        yield "—: not run; an algorithm without privacy has no privacy levels."
    noises = runs["row_noise"].cat.categories
    if len(noises) > 1 and (columns["only_with"] != "").any():
        yield "Empty: an algorithm without local noise is shown once, not for each noise."
    ours = [f"{it} noise" for it in noises if len(noises) > 1 and name_of(it).ours]
    yield from explain_mark([*ours, *columns.loc[columns["marked"], "column"]])
    yield from (f"{it}: {ACCOUNTED[it]}." for it in columns["label"] if it in ACCOUNTED)
    beside = cells[cells["reported_mean_gain"].notna()].drop_duplicates("stream")
    experts = {
        row["stream_title"]: (row["n_experts"], main.streams[row["stream"]])
        for row in beside.to_dict("records")
    }
    yield from describe_reported(experts, facts.simulated)
