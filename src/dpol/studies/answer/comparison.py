"""Table of the comparison: the baseline, its rivals and ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from dpol.core.intervals import ABOVE, AHEAD, BEHIND, BELOW, EQUAL, UNDECIDED
from dpol.show import footers
from dpol.show.names import OURS as OURS_EXPLAINED
from dpol.show.table import Table, TableCell, one_section
from dpol.studies.answer.gains import gain_lines
from dpol.studies.answer.systems import describe_stream
from dpol.studies.games.names import BASELINE, OURS, Roles, Systems
from dpol.studies.study import Facts, Frames

_OURS = "ours †"
_WORST_FIRST = BELOW, BEHIND, UNDECIDED, EQUAL, AHEAD, ABOVE


def comparison_table(frames: Frames, roles: Roles, facts: Facts) -> Table:
    """Build the table of ours, the baseline and its rivals at every level.

    Args:
        frames: the summary and the comparison.
        roles: the systems of the baseline, of each rival, and of ours.
        facts: titles of the streams and levels, in the order of the table, and whether the data
            are simulated.
    """
    comparison, summary = frames["comparison"], frames["summary"]
    columns = (_OURS, *(role for role in roles if role != OURS))
    cells = pd.DataFrame(_cells(comparison))
    sections = [
        one_section(
            gain_lines(
                cells[cells["stream"] == stream],
                columns,
                list(facts.levels.values()),
                lambda row: TableCell(row["text"], row["notes"]),
            ),
            title,
            describe_stream(summary[summary["stream"] == stream].iloc[0]),
        )
        for stream, title in facts.streams.items()
    ]
    return Table(
        caption="The baseline and ours at the same privacy: total gain",
        corner=("stream", "privacy"),
        headers=columns,
        sections=tuple(sections),
        footers=tuple(_footers(comparison, summary, roles, facts)),
        numbers=comparison,
    )


def _cells(comparison: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield a cell per stream, level and column: a gain, and the lead of ours with its verdict.

    A rival is the best of its systems; the verdict is the worst of all, as the best is chosen in
    hindsight.
    """
    for (stream, mu), rows in comparison.groupby(["stream", "mu"], sort=False):
        at = {"stream": stream, "mu": mu}
        first = rows.iloc[0]
        ours = footers.amount(first["mean_gain"], first["ci_half_width"])
        yield {**at, "column": _OURS, "text": ours, "notes": ()}
        for rival, own in rows[rows["kind"] != "other"].groupby("rival", sort=False):
            *_, best = own.sort_values("other_mean_gain", kind="stable").to_dict("records")
            found = {*own["verdict"]}
            verdict = next(it for it in _WORST_FIRST if it in found)
            text = footers.amount(best["other_mean_gain"], best["other_ci_half_width"])
            notes = [f"ours {footers.signed(best)}, {verdict}"]
            notes += [best["other_algorithm"]] * (len(own) > 1)
            yield {**at, "column": rival or BASELINE, "text": text, "notes": tuple(notes)}


def _footers(
    comparison: pd.DataFrame, summary: pd.DataFrame, roles: Roles, facts: Facts
) -> Iterator[str]:
    baseline = comparison[comparison["kind"] == "baseline"]
    named = {role.capitalize(): _in_words(roles[role]) for role in (OURS, *roles)}
    yield (
        f"{' '.join(f'{name}: {systems}.' for name, systems in named.items())} Gains are summed"
        f" over all T rounds and averaged over {baseline['replicates'].iloc[0]} runs."
    )
    yield (
        "Below a gain: the lead of ours. Ours is above or below if the whole interval of the lead"
        " is, and undecided if the interval contains 0. Of several systems, the best at each level"
        " is shown, chosen in hindsight; to be above it, ours must be above all of them."
    )
    yield footers.describe_intervals_behind(comparison)
    yield (
        "Differences are taken replicate by replicate. Two runs share the noise of a replicate if"
        " stream, noise and μ agree. The file comparison.csv has every other algorithm with noise."
    )
    yield footers.describe_data(facts.simulated)
    compared = [*roles[BASELINE], *roles[OURS]]
    systems = summary.set_index(["algorithm", "noise"]).index
    yield from footers.describe_guarantee(
        summary[systems.isin(compared) | (summary["noise_memory"] != "")]
    )
    yield f"{OURS_EXPLAINED}."


def _in_words(systems: Systems) -> str:
    return "; ".join(f"{algorithm}, {noise} noise" for algorithm, noise in systems)
