"""Table of the comparison: the baseline, its rivals and ours. The words are in `templates/`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from dpol.core.intervals import ABOVE, BELOW, EQUAL, UNDECIDED
from dpol.show import footers
from dpol.show.names import OURS
from dpol.show.pages import load_template
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.show.words import privacy_title
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games.systems import describe_stream, holds_for_stays
from dpol.studies.study import Facts, Frames

_Row = Mapping[Any, Any]


def comparison_table(frames: Frames, settings: Comparison, facts: Facts) -> Table:
    """Build the table of the baseline and ours at every level.

    Args:
        frames: the summary and the comparison.
        settings: settings of the comparison.
        facts: titles of the streams and levels, in the order of the table, and whether the data
            are simulated.
    """
    comparison, summary = frames["comparison"], frames["summary"]
    words: Any = load_template("comparison.txt.j2", "dpol.studies.comparison").make_module(
        {"amount": footers.amount, "signed": footers.signed}
    )
    sections = []
    for label, title in facts.streams.items():
        rows = comparison[comparison["stream"] == label]
        lines: list[Line] = []
        for mu in facts.levels.values():
            level = _level(rows[rows["mu"] == mu])
            text, *notes = _paragraphs(words.verdict(level))
            verdict = TableCell(text, tuple(notes))
            row = level["baseline"]
            both = [(row[f"{x}mean_gain"], row[f"{x}ci_half_width"]) for x in ("other_", "")]
            texts = *(footers.amount(*it) for it in both), footers.signed(row)
            lines.append((privacy_title(mu), (*map(TableCell, texts), verdict)))
        size = describe_stream(summary[summary["stream"] == label].iloc[0])
        sections.append(one_section(lines, title, size))
    baseline = comparison[comparison["kind"] == "baseline"]
    first = baseline.to_dict("records")[0]
    return Table(
        caption="The baseline and ours at the same privacy: total gain",
        name="comparison",
        corner=("stream", "privacy"),
        headers=("baseline", "ours †", "difference", Column("verdict", prose=True)),
        sections=tuple(sections),
        footers=_paragraphs(
            words.footers(
                baseline=first,
                rivals=settings.rivals,
                common=baseline.loc[baseline["mu"] < math.inf, "common_noise"].all(),
                intervals=footers.describe_intervals_behind(comparison),
                data=footers.describe_data(facts.simulated),
                guarantees=footers.describe_guarantee(_of_systems(summary, first)),
                mark=OURS,
            )
        ),
        numbers=comparison,
    )


def _level(rows: pd.DataFrame) -> dict[str, Any]:
    """Return the rows that ours is compared with at one level, and whether it is above them.

    Keys: `baseline`, its row; `rivals`, the best row of each rival, with its number of systems
    (`count`) and the verdict on all of them; `others`, the other rows, of the papers and with parts
    of ours, each with the rows that ours is not above (`rest`, largest lead first); `curator`, the
    best row with a curator. Without noise there are no others.
    """
    (baseline,) = rows[rows["kind"] == "baseline"].to_dict("records")
    rivals = []
    for _, own in rows[rows["kind"] == "rival"].groupby("rival", sort=False):
        *_, best = own.sort_values("other_mean_gain", kind="stable").to_dict("records")
        worst = next(x for x in (BELOW, UNDECIDED, EQUAL, ABOVE) if x in set(own["verdict"]))
        rivals.append({**best, "count": len(own), "verdict": worst})
    others = rows[(rows["kind"] == "other") & (rows["mu"] < math.inf)]
    others = others.assign(holds_for_stays=holds_for_stays(others["other_noise"]))
    rest = others[others["verdict"] != ABOVE].sort_values("difference", kind="stable")
    central = others[others["other_model"] == "central"].sort_values("other_mean_gain")
    return {
        "baseline": baseline,
        "rivals": rivals,
        "above_rivals": sum(rival["verdict"] == ABOVE for rival in rivals),
        "others": [
            {
                "ours": ours,
                "count": len(own),
                "rest": rest[rest["other_ours"] == ours].to_dict("records"),
            }
            for ours, own in others.groupby("other_ours")
        ],
        "above_others": rest.empty,
        "curator": next(iter(central.tail(1).to_dict("records")), None),
    }


def _of_systems(summary: pd.DataFrame, baseline: _Row) -> pd.DataFrame:
    """Return the rows of the summary of the baseline, of ours, and with correlated noise."""
    compared = [(baseline[f"{x}algorithm"], baseline[f"{x}noise"]) for x in ("other_", "")]
    systems = summary.set_index(["algorithm", "noise"]).index
    return summary[systems.isin(compared) | (summary["noise_memory"] != "")]


def _paragraphs(text: str) -> tuple[str, ...]:
    """Split a text into paragraphs of one line each."""
    parts = (re.sub(r"[ \n]+", " ", part).strip() for part in re.split(r"\n{2,}", text))
    return tuple(part for part in parts if part)
