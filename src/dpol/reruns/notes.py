"""Notes of jobs: the request that each answered, and the files that it read and wrote.

As soon as a job ends, it writes its note next to its log.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from dpol.core.differences import differences, flat
from dpol.core.errors import DataError
from dpol.core.files import set_time, sha256, write_text
from dpol.core.schemas import readable

PACKAGES = "dpol", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "snakemake"
"""Packages that results depend on, in the order in which the report names them; each is imported
by its name."""

_LONGEST = 60
"""Number of characters of a param that a note repeats."""

Checksums = Mapping[str, str]
"""SHA-256 of files of a run, by their paths below its folder."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a job noted when it ended.

    Args:
        asked: what it was asked, from `asked`.
        read: SHA-256 of each file of the run that it read, by its path below results/<run>.
        wrote: SHA-256 of each file that it wrote there.
        began: when it began, in nanoseconds since 1970.
        ended: when it ended.
        versions: versions of Python and of packages, from `loaded_versions`.
    """

    asked: Mapping[str, str]
    read: Mapping[str, str]
    wrote: Mapping[str, str]
    began: int
    ended: int
    versions: Mapping[str, str] = field(default_factory=dict)


_NOTE = TypeAdapter(Note)


def note_of(log: Path) -> Path:
    """Return where a job writes its note."""
    return log.with_suffix(".json")


def write_note(log: Path, note: Note) -> None:
    """Write the note of the job with a log."""
    write_text(note_of(log), json.dumps(vars(note), indent=1))  # unsorted: their order counts


def checksums(folder: Path, files: Iterable[Path | str]) -> dict[str, str]:
    """Return the SHA-256 of files in the folder of a run, by their paths below it.

    Those that are gone are left out.

    Raises:
        DataError: a file cannot be read, or is not a regular file.
    """
    sums = dict[str, str]()
    for file in (it for it in map(Path, files) if folder in it.parents):
        with readable(file), suppress(FileNotFoundError, NotADirectoryError):
            # A pipe would keep its reader waiting, and a link to nothing is not gone.
            if os.path.lexists(file) and not file.is_file():
                raise ValueError("it is not a regular file")
            sums[file.relative_to(folder).as_posix()] = sha256(file)
    return sums


def read_notes(folder: Path) -> dict[Path, Note]:
    """Return the notes of the jobs of a run by path, the job that ended last at the end.

    A damaged note is left out, as if its job had not ended.

    Args:
        folder: results/<run>, which need not be finished or exist.
    """
    notes = dict[Path, Note]()
    for path in folder.glob("logs/**/*.json"):
        with suppress(OSError, ValueError):
            notes[path] = _NOTE.validate_json(path.read_bytes())
    return dict(sorted(notes.items(), key=lambda item: item[1].ended))


def noted_sums(notes: Mapping[Path, Note]) -> dict[str, str]:
    """Return the checksum of each file that a job wrote; of several jobs, the last one counts."""
    return {file: value for note in notes.values() for file, value in note.wrote.items()}


def changed_files(folder: Path, sums: Checksums) -> list[str]:
    """Return the files of a run that have another checksum; those that are gone do not count.

    Args:
        folder: results/<run>.
        sums: the checksums that they should have.

    Raises:
        DataError: a file cannot be read, or is not a regular file.
    """
    return unlike(checksums(folder, [folder / it for it in sorted(sums)]), sums)


def made_as_asked(notes: Mapping[Path, Note], jobs: Mapping[str, str]) -> dict[Path, Note]:
    """Return the notes of the jobs that were asked what a plan asks.

    Args:
        notes: what `read_notes` returns for the run.
        jobs: `digest` of what each job of the plan is asked, by its log.
    """
    asks = {note_of(Path(log)): value for log, value in jobs.items()}
    return {path: note for path, note in notes.items() if digest(note.asked) == asks.get(path)}


def set_times(folder: Path, notes: Mapping[Path, Note], before: float) -> None:
    """Give the files of a run one time before a moment, unless theirs say what the notes say.

    Snakemake goes by times, which a copy or a wrong clock turns round, but not by those of logs.

    Args:
        folder: results/<run>; its files are as noted.
        notes: what `read_notes` returns for it.
        before: the moment, in seconds since 1970.

    Raises:
        OutputError: the time of a file cannot be set.
    """
    inside = (it for it in os.walk(folder) if not Path(it[0]).is_relative_to(folder / "logs"))
    every = (f"{root}/{name}" for root, _, names in inside for name in names)
    times = {path: os.lstat(path).st_mtime for path in every}
    is_late = max(times.values(), default=0) >= before
    for note in notes.values():
        read = (times.get(f"{folder}/{it}", 0) for it in note.read)
        wrote = (times.get(f"{folder}/{it}", before) for it in note.wrote)
        is_late |= max(read, default=0) > min(wrote, default=before)
    for path in times if is_late else ():
        set_time(path, before - 10)  # since some file systems round times to 2 seconds


def check_notes(
    folder: Path, notes: Mapping[Path, Note], sums: Checksums, jobs: Mapping[str, str]
) -> list[Note]:
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
    made = made_as_asked(notes, jobs)
    left = {note_of(Path(log)) for log in jobs} - made.keys()
    wrong = {path.relative_to(folder).as_posix() for path in left}
    noted = noted_sums(notes)
    for seen in (sums, *(note.read for note in made.values())):
        wrong |= {*unlike(seen, noted)}
    if wrong:
        raise DataError(
            f"{folder}: not as this run asks: {', '.join(sorted(wrong)[:9])}; the config, the code"
            " or a file changed, another run wrote here, or a flag of Snakemake left jobs out; the"
            " same command without such a flag goes on"
        )
    return [*made.values()]


def loaded_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that this process has loaded."""
    versions = {"Python": platform.python_version()}
    for name in PACKAGES:
        if name in sys.modules:
            with suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
    return versions


# ---- what a job is asked ----


def asked(params: Mapping[str, Any]) -> dict[str, str]:
    """Return the values in a job's params by dotted path: JSON, or a hash of long JSON.

    Tables, the keys of `contents`, go by name and checksum, so they may move.

    >>> asked({"seed": 1, "settings": {"replicates": 3, "rounds": (20, 50)}})
    {'seed': '1', 'settings.replicates': '3', 'settings.rounds': '[20, 50]'}
    """
    values = dict(params.items())
    names = {file: Path(file).name for file in values.get("contents", ())}
    if names:
        sums = dict[str, list[str]]()
        for file, value in values["contents"].items():
            sums.setdefault(names[file], []).append(value)
        values["contents"] = sums
    found = ((key, names.get(it, it) if isinstance(it, str) else it) for key, it in flat(values))
    texts = {key: json.dumps(value, default=_plain) for key, value in found}
    return {name: text if len(text) <= _LONGEST else _short(text) for name, text in texts.items()}


def digest(asked: Mapping[str, str]) -> str:
    """Return a hash of what a job is asked, in its order."""
    return _short(json.dumps([*asked.items()]))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Set) else to_jsonable_python(value)


def reasons_to_rerun(note: Note, now: Mapping[str, str], noted: Mapping[str, str]) -> list[str]:
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


def unlike(sums: Checksums, noted: Checksums) -> list[str]:
    """Return the files whose checksum is not the noted one."""
    return [file for file, value in sums.items() if noted.get(file) != value]
