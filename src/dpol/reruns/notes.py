"""Notes of jobs: the request that each answered, and the files that it read and wrote.

As soon as a job ends, it writes its note below results/<run>/logs.
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

from dpol.core.files import sha256, write_text
from dpol.core.schemas import readable

PACKAGES = "dpol", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "snakemake"
"""Packages that results depend on, in the order in which the report names them; each is imported
by its name."""

Checksums = Mapping[str, str]
"""SHA-256 of files of a run, by their paths below its folder."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """What a job noted when it ended.

    Args:
        asked: `digest` of what it was asked.
        read: SHA-256 of each file of the run that it read, by its path below results/<run>.
        wrote: SHA-256 of each file that it wrote there.
        began: when it began, in nanoseconds since 1970.
        ended: when it ended.
        versions: versions of Python and of packages, from `loaded_versions`.
        peak_mb: the most memory that it had, where the system tells that.
    """

    asked: str
    read: Mapping[str, str]
    wrote: Mapping[str, str]
    began: int
    ended: int
    versions: Mapping[str, str] = field(default_factory=dict)
    peak_mb: float = 0.0


_NOTE = TypeAdapter(Note)


def peak_mb() -> float:
    """Return the most memory that this process had, on Linux; Snakemake's own does not count."""
    with suppress(OSError):
        return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return 0.0


def note_of(folder: Path, name: str) -> Path:
    """Return where a job writes its note: its name below results/<run>/logs."""
    return folder / f"logs/{name}.json"


def write_note(folder: Path, name: str, note: Note) -> None:
    """Write the note of a job."""
    # Unsorted: their order counts.
    write_text(note_of(folder, name), json.dumps(vars(note), indent=1))


def checksums(folder: Path, files: Iterable[Path | str]) -> dict[str, str]:
    """Return the SHA-256 of files in the folder of a run, by their paths below it.

    Those that are gone are left out.

    Raises:
        DataError: a file cannot be read.
    """
    sums = sums_of(it for it in map(Path, files) if folder in it.parents)
    return {file.relative_to(folder).as_posix(): value for file, value in sums.items()}


def sums_of(files: Iterable[Path]) -> dict[Path, str]:
    """Return the SHA-256 of files; those that are gone are left out.

    Raises:
        DataError: a file cannot be read.
    """
    sums = dict[Path, str]()
    for file in files:
        with readable(file), suppress(FileNotFoundError, NotADirectoryError):
            sums[file] = sha256(file)
    return sums


def read_note(folder: Path, name: str) -> Note | None:
    """Return the note of a job; None if there is none, or it is damaged, as if it had not ended.

    Args:
        folder: results/<run>.
        name: name of the job.
    """
    with suppress(OSError, ValueError):
        return _NOTE.validate_json(note_of(folder, name).read_bytes())
    return None


def read_notes(folder: Path) -> dict[str, Note]:
    """Return the notes of a run by the names of their jobs, the one that ended last at the end.

    Args:
        folder: results/<run>, which need not be finished or exist.
    """
    logs = folder / "logs"
    names = (it.relative_to(logs).with_suffix("").as_posix() for it in logs.rglob("*.json"))
    notes = {name: note for name in names if (note := read_note(folder, name))}
    return dict(sorted(notes.items(), key=lambda item: item[1].ended))


def noted_sums(notes: Mapping[str, Note]) -> dict[str, str]:
    """Return the checksum of each file that a job wrote; of several jobs, the last one counts."""
    return {file: value for note in notes.values() for file, value in note.wrote.items()}


def unanswered(
    folder: Path, asks: Mapping[str, str], files: Iterable[Path] | None = None
) -> list[str]:
    """Compare notes with a plan, and return what does not answer it.

    Args:
        folder: results/<run>.
        asks: `digest` of what each job is asked, by its name.
        files: the files to compare with what the jobs wrote; all of theirs by default.

    Returns:
        The names of jobs that were asked something else or left no note, and the paths below the
        folder of files that are not as their jobs wrote them, or that another job had read
        otherwise. A file that is gone does not count.

    Raises:
        DataError: a file cannot be read.
    """
    made = made_as_asked(folder, asks)
    wrote = {file: value for note in made.values() for file, value in note.wrote.items()}
    looked = [folder / it for it in wrote] if files is None else files
    seen = [checksums(folder, looked), *(note.read for note in made.values())]
    changed = {file for sums in seen for file in sums if wrote.get(file, sums[file]) != sums[file]}
    return [*(name for name in asks if name not in made), *sorted(changed)]


def made_as_asked(folder: Path, asks: Mapping[str, str]) -> dict[str, Note]:
    """Return the notes of the jobs that were asked what a plan asks, as `unanswered` takes it."""
    notes = {name: read_note(folder, name) for name in asks}
    return {name: note for name, note in notes.items() if note and note.asked == asks[name]}


def align_times(folder: Path) -> None:
    """Give the files of a run one time, if they lost the order of their times but are as noted.

    Snakemake goes by times, which a copy or a wrong clock turns round.

    Args:
        folder: results/<run>, which need not exist.
    """
    paths = {it.relative_to(folder).as_posix(): it for it in folder.rglob("*") if it.is_file()}
    times = {file: path.stat().st_mtime for file, path in paths.items()}
    sums = set[tuple[str, str]]()
    for note in read_notes(folder).values():
        read, wrote = (
            [times[it] for it in files if it in times] for files in (note.read, note.wrote)
        )
        if read and wrote and max(read) > min(wrote):
            sums.update((*note.read.items(), *note.wrote.items()))
    there = {(file, value) for file, value in sums if file in paths}
    if there and there == {*checksums(folder, [paths[it] for it, _ in there]).items()}:
        for path in paths.values():
            with suppress(PermissionError):  # another user's; then some jobs run again
                os.utime(path, (min(times.values()),) * 2)


def loaded_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that this process has loaded."""
    versions = {"Python": platform.python_version()}
    for name in PACKAGES:
        if name in sys.modules:
            with suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
    return versions


def digest(params: Mapping[str, Any]) -> str:
    """Return a hash of what a job is asked: its params, in their order."""
    text = json.dumps([*params.items()], default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, Set) else to_jsonable_python(value)
