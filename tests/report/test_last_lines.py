"""The last lines of a call tell nothing that the plan did not ask."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

from dpol.core.errors import DataError
from dpol.report.decision import DECISION
from dpol.report.page import last_lines
from dpol.reruns.notes import Note, checksums, digest, write_note
from report.run_by_hand import CLEANING, config, decided

UNFINISHED = "not finished: the answer follows when all jobs ran"
MADE = {"clean_panel": "data/cleaning.json", "render_report": DECISION}
RUN = Path("results/hand")


@pytest.fixture
def jobs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A digest of what is asked of two jobs that ran, by their names."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, RUN)
    Path("hand.yaml").touch()
    decision = decided(RUN, config("comparison"), "hand.yaml")
    (RUN / DECISION).write_text(yaml.safe_dump(decision, allow_unicode=True))
    for name, file in MADE.items():
        note(name, file)
    return {name: digest({"seed": "1"}) for name in MADE}


def note(name: str, *wrote: str) -> None:
    """Note that a job wrote these files."""
    sums = checksums(RUN, [RUN / it for it in wrote])
    found = Note(asked={"seed": "1"}, read={}, wrote=sums, began=0, ended=1)
    write_note(RUN / f"logs/{name}.log", found)


def lines(jobs: dict[str, str]) -> list[str]:
    return last_lines(RUN, config("comparison"), jobs)


def test_a_run_of_the_paper_says_first_what_it_reproduces(jobs: dict[str, str]) -> None:
    paper = {"verdict": {"heading": "Reproduced: it", "said": "Here it is.", "why": ""}}
    decision = yaml.safe_load((RUN / DECISION).read_text())
    (RUN / DECISION).write_text(yaml.safe_dump(decision | paper, allow_unicode=True))
    note("render_report", DECISION)
    first, answer = lines(jobs)[-4:-2]
    assert first == "Reproduced: it."
    assert answer.startswith("Let ridge-w64-strong with")


def test_a_run_that_answers_its_plan_tells_doubts_and_answer(jobs: dict[str, str]) -> None:
    assert lines(jobs)[0] == f"warning: {CLEANING['warnings'][0]}"
    *_, answer, why, command = lines(jobs)
    assert why.startswith("Shown: the strictest level")
    assert answer.startswith("Let ridge-w64-strong with")
    assert command == "Next week: dpol release hand.yaml && dpol choose hand.yaml"


@pytest.mark.parametrize("name", MADE)
def test_a_job_that_was_asked_something_else_tells_nothing(jobs: dict[str, str], name: str) -> None:
    jobs[name] = digest({"seed": "2"})
    told = lines(jobs)
    assert told[0].startswith("warning") == (name != "clean_panel")
    assert (UNFINISHED in told) == (name == "render_report")
    assert bool([line for line in told if line.startswith("Let")]) == (name == "clean_panel")


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
