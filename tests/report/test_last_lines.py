"""The last lines of a call tell nothing that the plan did not ask."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from dpol.core.errors import DataError
from dpol.report.decision import DECISION
from dpol.report.door import answers
from dpol.report.page import last_lines
from dpol.reruns.notes import Note, checksums, digest, write_note
from report.run_by_hand import CLEANING, config, decided

UNFINISHED = "not finished: the answer follows when all jobs ran"
TABLES = "data/panel.parquet", "summary.parquet", "standings.parquet", DECISION
JOBS = "clean", "sum", "rank", "decide"
RUN = Path("results/hand")


@pytest.fixture
def jobs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is asked of four jobs that ran one after the other, by their logs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, RUN)
    (RUN / TABLES[0]).write_text("the panel")
    Path("hand.yaml").touch()
    decision = decided(RUN, config("comparison"), "hand.yaml")
    (RUN / DECISION).write_text(yaml.safe_dump(decision, allow_unicode=True))
    note("clean", [], [TABLES[0], "data/cleaning.json"])
    note("sum", TABLES[:1], TABLES[1:2])
    note("rank", TABLES[1:2], TABLES[2:3])
    note("decide", TABLES[2:3], TABLES[3:])
    return {f"{RUN}/logs/{name}.log": digest({"seed": "1"}) for name in JOBS}


def note(name: str, read: Sequence[str], wrote: Sequence[str]) -> None:
    """Note that a job read and wrote these files; the first one ended last, as if it ran again."""
    reads, writes = (checksums(RUN, [RUN / it for it in files]) for files in (read, wrote))
    found = Note(asked={"seed": "1"}, read=reads, wrote=writes, began=0, ended=9 - len(reads))
    write_note(RUN / f"logs/{name}.log", found)


def lines(jobs: dict[str, str]) -> list[str]:
    return last_lines(RUN, config("comparison"), jobs)


def test_a_run_of_the_paper_says_first_what_it_reproduces(jobs: dict[str, str]) -> None:
    paper = {"verdict": {"heading": "Reproduced: it", "said": "Here it is.", "why": ""}}
    decision = yaml.safe_load((RUN / DECISION).read_text())
    (RUN / DECISION).write_text(yaml.safe_dump(decision | paper, allow_unicode=True))
    note("decide", TABLES[2:3], TABLES[3:])
    first, answer = lines(jobs)[-4:-2]
    assert first == "Reproduced: it."
    assert answer.startswith("Let ridge-w64-strong with")


def test_a_run_that_answers_its_plan_tells_doubts_and_answer(jobs: dict[str, str]) -> None:
    assert lines(jobs)[0] == f"warning: {CLEANING['warnings'][0]}"
    *_, answer, why, command = lines(jobs)
    assert why.startswith("Shown: the strictest level")
    assert answer.startswith("Let ridge-w64-strong with")
    assert command == "Next week: dpol release hand.yaml && dpol choose hand.yaml"


@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_was_asked_something_else_leaves_no_answer(
    jobs: dict[str, str], name: str
) -> None:
    """Nor the doubts, if it made the data."""
    jobs[f"{RUN}/logs/{name}.log"] = digest({"seed": "2"})
    told = lines(jobs)
    assert told[-1] == UNFINISHED
    assert told[0].startswith("warning") == (name != "clean")
    assert not [line for line in told if line.startswith("Let")]


@pytest.mark.parametrize("name", [DECISION, "data/cleaning.json"])
def test_a_file_that_has_changed_is_refused(jobs: dict[str, str], name: str) -> None:
    (RUN / name).write_bytes(b"other")
    with pytest.raises(DataError, match=f"{name} is not as a job of this run wrote it; delete it"):
        lines(jobs)


def test_a_file_that_no_job_of_the_plan_wrote_is_refused(jobs: dict[str, str]) -> None:
    with pytest.raises(DataError, match="panel.parquet is not as a job of this run wrote it"):
        answers(RUN, {}, jobs).file(TABLES[0])


def test_a_run_whose_results_are_with_a_storage_provider_says_no_word_on_them(
    jobs: dict[str, str],
) -> None:
    for name in JOBS:
        note(name, [], [])
    assert lines(jobs) == []
