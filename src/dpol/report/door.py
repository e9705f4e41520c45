"""The one door to the files of a run: a reader gets those that answer its request.

Of a finished run these are the files that its RO-Crate lists. An error names the file, and the
remedy. The main process of Snakemake imports this, so it loads no tables and no figures.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree

from dpol.core.errors import DataError
from dpol.core.files import read_json, sha256
from dpol.core.schemas import readable
from dpol.reruns.notes import (
    Checksums,
    checksums,
    made_as_asked,
    noted_sums,
    read_notes,
    unanswered,
)

if TYPE_CHECKING:
    from dpol.config.models import Config

CRATE = "ro-crate-metadata.json"
CONFIG = "provenance/config.yaml"
_LONGEST = 300  # characters of a warning


@dataclass(frozen=True, kw_only=True)
class RunFiles:
    """Files of a run that answer what it was asked: the one door to its results.

    Args:
        folder: results/<run>.
        files: SHA-256 of each of these files, by its path below the folder.
        answer: the lines with which the run ends, once it is finished.
    """

    folder: Path
    files: Checksums
    answer: Sequence[str] = ()

    def file(self, name: str) -> Path:
        """Return the path of a file, which may be missing.

        Raises:
            DataError: it is none of these, it or the crate that lists them has changed since its
                job wrote it, or it cannot be read.
        """
        asked = {name} | ({CRATE} & self.files.keys())
        for each, found in checksums(self.folder, [self.folder / it for it in asked]).items():
            if found != self.files.get(each):
                raise DataError(
                    f"{self.folder / each} is not as a job of this run wrote it; delete it and run"
                    " snakemake again"
                )
        return self.folder / name


def read_crate(folder: Path) -> RunFiles:
    """Read the crate of a run: its files with their checksums, and its answer.

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
    with readable(crate):
        nodes = read_json(crate)["@graph"]
        listed = {unquote(it["@id"]): it["sha256"] for it in nodes if "contentSize" in it}
        told = "".join(it.get("abstract", "") for it in nodes if it["@id"] == "./")
        noted = noted_sums(read_notes(folder)).get(CRATE) or sha256(crate)
        return RunFiles(folder=folder, files={CRATE: noted, **listed}, answer=told.splitlines())


def disagreements(folder: Path) -> list[tuple[str, str]]:
    """Compare the files of a run with its crate, and the crate with its noted checksum.

    Files that another config left are not new: the note of their job lists them.

    Returns:
        `changed`, `missing` or `new`, and the file below the folder, for each difference.

    Raises:
        DataError: the run is not finished, or its crate cannot be read.
    """
    crate = read_crate(folder)
    below = (it.relative_to(folder).as_posix() for it in folder.rglob("*") if it.is_file())
    present = {name for name in below if not name.startswith("logs/")}
    noted = noted_sums(read_notes(folder))
    sums = checksums(folder, [folder / it for it in sorted(crate.files)])
    return [
        *(("changed", name) for name in sums if sums[name] != crate.files[name]),
        *(("missing", name) for name in sorted(crate.files.keys() - present)),
        *(("new", name) for name in sorted(present - crate.files.keys() - noted.keys())),
        *([] if CRATE in noted else [("missing", "logs")]),
    ]


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


# ---- the last lines of a call --------------------------------------------------------------------


def last_lines(folder: Path, config: Config, jobs: Mapping[str, str]) -> list[str]:
    """Return the last lines of a call: doubts about the data, what it leaves out, and the answer.

    If the run plays the paper, what it reproduces comes before the answer.

    Args:
        folder: results/<run>.
        config: config of the run.
        jobs: digest of what the plan asks the jobs of the data and the page, by name.

    Raises:
        DataError: a file of the run has changed since its job wrote it, or is invalid.
    """
    lines = list[str]()
    files = RunFiles(folder=folder, files=noted_sums(made_as_asked(folder, jobs)))
    if "data/cleaning.json" in files.files:
        lines += _warnings(files.file("data/cleaning.json"))
    lines += config.left_out
    if CRATE in files.files:
        files.file(CRATE)  # refuses one that has changed
        return [*lines, *read_crate(folder).answer]
    if unanswered(folder, jobs):  # otherwise a storage provider has the results
        lines.append("not finished: the answer follows when all jobs ran")
    return lines


def _warnings(report: Path, shown: int = 8) -> list[str]:
    """Return the warnings in a cleaning report and the number of changed cells, to end a run with.

    Args:
        report: the file `cleaning.json` of a run.
        shown: the largest number of warnings to return.
    """
    facts = read_json(report)
    texts = facts["warnings"][:shown]
    lines = [f"warning: {it if len(it) <= _LONGEST else it[:_LONGEST] + ' ...'}" for it in texts]
    cells = sum(it["entities"] * it["periods"] for it in facts["streams"])
    if changed := sum(it["changed"] for it in facts["streams"]):
        lines.append(f"Cleaning changed {changed:,} of {cells:,} cells.")
    return [*lines, f"Read {report.with_suffix('.md')} on them."] if lines else []
