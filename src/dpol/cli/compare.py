"""`dpol compare`: differences between two runs."""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpol.core.options import Commands, add_answer_options, add_command, answer, between, path
from dpol.core.words import printable

if TYPE_CHECKING:
    import pandas as pd

    from dpol.report.compare import RunComparison

_COMPARE = """\
Compare two finished runs: settings, code and data that differ, mean total gains that differ by
more than their intervals, and verdicts that changed. Gains are compared at the same guaranteed mu
only."""


def add(commands: Commands) -> None:
    """Add the command."""
    words = "show what differs between two runs"
    parser = add_command(
        commands, "compare", readers="Experiments", words=words, description=_COMPARE
    )
    words = "two folders, such as results/central-texas; the older run first"
    parser.add_argument("runs", type=path, nargs="+", metavar="RUN", help=words)
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
    from dpol.core.errors import UsageError
    from dpol.core.files import write_text
    from dpol.report.compare import SAME, compare_runs
    from dpol.show.table import to_csv

    if len(options.runs) != 2:
        given = "1 folder is" if len(options.runs) == 1 else f"{len(options.runs)} folders are"
        raise UsageError(f"{given} given; name two runs, the older one first")
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
    ]
    facts = {
        "settings": comparison.settings,
        "provenance": comparison.provenance,
        "numbers": _plain(cells[cells["verdict"] != SAME]),
        "verdicts": comparison.verdicts,
        "differs": comparison.differs,
    }
    answer(options, lines, facts)
    return int(options.fail_on_difference and comparison.differs)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in lines or ["no difference"])]


def _numbers(comparison: RunComparison, old: str, new: str) -> Iterator[str]:
    """Yield the cells beyond their intervals, and how many cells have each verdict."""
    import pandas as pd

    from dpol.report.compare import HIGHER, LOWER, ONLY_NEW, ONLY_OLD

    counts = comparison.cells["verdict"].value_counts()
    beyond = [
        {
            "stream": row["stream"],
            "noise": row["noise"],
            "algorithm": row["algorithm"],
            "guaranteed μ": _guarantee(row),
            "old": f"{row['mean_gain_old']:.6g}",
            "new": f"{row['mean_gain_new']:.6g}",
            "difference": f"{row['difference']:+.3g} ± {row['difference_half_width']:.2g}",
            "interval": row["interval"],
            "verdict": row["verdict"],
        }
        for row in comparison.cells.to_dict("records")
        if row["verdict"] in (HIGHER, LOWER)
    ]
    if beyond:
        yield from pd.DataFrame(beyond).to_string(index=False).splitlines()
    alone = {ONLY_OLD: old, ONLY_NEW: new}
    both = [f"{count:,} {verdict}" for verdict, count in counts.items() if verdict not in alone]
    if both:
        yield f"cells in both runs: {', '.join(both)}"
    one = [f"{counts[only]:,} in {run}" for only, run in alone.items() if only in counts]
    if one:
        yield f"cells in one run only, or at another guaranteed μ: {', '.join(one)}"


def _guarantee(row: Mapping[Any, Any]) -> str:
    """Write the guaranteed mu, with the requested one where the noise does not give it."""
    mu = row["guaranteed_mu"]
    if math.isnan(mu):
        return f"ε = {row['epsilon']:.4g}"
    asked = dict.fromkeys([row["mu_old"], row["mu_new"]])
    if all(math.isclose(mu, each, rel_tol=1e-5) for each in asked):
        return _mu(mu)
    return f"{_mu(mu)} (requested {', '.join(map(_mu, asked))})"


def _mu(mu: float) -> str:
    return "∞" if mu == math.inf else f"{mu:.4g}"


def _plain(frame: pd.DataFrame) -> Any:
    """Return the rows for JSON, which has no infinity."""
    return json.loads(frame.astype(object).replace(math.inf, "inf").to_json(orient="records"))
