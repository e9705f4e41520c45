"""The one door to the files of a run: a reader gets those that answer its request.

An error names the file, and the remedy.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from dpol.core.errors import DataError
from dpol.core.schemas import readable
from dpol.reruns.notes import Checksums, Note, checksums, made_as_asked


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """Files of a run that answer what it was asked: the one door to its results.

    Args:
        folder: results/<run>.
        files: SHA-256 of each of these files, by its path below the folder.
    """

    folder: Path
    files: Checksums

    def file(self, name: str) -> Path:
        """Return the path of a file, which may be missing.

        Raises:
            DataError: it is none of these, has changed since its job wrote it, or cannot be read.
        """
        path = self.folder / name
        if checksums(self.folder, [path]).get(name) not in (None, self.files.get(name)):
            raise DataError(
                f"{path} is not as a job of this run wrote it; delete it and run snakemake again"
            )
        return path


def answers(folder: Path, notes: Mapping[Path, Note], jobs: Mapping[str, str]) -> RunFiles:
    """Return the files that jobs of a plan wrote as it asks, and of such files only.

    Args:
        folder: results/<run>.
        notes: what `read_notes` returns for it.
        jobs: `digest` of what each job of the plan is asked, by its log.
    """
    made, files, before = made_as_asked(notes, jobs), dict[str, str](), -1
    while before < len(files):  # a job reads what others wrote
        before = len(files)
        ready = [note for note in made.values() if note.read.items() <= files.items()]
        files |= {file: value for note in ready for file, value in note.wrote.items()}
    return RunFiles(folder=folder, files=files)


def read_fragment(path: Path) -> str:
    """Read the table of a page of its own. Raises DataError if it is missing or is not a table."""
    with readable(path):
        text = path.read_text(encoding="utf-8").partition("<body>\n")[2].partition("</body>")[0]
        if "</table>" not in text:
            raise ValueError("it holds no table")
    return text


def read_image(path: Path) -> tuple[str, float, str]:
    """Read a figure as base64, its width in points, and its finding.

    Raises:
        DataError: the file is missing or is not a figure.
    """
    with readable(path):
        image = path.read_bytes()
        root = ElementTree.fromstring(image)
        width = float(root.attrib["viewBox"].split()[2])
    finding = root.findtext("{http://www.w3.org/2000/svg}title") or ""
    return base64.b64encode(image).decode(), width, finding
