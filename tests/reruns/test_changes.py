"""Random changes between and during calls: a page equals that of a fresh run, or there is none.

Snakemake is imitated without its records: a job runs where an input is newer or is made again, or
where its output is missing and a job that runs needs it. Each job plans anew when it starts, as its
own process does.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpol.core.errors import DpolError
from dpol.core.files import sha256, write_text
from dpol.plan import Plan
from dpol.reruns import job as jobs_room
from dpol.reruns.job import job_log
from dpol.reruns.notes import asked, check_notes, checksums, digest, read_notes

SEQUENCES = 500
RUN, HERE, CODE = Path("results/r"), Path("here"), Path("code")
PAGE = RUN / "page"
ASKED = Path(".snakemake/asked")
INPUTS = {
    "panel": [],
    "point-a": ["panel"],
    "point-b": ["panel"],
    "summary": ["point-a", "point-b"],
    "page": ["summary"],
}
"""What each job reads; its output has its name. Only the panel is made from the table."""
OF_CODE = {"panel": "data", "page": "report"}
"""The file of code that a job runs, if not `games`."""
STATE: dict[str, list[Any]] = {
    "config": [{"seed": seed, "streams": it} for seed in (1, 2) for it in (["a", "b"], ["b", "a"])],
    "data": ["x + x", "2 * x"],
    "games": ["3 * x", "4 * x"],
    "report": ["plain", "bold"],
    "table": ["10", "20"],
}
STAGES = "start", "import", "work", "end"


class Killed(BaseException):
    """The process of a job ends at once."""


def put(name: str, value: Any) -> None:
    """Write a file of the user, in place and with an old time."""
    file = CODE / name if name in ("data", "games", "report") else HERE / name
    file.write_text(json.dumps(value))
    os.utime(file, (1e9, 1e9))


def get(name: str) -> Any:
    file = CODE / name if name in ("data", "games", "report") else HERE / name
    return json.loads(file.read_text())


def code_of(name: str) -> Path:
    return CODE / OF_CODE.get(name, "games")


def params(name: str) -> dict[str, Any]:
    """What the plan asks a job."""
    code = {"of": [name], "hash": sha256(code_of(name))}
    config, table = get("config"), HERE / "table"
    if name == "panel":
        return {"code": code, "contents": {str(table): sha256(table)}, "streams": config["streams"]}
    if name == "page":
        return {"code": code, "jobs": [*digests().items()], "config": config}
    return {"code": code, "seed": config["seed"]}


def digests() -> dict[str, str]:
    return {str(log(name)): digest(asked(params(name))) for name in INPUTS if name != "page"}


def log(name: str) -> Path:
    return RUN / f"logs/{name}.log"


def answer(name: str, read: list[str], config: Any, code: Any, table: Any) -> str:
    """What a job writes."""
    own = {"panel": [config["streams"], table], "page": [config]}.get(name, [config["seed"]])
    return json.dumps([name, *read, code, own])


def fresh() -> str:
    """The page of a fresh run."""
    made: dict[str, str] = {}
    for name, read in INPUTS.items():
        code = json.loads(code_of(name).read_text())
        made[name] = answer(name, [made[it] for it in read], get("config"), code, get("table"))
    return made["page"]


def work(name: str, during: Callable[[str], None]) -> None:
    """Run a job; things happen at its start, after it read its code, and before its end."""
    asks = params(name)
    during("start")
    inputs = [str(RUN / it) for it in INPUTS[name]]
    with job_log(log(name), [str(ASKED), *inputs], [str(RUN / name)], asks):
        during("import")
        code = json.loads(code_of(name).read_text())
        during("work")
        if name == "page":
            sums = checksums(RUN, [RUN / it for it in INPUTS if it != "page"])
            check_notes(RUN, read_notes(RUN), sums, dict(asks["jobs"]))
        read = [Path(it).read_text() for it in inputs]
        config = asks.get("config", {"seed": asks.get("seed"), "streams": asks.get("streams")})
        made = answer(name, read, config, code, get("table") if name == "panel" else None)
        write_text(RUN / name, made)
        during("end")
    os.utime(RUN / name)


def call(during: Callable[[str, str], None], only: list[str], *, dry: bool = False) -> set[str]:
    """Imitate a call of Snakemake, and return what ran.

    Raises:
        SystemExit: a job failed.
        DpolError: the plan refused to begin.
    """
    plan = Plan(config=cast(Any, SimpleNamespace(run="r")), place="", name="here", text="")
    release, ran = plan.begin(ASKED, runs_jobs=not dry), set[str]()
    try:
        for name in planned(plan):
            if name in only and not dry:
                work(name, partial(during, name))
                ran.add(name)
    finally:
        if release:
            release()
    return ran


def planned(plan: Plan) -> list[str]:
    """Return the jobs that Snakemake would run; a missing output has the time of the page."""
    page = PAGE.stat().st_mtime if PAGE.exists() else 0.0
    runs = set() if page else {"page"}
    for name, read in INPUTS.items():
        before, output = [RUN / it for it in read], RUN / name
        if plan.reasons_to_rerun(str(log(name)), asked(params(name))) != []:
            before.append(ASKED)
        made = output.stat().st_mtime if output.exists() else page
        if any(it.exists() and it.stat().st_mtime > made for it in before):
            runs.add(name)
    while True:
        needed = {it for name in runs for it in INPUTS[name] if not (RUN / it).exists()}
        after = {name for name, read in INPUTS.items() if runs & {*read}}
        if needed | after <= runs:
            return [name for name in INPUTS if name in runs]
        runs |= needed | after


class Sequence:
    """A random sequence of changes and calls in the working folder."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.done: list[str] = []
        self.finished = False
        self.kept: dict[str, Any] = {}
        for name, values in STATE.items():
            put(name, values[0])

    def step(self) -> None:
        kinds = [self.edit, self.call, self.call, self.call, self.times, self.copy, self.archive]
        kinds += [self.flip, self.delete, self.dry_run]
        self.random.choice(kinds)()

    def edit(self) -> None:
        name = self.random.choice([*STATE])
        value = self.random.choice(STATE[name])
        self.done.append(f"edit {name}: {value}")
        self.finished &= value == get(name)
        put(name, value)

    def files(self) -> list[Path]:
        return sorted(it for it in RUN.rglob("*") if it.is_file())

    def times(self) -> None:
        shift = self.random.choice([2e5, -2e5, 0])
        self.done.append(f"times {shift or 'at random'}")
        for file in self.files():
            time = file.stat().st_mtime + (shift or self.random.uniform(-1e3, 1e3))
            os.utime(file, (time, time))

    def copy(self) -> None:
        if RUN.exists():
            keeps = self.random.choice([shutil.copy, shutil.copy2])
            self.done.append(f"copy by {keeps.__name__}, without records")
            shutil.copytree(RUN, "copy", copy_function=keeps)
            shutil.rmtree(RUN)
            Path("copy").rename(RUN)

    def archive(self) -> None:
        if Path("archive").exists():
            self.done.append("back from the archive")
            shutil.rmtree(RUN, ignore_errors=True)
            shutil.copytree("archive", RUN)
            self.finished = False
        elif RUN.exists():
            self.done.append("into the archive")
            shutil.copytree(RUN, "archive")

    def flip(self) -> None:
        if there := [RUN / it for it in INPUTS if (RUN / it).exists()]:
            file = self.random.choice(there)
            self.done.append(f"flip {file}")
            time = file.stat().st_mtime
            file.write_text(file.read_text().swapcase())
            os.utime(file, (time, time))
            if self.fails([*INPUTS]):  # as the message says
                file.unlink()
            else:  # no note named it, so it was made again
                assert PAGE.read_text() == fresh()
            self.finished = False

    def delete(self) -> None:
        if there := self.files():
            for file in self.random.sample(there, min(len(there), 3)):
                self.done.append(f"delete {file}")
                file.unlink()
            self.finished = False

    def dry_run(self) -> None:
        self.fails([], dry=True)

    def fails(self, only: list[str], **flags: Any) -> bool:
        try:
            call(self.quiet, only, **flags)
        except (SystemExit, DpolError):
            return True
        return False

    def quiet(self, name: str, when: str) -> None:
        """Nothing happens."""

    def call(self) -> None:
        only = self.random.choice([[*INPUTS]] * 4 + [["page"], ["panel", "point-a"]])
        during = self.random.choice([self.quiet, self.quiet, self.events()])
        self.done.append(f"call of {only}")
        try:
            ran = call(during, only)
        except (SystemExit, DpolError, Killed) as error:
            self.done.append(f"failed: {error!r}")
            self.put_back()
            self.finished = False
            return
        self.put_back()
        if "page" in only:
            assert PAGE.read_text() == fresh()
            assert not [*RUN.glob(".*")]
            assert len(only) < len(INPUTS) or all((RUN / it).exists() for it in INPUTS)
            assert not (ran and self.finished), "a needless rerun"
            self.finished |= len(only) == len(INPUTS)
        elif ran:
            self.finished = False

    def put_back(self) -> None:
        for name, value in self.kept.items():
            put(name, value)
        self.kept.clear()

    def events(self) -> Callable[[str, str], None]:
        """Return what happens during a call: edits, put back or not, another run, a kill."""
        what = self.random.choice(["edit", "put back", "other run", "kill"])
        name, changed = self.random.choice([*INPUTS]), self.random.choice([*STATE])
        begin, end = sorted(self.random.sample(STAGES, 2), key=STAGES.index)
        value = self.random.choice(STATE[changed])

        def during(job: str, when: str) -> None:
            if job != name or when not in (begin, end):
                return
            self.done.append(f"{what} at the {when} of {job}: {changed} {value}")
            if when == end:
                self.put_back()
            elif what == "kill":
                (RUN / f".{job}~abcdefgh").write_text("left")
                raise Killed
            elif what == "other run":
                own = get("config")
                put("config", self.random.choice(STATE["config"]))
                with contextlib.suppress(SystemExit, DpolError):
                    call(self.quiet, self.random.choice([[*INPUTS], ["panel", "point-a"]]))
                put("config", own)
            else:
                if what == "put back":
                    self.kept[changed] = get(changed)
                put(changed, value)

        return during


@pytest.fixture(autouse=True)
def small_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs whose code is a file, that write no disk through and name no versions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(jobs_room, "loaded_versions", dict)
    monkeypatch.setattr(jobs_room, "files_of_job", lambda name: [code_of(name)])
    monkeypatch.setattr(
        jobs_room, "code_of_job", lambda name: {"of": [name], "hash": sha256(code_of(name))}
    )


def test_after_any_changes_a_page_equals_that_of_a_fresh_run_or_there_is_none() -> None:
    for seed in range(SEQUENCES):
        folder = Path(f"{seed}")
        for it in (folder, folder / HERE, folder / CODE):
            it.mkdir()
        with contextlib.chdir(folder):
            sequence = Sequence(seed)
            try:
                for _ in range(10):
                    sequence.step()
            except AssertionError as error:
                error.add_note("\n".join([f"sequence {seed}", *sequence.done]))
                raise
        shutil.rmtree(folder)
