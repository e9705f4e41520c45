"""`dpol privatize`: noise for a holder's counts."""

from __future__ import annotations

import argparse
import sys
from contextlib import suppress
from pathlib import Path

from dpol.core.errors import DpolError
from dpol.core.options import Commands, add_command, given, path
from dpol.core.safe_text import printable
from dpol_weekly.commands.terminal import asked, date

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
    add("--agree", type=given, metavar="HASH", help="confirm the agreement by its whole hash")
    add("--through", type=date, metavar="DATE", help="last day that the query of the table covered")
    add("--new-key", action="store_true", help="make the key or the secret that is lost")
    add("--quiet", action="store_true", help="print warnings and errors only")
    add("--init", type=path, metavar="TABLE", help="write FILE for this CSV table instead")
    add("--deployment", type=path, metavar="FILE", help="with --init: the agreement")
    words = "with --init: your identifier in it; ID=TEXT if the table writes it as TEXT"
    add("--entity", type=given, metavar="ID", help=words)
    words = "with --init: how the table is written, such as count=Patients zero=written"
    add("--column", type=given, nargs="+", action="extend", metavar="ANSWER", help=words)
    add("--copy-to", type=path, metavar="FOLDER", help="with --init: a folder for copies")
    parser.set_defaults(run=_privatize)


def _privatize(options: argparse.Namespace) -> None:
    from dpol_weekly.holder.release import release
    from dpol_weekly.holder.settings import read_hospital
    from dpol_weekly.prose import lines_of

    if options.init is not None:
        _begin(options)
        _say(options, [f"{options.file}: read it, and run dpol privatize {options.file}"])
        return
    if options.deployment or options.entity or options.column or options.copy_to:
        raise DpolError("--deployment, --entity, --column and --copy-to go with --init")
    if options.new_key:
        from dpol_weekly.holder.init import renew

        told, _ = renew(read_hospital(options.file))
        _say(options, told or ["The key and the secret are there; nothing was made."])
        return
    done = release(options.file, agree=options.agree, through=options.through)
    _say(options, lines_of("done", "holder", done=done))
    for line in lines_of("warned", "holder", done=done):
        print(printable(line), file=sys.stderr)


def _say(options: argparse.Namespace, lines: list[str]) -> None:
    for line in () if options.quiet else lines:
        print(printable(line))


def _begin(options: argparse.Namespace) -> None:
    """Write a holder's file for a table."""
    from dpol_weekly.holder.init import begin

    if options.deployment is None:
        raise DpolError("--init: name the file that all hospitals share with --deployment FILE")
    if options.file.exists():
        raise DpolError(f"{options.file}: exists already; move it away, or name another FILE")
    answers = options.column or []
    if wrong := [word for word in answers if "=" not in word]:
        raise DpolError(f"--column {wrong[0]}: must be KEY=ANSWER, such as count=Patients")
    ask = None
    if not options.quiet and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
        ask = asked
        with suppress(OSError), options.init.open("rb") as stream:
            for line, _ in zip(stream, range(3), strict=False):
                print(f"| {printable(line.decode(errors='replace').strip())}")
    begin(
        options.file,
        options.init,
        options.deployment,
        entity=options.entity,
        named=dict(word.split("=", 1) for word in answers),
        copy_to=options.copy_to,
        through=options.through,
        ask=ask,
    )
