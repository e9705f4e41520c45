"""The table of audits: the claims, and what the outputs prove."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from dpol.privacy.auditing import exceeds
from dpol.show.table import Column, Line, Mark, Table, TableCell, number, one_section
from dpol.show.words import SYMBOLS, joint_confidence, proved
from dpol.studies.study import Facts, Frames

_VERDICTS = {
    "violated": ("refuted", Mark("refuted", "bad")),
    "consistent": ("stands", Mark("stands", "good")),
}


def audits_table(frames: Frames, facts: Facts) -> Table:
    """Build the table of each mechanism's claim, what its outputs prove, and the verdict."""
    audits: pd.DataFrame = frames["audits"]
    adjacency = "; ".join(dict.fromkeys(audits["adjacency"]))
    ran = (
        f"{row['mechanism']}, {row['method']}: {row['inputs']}. Code: {row['code']}. Statistic:"
        f" {row['statistic']}."
        for row in audits.to_dict("records")
    )
    return Table(
        caption=f"{len(audits)} audits: {(audits['verdict'] == 'violated').sum()} refuted",
        corner=("mechanism",),
        headers=(
            *(Column("variant", prose=True), Column("unit", prose=True)),
            *("claimed", "proved", "share"),
            *(Column("how", prose=True), Column("verdict", prose=True)),
        ),
        sections=(one_section(map(_line, audits.to_dict("records"))),),
        footers=(
            "Claimed: the requested parameter, or the mechanism’s record if that claims less.",
            "Proved: a lower bound on the parameter, or the parameter itself if it was computed."
            f" All bounds hold together with {joint_confidence(audits['confidence'])} confidence."
            " A claim that stands is not proved: an audit sees only its statistic, on its inputs.",
            "Event: chosen on one half of the runs, counted on the other; nothing is assumed."
            " Covariance: assumes Gaussian noise.",
            f"Adjacent: {adjacency}.",
            *dict.fromkeys(ran),
        ),
        numbers=audits,
        filtered="audits",
    )


def _line(row: Mapping[Hashable, Any]) -> Line:
    delta = f" (δ = {row['delta']:g})" if row["parameter"] == "epsilon" and row["delta"] else ""
    admitted = exceeds(row["recorded"], row["claimed"])
    record = f", recorded: {row['recorded']:.3g}" if admitted else ""
    claim = f"{SYMBOLS[row['parameter']]} = {row['claimed']:.3g}{delta}{record}"
    sampled = f"{row['method']}, {row['runs']:,} runs"
    share, (verdict, mark) = row["lower_bound"] / row["claimed"], _VERDICTS[row["verdict"]]
    return row["mechanism"], (
        TableCell(row["variant"]),
        TableCell(row["unit"]),
        number(row["claimed"], claim),
        number(row["lower_bound"], proved(row)),
        number(share, f"{100 * share:.0f}%"),
        TableCell("computed" if row["method"] == "exact" else sampled),
        TableCell(verdict, mark=mark),
    )
