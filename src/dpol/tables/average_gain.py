"""The table of average gains, with the paper's numbers where they are comparable.

The paper is "Prediction with Expert Advice under Local Differential Privacy"; its Table 2
is stored beside this module. No number of it enters a computation.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources

import pandas as pd

from dpol import tables
from dpol.config import Report, Stream
from dpol.errors import DataError

COLUMNS = (
    *("stream", "n_experts", "n_rounds", "first_period", "last_period"),
    *("algorithm", "family", "calibration", "mu", "replicates", "mean_gain", "ci_half_width"),
    *("ci_comparisons", "model", "ours", "guaranteed_mu", "epsilon", "delta"),
    *("mechanism", "adjacency", "unit", "simulated"),
)
"""Columns of the summary that the table needs."""

BEST_LINEAR = "best-linear-model"
PAPER = "“Prediction with Expert Advice under Local Differential Privacy”, Table 2"
PAPER_EXPERTS: Mapping[str, int] = {"NM": 24, "PA": 146, "CA": 293}
_PAPER_WEEKS = (148, pd.Timestamp("2020-08-09"), pd.Timestamp("2023-06-04"))

CSV_COLUMNS: Mapping[str, str] = {
    "stream": "label of the stream",
    "stream_title": "its title",
    "n_experts": "experts in it",
    "n_rounds": "rounds in it",
    "level": "label of the privacy level",
    "mu": "Gaussian-DP parameter of the level; inf = no privacy",
    "column": "column of the table",
    "best_of": "family whose best member the column shows; empty for an algorithm's own column",
    "algorithm": "label of the algorithm; empty where it was not run",
    "calibration": "how its noise is scaled",
    "model": "local, central or none",
    "ours": "True if the column is not in the paper",
    "mean_gain": "total gain, mean over runs",
    "ci_half_width": "half width of its confidence interval",
    "confidence": "confidence of all intervals together",
    "ci_comparisons": "number of intervals that share the error (Bonferroni)",
    "replicates": "runs",
    "reported_mean_gain": "the paper's number; empty where it has none that is comparable",
    "reported_ci_half_width": "the paper's half width; empty where it gives none",
    "simulated": "True if the data are simulated",
}
"""Columns of the CSV (fields of the classes below) and what they mean."""


@dataclass(frozen=True)
class Header:
    """A column: an algorithm, or the best of the family `best_of`, at one calibration."""

    label: str
    best_of: str
    column: str
    calibration: str
    model: str
    ours: bool


@dataclass(frozen=True)
class Cell:
    """Numbers of one column at one stream and level; all None where nothing was run."""

    algorithm: str | None = None
    replicates: int | None = None
    mean_gain: float | None = None
    ci_half_width: float | None = None
    reported_mean_gain: float | None = None
    reported_ci_half_width: float | None = None
    note: str = ""
    """Which algorithm is the best one, in the column of a family."""


@dataclass(frozen=True)
class Row:
    """A stream at one privacy level."""

    stream: str
    stream_title: str
    n_experts: int
    n_rounds: int
    simulated: bool
    level: str
    mu: float
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class AverageGain:
    """The table; its texts are plain, the renderers escape them."""

    caption: str
    headers: tuple[Header, ...]
    rows: tuple[Row, ...]
    footers: tuple[str, ...]
    confidence: float
    ci_comparisons: int


def build_average_gain(
    summary: pd.DataFrame,
    *,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    report: Report,
) -> AverageGain:
    """The table of a summary.

    Args:
        summary: a row per stream, algorithm, calibration and mu (`COLUMNS`).
        streams: label and config of the streams, in the order of the rows.
        levels: label and mu of the privacy levels, in the order of the rows.
        report: algorithms in the order of the columns, family of the best member, confidence.

    Raises:
        DataError: a column, a stream or an algorithm is missing, or rows contradict each other.
    """
    _check(summary, streams, levels, report)
    shown = summary["algorithm"].isin(report.algorithms) | (summary["family"] == report.envelope)
    headers = _headers(summary[shown], report)
    shown &= summary["stream"].isin(list(streams)) & summary["mu"].isin(list(levels.values()))
    used = summary[shown]
    rows = []
    for label, stream in streams.items():
        of_stream = used[used["stream"] == label]
        if of_stream.empty:
            raise DataError(f"the summary has no runs of stream {label} that the report shows")
        for level, mu in levels.items():
            rows.append(_row(of_stream, headers, stream, level, mu))
    comparisons = int(summary["ci_comparisons"].iloc[0])
    caption = "Average total gain"
    table = AverageGain(caption, headers, tuple(rows), (), report.confidence, comparisons)
    footers = (*_footers(table, used), *_paper_footers(table, streams))
    return replace(table, footers=footers)


def load_reported() -> dict[tuple[str, str, float], tuple[float, float | None]]:
    """The paper's Table 2: (stream, algorithm, mu) to mean gain and half width (if given)."""
    text = resources.files("dpol.tables").joinpath("reported_average_gain.csv").read_text("utf-8")
    lines = [line.split(",") for line in text.split()[1:]]
    return {
        (stream, algorithm, float(mu)): (float(mean), float(half) if half else None)
        for stream, algorithm, mu, mean, half in lines
    }


