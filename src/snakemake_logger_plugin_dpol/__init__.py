"""The view of a run: its length, stages and time left, and its results or errors at the end.

Snakemake finds this package by its name; `dpol demo` and `dpol run` request it (`--logger dpol`).
"""

from __future__ import annotations

import logging
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_dpol.progress import Progress, in_words

_NARROWEST = 60
"""Smallest width of a terminal on which lines are redrawn."""
_BAR = 24
_NOTHING = "Nothing to be done"
_CHATTER = (
    "Conda environments: ignored",
    "Assuming unrestricted shared",
    "Building DAG of jobs",
    "Using shell: ",
)
_STOPS = "Terminating processes on user request", "Will exit after finishing currently running"
# These messages only follow other errors.
_FOLLOW = "Exiting because a job execution failed", "WorkflowError:\nAt least one job did not"


class LogHandler(LogHandlerBase):
    """Handler that shows the stages with bars, and at the end the results, or every error once.

    With --dry-run it prints Snakemake's own plan.
    """

    writes_to_stream = True
    writes_to_file = False
    has_formatter = False
    needs_rulegraph = False

    @property
    def has_filter(self) -> bool:
        """Whether the handler filters messages; in a dry run Snakemake does."""
        return not self.common_settings.dryrun

    def __post_init__(self) -> None:
        """Set the state before a run."""
        self._from = Path.cwd()
        self._progress: Progress | None = None
        self._expected: dict[str, float] = {}
        self._cores: int | None = None
        self._plans: list[Callable[[], str]] = []
        """Final messages of the runs of this workflow, unless the user asked for other files."""
        self._running: dict[int, str] = {}
        """Messages of the active jobs."""
        self._failed: dict[int, tuple[str, list[str]]] = {}
        """Rules and logs of the failed jobs."""
        self._errors: list[str] = []
        self._made: list[str] = []
        self._stopped = False
        self._tenths = 0
        self._drawn = 0
        """Number of lines on the terminal to redraw."""
        self._turn = threading.RLock()
        self._ended = threading.Event()
        wide = shutil.get_terminal_size().columns >= _NARROWEST
        self._shown = not (self.common_settings.quiet or self.common_settings.dryrun)
        self._redrawn = self._shown and wide and sys.stderr.isatty()
        if self._redrawn:
            threading.Thread(target=self._redraw, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Handle a message of Snakemake."""
        with self._turn:
            self._take_in(record)

    def _take_in(self, record: logging.LogRecord) -> None:
        event, facts, text = getattr(record, "event", None), vars(record), str(record.msg)
        if self.common_settings.dryrun:
            if plan := self.format(record):
                print(plan)
        elif "done_of_run" in facts:  # from dpol's own rules
            self._expected |= facts["seconds_of_rules"]
            self._plans.append(facts["done_of_run"])
        elif event == LogEvent.RESOURCES_INFO:
            self._cores = facts.get("cores", self._cores)
        elif event == LogEvent.RUN_INFO:
            self._progress = Progress(
                totals=facts["stats"],
                began=record.created,
                expected=self._expected,
                cores=self._cores,
            )
            if self._shown:
                self._say(_outlook(self._progress))
        elif text.startswith(_NOTHING):
            self._made = _up_to_date([plan() for plan in self._plans])
        elif event == LogEvent.JOB_INFO:
            self._begin(facts, record.created)
        elif event == LogEvent.JOB_FINISHED:
            self._finish(facts["job_id"], record.created)
        elif event == LogEvent.JOB_ERROR:
            self._fail(facts)
        elif record.levelno >= logging.ERROR:
            self._errors.append(text)
        elif text.startswith(_STOPS):
            self._stopped = True
        elif record.levelno == logging.WARNING or not (event or self._progress):
            self._say(text)

    def close(self) -> None:
        """Print how the run ended; Snakemake says nothing after this."""
        super().close()
        if self._ended.is_set():
            return
        self._ended.set()
        if self._redrawn:
            self._draw(time.time())
        above = [""] if self._progress and self._shown else []
        if self._stopped:
            return  # `dpol run` says how to continue
        if self._failed or self._errors:
            print(*above, *self._what_went_wrong(), sep="\n", file=sys.stderr)
        elif self._made and self._shown:
            here = [] if Path.cwd() == self._from else [f"In {Path.cwd()}:"]
            print(*above, *here, *self._made, sep="\n", flush=True)

    def _begin(self, facts: Mapping[str, Any], now: float) -> None:
        message = facts["rule_msg"] or facts["rule_name"]
        if not facts["output"]:  # the message of a rule that collects files names them
            self._made.append(message)
        elif self._progress:
            self._running[facts["jobid"]] = message
            self._progress.begin(facts["jobid"], facts["rule_name"], now)

    def _fail(self, facts: Mapping[str, Any]) -> None:
        self._failed[facts["jobid"]] = facts["rule_name"], facts["log"]
        self._running.pop(facts["jobid"], None)
        if self._progress:
            self._progress.fail(facts["jobid"])

    def _finish(self, job: int, now: float) -> None:
        self._running.pop(job, None)
        self._failed.pop(job, None)  # a later attempt succeeded
        stage = self._progress and self._progress.finish(job, now)
        if not self._progress or not stage or self._redrawn or not self._shown:
            return
        done, total = self._progress.stages()[stage]
        tenths = int(10 * self._progress.share())
        if done == total or tenths > self._tenths:
            self._tenths = tenths
            line = f"{stage:8}{done:>5}/{total:<5}{_summary(self._progress, now)}"
            print(line, file=sys.stderr, flush=True)

    def _redraw(self) -> None:
        while not self._ended.wait(1):
            self._draw(time.time())

    def _draw(self, now: float) -> None:
        with self._turn:
            if not self._progress:
                return
            full, empty = "█░" if "utf" in sys.stderr.encoding.lower() else "#."
            lines = []
            for stage, (done, total) in self._progress.stages().items():
                filled = _BAR * done // total
                lines.append(f"{stage:8}{full * filled:{empty}<{_BAR}}{done:>5}/{total}")
            lines.append(_summary(self._progress, now))
            lines += [f"now: {message}" for message in list(self._running.values())[:1]]
            self._clear()
            width = shutil.get_terminal_size().columns - 1
            print(*(line[:width] for line in lines), sep="\n", file=sys.stderr, flush=True)
            self._drawn = len(lines)

    def _clear(self) -> None:
        if self._drawn:
            sys.stderr.write(f"\x1b[{self._drawn}F\x1b[J")
            self._drawn = 0

    def _say(self, text: str) -> None:
        if not text.startswith(_CHATTER):
            self._clear()
            print(text, file=sys.stderr, flush=True)

    def _what_went_wrong(self) -> list[str]:
        """Return every message once: the log's message for a job, otherwise Snakemake's."""
        general = [text for text in self._errors if not text.startswith(_FOLLOW)]
        messages = []
        for rule, logs in self._failed.values():
            # Imported late, because Snakemake imports every installed plugin.
            from dpol.core.logs import error_in

            if written := [text for log in logs if (text := error_in(Path(log)))]:
                messages += written
            else:
                messages += [*general, f"error: {rule} did not finish; see {', '.join(logs)}"]
        return list(dict.fromkeys(messages or general or self._errors))


def _outlook(progress: Progress) -> str:
    from dpol.core.words import counted  # late, as above

    text = counted(sum(progress.totals.values()), "job")
    if seconds := progress.seconds_in_all():
        text += f", about {in_words(seconds)} on {counted(progress.cores or 1, 'core')}"
    return f"{text}. Ctrl-C is safe: the same command continues from there."


def _up_to_date(plans: Sequence[str]) -> list[str]:
    """Return what to print if there is nothing to do; a plan begins with the page of its run."""
    lines = []
    for plan in filter(None, plans):
        page, *others = plan.removeprefix("Done: ").split("\n")
        lines += [f"Nothing to do: {page} is up to date.", *others]
    return lines or ["Nothing to do: all files that you ask for are up to date."]


def _summary(progress: Progress, now: float) -> str:
    left = progress.seconds_left(now)
    text = f"{progress.share():.0%} of all jobs after {in_words(now - progress.began)}"
    return text + (f", about {in_words(left)} left" if left else "")
