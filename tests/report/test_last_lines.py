"""The last lines of a call tell nothing that the plan did not ask."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dpol.core.errors import DataError
from dpol.report.door import CRATE, last_lines
from dpol.reruns.notes import Note, checksums, digest, write_note
from dpol.studies.paper1.table_2 import Verdict
from report.run_by_hand import CLEANING, answered, config, record

UNFINISHED = "not finished: the answer follows when all jobs ran"
MADE = {"report_cleaning": "data/cleaning.json", "render_report": CRATE}
RUN = Path("results/hand")


@pytest.fixture
def jobs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A digest of what is asked of two jobs that ran, by their names."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, RUN)
    finish()
    return {name: digest({"seed": "1"}) for name in MADE}


def finish(verdict: Verdict | None = None) -> None:
    """Write the crate with the answer of the run, and note that both jobs ran."""
    record(RUN, answer=answered(RUN, config("comparison"), verdict).lines)
    for name, file in MADE.items():
        note(name, file)


def note(name: str, *wrote: str) -> None:
    """Note that a job wrote these files."""
    sums = checksums(RUN, [RUN / it for it in wrote])
    found = Note(asked={"seed": "1"}, read={}, wrote=sums, began=0, ended=1)
    write_note(RUN / f"logs/{name}.log", found)


def lines(jobs: dict[str, str]) -> list[str]:
    return last_lines(RUN, config("comparison"), jobs)


def test_a_run_of_the_paper_says_first_what_it_reproduces(jobs: dict[str, str]) -> None:
    finish(Verdict(heading="Reproduced: it", said="Here it is.", why=""))
    first, answer = lines(jobs)[-3:-1]
    assert first == "Reproduced: it."
    assert answer.startswith("ridge-w64-strong with")


def test_a_run_that_answers_its_plan_tells_doubts_and_answer(jobs: dict[str, str]) -> None:
    assert lines(jobs)[0] == f"warning: {CLEANING['warnings'][0]}"
    *_, answer, why = lines(jobs)
    assert why.startswith("Shown: the strictest level")
    assert answer.startswith("ridge-w64-strong with")


@pytest.mark.parametrize("name", MADE)
def test_a_job_that_was_asked_something_else_tells_nothing(jobs: dict[str, str], name: str) -> None:
    jobs[name] = digest({"seed": "2"})
    told = lines(jobs)
    assert told[0].startswith("warning") == (name != "report_cleaning")
    assert (UNFINISHED in told) == (name == "render_report")
    assert bool([line for line in told if line.startswith("ridge")]) == (name == "report_cleaning")


@pytest.mark.parametrize("name", MADE.values())
def test_a_file_that_has_changed_is_refused(jobs: dict[str, str], name: str) -> None:
    (RUN / name).write_bytes(b"other")
    with pytest.raises(DataError, match=f"{name} is not as a job of this run wrote it; delete it"):
        lines(jobs)


def test_a_run_whose_results_are_with_a_storage_provider_says_no_word_on_them(
    jobs: dict[str, str],
) -> None:
    for name in MADE:
        note(name)
    assert lines(jobs) == []
