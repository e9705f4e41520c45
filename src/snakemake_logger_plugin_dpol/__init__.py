"""The view of a run: its length and stages, and its results or errors at the end.

Snakemake finds this package by its name; `logger: [dpol]` in `profiles/` asks for it. It reads
events of Snakemake's interface for loggers, and no text of its messages.
"""

from __future__ import annotations

import logging
import math
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from threading import Event, Thread
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_dpol.progress import Progress, in_words

_NO_MEMORY = re.compile("MemoryError|[Cc]annot allocate memory|failed to map segment")
"""What Python, the system, and the loader of libraries say when memory runs out."""
_MORE_MEMORY = (
    "run the same command with fewer jobs at once, as with --cores 1, on a machine with more"
    " memory, or with a higher limit (ulimit -v)"
)


LOOK_SECONDS = 5.0
"""Seconds between looks at a run of which no job ends."""


def _refuse_cluster() -> None:
    """End with one line if a profile asks for a cluster, but Snakemake lacks its plug-in.

    Snakemake loads this package before it reads its options. It would print all of them.
    """
    folders = [word.rpartition("=")[2] for word in sys.argv]
    for name in ("slurm", "cluster-generic"):
        asks = any(Path(folder).match(f"profiles/{name}") for folder in folders)
        plugin = f"snakemake-executor-plugin-{name}"
        if asks and find_spec(plugin.replace("-", "_")) is None:
            sys.exit(
                f"error: profiles/{name} needs Snakemake's plug-in for it; in the clone run make"
                f" cluster, elsewhere pip install {plugin}"
            )


_refuse_cluster()


_DRY = "This was a dry-run; with --verbose it names each job and Snakemake's reason for it."


