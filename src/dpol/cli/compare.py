"""`dpol compare`: what differs between two runs."""

from __future__ import annotations

import argparse
import json

from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path

_COMPARE = """\
Compare two finished runs: settings, mean total gains with intervals, and verdicts. Differences are
new minus old."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what differs between two runs, and whether it is more than noise"
    parser = add_command(
        commands, "compare", readers="Experiments", words=words, description=_COMPARE
    )
    for name, words in (("old", "such as results/demo"), ("new", "another such folder")):
        parser.add_argument(name, type=path, metavar=name.upper(), help=words)
    words = "of all intervals together (default: 0.95)"
    level = between(0.5, 0.999999)
    parser.add_argument("--confidence", type=level, default=0.95, metavar="C", help=words)
    words = "write all rows as CSV"
    parser.add_argument("--output", type=path, metavar="FILE", help=words)
    words = """exit with code 1 if a number is higher or lower by more than its interval, is on
        other data or only in the old run, or if a verdict changed"""
    parser.add_argument("--fail-on-difference", action="store_true", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from dpol.core.files import write_text
    from dpol.report.compare import SAME, compare_runs
    from dpol.show.table import to_csv

    comparison = compare_runs(options.old, options.new, options.confidence)
    if options.output:
        write_text(options.output, to_csv(comparison.cells))
    rows = comparison.cells[comparison.cells["verdict"] != SAME]
    numbers = rows.loc[:, ~rows.columns.str.match("replicates|std_gain|confidence|ci_")]
    lines = [
        *(comparison.settings or ["all settings are the same"]),
        *(
            numbers.to_string(index=False).splitlines()
            if len(rows)
            else ["all numbers are the same"]
        ),
        *comparison.verdicts,
    ]
    facts = {
        "settings": comparison.settings,
        "numbers": json.loads(rows.to_json(orient="records")),
        "verdicts": comparison.verdicts,
        "differs": comparison.differs,
    }
    answer(options, lines, facts)
    return int(options.fail_on_difference and comparison.differs)
