"""`dpol compare`: differences between runs, and a league of their algorithms."""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from typing import TYPE_CHECKING, Any

from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path
from dpol.core.words import printable

if TYPE_CHECKING:
    import pandas as pd

_COMPARE = """\
Compare finished runs: settings and verdicts that differ, and a league of all algorithms with
intervals. For two runs also the mean total gains that differ, new minus old."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "rank the algorithms of several runs, and show what differs"
    parser = add_command(
        commands, "compare", readers="Experiments", words=words, description=_COMPARE
    )
    words = "two or more folders, such as results/demo; the older of two runs first"
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help=words)
    words = "joint confidence of all intervals (default: 0.95)"
    level = between(0.5, 0.999999)
    parser.add_argument("--confidence", type=level, default=0.95, metavar="C", help=words)
    words = "write all numbers of two runs, or the league of more, as CSV"
    parser.add_argument("--output", type=path, metavar="FILE", help=words)
    words = """for two runs: exit with code 1 if a number changed by more than its interval, has
        other data or is only in the old run, or if a verdict changed"""
    parser.add_argument("--fail-on-difference", action="store_true", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_compare)


def _plain(frame: pd.DataFrame) -> Any:
    """Return the rows for JSON, which has no infinity."""
    return json.loads(frame.astype(object).replace(math.inf, "inf").to_json(orient="records"))


def _compare(options: argparse.Namespace) -> int:
    from dpol.core.errors import UsageError
    from dpol.core.files import write_text
    from dpol.report.compare import SAME, compare_runs
    from dpol.report.league import lines_of
    from dpol.show.table import to_csv

    two = len(options.runs) == 2
    if len(options.runs) < 2:
        raise UsageError("one run is given; name two or more folders, such as results/demo")
    if options.fail_on_difference and not two:
        raise UsageError("--fail-on-difference takes two runs, the old one first")
    with warnings.catch_warnings(record=True) as changed:
        warnings.simplefilter("always")
        comparison = compare_runs(*options.runs, confidence=options.confidence)
    for warning in changed:
        print("warning:", printable(str(warning.message)), file=sys.stderr)
    if options.output:
        write_text(options.output, to_csv(comparison.cells if two else comparison.league))
    rows = comparison.cells[comparison.cells["verdict"] != SAME]
    numbers = rows.loc[:, ~rows.columns.str.match("replicates|std_gain|confidence|ci_")]
    table = numbers.to_string(index=False).splitlines()
    lines = [
        *(comparison.settings or ["all settings are the same"]),
        *((table if len(rows) else ["all numbers are the same"]) if two else []),
        *comparison.verdicts,
        "",
        *lines_of(comparison.league),
    ]
    facts = {
        "settings": comparison.settings,
        "numbers": _plain(rows),
        "verdicts": comparison.verdicts,
        "league": _plain(comparison.league),
        "differs": comparison.differs,
    }
    answer(options, lines, facts)
    return int(options.fail_on_difference and comparison.differs)