def render_markdown(table: AverageGain) -> str:
    """The table in GitHub's Markdown."""
    return tables.to_markdown(_as_text(table))


def render_latex(table: AverageGain) -> str:
    """The table for `\\input`; needs the packages booktabs and graphicx."""
    return tables.to_latex(_as_text(table))


def render_html(table: AverageGain) -> str:
    """The table as a page of its own."""
    return tables.to_html(_as_text(table))


def render_csv(table: AverageGain) -> str:
    """One line per cell, numbers in full precision; `CSV_COLUMNS` says what they are."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(CSV_COLUMNS), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in table.rows:
        for header, cell in zip(table.headers, row.cells, strict=True):
            writer.writerow(vars(table) | vars(row) | vars(header) | vars(cell))
    return out.getvalue()


def _as_text(table: AverageGain) -> tables.TextTable:
    sections = []
    for stream in dict.fromkeys(row.stream for row in table.rows):
        rows = [row for row in table.rows if row.stream == stream]
        lines = tuple((tables.privacy_title(row.mu), tuple(map(_entry, row.cells))) for row in rows)
        size = f"n = {rows[0].n_experts}, T = {rows[0].n_rounds}"
        sections.append(tables.Section(rows[0].stream_title, size, lines))
    return tables.TextTable(
        caption=table.caption,
        name="average-gain",
        corner=("stream", "privacy"),
        headers=tuple(f"{it.column} †" if it.ours else it.column for it in table.headers),
        sections=tuple(sections),
        footers=table.footers,
    )


def _entry(cell: Cell) -> tables.Entry:
    if cell.mean_gain is None:
        return tables.Entry("—")
    notes = [cell.note] if cell.note else []
    if cell.reported_mean_gain is not None:
        reported = tables.amount(cell.reported_mean_gain, cell.reported_ci_half_width)
        notes.append(f"[paper: {reported}]")
    return tables.Entry(tables.amount(cell.mean_gain, cell.ci_half_width), tuple(notes))


def _check(
    summary: pd.DataFrame,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    report: Report,
) -> None:
    if missing := [name for name in COLUMNS if name not in summary.columns]:
        raise DataError(f"the summary has no column {', '.join(missing)}; delete it and run again")
    if summary.empty:
        raise DataError("the summary is empty; delete it and run again")
    if not streams or not levels:
        raise DataError("a table needs at least one stream and one privacy level")
    for name, wanted in (("stream", streams), ("algorithm", report.algorithms)):
        if unknown := [label for label in wanted if label not in set(summary[name])]:
            what = f"{name} {', '.join(unknown)}"
            raise DataError(f"the summary has no runs of {what}; run them or do not report them")
    key = ["stream", "algorithm", "calibration", "mu"]
    comparisons = summary["ci_comparisons"]
    for problem, rows in (
        ("two rows of", summary.duplicated(key)),
        ("no mean_gain for", summary["mean_gain"].isna()),
        ("another ci_comparisons for", comparisons != comparisons.iloc[0]),
    ):
        if rows.any():
            where = summary.loc[rows.to_numpy(), key].iloc[0].to_dict()
            raise DataError(f"the summary has {problem} {where}; delete it and run again")


def _headers(runs: pd.DataFrame, report: Report) -> tuple[Header, ...]:
    best = BEST_LINEAR if report.envelope == "ridge" else f"best-{report.envelope}"
    columns = [(label, "") for label in dict.fromkeys(report.algorithms)]
    columns.append((best, report.envelope))
    several = len(set(runs["calibration"]) - {"none"}) > 1
    headers = []
    for label, best_of in columns:
        own = _runs(runs, label, best_of)
        # The paper's calibration first.
        order = sorted(set(own["calibration"]), key=lambda name: (name != "isotropic", name))
        for calibration in order:
            these = own[own["calibration"] == calibration]
            title = label.replace("-", " ") if best_of else label
            if several and calibration != "none":
                title += f" ({calibration})"
            model = "/".join(sorted(set(these["model"]) - {"none"})) or "none"
            ours = bool(these["ours"].any()) or calibration == "capacity"
            headers.append(Header(label, best_of, title, calibration, model, ours))
    return tuple(headers)


def _runs(used: pd.DataFrame, label: str, best_of: str) -> pd.DataFrame:
    return used[used["family"] == best_of] if best_of else used[used["algorithm"] == label]


def _row(
    runs: pd.DataFrame, headers: Sequence[Header], stream: Stream, level: str, mu: float
) -> Row:
    """`runs` are those of the stream, at least one."""
    first = runs.iloc[0]
    ends = pd.Timestamp(first["first_period"]), pd.Timestamp(first["last_period"])
    is_paper = stream.reported_as is not None and (first["n_rounds"], *ends) == _PAPER_WEEKS
    reported = load_reported() if is_paper else {}
    cells = []
    for header in headers:
        these = _runs(runs[runs["mu"] == mu], header.label, header.best_of)
        these = these[these["calibration"] == header.calibration]
        if these.empty:
            cells.append(Cell())
            continue
        best = these.sort_values(["mean_gain", "algorithm"], ascending=[False, True]).iloc[0]
        half_width = best["ci_half_width"]
        key = (stream.reported_as or "", header.label, mu)
        found = reported.get(key) if header.calibration == "isotropic" else None
        cells.append(
            Cell(
                algorithm=best["algorithm"],
                replicates=int(best["replicates"]),
                mean_gain=float(best["mean_gain"]),
                ci_half_width=None if pd.isna(half_width) else float(half_width),
                reported_mean_gain=found[0] if found else None,
                reported_ci_half_width=found[1] if found else None,
                note=best["algorithm"] if header.best_of else "",
            )
        )
    return Row(
        stream=first["stream"],
        stream_title=stream.title or first["stream"],
        n_experts=int(first["n_experts"]),
        n_rounds=int(first["n_rounds"]),
        simulated=bool(first["simulated"]),
        level=level,
        mu=mu,
        cells=tuple(cells),
    )


def _footers(table: AverageGain, used: pd.DataFrame) -> list[str]:
    cells = [cell for row in table.rows for cell in row.cells]
    runs = sorted({cell.replicates for cell in cells if cell.replicates is not None})
    number = " to ".join(dict.fromkeys((f"{runs[0]}", f"{runs[-1]}")))
    found = [
        f"Each number is the mean, over {number} runs, of the gain summed over all T rounds"
        " of a stream of n experts.",
        tables.describe_interval(table.confidence, table.ci_comparisons),
        tables.describe_data({row.stream_title: row.simulated for row in table.rows}),
        *tables.describe_models([(it.column, it.model) for it in table.headers]),
        tables.describe_guarantee(used),
    ]
    if best := next((it for it in table.headers if it.best_of), None):
        found.append(
            f"{best.label.replace('-', ' ')}: the member of the family {best.best_of} with the"
            " largest mean, chosen in hindsight for each cell and named in it; its interval does"
            " not account for the choice."
        )
    if any(cell.mean_gain is None for cell in cells):
        found.append("—: not run; an algorithm without privacy has no privacy levels.")
    return found


def _paper_footers(table: AverageGain, streams: Mapping[str, Stream]) -> list[str]:
    found = []
    if ours := [it.column for it in table.headers if it.ours]:
        found.append(f"†: not in the paper: {', '.join(ours)}.")
    beside = [
        row for row in table.rows if any(cell.reported_mean_gain is not None for cell in row.cells)
    ]
    if not beside:
        return [*found, f"The paper: {PAPER}; no number of it is comparable with those shown."]
    found.append(f"[paper: …]: reported by the paper, not computed here: {PAPER}.")
    for row in {row.stream: row for row in beside}.values():
        theirs = PAPER_EXPERTS.get(streams[row.stream].reported_as or "")
        if theirs is not None and theirs != row.n_experts:
            found.append(
                f"{row.stream_title} has {row.n_experts} experts here and {theirs} in the paper."
            )
    if any(row.simulated for row in beside):
        found.append("The paper's numbers are of real data, those beside them of simulated data.")
    return found
