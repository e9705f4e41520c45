"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.errors import DpolError
from dpol.core.options import Commands, add_command, given, path
from dpol.core.safe_text import printable
from dpol_weekly.commands.terminal import asked, date, on_terminal, saying

if TYPE_CHECKING:
    from dpol_weekly.holder.release import Release

_PRIVATIZE = """\
Add privacy noise to the counts in your table, as an agreement says. Your own file, hospital.yaml,
says where the table is and how it is written; --init begins it. Share only the release, one file.
Nothing is released unless every row is good; no message shows a count."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "add noise to your own counts before anyone else sees them"
    parser = add_command(
        commands, "privatize", readers="Hospital", words=words, description=_PRIVATIZE
    )
    add = parser.add_argument
    words = "your own file (default: hospital.yaml)"
    add("file", type=path, nargs="?", default=Path("hospital.yaml"), metavar="FILE", help=words)
    words = "confirm the agreement by its whole hash, which the first run shows with its meaning"
    add("--agree", type=given, metavar="HASH", help=words)
    words = "the last day that the query behind the table covered, as the export job knows it"
    add("--through", type=date, metavar="DATE", help=words)
    words = "make the key or the secret that is lost, and say what to do then"
    add("--new-key", action="store_true", help=words)
    add("--quiet", action="store_true", help="print warnings and errors only")
    words = "write FILE for this CSV table instead"
    add("--init", type=path, metavar="TABLE", help=words)
    words = "with --init: the file that all hospitals share, see dpol deployment new"
    add("--deployment", type=path, metavar="FILE", help=words)
    words = "with --init: your identifier in it; ID=TEXT if the table writes it as TEXT"
    add("--entity", type=given, metavar="ID", help=words)
    words = "with --init: how the table is written, such as count=Patients zero=written"
    add(
        "--column", type=given, nargs="+", action="extend", default=[], metavar="ANSWER", help=words
    )
    words = "with --init: a folder that gets a copy of each release, such as the coordinator's"
    add("--copy-to", type=path, metavar="FOLDER", help=words)
    parser.set_defaults(run=_privatize)


def _privatize(options: argparse.Namespace) -> None:
    from dpol_weekly.holder.settings import read_hospital
    from dpol_weekly.prose import lines_of

    if options.init is not None:
        _say(options, _begun(options))
        return
    if options.deployment or options.entity or options.column or options.copy_to:
        raise DpolError(
            "--deployment, --entity, --column and --copy-to go with --init; otherwise FILE names"
            " them"
        )
    if options.new_key:
        from dpol_weekly.holder.init import renew

        told, _ = renew(read_hospital(options.file))
        _say(options, told or ["The key and the secret are there; nothing was made."])
        return
    done = _released(options)
    late = defaultdict[str, list[str]](list)
    for (entity, period), why in sorted(done.late.items()):
        late[why].append(f"{entity} {period}")
    file = f"the rows are released and written to {done.file}"
    with saying(file if done.added else "nothing was released"):
        _say(options, lines_of("done", "holder", done=done))
        for line in lines_of("warned", "holder", done=done, late=late):
            print(printable(line), file=sys.stderr)


def _say(options: argparse.Namespace, lines: list[str]) -> None:
    for line in () if options.quiet else lines:
        print(printable(line))


def _begun(options: argparse.Namespace) -> list[str]:
    """Write a holder's file for a table."""
    from dpol_weekly.deployment import read_deployment
    from dpol_weekly.holder.init import begin

    if options.deployment is None:
        raise DpolError("--init: name the file that all hospitals share with --deployment FILE")
    if options.file.exists():
        raise DpolError(f"{options.file}: exists already; move it away, or name another FILE")
    if wrong := [word for word in options.column if "=" not in word]:
        raise DpolError(f"--column {wrong[0]}: must be KEY=ANSWER, such as count=Patients")
    ask = None if options.quiet or not on_terminal() else asked
    if ask:
        with suppress(OSError), options.init.open("rb") as stream:
            for line, _ in zip(stream, range(3), strict=False):
                print(f"| {printable(line.decode(errors='replace').strip())}")
    return begin(
        options.file,
        options.init,
        options.deployment,
        read_deployment(options.deployment),
        entity=options.entity,
        named=dict(word.split("=", 1) for word in options.column),
        copy_to=options.copy_to,
        through=options.through,
        ask=ask,
    )


def _released(options: argparse.Namespace) -> Release:
    """Release; before the first release under an agreement, show it and ask for confirmation."""
    from dpol_weekly.holder.agreement import NotConfirmedError
    from dpol_weekly.holder.release import release

    try:
        return release(options.file, agree=options.agree, through=options.through)
    except NotConfirmedError as question:
        line = f"dpol privatize {options.file} --agree {question.sha256}"
        told = f"{question.statement}\n\n{printable(f'In a script, this line confirms it: {line}')}"
        print(told, file=sys.stderr if options.quiet else sys.stdout)
        if options.quiet or not on_terminal():
            raise
        if asked("Type yes to agree, and anything else to stop:").lower() != "yes":
            raise DpolError("nothing was released: you did not agree") from None
        return release(options.file, agree=question.sha256, through=options.through)
