"""The record of a run: its RO-Crate, what its jobs noted, and what differs from them.

The crate lists every file of a finished run. As soon as a job ends, it notes, next to its log, what
it was asked and the checksums of what it read and wrote.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote

import yaml
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from dpol.core.errors import ConfigError, DataError
from dpol.core.files import read_json, sha256, write_text
from dpol.core.schemas import reading, unreadable
from dpol.core.yaml_files import parse_yaml

CRATE = "ro-crate-metadata.json"
CONFIG = "provenance/config.yaml"
CODE = "hash of the code of dpol"
_LONGEST = 60
"""Number of characters of a param that a note repeats."""
_BARE = re.compile(r'[^."]+')
"""A key that stands in a path as it is."""
_BESIDE = "logs", "benchmarks"
"""Folders of a run that no crate lists."""

Sums = Mapping[str, str]
"""SHA-256 of files of a run, by their paths below its folder."""


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
    with reading(crate):
        nodes = read_json(crate)["@graph"]
        (data,) = (it["sha256"] for it in nodes if it["@id"] == "#data-0")
        versions = ((it["name"], it["softwareVersion"]) for it in nodes if "softwareVersion" in it)
        return Record(
            folder=folder,
            files={unquote(it["@id"]): it["sha256"] for it in nodes if "contentSize" in it},
            data=data,
            values={it["name"]: it["value"] for it in nodes if it["@type"] == "PropertyValue"},
            versions=tuple(versions),
        )


def read_config(folder: Path) -> dict[str, Any]:
    """Read the config of a run as plain values.

    Raises:
        DataError: it cannot be read.
    """
    path = folder / CONFIG
    try:
        with reading(path):
            return dict(cast(Any, parse_yaml(path.read_text(encoding="utf-8"), CONFIG)))
    except ConfigError as error:
        raise unreadable(path, str(error).partition("\n")[0]) from None


# ---- what jobs noted -----------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a job noted when it ended.

    Args:
        asked: what it was asked, from `asked`.
        read: SHA-256 of each file of the run that it read, by its path below results/<run>.
        wrote: SHA-256 of each file that it wrote there.
        began: when it began, in nanoseconds since 1970.
        ended: when it ended.
    """

    asked: Mapping[str, str]
    read: Mapping[str, str]
    wrote: Mapping[str, str]
    began: int
    ended: int


def note_of(log: Path) -> Path:
    """Return where a job writes its note."""
    return log.with_suffix(".json")


def write_note(log: Path, note: Note) -> None:
    """Write the note of the job with a log."""
    write_text(note_of(log), json.dumps(vars(note), indent=1))  # unsorted: their order counts


def checksums(folder: Path, files: Iterable[Path | str]) -> dict[str, str]:
    """Return the SHA-256 of files in the folder of a run, by their paths below it."""
    below = (it for it in map(Path, files) if folder in it.parents and it.is_file())
    return {it.relative_to(folder).as_posix(): sha256(it) for it in below}


def read_notes(folder: Path) -> dict[Path, Note]:
    """Return the notes of the jobs of a run by path, the job that ended last at the end.

    A damaged note is left out, as if its job had not ended.

    Args:
        folder: results/<run>, which need not be finished or exist.
    """
    notes, parser = dict[Path, Note](), TypeAdapter(Note)
    for path in folder.glob("logs/**/*.json"):
        with suppress(OSError, ValueError):
            notes[path] = parser.validate_json(path.read_bytes())
    return dict(sorted(notes.items(), key=lambda item: item[1].ended))


def noted_sums(notes: Mapping[Path, Note]) -> dict[str, str]:
    """Return the checksum of each file that a job wrote; of several jobs, the last one counts."""
    return {file: value for note in notes.values() for file, value in note.wrote.items()}


def changed_files(folder: Path, sums: Sums) -> list[str]:
    """Return the files of a run that have another checksum; those that are gone do not count.

    Args:
        folder: results/<run>.
        sums: the checksums that they should have.

    Raises:
        DataError: a file cannot be read, or a folder is in its place.
    """
    changed = []
    for name, value in sorted(sums.items()):
        with reading(folder / name), suppress(FileNotFoundError, NotADirectoryError):
            changed += [name] * (sha256(folder / name) != value)
    return changed


def set_times(folder: Path, notes: Mapping[Path, Note], before: float) -> None:
    """Give the files of a run one time before a moment, unless theirs say what the notes say.

    Snakemake goes by times, which a copy or a wrong clock turns round.

    Args:
        folder: results/<run>; its files are as noted.
        notes: what `read_notes` returns for it.
        before: the moment, in seconds since 1970.
    """
    every = (f"{root}/{name}" for root, _, names in os.walk(folder) for name in names)
    times = {path: os.lstat(path).st_mtime for path in every}
    is_late = max(times.values(), default=0) >= before
    for note in notes.values():
        read = (times.get(f"{folder}/{it}", 0) for it in note.read)
        wrote = (times.get(f"{folder}/{it}", before) for it in note.wrote)
        is_late |= max(read, default=0) > min(wrote, default=before)
    for path in times if is_late else ():
        os.utime(path, (before - _MARGIN, before - _MARGIN), follow_symlinks=False)


