"""What a person sees of a run: its stages, the time left, and what was made or went wrong.

Snakemake finds this package by its name. `dpol demo` and `dpol run` ask for it (`--logger dpol`).
"""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from dpol.core.logs import error_in
from snakemake_logger_plugin_dpol.progress import Progress, in_words

_NARROWEST = 60
"""Columns of a terminal on which lines can be drawn again."""
_BAR = 24
_CHATTER = "Assuming unrestricted shared", "Building DAG of jobs", "Using shell: "
_STOPS = "Terminating processes on user request", "Will exit after finishing currently running"
# Of no use beside the errors that they follow.
_FOLLOW = "Exiting because a job execution failed", "WorkflowError:\nAt least one job did not"


class LogHandler(LogHandlerBase):
    """Stages and their bars; at the end what was made, or every error once."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = False
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Nothing has begun yet."""
        self._from = Path.cwd()
        self._progress: Progress | None = None
        self._jobs: dict[int, str] = {}
        """What the jobs that run say of themselves."""
        self._made: list[str] = []
        self._failed: dict[int, tuple[str, list[str]]] = {}
        """Jobs that failed: their rules and logs."""
        self._errors: list[str] = []
        self._stopped = False
        self._tenths = 0
        self._drawn = 0
        """Lines on the terminal that are drawn again."""
        self._ended = threading.Event()
        wide = shutil.get_terminal_size().columns >= _NARROWEST
        if self.common_settings.quiet or self.common_settings.dryrun:
            self._view = "nothing"
        else:
            self._view = "bars" if wide and sys.stderr.isatty() else "lines"
        if self._view == "bars":
            threading.Thread(target=self._redraw, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Take in what Snakemake says."""
        event, facts = getattr(record, "event", None), record.__dict__
        if self.common_settings.dryrun:
            if event not in (LogEvent.SHELLCMD, LogEvent.DEBUG_DAG) and (line := self.format(record)):
                print(line)
        elif event == LogEvent.RUN_INFO:
            self._progress = Progress(totals=facts["stats"], began=record.created)
        elif event == LogEvent.JOB_INFO:
            self._begin(facts, record.created)
        elif event == LogEvent.JOB_FINISHED:
            self._finish(facts["job_id"], record.created)
        elif event == LogEvent.JOB_ERROR:
            self._failed[facts["jobid"]] = facts["rule_name"], facts["log"]
            self._jobs.pop(facts["jobid"], None)
            if self._progress:
                self._progress.fail(facts["jobid"])
        elif record.levelno >= logging.ERROR:
            self._errors.append(str(record.msg))
        elif str(record.msg).startswith(_STOPS):
            self._stopped = True
        elif record.levelno == logging.WARNING or (event is None and not self._progress):
            if not str(record.msg).startswith(_CHATTER):
                self._say(str(record.msg))

    def close(self) -> None:
        """Say how it ended: Snakemake says nothing more."""
        super().close()
        if self._ended.is_set():
            return
        self._ended.set()
        if self._view == "bars":
            self._draw(time.time())
        if self._stopped:
            print("\nstopped: run the same command again to go on", file=sys.stderr)
        elif self._failed or self._errors:
            print("", *self._what_went_wrong(), sep="\n", file=sys.stderr)
        elif self._made:
            here = [] if Path.cwd() == self._from else [f"In {Path.cwd()}:"]
            print("", *here, *self._made, sep="\n", flush=True)

    def _begin(self, facts: dict[str, Any], now: float) -> None:
        message = facts["rule_msg"] or facts["rule_name"]
        if not facts["output"]:  # a rule that collects files names them
            self._made.append(message)
        elif self._progress:
            self._jobs[facts["jobid"]] = message
            self._progress.begin(facts["jobid"], facts["rule_name"], now)

    def _finish(self, job: int, now: float) -> None:
        self._jobs.pop(job, None)
        self._failed.pop(job, None)  # done at another try
        stage = self._progress and self._progress.finish(job, now)
        if self._progress and stage and self._view == "lines":
            done, total = self._progress.stages()[stage]
            tenths = int(10 * self._progress.share())
            if done == total or tenths > self._tenths:
                self._tenths = tenths
                print(f"{stage:8}{done:>4}/{total:<4}{self._of_all(now)}", file=sys.stderr, flush=True)

    def _of_all(self, now: float) -> str:
        assert self._progress
        left = self._progress.seconds_left(now)
        spent = f"{self._progress.share():4.0%} of all jobs after {in_words(now - self._progress.began)}"
        return spent + (f", about {in_words(left)} left" if left else "")

    def _redraw(self) -> None:
        while not self._ended.wait(1):
            with self.lock:
                self._draw(time.time())

    def _draw(self, now: float) -> None:
        if not self._progress:
            return
        full, empty = "█░" if "utf" in (sys.stderr.encoding or "").lower() else "#."
        lines = []
        for stage, (done, total) in self._progress.stages().items():
            filled = _BAR * done // total
            lines.append(f"{stage:8}{full * filled}{empty * (_BAR - filled)} {done:>4}/{total}")
        lines.append(self._of_all(now).lstrip())
        lines += [f"now: {message}" for message in list(self._jobs.values())[:1]]
        self._clear()
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write("".join(f"{line[:width]}\n" for line in lines))
        sys.stderr.flush()
        self._drawn = len(lines)

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}F\x1b[J")
            self._drawn = 0

    def _say(self, text: str) -> None:
        self._clear()
        print(text, file=sys.stderr, flush=True)

    def _what_went_wrong(self) -> list[str]:
        """Every message once: of jobs as their logs have it, of Snakemake as it is."""
        found = []
        for rule, logs in self._failed.values():
            said = [error_in(Path(log)) for log in logs]
            found.append("\n".join(filter(None, said)) or self._of_snakemake(rule, logs))
        return list(dict.fromkeys(found or [self._of_snakemake()]))

    def _of_snakemake(self, rule: str = "", logs: list[str] | None = None) -> str:
        plain = [text for text in self._errors if not text.startswith(_FOLLOW)] or self._errors
        if rule:
            plain.append(f"error: the job {rule} ended without a word; see {', '.join(logs or [])}")
        return "\n".join(plain)
