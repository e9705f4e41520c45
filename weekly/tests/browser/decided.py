"""Pages of decisions, made by the commands that a coordinator runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dpol.cli import main
from weekly import COORDINATORS, agreed, coordinates, day, report

LONG = "University Medical Center Bernalillo-Sandoval, Department of Infectious Diseases (North)"
Row = tuple[Any, ...]


def _decided(folder: Path, weeks: list[list[Row]], **keys: Any) -> Path:
    """The page after decisions from the last six weeks' reports."""
    own = {key: keys.pop(key) for key in COORDINATORS & keys.keys()}
    deployment = agreed(folder, **keys)
    coordinates(folder, **own)
    options = "--into", str(folder), "--deployment", str(deployment)
    first = len(weeks) - 6
    for number in range(first, len(weeks)):
        new = (
            weeks[number]
            if number > first
            else [row for week in weeks[: first + 1] for row in week]
        )
        table = report(folder / "in.csv", deployment, new, output=f"O{number}")
        assert main(["collect", str(table), *options]) == 0
        assert main(["decide", str(folder), "--period", day(number + 1)]) == 0
    return folder / "index.html"


def _weeks(names: list[str], weeks: int, seed: int) -> list[list[Row]]:
    """Rows of every entity in every week: shares that move, noise of sqrt(8) people."""
    rng = np.random.default_rng(seed)
    beds, level = rng.integers(8, 300, len(names)), rng.uniform(0.05, 0.6, len(names))
    level = level + np.cumsum(rng.normal(0, 0.02, (weeks, len(names))), axis=0)
    counts = beds * level.clip(0, 1) + rng.normal(0, 8**0.5, level.shape)
    return [
        [(*it[:1], number, f"{it[1]:.3f}", str(it[2])) for it in zip(names, row, beds, strict=True)]
        for number, row in enumerate(counts)
    ]


def few(folder: Path) -> Path:
    """Three hospitals, all in order."""
    titles = {"north": "North Hospital", "south": "South Hospital", "east": "East Clinic"}
    return _decided(folder, _weeks(list(titles), 7, 1), entities=list(titles), titles=titles)


def many(folder: Path) -> Path:
    """300 hospitals, 60 weeks, three named."""
    names = [f"h{number:03}" for number in range(300)]
    return _decided(folder, _weeks(names, 60, 2), entities=names, names=3)


def hard(folder: Path, algorithm: str = "empirical-bayes", names: int = 5) -> Path:
    """Missing, late and corrected reports, one that is closed, one that is new, long titles."""
    ids = ["A", "B", "C", "D", "E", "F", "an-identifier-without-a-title-and-without-end-" * 3]
    titles = {name: f"{LONG} {name * 3}" for name in ids[:-1]} | {"E": "Éire's <i>new</i> & small"}
    entities = {name: {} for name in ids} | {"D": {"until": day(5)}, "E": {"since": day(7)}}
    weeks = _weeks(ids, 8, 3)
    absent = [("D", number) for number in range(5, 8)] + [("E", number) for number in range(7)]
    absent += [("A", 6), ("B", 7), (ids[-1], 7), ("F", 3)]
    late = [row for week in weeks for row in week if row[:2] in (("A", 6), ("F", 3))]
    weeks = [[row for row in week if row[:2] not in absent] for week in weeks]
    weeks[-1] += [*late, ("C", 2, "-31.5", "40")]
    own = {"corrections": True, "algorithm": algorithm, "names": names, "titles": titles}
    return _decided(folder, weeks, entities=entities, **own)


def unranked(folder: Path) -> Path:
    """A decision by an algorithm that predicts no shares."""
    return hard(folder, "rw-ftpl", 1)
