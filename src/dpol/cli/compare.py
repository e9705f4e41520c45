"""`dpol compare`: differences between two runs."""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path
from dpol.core.safe_text import printable

if TYPE_CHECKING:
    import pandas as pd

    from dpol.report.compare import RunComparison

_COMPARE = """\
Compare two finished runs: settings, code and data that differ, mean total gains that differ by
more than their intervals, and verdicts that changed. Gains are compared at the same guaranteed mu
only."""

_SHOWN = [
    "stream", "noise", "algorithm", "guaranteed_mu", "epsilon", "mu_old", "mu_new",
    "mean_gain_old", "mean_gain_new", "difference", "difference_half_width", "interval", "verdict",
]  # fmt: skip
"""Columns of the cells that are printed."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what differs between two runs"
    example = "dpol compare results/shelters results/shelters-2"
    parser = add_command(commands, "compare", words=words, example=example, description=_COMPARE)
    words = "two folders, such as results/central-texas; the older run first"
    parser.add_argument("runs", type=path, nargs=2, metavar="RUN", help=words)
    words = "joint confidence of all intervals (default: 0.95)"
    level = between(0.5, 0.999999)
    parser.add_argument("--confidence", type=level, default=0.95, metavar="C", help=words)
    words = "write all numbers of both runs as CSV"
    parser.add_argument("--output", type=path, metavar="FILE", help=words)
    words = """exit with code 1 if a number changed by more than its interval, has other data or is
        only in the old run, or if a verdict changed"""
    parser.add_argument("--fail-on-difference", action="store_true", help=words)
    add_answer_options(parser)
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    from dpol.core.files import write_text
    from dpol.report.compare import SAME, compare_runs
    from dpol.show.rendering import to_csv

    old, new = options.runs
    with warnings.catch_warnings(record=True) as changed:
        warnings.simplefilter("always")
        comparison = compare_runs(old, new, confidence=options.confidence)
    for warning in changed:
        print("warning:", printable(str(warning.message)), file=sys.stderr)
    cells = comparison.cells
    if options.output:
        write_text(options.output, to_csv(cells))
    lines = [
        *_section("Settings", comparison.settings),
        *_section("Code and data", comparison.provenance),
        *_section("Mean total gains, new minus old", [*_numbers(comparison, str(old), str(new))]),
        *_section("Verdicts", comparison.verdicts),
        *filter(None, [comparison.warning]),
    ]
    facts = {
        "settings": comparison.settings,
        "provenance": comparison.provenance,
        "numbers": _plain(cells[cells["verdict"] != SAME]),
        "verdicts": comparison.verdicts,
        "differs": comparison.differs,
        "warning": comparison.warning,
    }
    answer(options, lines, facts)
    return int(options.fail_on_difference and comparison.differs)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in lines or ["no difference"])]


def _numbers(comparison: RunComparison, old: str, new: str) -> Iterator[str]:
    """Yield the cells beyond their intervals, and how many cells have each verdict."""
    from dpol.report.compare import HIGHER, LOWER, ONLY_NEW, ONLY_OLD

    cells = comparison.cells
    counts = cells["verdict"].value_counts()
    beyond = cells[cells["verdict"].isin([HIGHER, LOWER])][_SHOWN].dropna(axis=1, how="all")
    if len(beyond):
        yield from beyond.to_string(index=False, float_format="{:.6g}".format).splitlines()
    alone = {ONLY_OLD: old, ONLY_NEW: new}
    both = [f"{count:,} {verdict}" for verdict, count in counts.items() if verdict not in alone]
    if both:
        yield f"cells in both runs: {', '.join(both)}"
    one = [f"{counts[only]:,} in {run}" for only, run in alone.items() if only in counts]
    if one:
        yield f"cells in one run only, or at another guaranteed μ: {', '.join(one)}"


def _plain(frame: pd.DataFrame) -> Any:
    """Return the rows for JSON, which has no infinity."""
    return json.loads(frame.astype(object).replace(math.inf, "inf").to_json(orient="records"))
