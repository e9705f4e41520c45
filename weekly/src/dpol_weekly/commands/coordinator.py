"""`dpol collect`, `set-aside`, `decide` and `export`: what a coordinator runs every week."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from dpol.core.errors import ConfigError, DpolError
from dpol.core.options import Commands, add_answer_options, add_command, answer, given, path
from dpol.core.safe_text import printable
from dpol_weekly.commands.terminal import date

_COLLECT = """\
Add the releases that hospitals have sent to the log in a folder. Name files, or the folder in which
they arrived: releases are found by what they hold. Each refused row is reported on a line; all
other rows are collected. A hospital reports from one ledger, with one key: those of its first
report."""

_SET_ASIDE = """\
Exclude rows that were collected by mistake: all that the log holds of an entity, or of one period
of it. The rows stay in the log, with the reason, and their cost is still counted; decisions ignore
and name them. A row that collect refuses every week is no longer refused once its period is set
aside."""

_DECIDE = """\
Decide for a period from everything collected for earlier periods, by the rule in coordinator.yaml.
Writes decisions/PERIOD.json and index.html in the folder. A written decision never changes; late
reports count from the next decision on."""

_EXPORT = """\
Write everything collected to one table, for anybody. Or verify the hash chain of the log, whose
head collect and decide show: who has noted a head notices that the log was written again."""


def add(commands: Commands) -> None:
    """Add the commands."""
    words = "collect releases that were reported"
    parser = _command(commands, "collect", words, _COLLECT, _collect)
    parser.add_argument("reports", type=path, nargs="+", metavar="REPORT", help="files or folders")
    words = "the coordinator's folder, with the log and the decisions"
    parser.add_argument("--into", type=path, required=True, metavar="FOLDER", help=words)
    words = "the agreed file; needed the first time, and when it is amended"
    parser.add_argument("--deployment", type=path, metavar="FILE", help=words)
    words = "the keys that entities have read out: a YAML file with a line NAME: KEY for each"
    parser.add_argument("--known-keys", type=path, metavar="FILE", help=words)
    words = "an entity that lost its ledger: take its rows from another one, once, with a known key"
    parser.add_argument("--new-ledger", action="append", default=[], metavar="NAME", help=words)

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
    words = "first day of the period (default: the first period after the last report)"
    parser.add_argument("--period", type=date, metavar="DATE", help=words)

    words = "write everything collected to one table, or verify the log"
    parser = _command(commands, "export", words, _EXPORT, _export)
    instead = parser.add_mutually_exclusive_group(required=True)
    words = "the table, a .csv"
    instead.add_argument("--to", type=path, metavar="TABLE", help=words)
    words = "write nothing: verify the log and show its head; with HEAD, that it goes on from that"
    instead.add_argument("--verify", nargs="?", const="", metavar="HEAD", help=words)


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
    add_answer_options(parser)
    if name != "collect":
        parser.add_argument("folder", type=path, metavar="FOLDER", help="the coordinator's folder")
    return parser


def _collect(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.collect import LISTED, collect, escaped
    from dpol_weekly.deployment import short
    from dpol_weekly.prose import lines_of

    done = collect(
        options.reports,
        options.into,
        options.deployment,
        keys=_known_keys(options.known_keys),
        new_ledgers=options.new_ledger,
    )
    reports = [report for report in done if not (report.ignored or report.other)]
    others = Counter(short(report.other) for report in done if report.other)
    ignored = [escaped(str(report.file)) for report in done if report.ignored]
    head = done[-1].head if done else None
    lines = lines_of(
        "collected",
        "coordinator",
        reports=reports,
        old=[report for report in reports if not (report.taken or report.refused)],
        ignored=ignored,
        others=others,
        head=head,
        escaped=escaped,
        most=LISTED,
    )
    facts = [asdict(report) | {"file": escaped(str(report.file))} for report in reports]
    more = {"ignored": ignored, "of_other_agreements": others, "log_head": head}
    answer(options, lines, {"reports": facts, **more})
    refused = [line for report in reports for line in report.refused]
    if refused:
        sys.stdout.flush()
        print(*map(printable, refused), sep="\n", file=sys.stderr)
        new, known = sum(report.taken for report in done), sum(report.known for report in done)
        rest = f"collected: {new} new, {known} known"
        raise DpolError(f"refused: {len(refused)}, see above; {rest}")


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

    entity = options.entity
    rows, head = set_aside(options.folder, entity, options.reason, options.period)
    lines = [
        f"set aside: {entity}, {period}" + (f", version {version}" if version > 1 else "")
        for period, version in rows
    ]
    if not rows:
        lines = [f"set aside: whatever is refused of {entity} for {options.period}"]
    lines.append(f"The head of the log is {head}")
    facts = [{"entity": entity, "period": period, "version": version} for period, version in rows]
    answer(options, lines, {"set_aside": facts, "log_head": head})


def _decide(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.decide import decide
    from dpol_weekly.prose import lines_of

    decision = decide(options.folder, options.period)
    more = {"gain": decision["coordination"]["question"], "page": options.folder / "index.html"}
    answer(options, lines_of("decided", "coordinator", **decision, **more), decision)


def _export(options: argparse.Namespace) -> None:
    from dpol_weekly.coordinator.export import export, verify

    if options.to is None:
        head = verify(options.folder, options.verify)
        line = "Nothing in the log was removed, changed or reordered. Note its head, and verify"
        answer(options, [f"{line} with it later: {head}"], {"head": head})
        return
    count = export(options.folder, options.to)
    answer(options, [f"{options.to}: {count} releases"], {"table": options.to, "releases": count})
