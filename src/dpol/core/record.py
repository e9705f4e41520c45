"""The record of a run: its RO-Crate, the checksums that its jobs noted, and what differs from them.

The crate lists every file of a finished run. Each job notes the checksums of its outputs below
`logs/sums` as soon as it ends.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.schemas import unreadable

CRATE = "ro-crate-metadata.json"
CONFIG = "provenance/config.yaml"
CODE = "hash of the code of dpol"
CLEANING = "data/cleaning.json"
_SUMS = "logs/sums"
_BESIDE = "logs", "benchmarks"
"""Folders of a run that no crate lists."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """What the crate of a run says.

    Args:
        folder: results/<run>.
        files: SHA-256 of each file of the run, by its path below the folder.
        data: SHA-256 of the raw table.
        values: seed, hash of the code and commit, by name.
        versions: names and versions of the packages behind the results.
    """

    folder: Path
    files: Mapping[str, str]
    data: str
    values: Mapping[str, Any]
    versions: tuple[tuple[str, str], ...]

    def file(self, name: str) -> Path:
        """Return the path of a file of the run. Raises DataError if the crate does not list it."""
        if name not in self.files:
            raise DataError(f"{self.folder}: {name} is not among the files in {CRATE}")
        return self.folder / name


def read_record(folder: Path) -> Record:
    """Read the crate of a run.

    Args:
        folder: results/<run>.

    Raises:
        DataError: the run is not finished, or its crate cannot be read.
    """
    crate = folder / CRATE
    if not crate.exists():  # it is written last
        raise DataError(
            f"{crate} is missing: not a finished run; name another folder results/RUN, or finish it"
            " with dpol run CONFIG"
        )
    try:
        nodes = json.loads(crate.read_text(encoding="utf-8"))["@graph"]
        return Record(
            folder=folder,
            files={unquote(it["@id"]): it["sha256"] for it in nodes if "contentSize" in it},
            data=next(it["sha256"] for it in nodes if it["@id"] == "#data-0"),
            values={it["name"]: it["value"] for it in nodes if it["@type"] == "PropertyValue"},
            versions=tuple(
                (it["name"], it["softwareVersion"]) for it in nodes if "softwareVersion" in it
            ),
        )
    except (OSError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise unreadable(crate, error) from None


def read_config(folder: Path) -> dict[str, Any]:
    """Read the config of a run as plain values.

    Raises:
        DataError: it cannot be read.
    """
    path = folder / CONFIG
    try:
        return dict(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise unreadable(path, ValueError(str(error).partition("\n")[0])) from None
    except (OSError, TypeError, ValueError) as error:
        raise unreadable(path, error) from None


def recorded_tables(record: Record) -> list[str]:
    """Return the SHA-256 of the raw table, and of a second table of capacities if there is one.

    Raises:
        DataError: the report of the cleaning cannot be read.
    """
    path = record.folder / CLEANING
    if CLEANING not in record.files:  # a table of gains is not cleaned
        return [record.data]
    try:
        read = json.loads(path.read_text(encoding="utf-8"))["provenance"]
        tables = [read, *([read["capacities"]] if "capacities" in read else [])]
        return [str(table["sha256"]) for table in tables]
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise unreadable(path, error) from None


# ---- files against their checksums ---------------------------------------------------------------


def noted_sum(folder: Path, file: str) -> Path:
    """Return where a job notes the checksum of a file.

    Args:
        folder: results/<run>; with remote storage, the local folder of its logs.
        file: path of the file below results/<run>.
    """
    return folder / _SUMS / f"{file}.sha256"


def read_sum(note: Path) -> str:
    """Read a checksum that a job noted; one that is damaged fits no file."""
    return note.read_text(encoding="utf-8", errors="replace")


def changed_files(folder: Path) -> list[str]:
    """Return the files of a run that are not as their jobs wrote them.

    To be fast, a file is read only if its change time, which no program can set, is after that of
    its noted checksum; in a folder that was copied or unpacked, it often is.

    Args:
        folder: results/<run>, which need not be finished or exist.

    Raises:
        DataError: the crate cannot be read.
    """
    crate, sums = folder / CRATE, folder / _SUMS
    listed = read_record(folder).files if crate.is_file() else {}
    notes = dict.fromkeys(listed, crate)
    for place, _, names in os.walk(sums):  # rglob takes longer, and a run has thousands
        paths = [Path(place, name) for name in names]
        notes |= {path.relative_to(sums).as_posix().removesuffix(".sha256"): path for path in paths}
    changed = []
    for name, note in sorted(notes.items()):
        file = folder / name
        with suppress(FileNotFoundError):  # deleted, or just made again by a run at work
            is_later = file.stat().st_ctime_ns > note.stat().st_ctime_ns
            if is_later and sha256(file) != (listed[name] if note == crate else read_sum(note)):
                changed.append(name)
    return changed


def disagreements(folder: Path) -> list[tuple[str, str]]:
    """Compare files, noted checksums and crate of a run with each other.

    Returns:
        What is wrong and where, for each difference: `changed`, `missing` or `new` and the file
        below the folder, for example.

    Raises:
        DataError: the run is not finished, or its record cannot be read.
    """
    record = read_record(folder)
    present = {
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if file.is_file() and not file.name.startswith(".")
    }
    present = {name for name in present if name.partition("/")[0] not in _BESIDE}
    sums = {name: sha256(folder / name) for name in sorted({CRATE, *record.files} & present)}
    changed = {name for name, value in sums.items() if value != record.files.get(name, value)}
    if sums[CRATE] != _noted(folder, CRATE, sums[CRATE]):
        changed.add(CRATE)
    return [
        *(("changed", name) for name in sorted(changed)),
        *(("missing", name) for name in sorted(record.files.keys() - present)),
        *(("new", name) for name in sorted(present - {CRATE, *record.files})),
        *_unnoted(folder, sums),
        *(
            ("another checksum in logs/sums than in the crate", name)
            for name, value in record.files.items()
            if value != _noted(folder, name, value)
        ),
        *_at_odds(folder, record),
    ]


def _noted(folder: Path, name: str, default: str) -> str:
    """Return the checksum of a file that its job noted."""
    note = noted_sum(folder, name)
    return read_sum(note) if note.is_file() else default


def _unnoted(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the missing notes, or their folder if all are missing."""
    if not (folder / _SUMS).is_dir():
        yield "missing", _SUMS
        return
    for name in names:
        if not (note := noted_sum(folder, name)).is_file():
            yield "missing", note.relative_to(folder).as_posix()


def _at_odds(folder: Path, record: Record) -> Iterator[tuple[str, str]]:
    """Yield what the crate says otherwise than the files that tell it."""
    if (folder / CONFIG).is_file() and record.values.get("seed") != read_config(folder).get("seed"):
        yield f"another seed than in {CONFIG}", CRATE
    if (folder / CLEANING).is_file() and record.data != recorded_tables(record)[0]:
        yield f"another checksum of the data than in {CLEANING}", CRATE


# ---- settings side by side -----------------------------------------------------------------------


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a config by dotted path; a list or an empty block is one value."""
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        yield from flat(item, f"{path}.{key}" if path else str(key))


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entries that differ, in the order of the old ones; of lists, the items."""
    for name in {**old, **new}:
        one, two = (values.get(name, "not set") for values in (old, new))
        if isinstance(one, list) and isinstance(two, list):
            one, two = [x for x in one if x not in two], [x for x in two if x not in one]
        if one != two:
            yield f"{name}: {_shown(one)} → {_shown(two)}"


def _shown(value: Any) -> str:
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return value if isinstance(value, str) else flow.removesuffix("...\n").strip()
