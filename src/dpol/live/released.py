"""Reading what was released: a coordinator's log, or the table that `dpol export` made of one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.words import counted
from dpol.data.cells import BadCells, as_numbers, refuse_cells
from dpol.data.format import PLAIN
from dpol.data.table import RawTable, read_table
from dpol.live.checks import check_key, check_noise, independent_terms
from dpol.live.decide import number_of
from dpol.live.deployment import read_deployment
from dpol.live.log import DEPLOYMENT_NAME, LOG_NAME, Released, log_of_rows, open_log
from dpol.live.panel import Panel, read_panel
from dpol.release.chains import ChainTerms
from dpol.release.deployment import Deployment
from dpol.release.noise import CountNoise

_REMEDY = "Write the table again with dpol export, or name its own deployment."
_SHOWN = 20  # Rows that a message names.
_CLOSE = 1e-8  # Shares have nine digits.
_WHOLE = {"version": 1, "place": 1, "unit_weeks": 1, "scale": 1, "decimals": 0}
_NUMBERS = {
    "noisy_count": (-1e12, 1e12),
    "noisy_share": (-1e12, 1e12),
    "capacity": (1e-6, 1e9),
    "mu": (1e-3, 1e3),
    "count_sensitivity": (1e-3, 1e3),
    "a": (-0.999999, 0.999999),
    "b": (-0.999999, 0.999999),
    "noise_sd": (0, 1e12),
    "fresh_sd": (0, 1e12),
}


@dataclass(frozen=True)
class Releases:
    """All that was released in a deployment.

    Args:
        deployment: what was agreed on.
        panel: every period up to the last one that was reported.
    """

    deployment: Deployment
    panel: Panel


def read_released(file: Path | str, deployment: Path | str) -> Releases:
    """Read a log, or its export; both give the same numbers.

    Args:
        file: `log.sqlite` in a coordinator's folder, or a table that `dpol export` wrote.
        deployment: the deployment's file.

    Raises:
        ConfigError: the deployment breaks rules.
        DataError: a file cannot be read, or a row is not one of this deployment; up to 20 such
            rows are listed.
    """
    file, agreed = Path(file), read_deployment(deployment)
    if file.name != LOG_NAME:
        return Releases(agreed, _read_export(file, agreed))
    with open_log(file.parent) as log:
        if log.sha256 != agreed.sha256():
            raise DataError(
                f"{file}: is of another deployment than {deployment}; name its own, which is"
                f" {file.parent / DEPLOYMENT_NAME}"
            )
        return Releases(agreed, read_panel(log, number_of(log)))


def _read_export(file: Path, deployment: Deployment) -> Panel:
    raw = read_table(file, form=None)
    wanted = [*Released._fields, "noise_sd", "fresh_sd", "set_aside"]
    if missing := [name for name in wanted if name not in raw.cells]:
        raise DataError(f"{file}: has no column {', '.join(missing)}. {_REMEDY}")
    refuse_cells(raw, list(_bad_numbers(raw)))
    cells = raw.cells.astype(dict.fromkeys(_WHOLE, float)).astype(dict.fromkeys(_WHOLE, int))
    rows = [Released(*row) for row in cells[list(Released._fields)].itertuples(index=False)]
    sds = zip(*(as_numbers(cells[name], PLAIN) for name in ("noise_sd", "fresh_sd")), strict=True)
    aside = list(zip(rows, raw.cells["set_aside"].fillna("").astype(str), strict=True))
    standing = Counter((row.entity, row.period) for row, reason in aside if not reason)
    _refuse_rows(raw, deployment, rows, list(sds), standing)
    aside.sort(key=lambda one: one[0].version)  # A correction comes after what it supersedes.
    with log_of_rows(file, deployment, aside) as log:
        return read_panel(log, number_of(log))


def _bad_numbers(raw: RawTable) -> Iterator[BadCells]:
    """Cells that hold no number, or none in range."""
    for column, (low, high) in _NUMBERS.items():
        texts = raw.cells[column]
        values = as_numbers(texts, PLAIN)
        good = (values >= low) & (values <= high)
        yield BadCells(texts[~good], f"a number from {low:g} to {high:g}", _REMEDY)
    for column, least in _WHOLE.items():
        texts = raw.cells[column]
        values = as_numbers(texts, PLAIN)
        good = (values >= least) & (values < 2**53) & (values % 1 == 0)
        yield BadCells(texts[~good], f"a whole number from {least}", _REMEDY)


def _refuse_rows(
    raw: RawTable,
    deployment: Deployment,
    rows: list[Released],
    sds: list[tuple[float, float]],
    standing: Mapping[tuple[str, str], int],
) -> None:
    """Refuse rows that are none of the deployment, or that do not fit each other."""
    versions: dict[tuple[str, str], list[int]] = {}
    for row in rows:
        versions.setdefault((row.entity, row.period), []).append(row.version)
    wrong: dict[int, str] = {}
    for place, (row, of_row) in enumerate(zip(rows, sds, strict=True)):
        try:
            _check(deployment, row, of_row)
            _check_version(row, versions[row.entity, row.period])
            if standing.get((row.entity, row.period), 0) > 1 and not deployment.corrections:
                key = f"{row.entity} in {row.period}"
                raise DataError(f"{key} is there twice, and the deployment allows no corrections")
        except DataError as error:
            wrong[place] = str(error)
    if not wrong:
        return
    shown = list(wrong)[:_SHOWN]
    line_of = raw.lines(shown)
    lines = [f"{raw.file}: {counted(len(wrong), 'row')} cannot be used"]
    lines += [f"  row {line_of[it]}: {wrong[it]}" for it in shown]
    if len(wrong) > _SHOWN:
        lines.append(f"  and {counted(len(wrong) - _SHOWN, 'other row')}")
    raise DataError("\n".join([*lines, _REMEDY]))


def _check(deployment: Deployment, row: Released, sds: tuple[float, float]) -> None:
    """Refuse a row that breaks the deployment, or whose numbers contradict each other."""
    check_key(deployment, row.entity, row.period)
    own, capacity = deployment.entities[row.entity].capacity, float(row.capacity)
    if own != "reported" and capacity != own:
        raise DataError(f"its capacity is {row.capacity}, and the deployment says {own:g}")
    if not math.isclose(
        float(row.noisy_count) / capacity, float(row.noisy_share), rel_tol=_CLOSE, abs_tol=1e-15
    ):
        raise DataError("the noisy share is not the noisy count over the capacity")
    noise = _noise(row.mu, row.count_sensitivity)
    terms = ChainTerms(row.a, row.b, row.unit_weeks, 1, row.mu, row.decimals, row.scale)
    check_noise(deployment, noise, terms)
    alone = independent_terms(noise)
    fresh, least = row.scale / 10.0**row.decimals, alone.scale / 10.0**alone.decimals
    if fresh < least or (not row.chain and fresh > least):
        raise DataError(f"its noise, {row.scale} / 10^{row.decimals}, is not that of mu {row.mu}")
    if not row.chain and float(row.a) != float(row.b):
        raise DataError("its noise has a memory, and it is of no chain")
    for name, found, due in zip(("noise_sd", "fresh_sd"), sds, (row.noise, row.fresh), strict=True):
        if not math.isclose(found, due, rel_tol=_CLOSE):
            raise DataError(f"{name} is {found:g}, and scale, a, b and place give {due:g}")


def _check_version(row: Released, versions: list[int]) -> None:
    key = f"{row.entity} in {row.period}"
    if versions.count(row.version) > 1:
        raise DataError(
            f"version {row.version} of {key} is there {versions.count(row.version)} times"
        )
    if row.version > len(versions):
        raise DataError(f"version {row.version} of {key} is there, and an earlier one is not")


@cache
def _noise(mu: str, sensitivity: str) -> CountNoise:
    return CountNoise(Decimal(mu), Decimal(sensitivity))
