"""The record of a run: its RO-Crate, what its jobs noted, and what differs from them.

The crate lists every file of a finished run. As soon as a job ends, it notes the checksums of its
outputs below `logs/sums` and, next to its log, what it was asked and the checksums of its files.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import yaml
from pydantic_core import to_jsonable_python

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.schemas import unreadable

CRATE = "ro-crate-metadata.json"
CONFIG = "provenance/config.yaml"
CODE = "hash of the code of dpol"
CLEANING = "data/cleaning.json"
_SUMS = "logs/sums"
_LONGEST = 60
"""Number of characters of a param that a note repeats."""
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


# ---- files against their checksums ---------------------------------------------------------------


def noted_sum(folder: Path, file: str) -> Path:
    """Return where a job notes the checksum of a file.

    Args:
        folder: results/<run>; with remote storage, the local folder of its logs.
        file: path of the file below results/<run>.
    """
    return folder / _SUMS / f"{file}.sha256"


def noted_sums(folder: Path) -> dict[str, str]:
    """Return the checksums that the jobs of a run noted, by file below its folder.

    Args:
        folder: results/<run>, which need not be finished or exist.
    """
    sums, noted = folder / _SUMS, {}
    for place, _, names in os.walk(sums):  # rglob takes longer, and a run has thousands
        for note in (Path(place, name) for name in names):
            with suppress(FileNotFoundError):  # a run at work removes it
                file = note.relative_to(sums).as_posix().removesuffix(".sha256")
                noted[file] = read_sum(note)
    return noted


def read_sum(note: Path) -> str:
    """Read a checksum that a job noted; one that is damaged fits no file."""
    return note.read_text(encoding="utf-8", errors="replace")


def changed_files(folder: Path, noted: Mapping[str, str]) -> list[str]:
    """Return the files of a run that are not as their jobs wrote them.

    To be fast, a file is read only if its change time, which no program can set, is after that of
    its noted checksum; in a folder that was copied or unpacked, it often is.

    Args:
        folder: results/<run>.
        noted: what `noted_sums` returns for it.

    Raises:
        DataError: a file cannot be read, or a folder is in its place.
    """
    changed = []
    for name, value in sorted(noted.items()):
        file, note = folder / name, noted_sum(folder, name)
        with suppress(FileNotFoundError, NotADirectoryError):  # deleted
            is_later = file.stat().st_ctime_ns > note.stat().st_ctime_ns
            if is_later and _sum_of(file) != value:
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
    noted = noted_sums(folder)
    sums = {name: _sum_of(folder / name) for name in sorted({CRATE, *record.files} & present)}
    expected = {CRATE: noted.get(CRATE, sums[CRATE]), **record.files}
    changed = [name for name, value in sums.items() if value != expected[name]]
    return [
        *(("changed", name) for name in changed),
        *(("missing", name) for name in sorted(record.files.keys() - present)),
        *(("new", name) for name in sorted(present - {CRATE, *record.files})),
        *(("missing", f"{_SUMS}/{name}.sha256") for name in sums if noted and name not in noted),
        *([] if noted else [("missing", _SUMS)]),
        *(
            ("another checksum in logs/sums than in the crate", name)
            for name, value in record.files.items()
            if value != noted.get(name, value)
        ),
        *_at_odds(folder, record),
    ]


def _sum_of(file: Path) -> str:
    """Return the checksum of a file. Raises DataError if it cannot be read, or is a folder."""
    try:
        return sha256(file)
    except OSError as error:
        raise unreadable(file, error) from None


def _at_odds(folder: Path, record: Record) -> Iterator[tuple[str, str]]:
    """Yield what the crate says otherwise than the files that tell it."""
    if (folder / CONFIG).is_file() and record.values.get("seed") != read_config(folder).get("seed"):
        yield f"another seed than in {CONFIG}", CRATE
    report = folder / CLEANING
    if report.is_file():  # a table of gains is not cleaned
        try:
            cleaned = json.loads(report.read_text(encoding="utf-8"))["provenance"]["sha256"]
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise unreadable(report, error) from None
        if record.data != cleaned:
            yield f"another checksum of the data than in {CLEANING}", CRATE


# ---- what a job is asked -------------------------------------------------------------------------


def answer_of(log: Path) -> Path:
    """Return where a job notes what it was asked."""
    return log.with_suffix(".json")


def asked(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the values in a job's params by dotted path: JSON, or a hash of long JSON.

    >>> asked({"seed": 1, "settings": {"replicates": 3, "rounds": (20, 50)}})
    {'seed': '1', 'settings.replicates': '3', 'settings.rounds': '[20, 50]'}
    """
    texts = {
        name: json.dumps(value, sort_keys=True, default=_plain)
        for name, value in flat(dict(params.items()))
    }
    return {
        name: text if len(text) <= _LONGEST else hashlib.sha256(text.encode()).hexdigest()[:16]
        for name, text in texts.items()
    }


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Set) else to_jsonable_python(value)


def asked_anew(answer: Path, now: Mapping[str, str], noted: Mapping[str, str]) -> list[str] | None:
    """Return what a job is asked otherwise than it answered, and files with another checksum.

    Returns:
        The differences; None if the job left no answer.

    Args:
        answer: the note of the job, from `answer_of`.
        now: what it is asked, from `asked`.
        noted: what `noted_sums` returns for the run.
    """
    try:
        note = json.loads(answer.read_text(encoding="utf-8"))
        before, files = dict(note["asked"]), dict(note["files"])
    except (OSError, LookupError, TypeError, ValueError):
        return None
    others = (file for file, value in files.items() if noted.get(file) != value)
    return [*differences(before, now), *others]


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
    if isinstance(value, str):
        return value
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return flow.removesuffix("...\n").strip()
