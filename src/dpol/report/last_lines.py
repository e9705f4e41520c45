"""The last lines of a call, by what the page of its run says.

The main process of Snakemake imports this, so it loads no tables and no figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dpol.config.models import Config
from dpol.core.files import read_json
from dpol.report.door import CRATE, RunFiles, read_crate
from dpol.reruns.notes import made_as_asked, noted_sums, unanswered

_LONGEST = 300  # characters of a warning


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
