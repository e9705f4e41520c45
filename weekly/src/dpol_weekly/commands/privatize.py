"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import dataclasses
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.errors import DpolError
from dpol.core.options import (
    Commands,
    add_answer_options,
    add_command,
    answer,
    drop_output,
    given,
    path,
)
from dpol.core.safe_text import printable
from dpol_weekly.commands.terminal import date, on_terminal, show

if TYPE_CHECKING:
    from dpol_weekly.holder.release import Release
    from dpol_weekly.holder.request import Request

_PRIVATIZE = """\
Add privacy noise to the counts in your table, as an agreement says. Your own file, hospital.yaml,
says where the table is and how it is written; --init begins it. Share only the release, one file.
Nothing is released unless every row is good; no message shows a count."""

_ANSWERED = (
    *("file", "ledger", "added", "skipped", "closed", "periods", "again"),
    "mu_of_stay",
)
"""What `--json` answers of a release, besides what is due and impossible."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "add noise to your own counts before anyone else sees them"
    parser = add_command(
        commands, "privatize", readers="Hospital", words=words, description=_PRIVATIZE
    )
    add = parser.add_argument
    words = "your own file (default: hospital.yaml)"
    add("file", type=path, nargs="?", default=Path("hospital.yaml"), metavar="FILE", help=words)
    words = "write FILE for this CSV table instead"
    add("--init", type=path, metavar="TABLE", help=words)
    words = "with --init: the file that all hospitals share, see dpol deployment new"
    add("--deployment", type=path, metavar="FILE", help=words)
    words = "with --init: your identifier in it"
    add("--entity", type=given, metavar="ID", help=words)
    words = "with --init: how the table is written, such as count=Patients zero=written covers=all"
    add(
        "--column", type=given, nargs="+", action="extend", default=[], metavar="ANSWER", help=words
    )
    words = "confirm the agreement by its whole hash, which the first run shows with its meaning"
    add("--agree", type=given, metavar="HASH", help=words)
    words = "begin a new ledger, which releases nothing up to this date, for any entity"
    add("--begin-after", type=date, metavar="DATE", help=words)
    words = "with --init: a folder that gets a copy of each release, such as the coordinator's"
    add("--copy-to", type=path, metavar="FOLDER", help=words)
    add_answer_options(parser)
    words = "if you are asked: an entity counts other people than those released for its period"
    add("--split", action="store_true", help=words)
    parser.set_defaults(run=_privatize)


def _privatize(options: argparse.Namespace) -> None:
    if options.init is not None:
        _init(options)
        return
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.holder.request import Request
    from dpol_weekly.holder.settings import read_hospital
    from dpol_weekly.holder.text import describe, warnings_of

    if options.deployment or options.entity or options.column or options.copy_to:
        raise DpolError(
            "--deployment, --entity, --column and --copy-to go with --init; otherwise FILE names"
            " them"
        )
    hospital = read_hospital(options.file)
    deployment = read_deployment(hospital.deployment)
    request = Request(
        hospital=hospital,
        deployment=deployment,
        agree=options.agree,
        split=options.split,
        begin_after=options.begin_after,
    )
    apart = options.json or options.quiet
    try:
        done = _released(request, options.file, apart=apart)
    except OSError as error:
        place = error.filename or hospital.output
        raise DpolError(f"{place}: {error.strerror or error}; choose another path") from None
    written = "nothing was released"
    if done.file:
        written = f"the rows are released and written to {done.file}"
    facts = {name: getattr(done, name) for name in _ANSWERED} | {
        "impossible": [[*place, why] for place, why in done.impossible.items()]
    }
    with _saying(written):
        if apart:
            answer(options, (), facts)
        else:
            show("\n".join(describe(done, deployment)))
        for line in warnings_of(done):
            print(printable(line), file=sys.stderr)


def _init(options: argparse.Namespace) -> None:
    """Write a holder's file for a table."""
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.holder.init import begin

    if options.deployment is None:
        raise DpolError("--init: name the file that all hospitals share with --deployment FILE")
    if options.file.exists():
        raise DpolError(f"{options.file}: exists already; move it away, or name another FILE")
    if wrong := [word for word in options.column if "=" not in word]:
        raise DpolError(f"--column {wrong[0]}: must be KEY=ANSWER, such as count=Patients")
    ask = None if options.json or options.quiet or not on_terminal() else _asked
    if ask:
        with suppress(OSError), options.init.open("rb") as stream:
            show(f"The first line: {printable(stream.readline().decode(errors='replace').strip())}")
    lines = begin(
        options.file,
        options.init,
        options.deployment,
        read_deployment(options.deployment),
        entity=options.entity,
        named=dict(word.split("=", 1) for word in options.column),
        copy_to=options.copy_to,
        ask=ask,
    )
    answer(options, lines, {"file": options.file, "told": lines})


def _asked(question: str) -> str:
    """Ask a question on a terminal."""
    print(f"{question} ", end="", flush=True)
    return sys.stdin.readline().strip()


def _released(request: Request, file: Path, *, apart: bool) -> Release:
    """Release; before the first release under an agreement, show it and ask for confirmation.

    Args:
        request: the holder's request.
        file: the holder's file.
        apart: show the agreement on standard error, because the answer stands alone.
    """
    from dpol_weekly.holder.agreement import NotConfirmedError
    from dpol_weekly.holder.release import release

    try:
        return release(dataclasses.replace(request, agree=None))
    except NotConfirmedError as question:
        agree, in_person = None if question.in_person else request.agree, False
        line = shlex.join(["dpol", "privatize", str(file), "--agree", question.sha256])
        if question.in_person or request.begin_after:
            line += f" --begin-after {request.begin_after or 'DATE'}"
        script = printable(f"In a script, this line confirms it: {line}")
        with _saying("nothing was released"):
            if apart:
                print(f"{question.statement}\n\n{script}", file=sys.stderr)
            else:
                show(f"{question.statement}\n\n{script}")
            if agree is None and not apart and on_terminal():
                if _asked("Type yes to agree, and anything else to stop:").lower() != "yes":
                    raise DpolError("nothing was released: you did not agree") from None
                agree, in_person = question.sha256, True
        if agree is None:
            raise
    return release(dataclasses.replace(request, agree=agree, in_person=in_person))


@contextmanager
def _saying(written: str) -> Iterator[None]:
    """Show something; if the block is stopped, or cannot show it, say what is released."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(written) from None
    except (OSError, ValueError) as error:
        drop_output()
        why = getattr(error, "strerror", None) or error
        raise DpolError(f"{written}; no more can be shown ({why})") from None