class LogHandler(LogHandlerBase):
    """Handler that shows a line for each stage, and at the end the results, or every error once.

    A dry run shows the number of jobs of each rule. With --verbose, all is as Snakemake prints it.
    """

    writes_to_stream = True
    writes_to_file = False
    has_formatter = False
    needs_rulegraph = False

    @property
    def has_filter(self) -> bool:
        """Whether the handler chooses the messages; Snakemake's filter would drop errors."""
        return not self._is_plain

    @property
    def _is_plain(self) -> bool:
        return bool(self.common_settings.verbose)

    def __post_init__(self) -> None:
        """Set the state before a run."""
        self._from = Path.cwd()
        self._progress: Progress | None = None
        self._left_out: list[str] = []
        """Exhibits that runs leave out, as dpol's rules say."""
        self._before: list[str] = []
        """Messages before a run; the only ones if there is nothing to run."""
        self._failed: dict[int, tuple[str, list[str], list[str]]] = {}
        """Rules, logs and exceptions of the failed jobs."""
        self._errors: list[str] = []
        self._made: list[str] = []
        self._last_lines: Callable[[], list[str]] = list
        """The last lines of a run; Snakemake asks for them only if a job ran."""
        self._told = 0.0
        """Time of the last line about progress."""
        self._ended = Event()
        self._is_closed = False
        self._shown = self.common_settings.dryrun or not self.common_settings.quiet
        self._redrawn = self._shown and sys.stderr.isatty()

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a message of Snakemake."""
        event, facts = getattr(record, "event", None), vars(record)
        if self._is_plain:
            if text := self.format(record):
                print(text, file=sys.stdout if self.common_settings.stdout else sys.stderr)
        elif event == LogEvent.RUN_INFO:
            if self.common_settings.dryrun:
                self._made = [record.getMessage(), *self._left_out, _DRY]
            else:
                self._plan(facts["stats"], record.created)
        elif event == LogEvent.JOB_INFO:
            self._begin(facts)
        elif event == LogEvent.JOB_FINISHED:
            self._finish(facts["job_id"], record.created)
        elif event == LogEvent.JOB_ERROR:
            self._fail(facts)
        elif record.levelno >= logging.ERROR:
            self._errors.append(record.getMessage())
            if facts.get("exception") == "LockException":
                again = os.environ.get("DPOL_COMMAND", "the same command with")  # from dpol run
                self._errors.append(
                    "error: another run is at work in this folder, or one was killed. If none is at"
                    f" work, type once: {again} --unlock"
                )
        elif record.levelno == logging.WARNING:
            self._say(record.getMessage())
        elif "left_out" in facts:  # from dpol's rules
            self._left_out += facts["left_out"]
        elif "last_lines" in facts:  # too
            self._last_lines = facts["last_lines"]
        elif not (event or self._progress):
            self._before.append(record.getMessage())

    def close(self) -> None:
        """Print how the run ended; Snakemake says nothing after this."""
        super().close()
        if self._is_closed:
            return
        self._is_closed = True
        self._ended.set()
        if wrong := self._what_went_wrong():
            self._say("\n".join(wrong))
        elif self._shown and self._made:
            self._say("")
            here = [] if Path.cwd() == self._from else [f"In {Path.cwd()}:"]
            print(*here, *self._made, sep="\n", flush=True)
            if self._progress:
                self._say(f"Time: {in_words(time.time() - self._progress.began)}")
        elif self._shown and not self._progress and self._before:
            self._say("\n".join([*self._before, *self._last_lines()]))

    def _plan(self, totals: Mapping[str, int], now: float) -> None:
        from dpol.core.words import counted  # late, because Snakemake imports every plugin

        self._progress = Progress(totals=totals, began=now)
        self._told = now
        if self._shown:
            jobs = counted(sum(self._progress.totals.values()), "job")
            self._say(f"{jobs}. Ctrl-C is safe: the same command continues from there.")
            Thread(target=self._keep_telling, daemon=True).start()

    def _begin(self, facts: Mapping[str, Any]) -> None:
        if not facts["output"]:  # the message of a rule that collects files names them
            self._made.append(facts["rule_msg"] or facts["rule_name"])
        elif self._progress:
            self._progress.begin(facts["jobid"], facts["rule_name"])

    def _fail(self, facts: Mapping[str, Any]) -> None:
        # Snakemake logs the exception of a job just before.
        self._failed[facts["jobid"]] = facts["rule_name"], facts["log"], self._errors
        self._errors = []
        if self._progress:
            self._progress.fail(facts["jobid"])

    def _finish(self, job: int, now: float) -> None:
        self._failed.pop(job, None)  # a later attempt succeeded
        if self._progress and not self._progress.done:
            self._told = -math.inf
        stage = self._progress and self._progress.finish(job)
        if self._progress and stage and self._shown:
            self._tell(self._progress, stage, now)

    def _keep_telling(self) -> None:
        """Tell how far the run is while no job ends."""
        while not self._ended.wait(LOOK_SECONDS):
            self.acquire()
            if self._progress and (stage := self._progress.stage_at_work()):
                self._tell(self._progress, stage, time.time())
            self.release()

    def _tell(self, progress: Progress, stage: str, now: float) -> None:
        """Say how far a stage is: on a terminal now, in a file at its end and once a minute."""
        done, total = progress.jobs_of(stage)
        line = f"{stage:8}{done:>5}/{total:<5}{progress.share():.0%} of all jobs after"
        line += f" {in_words(now - progress.began)}"
        if self._redrawn:
            width = shutil.get_terminal_size().columns - 1
            self._say(line[:width], end="\n" if done == total else "")
        elif done == total or now >= self._told + 60:
            self._told = now
            self._say(line)

    def _say(self, text: str, end: str = "\n") -> None:
        """Print on stderr; on a terminal, in place of the line that is not finished."""
        print("\r\x1b[K" if self._redrawn else "", text, sep="", end=end, file=sys.stderr)
        sys.stderr.flush()

    def _what_went_wrong(self) -> list[str]:
        """Return every error once, below the log it is from; otherwise what Snakemake says."""
        from dpol.core.logs import end_of, error_in

        messages: dict[str, str] = {}  # of several logs with one error, the first
        for rule, logs, exceptions in self._failed.values():
            written = {text: log for log in logs if (text := error_in(Path(log)))}
            if _NO_MEMORY.search("\n".join([*exceptions, *written])):
                text = f"error: {rule} had not enough memory; {_MORE_MEMORY}"
                messages.setdefault(text, "")
                continue
            for text, log in written.items():
                messages.setdefault(text, f"{log}:")
            if not written:
                ends = [f"{log}:\n{end}" for log in logs if (end := end_of(Path(log)))]
                left = "" if ends else f", and left no {', '.join(logs)}"
                text = (
                    f"error: {rule} did not finish{left}; the same command runs it again; add"
                    " --cores 1 if memory ran out"
                )
                messages |= dict.fromkeys([*exceptions, *ends, text], "")
        told = [f"{log}\n{text}".lstrip() for text, log in messages.items()]
        return told or list(dict.fromkeys(self._errors))  # the rest only follows failed jobs
