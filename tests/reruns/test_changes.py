"""Random changes between and during calls: a page equals that of a fresh run, or there is none.

Snakemake is imitated without its records: a job runs where an input is newer or is made again, or
where its output is missing and a job that runs needs it. Each job plans anew when it starts, as its
own process does. An orphan is a process of a job whose call was killed. Half of the sequences have
no locks, as some network disks, and half of the calls no `onstart`, as in a module.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import tempfile
import warnings
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from dpol.core.errors import DpolError
from dpol.core.files import sha256, write_text
from dpol.plan import Plan
from dpol.report.door import answers
from dpol.reruns import job as jobs_room
from dpol.reruns import lock as lock_room
from dpol.reruns.job import job_log
from dpol.reruns.notes import asked, check_notes, checksums, digest, read_notes

SEQUENCES = 125
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
"""What each job reads; its two outputs have its name. Only the panel is made from the table."""
OF_CODE = {"panel": "data", "page": "report"}
"""The file of code that a job runs, if not `games`."""
STATE: dict[str, list[Any]] = {
    "config": [{"seed": seed, "streams": it} for seed in (1, 2) for it in (["a", "b"], ["b", "a"])],
    "data": ["x + x", "2 * x"],
    "games": ["3 * x", "4 * x"],
    "report": ["plain", "bold"],
    "table": ["10", "20"],
}
FILES = {name: (HERE if name in ("config", "table") else CODE) / name for name in STATE}
STAGES = "start", "import", "work", "half", "end", "after the call"
TARGETS = ["page"], ["panel", "point-a"], ["point-b"], ["summary"]
FIRST, SECOND = 65533, 65534
"""Ids of two users."""


class Killed(BaseException):
    """The process of a call or a job ends at once."""


# ---- the jobs ----


def put(name: str, value: Any) -> None:
    """Write a file of the user, in place and with an old time."""
    FILES[name].write_text(json.dumps(value))
    with contextlib.suppress(PermissionError):  # it is another user's
        os.utime(FILES[name], (1e9, 1e9))


def get(name: str) -> Any:
    return json.loads(FILES[name].read_text())


def code_of(name: str) -> Path:
    return FILES[OF_CODE.get(name, "games")]


def params(name: str) -> dict[str, Any]:
    """What the plan asks a job."""
    code = {"of": [name], "hash": sha256(code_of(name))}
    config, table = get("config"), FILES["table"]
    if name == "panel":
        return {"code": code, "contents": {str(table): sha256(table)}, "streams": config["streams"]}
    if name == "page":
        return {"code": code, "jobs": [*digests().items()], "config": config}
    return {"code": code, "seed": config["seed"]}


def all_but_page() -> dict[str, dict[str, str]]:
    return {str(log(name)): asked(params(name)) for name in INPUTS if name != "page"}


def digests() -> dict[str, str]:
    return {name: digest(it) for name, it in all_but_page().items()}


def log(name: str) -> Path:
    return RUN / f"logs/{name}.log"


def written(*names: str) -> list[Path]:
    return [RUN / f"{name}{end}" for name in names for end in ("", ".too")]


def answer(name: str, read: list[str], config: Any, code: Any, table: Any) -> str:
    """What a job writes."""
    own = {"panel": [config["streams"], table], "page": [config]}.get(name, [config["seed"]])
    return json.dumps([name, hashlib.sha256(repr(read).encode()).hexdigest(), code, own])


def fresh(job: str = "page") -> str:
    """What a job of a fresh run writes."""
    code, read = json.loads(code_of(job).read_text()), [fresh(it) for it in INPUTS[job]]
    return answer(job, [it for it in read for _ in written(job)], get("config"), code, get("table"))


def work(name: str, during: Callable[[str], object]) -> None:
    """Run a job; things happen at each of its stages."""
    asks = params(name)
    inputs, outputs = written(*INPUTS[name]), written(name)
    for it in outputs:
        it.unlink(missing_ok=True)  # as Snakemake does
    during("start")
    with job_log(log(name), [str(it) for it in (ASKED, *inputs)], map(str, outputs), asks):
        during("import")
        code = json.loads(code_of(name).read_text())
        during("work")
        if name == "page":
            sums = checksums(RUN, written(*(it for it in INPUTS if it != "page")))
            check_notes(RUN, read_notes(RUN), sums, dict(asks["jobs"]))
        read = [it.read_text() for it in inputs]
        config = asks.get("config", {"seed": asks.get("seed"), "streams": asks.get("streams")})
        made = answer(name, read, config, code, get("table") if name == "panel" else None)
        for file, stage in zip(outputs, ("half", "end"), strict=True):
            write_text(file, made)
            during(stage)
    for it in outputs:
        os.utime(it)


# ---- Snakemake ----


def call(
    during: Callable[[str, str], object],
    flag: str = "",
    at: Collection[str] = (),
    *,
    is_module: bool = False,
) -> dict[str, str]:
    """Imitate a call of Snakemake; return the jobs of it, and the page that each should lead to.

    Raises:
        SystemExit: a job failed.
        DpolError: the plan refused to begin.
    """
    plan = Plan(config=cast(Any, SimpleNamespace(run="r")), place="", name="here", text="")
    release, ran = plan.begin(ASKED, runs_jobs=flag != "dry-run"), dict[str, str]()
    try:
        names = [it for it in planned(plan) if is_chosen(it, flag, at)]
        logs, asks = {str(log(it)) for it in names}, all_but_page()
        if flag == "touch":
            plan.refuse_gaps({it: asks[it] for it in asks if it in logs}, ())
            for it in filter(Path.exists, written(*names)):
                it.touch()
        elif flag == "dry-run":
            ran = dict.fromkeys(names, "")
        else:
            if "page" in names and not is_module:
                plan.refuse_gaps(asks, logs)
            for name in names:
                ran[name] = fresh()
                work(name, partial(during, name))
    finally:
        if release:
            release()
    return ran


def planned(plan: Plan) -> list[str]:
    """Return the jobs that Snakemake would run; a missing output has the time of the page."""
    page = PAGE.stat().st_mtime if PAGE.exists() else 0.0
    runs = set() if page else {"page"}
    for name, read in INPUTS.items():
        before = written(*read)
        if plan.reasons_to_rerun(str(log(name)), asked(params(name))) != []:
            before.append(ASKED)
        made = min((it.stat().st_mtime if it.exists() else page) for it in written(name))
        if any(it.exists() and it.stat().st_mtime > made for it in before):
            runs.add(name)
    while True:
        needed = {it for name in runs for it in INPUTS[name]}
        needed = {it for it in needed if not all(file.exists() for file in written(it))}
        after = {name for name, read in INPUTS.items() if runs & {*read}}
        if needed | after <= runs:
            return [name for name in INPUTS if name in runs]
        runs |= needed | after


def is_chosen(name: str, flag: str, at: Collection[str]) -> bool:
    """Return whether a flag of Snakemake lets a job run."""
    return {
        "until": not below(name).isdisjoint(at),
        "omit-from": all(name not in below(it) for it in at),
        "allowed-rules": name in at,
    }.get(flag, True)


def below(name: str) -> set[str]:
    """Return a job, and all that read what it writes, directly or not."""
    return {name}.union(*(below(job) for job, read in INPUTS.items() if name in read))


class Orphan:
    """A process of a job that stops at a stage, and at each later one."""

    def __init__(self, name: str, first: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forks beside threads
            self.process = os.fork()
        if not self.process:
            with contextlib.suppress(BaseException):
                work(name, lambda stage: STAGES.index(stage) >= STAGES.index(first) and stop())
            os._exit(0)
        self.name, self.has_lock = name, first != "start"
        self._wait()

    def go_on(self, how: int = signal.SIGCONT) -> None:
        self.has_lock = True
        os.kill(self.process, how)
        self._wait()

    def _wait(self) -> None:
        _, status = os.waitpid(self.process, os.WUNTRACED)
        self.is_there = os.WIFSTOPPED(status)


def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


# ---- what happens ----


class Sequence:
    """A random sequence of changes and calls in the working folder."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.locks = bool(seed % 2)
        self.done: list[str] = []
        self.orphans: list[Orphan] = []
        self.finished = self.is_calm = self.has_flipped = False
        self.kept: dict[str, Any] = {}
        for name, values in STATE.items():
            put(name, values[0])

    def step(self) -> None:
        kinds = [*[self.edit] * 2, *[self.call] * 4, self.times, self.flip]
        if not (self.locks and self.orphans):  # these would lose the locks
            kinds += [self.copy, self.archive, self.delete]
        self.random.choice([*kinds, self.orphan if self.orphans else self.other_user])()

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

    def delete(self) -> None:
        if there := self.files():
            for file in self.random.sample(there, min(len(there), 3)):
                self.done.append(f"delete {file}")
                file.unlink()
            self.finished = False

    def flip(self) -> None:
        """A file changes, and whoever is told so deletes it."""
        if file := self.flipped():
            if self.fails():
                file.unlink()
            else:  # no note named it, so it was made again
                assert PAGE.read_text() == fresh()
            self.finished = False

    def flipped(self) -> Path | None:
        """Change a file of the run, but not its size or time, and return it."""
        if not (there := [it for it in written(*INPUTS) if it.exists()]):
            return None
        file = self.random.choice(there)
        self.done.append(f"flip {file}")
        time = file.stat().st_mtime
        file.write_text(file.read_text().swapcase())
        with contextlib.suppress(PermissionError):
            os.utime(file, (time, time))
        return file

    def orphan(self) -> None:
        """An orphan goes on, or is killed."""
        if self.orphans:
            it = self.random.choice(self.orphans)
            how = self.random.choice([signal.SIGCONT, signal.SIGCONT, signal.SIGKILL])
            self.done.append(f"{how.name} to the orphan of {it.name}")
            it.go_on(how)
            self.orphans = [it for it in self.orphans if it.is_there]
            self.finished = False

    def other_user(self) -> None:
        """Another user, who may write the files but not set their times, goes on."""
        with contextlib.suppress(PermissionError):  # only root can be several users
            for path in (Path(), *Path().rglob("*")):
                os.chown(path, FIRST, FIRST)
                path.chmod(0o777 if path.is_dir() else 0o666)
            os.seteuid(SECOND)
        try:
            self.done.append(f"as user {os.geteuid()}")
            self.call()
        finally:
            os.setresuid(-1, os.getuid(), -1)

    def fails(self, *words: Any) -> bool:
        try:
            call(self.quiet, *words)
        except (SystemExit, DpolError):
            return True
        return False

    def quiet(self, name: str, stage: str) -> None:
        """Nothing happens."""

    def call(self) -> None:
        flags = "until", "omit-from", "allowed-rules", "touch", "dry-run"
        flag, at = self.random.choice(["", "", "", "", "", *flags]), self.random.choice(TARGETS)
        during = self.random.choice([self.quiet, self.events()])
        is_module = self.random.random() < 0.5
        self.done.append(f"call {flag} {at if flag else ''}{' of a module' * is_module}")
        page, at_work = self.page(), self.locks and any(it.has_lock for it in self.orphans)
        self.is_calm, failed = True, ""
        try:
            ran = call(during, flag, at, is_module=is_module)
        except (SystemExit, DpolError, Killed) as error:
            failed = repr(error)
        self.put_back()
        if failed:
            self.done.append(f"failed: {failed}")
            if self.is_calm and not is_module and (not flag or "page" in at):
                assert "SystemExit" not in failed, "a job began"
                assert self.page() == page
            if self.locks and not self.has_flipped:
                assert "changed since the jobs wrote" not in failed, "nobody changed a result"
            self.finished = False
            return
        if flag == "dry-run":
            assert not (ran and self.finished), "a needless rerun is planned"
            return
        assert not at_work, "a job of an earlier call is at work"
        self.tell()
        if not flag or (flag in ("until", "allowed-rules") and at == ["page"]):
            assert PAGE.read_text() == ran.get("page", fresh())
            assert self.orphans or not [*RUN.glob(".*"), *RUN.rglob("*.lock")]
            for it in INPUTS if self.is_calm and not flag else ():
                assert {file.read_text() for file in written(it)} == {fresh(it)}
            assert not (ran and self.finished), "a needless rerun"
            self.finished = (self.finished or not flag) and self.is_calm
        elif ran:
            self.finished = False

    def page(self) -> str:
        return PAGE.read_text() if PAGE.exists() else ""

    def tell(self) -> None:
        """As the last lines do, unless a file is not as its job wrote it."""
        files = answers(RUN, read_notes(RUN), digests())
        for it in written("summary"):
            with contextlib.suppress(DpolError):
                if it.name in files.files and files.file(it.name).exists():
                    assert it.read_text() == fresh("summary")

    def put_back(self) -> None:
        for name, value in self.kept.items():
            put(name, value)
        self.kept.clear()

    def events(self) -> Callable[[str, str], None]:
        """Return what happens during a call: at a stage of a job, and perhaps again at a later."""
        kinds = "edit", "put back", "put back", "flip", "other run", "kill", "orphan", "go on"
        what, name = self.random.choice(kinds), self.random.choice([*INPUTS])
        changed = self.random.choice([*STATE, *[code_of(name).name] * 3])
        value = self.random.choice(STATE[changed])
        begin, end = sorted(self.random.sample(STAGES, 2), key=STAGES.index)
        if what == "go on" and self.orphans:
            name = self.random.choice([name, self.orphans[-1].name])
        if what == "kill":
            begin = end

        def during(job: str, stage: str) -> None:
            if job != name or stage not in (begin, end):
                return
            self.done.append(f"{what} at the {stage} of {job}: {changed} {value}")
            self.is_calm = False
            if what == "go on":
                self.orphan()
            elif what == "flip":
                self.flipped()
                self.has_flipped = True
            elif what in ("kill", "orphan"):
                RUN.mkdir(parents=True, exist_ok=True)
                (RUN / f".{self.random.choice([*INPUTS])}~abcdefgh").write_text("left")
                if what == "orphan":
                    self.orphans += [it for it in [Orphan(job, end)] if it.is_there]
                raise Killed
            elif stage == end:
                self.put_back()
            elif what == "other run":
                own = get("config")
                put("config", self.random.choice(STATE["config"]))
                self.fails(*self.random.choice([(), ("until", ["panel", "point-a"])]))
                put("config", own)
            else:
                if what == "put back":
                    self.kept[changed] = get(changed)
                put(changed, value)

        return during


@pytest.fixture(autouse=True)
def small_jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Jobs whose code is a file, that write no disk through and name no versions."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))  # for two users
    folder.chmod(0o755)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(jobs_room, "loaded_versions", dict)
    monkeypatch.setattr(jobs_room, "files_of_job", lambda name: [code_of(name)])
    monkeypatch.setattr(
        jobs_room, "code_of_job", lambda name: {"of": [name], "hash": sha256(code_of(name))}
    )
    yield
    shutil.rmtree(folder)


def test_after_any_changes_a_page_equals_that_of_a_fresh_run_or_there_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for seed in range(SEQUENCES):
        folder = Path(f"{seed}")
        for it in (folder, folder / HERE, folder / CODE):
            it.mkdir()
        with contextlib.chdir(folder), monkeypatch.context() as disk:
            sequence = Sequence(seed)
            if not sequence.locks:
                disk.setattr(lock_room, "_held", lambda *_, **__: contextlib.nullcontext())
            try:
                for _ in range(15):
                    sequence.step()
            except Exception as error:
                error.add_note("\n".join([f"sequence {seed}", *sequence.done]))
                raise
            finally:
                for left in sequence.orphans:
                    left.go_on(signal.SIGKILL)
        shutil.rmtree(folder)