_MARGIN = 10
"""Seconds: some file systems round times to 2."""


def check_notes(
    folder: Path, notes: Mapping[Path, Note], sums: Sums, jobs: Mapping[str, str]
) -> dict[Path, Note]:
    """Check that every job of a plan did what it asks, and read what another had written.

    Args:
        folder: results/<run>.
        notes: what `read_notes` returns for it.
        sums: `checksums` of its files.
        jobs: `digest` of what each job of the plan is asked, by its log.

    Returns:
        The notes of these jobs.

    Raises:
        DataError: a job did not, or left no note.
    """
    asks = {note_of(Path(log)): value for log, value in jobs.items()}
    made = {path: note for path, note in notes.items() if digest(note.asked) == asks.get(path)}
    wrong = {path.relative_to(folder).as_posix() for path in asks.keys() - made.keys()}
    noted = noted_sums(notes)
    for seen in (sums, *(note.read for note in made.values())):
        wrong |= {*unlike(seen, noted)}
    if wrong:
        raise DataError(
            f"{folder}: not as this run asks: {', '.join(sorted(wrong)[:9])}; the config, the code"
            " or a file changed, another run wrote here, or a flag of Snakemake left jobs out; the"
            " same command without such a flag goes on"
        )
    return made


# ---- files against their checksums ---------------------------------------------------------------


def disagreements(folder: Path) -> list[tuple[str, str]]:
    """Compare the files of a run with its crate, and the crate with its noted checksum.

    Returns:
        `changed`, `missing` or `new`, and the file below the folder, for each difference.

    Raises:
        DataError: the run is not finished, or its record cannot be read.
    """
    record, noted = read_record(folder), noted_sums(read_notes(folder))
    below = (it.relative_to(folder).as_posix() for it in folder.rglob("*") if it.is_file())
    present = {name for name in below if name.partition("/")[0] not in _BESIDE}
    # The crate lists all files but itself, and the job that wrote it noted its checksum.
    listed = {CRATE: noted.get(CRATE), **record.files}
    sums = {name: value for name, value in listed.items() if value and name in present}
    return [
        *(("changed", name) for name in changed_files(folder, sums)),
        *(("missing", name) for name in sorted(record.files.keys() - present)),
        *(("new", name) for name in sorted(present - listed.keys())),
        *([] if CRATE in noted else [("missing", "logs")]),
    ]


# ---- what a job is asked -------------------------------------------------------------------------


def asked(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the values in a job's params by dotted path: JSON, or a hash of long JSON.

    >>> asked({"seed": 1, "settings": {"replicates": 3, "rounds": (20, 50)}})
    {'seed': '1', 'settings.replicates': '3', 'settings.rounds': '[20, 50]'}
    """
    texts = {name: json.dumps(value, default=_plain) for name, value in flat(dict(params.items()))}
    return {name: text if len(text) <= _LONGEST else _short(text) for name, text in texts.items()}


def digest(asked: Mapping[str, str]) -> str:
    """Return a hash of what a job is asked, in its order."""
    return _short(json.dumps([*asked.items()]))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Set) else to_jsonable_python(value)


def asked_anew(note: Note, now: Mapping[str, str], noted: Mapping[str, str]) -> list[str]:
    """Return how a job's request differs from the one that it answered, and its changed files.

    The order counts: a table has the streams in the order of the config.

    Args:
        note: what the job noted.
        now: what it is asked, from `asked`.
        noted: what `noted_sums` returns for the run.
    """
    others = unlike({**note.read, **note.wrote}, noted)
    differing = [*differences(note.asked, now), *others]
    return differing or ["the order of its settings"] * (list(note.asked) != list(now))


def unlike(sums: Sums, noted: Sums) -> list[str]:
    """Return the files whose checksum is not the noted one."""
    return [file for file, value in sums.items() if noted.get(file) != value]


# ---- settings side by side -----------------------------------------------------------------------


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a config by dotted path; a list or an empty block is one value.

    >>> dict(flat({"streams": {"A.b": {"groups": ["A"]}}}))
    {'streams."A.b".groups': ['A']}
    """
    if not isinstance(value, dict) or not value:
        yield path, value
        return
    for key, item in value.items():
        name = str(key) if _BARE.fullmatch(str(key)) else json.dumps(str(key), ensure_ascii=False)
        yield from flat(item, f"{path}.{name}" if path else name)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Yield the entries that differ, in the order of the old ones; of lists, the items.

    >>> [*differences({"seed": 1, "runs": ["a"]}, {"seed": 2, "runs": ["a", "b"]})]
    ['seed: 1 → 2', 'runs: + b']
    """
    for name in {**old, **new}:
        one, two = (values.get(name, "not set") for values in (old, new))
        if isinstance(one, list) and isinstance(two, list):
            gone = [f"- {_shown(item)}" for item in one if item not in two]
            if changes := [*gone, *(f"+ {_shown(item)}" for item in two if item not in one)]:
                yield f"{name}: {', '.join(changes)}"
        elif one != two:
            yield f"{name}: {_shown(one)} → {_shown(two)}"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    flow = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=math.inf)
    return flow.removesuffix("...\n").strip()
