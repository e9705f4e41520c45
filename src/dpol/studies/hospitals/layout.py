"""Which runs the table of average gains shows, and where: its columns, rows and cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpol.data.settings import Stream
from dpol.noise import NO_NOISE, NOISES, is_ours
from dpol.studies.hospitals.reported import BEST_LINEAR, PAPER_NOISE, Reported, reported_beside
from dpol.studies.hospitals.settings import Report


@dataclass(frozen=True)
class Header:
    """A column: an algorithm, or the best of the family `best_of`."""

    label: str
    best_of: str
    column: str
    model: str
    marked: bool
    """Whether the column, not just some of its rows, is marked as ours."""


@dataclass(frozen=True)
class Cell:
    """Numbers of one column in one row; all None where nothing was run."""

    algorithm: str | None = None
    replicates: int | None = None
    mean_gain: float | None = None
    ci_half_width: float | None = None
    guaranteed_mu: float | None = None
    ours: bool | None = None
    reported_mean_gain: float | None = None
    reported_ci_half_width: float | None = None
    note: str = ""
    """Which algorithm is the best one, in the column of a family."""


@dataclass(frozen=True)
class Row:
    """A stream, with one local noise, at one privacy level."""

    stream: str
    stream_title: str
    n_experts: int
    n_rounds: int
    simulated: bool
    noise: str
    level: str
    mu: float
    cells: tuple[Cell | None, ...]
    """None where the column has no local noise and is shown with another noise."""

    @property
    def shown(self) -> list[Cell]:
        """The cells that are not empty."""
        return [cell for cell in self.cells if cell is not None]


def by_noise(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs in the order of the noises, with the one whose rows show them as `rows`."""
    found = set(runs["noise"]) - {NO_NOISE}
    # Constant noise, which few algorithms play, comes last.
    names = [name for name, noise in NOISES.items() if name in found and not noise.constant]
    names += sorted(found - set(names))
    names = names or [NO_NOISE]
    of_rows = runs["noise"].where(runs["noise"] != NO_NOISE, names[0])
    runs = runs.assign(rows=pd.Categorical(of_rows, categories=names))
    return runs.sort_values("rows", kind="stable")


def find_headers(runs: pd.DataFrame, report: Report, *, several: bool) -> tuple[Header, ...]:
    """The columns that the report asks for.

    Args:
        runs: those the report shows.
        report: algorithms and family.
        several: whether there are rows of several noises; they bear the mark of theirs.
    """
    best = BEST_LINEAR if report.envelope == "ridge" else f"best-{report.envelope}"
    columns = [(label, "") for label in dict.fromkeys(report.algorithms)]
    columns.append((best, report.envelope))
    headers = []
    for label, best_of in columns:
        own = runs_of(runs, label, best_of)
        if own.empty:
            continue
        title = label.replace("-", " ") if best_of else label
        model = "/".join(sorted(set(own["model"]) - {"none"})) or "none"
        marking = own[~own["noise"].map(is_ours)] if several else own
        headers.append(Header(label, best_of, title, model, bool(marking["ours"].any())))
    return tuple(headers)


def runs_of(used: pd.DataFrame, label: str, best_of: str) -> pd.DataFrame:
    """The runs that a column shows."""
    return used[used["family"] == best_of] if best_of else used[used["algorithm"] == label]


def shown_with(noise: str, headers: Sequence[Header], used: pd.DataFrame) -> list[Header | None]:
    """The columns that rows of a noise have; None for those of other rows.

    Noises differ for local algorithms only; without it, a column is shown once.
    """
    first = used["rows"].cat.categories[0]
    found: list[Header | None] = []
    for header in headers:
        own = runs_of(used, header.label, header.best_of)["rows"]
        once = own.iloc[0] if len(own) else first
        local = "local" in header.model.split("/")
        found.append(header if local or noise == once else None)
    return found


def make_rows(
    runs: pd.DataFrame,
    columns: Mapping[str, Sequence[Header | None]],
    stream: Stream,
    levels: Mapping[str, float],
) -> Iterator[Row]:
    """Rows of a stream: `runs` are its, at least one; `columns` those of each noise."""
    first = runs.iloc[0]
    reported = reported_beside(stream.reported_as, first)
    for noise, headers in columns.items():
        for level, mu in levels.items():
            these = runs[(runs["rows"] == noise) & (runs["mu"] == mu)]
            yield Row(
                stream=first["stream"],
                stream_title=stream.title or first["stream"],
                n_experts=int(first["n_experts"]),
                n_rounds=int(first["n_rounds"]),
                simulated=bool(first["simulated"]),
                noise=noise,
                level=level,
                mu=mu,
                cells=tuple(_cell(these, it, reported) if it else None for it in headers),
            )


def _cell(
    runs: pd.DataFrame, header: Header, reported: Mapping[tuple[str, float], Reported]
) -> Cell:
    """`runs` are those of the row."""
    these = runs_of(runs, header.label, header.best_of)
    if these.empty:
        return Cell()
    best = these.sort_values(["mean_gain", "algorithm"], ascending=[False, True]).iloc[0]
    half_width = best["ci_half_width"]
    is_paper = best["noise"] == PAPER_NOISE
    found = reported.get((header.label, best["mu"])) if is_paper else None
    return Cell(
        algorithm=best["algorithm"],
        replicates=int(best["replicates"]),
        mean_gain=float(best["mean_gain"]),
        ci_half_width=None if pd.isna(half_width) else float(half_width),
        guaranteed_mu=float(best["guaranteed_mu"]),
        ours=bool(best["ours"]),
        reported_mean_gain=found[0] if found else None,
        reported_ci_half_width=found[1] if found else None,
        note=best["algorithm"] if header.best_of else "",
    )
