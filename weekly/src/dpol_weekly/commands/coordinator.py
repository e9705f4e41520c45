"""`dpol collect`, `set-aside`, `decide` and `export`: what a coordinator runs every week."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from dpol.core.errors import ConfigError, DpolError
from dpol.core.options import Commands, add_command, between, given, path
from dpol.core.safe_text import printable
from dpol_weekly.commands.terminal import date

_COLLECT = """\
Accept the releases that hospitals have sent into a folder. Name files, or the folder in which they
arrived: releases are found by what they hold. Each refused row is reported on a line, once; all
other rows are accepted. A hospital reports with the key that it has read out."""

_SET_ASIDE = """\
Exclude rows that were collected by mistake: all that was accepted of an entity, or of one period of
it. The rows stay in the list, with the reason, and their cost is still counted."""

_DECIDE = """\
Decide for the period after the last report, by the rule in coordinator.yaml. Writes
decisions/PERIOD.json and index.html in the folder. A written decision never changes; late reports
count from the next decision on."""

_EXPORT = """\
Write reports.csv in the folder, the table that dpol choose reads: the newest accepted row of each
place and period."""


def add(commands: Commands) -> None:
    """Add the commands."""
    words = "collect releases that were reported"
    option = _command(commands, "collect", words, _COLLECT, _collect)
    option("reports", type=path, nargs="+", metavar="REPORT", help="files or folders")
    option("--into", type=path, required=True, metavar="FOLDER", help="the coordinator's folder")
    words = "the agreement; needed the first time, and when it is amended"
    option("--deployment", type=path, metavar="FILE", help=words)
    words = "the keys that entities have read out: a YAML file with a line NAME: KEY for each"
    option("--known-keys", type=path, metavar="FILE", help=words)

    words = "exclude rows that were collected by mistake"
    option = _command(commands, "set-aside", words, _SET_ASIDE, _set_aside)
    option("--entity", type=given, required=True, metavar="ID", help="identifier of the entity")
    option("--period", type=date, metavar="DATE", help="first day of the period (default: all)")
    option("--reason", type=given, required=True, metavar="TEXT", help="everybody may read it")

    words = "decide for a period from the reports collected"
    option = _command(commands, "decide", words, _DECIDE, _decide)
    option("--check", type=date, metavar="PERIOD", help="decide a past one again, and compare")

    words = "write the reports as a table that dpol choose reads"
    option = _command(commands, "export", words, _EXPORT, _export)
    words = "read the list up to a line, such as that of a decision"
    option("--as-of", type=between(1, 10**9, whole=True), metavar="LINE", help=words)


def _command(
    commands: Commands,
    name: str,
    words: str,
    description: str,
    run: Callable[[argparse.Namespace], None],
) -> Callable[..., argparse.Action]:
    """Add a command, and return what adds its options."""
    parser = add_command(
        commands, name, readers="Coordinator", words=words, description=description
    )
    parser.set_defaults(run=run)
    if name != "collect":
        parser.add_argument("folder", type=path, metavar="FOLDER", help="the coordinator's folder")
    return parser.add_argument


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line))


def _collect(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.collect import LISTED, collect
    from dpol_weekly.prose import lines_of

    keys = _known_keys(options.known_keys)
    done = collect(options.reports, options.into, options.deployment, keys=keys)
    _say(lines_of("collected", "coordinator", done=done, most=LISTED))
    if refused := [line for report in done for line in report.refused]:
        sys.stdout.flush()
        print(*map(printable, refused), sep="\n", file=sys.stderr)
        raise DpolError(f"refused: {len(refused)}, see above; all other rows are collected")


def _known_keys(file: Path | None) -> dict[str, str]:
    """Return the keys of a file, by entity.

    Raises:
        ConfigError: it cannot be read, or a line is not NAME: KEY.
    """
    from dpol_weekly.records import HEX
    from dpol_weekly.settings_file import read_keys

    raw = read_keys(file, "write a line NAME: KEY for each entity") if file else {}
    for name, key in raw.items():
        if not (isinstance(key, str) and re.fullmatch(HEX, key)):
            raise ConfigError(
                f"{file}: {name}: must be the 64 digits of a key, as dpol privatize --init shows it"
            )
    return {str(name): key for name, key in raw.items()}


def _set_aside(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.collect import set_aside

    rows = set_aside(options.folder, options.entity, options.reason, options.period)
    _say(f"set aside: {entity}, {period}" for entity, period in rows)


def _decide(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.decide import check, decide
    from dpol_weekly.prose import lines_of

    if options.check:
        number = check(options.folder, options.check)
        print(f"{options.check}: equal, decided again from {number} signed releases")
        return
    decision = decide(options.folder)
    _say(lines_of("decided", "coordinator", **decision, page=options.folder / "index.html"))


def _export(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.export import export

    _say(export(options.folder, options.as_of))
