"""`dpol collect`, `set-aside`, `decide` and `export`: what a coordinator runs every week."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
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
Decide for a period from everything collected for earlier periods, by the rule in coordinator.yaml.
Writes decisions/PERIOD.json and index.html in the folder. A written decision never changes; late
reports count from the next decision on."""

_EXPORT = (
    "Write the table that dpol choose reads: the newest accepted row of each place and period."
)


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = _command(
        commands, "collect", "collect releases that were reported", _COLLECT, _collect
    )
    parser.add_argument("reports", type=path, nargs="+", metavar="REPORT", help="files or folders")
    words = "the coordinator's folder, with the accepted releases and the decisions"
    parser.add_argument("--into", type=path, required=True, metavar="FOLDER", help=words)
    words = "the agreed file; needed the first time, and when it is amended"
    parser.add_argument("--deployment", type=path, metavar="FILE", help=words)
    words = "the keys that entities have read out: a YAML file with a line NAME: KEY for each"
    parser.add_argument("--known-keys", type=path, metavar="FILE", help=words)

    words = "exclude rows that were collected by mistake"
    parser = _command(commands, "set-aside", words, _SET_ASIDE, _set_aside)
    words = "identifier of the entity"
    parser.add_argument("--entity", type=given, required=True, metavar="ID", help=words)
    words = "first day of the period (default: all periods collected so far)"
    parser.add_argument("--period", type=date, metavar="DATE", help=words)
    words = "the reason, a line that everybody may read"
    parser.add_argument("--reason", type=given, required=True, metavar="TEXT", help=words)

    words = "decide for a period from the reports collected"
    parser = _command(commands, "decide", words, _DECIDE, _decide)
    words = "first day of a period after the last report (default: the first one)"
    parser.add_argument("--period", type=date, metavar="DATE", help=words)
    words = "write nothing: decide a past period again from its releases, and compare"
    parser.add_argument("--check", type=date, metavar="PERIOD", help=words)

    words = "write the reports as a table that dpol choose reads"
    parser = _command(commands, "export", words, _EXPORT, _export)
    words = "the table, a .csv (default: reports.csv in the folder)"
    parser.add_argument("--to", type=path, metavar="TABLE", help=words)
    words = "read accepted.jsonl up to this line, such as the line of a decision"
    parser.add_argument("--as-of", type=between(1, 10**9, whole=True), metavar="LINE", help=words)


def _command(
    commands: Commands,
    name: str,
    words: str,
    description: str,
    run: Callable[[argparse.Namespace], None],
) -> argparse.ArgumentParser:
    parser = add_command(
        commands, name, readers="Coordinator", words=words, description=description
    )
    parser.set_defaults(run=run)
    if name != "collect":
        parser.add_argument("folder", type=path, metavar="FOLDER", help="the coordinator's folder")
    return parser


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        print(printable(line))


def _collect(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.collect import LISTED, collect, escaped
    from dpol_weekly.deployment import short
    from dpol_weekly.prose import lines_of

    keys = _known_keys(options.known_keys)
    done = collect(options.reports, options.into, options.deployment, keys=keys)
    reports = [report for report in done if not (report.ignored or report.other)]
    lines = lines_of(
        "collected",
        "coordinator",
        reports=reports,
        old=[report for report in reports if not (report.taken or report.refused)],
        ignored=[escaped(str(report.file)) for report in done if report.ignored],
        others=Counter(short(report.other) for report in done if report.other),
        escaped=escaped,
        most=LISTED,
    )
    _say(lines)
    refused = [line for report in reports for line in report.refused]
    if refused:
        sys.stdout.flush()
        print(*map(printable, refused), sep="\n", file=sys.stderr)
        raise DpolError(f"refused: {len(refused)}, see above; all other rows are collected")


def _known_keys(file: Path | None) -> dict[str, str]:
    """Return the keys of a file, by entity.

    Raises:
        ConfigError: it cannot be read, or a line is not NAME: KEY.
    """
    from dpol_weekly.keys import is_key
    from dpol_weekly.settings_file import read_keys

    raw = read_keys(file, "write a line NAME: KEY for each entity") if file else {}
    for name, key in raw.items():
        if not (isinstance(key, str) and is_key(key)):
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
        _say([f"{options.check}: equal, decided again from {number} signed releases"])
        return
    decision = decide(options.folder, options.period)
    more = {"gain": decision["coordination"]["question"], "page": options.folder / "index.html"}
    _say(lines_of("decided", "coordinator", **decision, **more))


def _export(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.export import export

    _say(export(options.folder, options.to or options.folder / "reports.csv", options.as_of))
