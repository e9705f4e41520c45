"""Results of small runs as digests of their values, blind to what files and columns are named."""

from __future__ import annotations

import hashlib
import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from pipeline import snakemake, succeed

HERE = Path(__file__).parent
CONFIGS = {path.stem: path for path in sorted((HERE / "configs").glob("*.yaml"))}

Digests = dict[str, dict[str, str]]
"""Result (path below results/<run>/ without suffix), column, digest."""
Names = dict[str, Any]
"""Content of names.yaml."""


def read_names() -> Names:
    """The map of frozen names to those of today."""
    blocks = yaml.safe_load((HERE / "names.yaml").read_text(encoding="utf-8"))
    return {key: block or {} for key, block in blocks.items()}


def read_digests(config: str) -> Digests:
    """The frozen digests of a config; none before they are first written."""
    path = HERE / "values" / f"{config}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def run_config(config: str, folder: Path) -> dict[str, Path]:
    """The files that a real run in an empty folder makes, by result."""
    succeed(snakemake(folder, config=CONFIGS[config]))
    (base,) = (folder / "results").iterdir()
    return result_files(base)


def result_files(base: Path) -> dict[str, Path]:
    """Every Parquet and CSV file below a folder; a CSV keeps its suffix next to its own Parquet.

    But for the points of studies, whose rows are those of their tables.
    """
    names = {
        path.relative_to(base).with_suffix("").as_posix(): path for path in base.rglob("*.parquet")
    }
    for path in base.rglob("*.csv"):
        name = path.relative_to(base).with_suffix("").as_posix()
        names[f"{name}.csv" if name in names else name] = path
    return {name: names[name] for name in sorted(names) if not name.startswith("points/")}


def read_result(path: Path) -> pd.DataFrame:
    """A result file; the cells of a CSV are text, but for those with a decimal number."""
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, dtype=object, keep_default_na=False).map(_number)


def _number(cell: str) -> str | float:
    return float(cell) if re.fullmatch(r"-?\d+(\.\d+|(\.\d+)?e[+-]?\d+)", cell) else cell


def digests(frame: pd.DataFrame) -> dict[str, str]:
    """A digest of each column, the same in whatever order the rows are.

    Rows are sorted by all columns that are not floats, rows that agree there by the floats.
    """
    cells = pd.DataFrame({name: [_text(cell) for cell in frame[name]] for name in frame}, dtype=str)
    cells = cells.sort_values(sorted(cells, key=lambda name: frame[name].dtype.kind == "f"))
    return {
        str(name): hashlib.sha256("\n".join(cells[name]).encode()).hexdigest()[:16]
        for name in cells
    }


def _text(cell: Any) -> str:
    if isinstance(cell, list | tuple | np.ndarray):
        return " ".join(map(_text, cell))
    if cell is None or pd.isna(cell):
        return "nan"
    if isinstance(cell, float | np.floating):
        # Other builds of BLAS and libm differ in the last digits; below 1e-14 nothing is left of
        # a difference of equal sums.
        return format(float(cell) if abs(cell) >= 1e-14 else 0.0, ".9g")
    # Whether a day is stored as a date or as a time does not change its value.
    return str(cell).removesuffix(" 00:00:00")


def name_today(result: str, names: Names) -> str:
    """Today's name of a frozen result."""
    for pattern, today in names["results"].items():
        if found := re.fullmatch(pattern, result):
            return found.expand(today)
    return result


def block_of(names: Names, section: str, result: str) -> dict[str, Any]:
    """The entries of columns: or changed: on a frozen result; a later pattern wins."""
    blocks = names[section].items()
    return {
        key: value
        for glob, block in blocks
        if fnmatch(result, glob)
        for key, value in block.items()
    }


def under_frozen_names(
    result: str, frozen: dict[str, str], frame: pd.DataFrame, names: Names
) -> pd.DataFrame:
    """Today's frame of a frozen result with the columns and labels that it had then."""
    fates = block_of(names, "columns", result)
    frame = frame.rename(
        columns={fates[name]: name for name in frozen if isinstance(fates.get(name), str)}
    )
    for column, frozen_label in names["labels"].items():
        if column in frame:
            labels = [frozen_label.get(label, label) for label in frame[column]]
            frame[column] = pd.Series(labels, index=frame.index, dtype=object)
    return frame


def changes(config: str, files: dict[str, Path], names: Names) -> dict[str, dict[str, str]]:
    """Faults in the results of a run of the config, by frozen result and column."""
    frozen, wrong = read_digests(config), dict[str, dict[str, str]]()
    known = {result: name_today(result, names) for result in frozen}
    for result, today in known.items():
        exceptions = block_of(names, "changed", f"{config}/{result}")
        if "*" in exceptions:
            continue
        if today not in files:
            wrong[result] = {"*": f"lost: there is no {today}"}
            continue
        found = differences(result, frozen[result], read_result(files[today]), names)
        # An exception that is none any more would hide the next change.
        stale = exceptions.keys() & frozen[result].keys() - found.keys()
        found = {column: what for column, what in found.items() if column not in exceptions}
        if found or stale:
            wrong[result] = found | dict.fromkeys(stale, "is as frozen, but names.yaml excepts it")
    return wrong | {name: {"*": "new: not frozen"} for name in files.keys() - set(known.values())}


def differences(
    result: str, frozen: dict[str, str], frame: pd.DataFrame, names: Names
) -> dict[str, str]:
    """Faults in today's frame of a frozen result, by column."""
    fates = block_of(names, "columns", result)
    dropped = {name for name in frozen if isinstance(fates.get(name), dict)}
    frame = under_frozen_names(result, frozen, frame, names)
    today = digests(frame[[name for name in frozen if name in frame and name not in dropped]])
    wrong = {name: "other values" for name in today if today[name] != frozen[name]}
    wrong |= {name: "lost" for name in frozen if name not in frame and name not in dropped}
    wrong |= {name: "still there, but names.yaml drops it" for name in dropped if name in frame}
    return wrong | {name: "new: not frozen" for name in frame if name not in frozen}
