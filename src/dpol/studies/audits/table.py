"""The audits as a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from dpol.core.frames import check_frame
from dpol.privacy.audit import exceeds
from dpol.show.plain import Cell, PlainTable, number
from dpol.show.words import SYMBOLS, joint_confidence, proved, share_of_claim
from dpol.studies.audits.core import AUDIT_COLUMNS


def audit_table(audits: pd.DataFrame) -> PlainTable:
    """What is claimed of each mechanism, what its outputs prove, and the verdict.

    Args:
        audits: table of `dpol.studies.audits.study.study_audits`.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_frame(audits, AUDIT_COLUMNS, "audits")
    rows = audits.to_dict("records")
    adjacency = "; ".join(dict.fromkeys(audits["adjacency"]))
    ran = (
        f"{row['mechanism']}, {row['method']}: {row['inputs']}. Code: {row['code']}. Statistic:"
        f" {row['statistic']}."
        for row in rows
    )
    return PlainTable(
        "audit",
        "Audits",
        ("mechanism", "variant", "unit", "claimed", "proved", "share", "how", "verdict"),
        tuple(_cells(row) for row in rows),
        (
            f"Adjacent: {adjacency}.",
            "Claimed: what was asked for, or less where the mechanism’s record promises less.",
            "Proved: a lower bound on the parameter, or the parameter itself where it is computed."
            f" All bounds hold together with {joint_confidence(audits['confidence'])} confidence."
            " A claim that stands is not thereby proved: an audit sees what its statistic sees, on"
            " its inputs.",
            "Event: chosen on one half of the runs, counted on the other; nothing is assumed."
            " Covariance: the noise is taken as Gaussian. Fit: the total variation distance (TV)"
            " between what runs and the law whose loss is computed.",
            *dict.fromkeys(ran),
        ),
    )


def _cells(row: Mapping[Hashable, Any]) -> tuple[Cell, ...]:
    delta = f" (δ = {row['delta']:g})" if row["parameter"] == "epsilon" and row["delta"] else ""
    admitted = exceeds(row["recorded"], row["claimed"])
    record = f", recorded: {row['recorded']:.3g}" if admitted else ""
    claim = f"{SYMBOLS[row['parameter']]} = {row['claimed']:.3g}{delta}{record}"
    sampled = f"{row['method']}, {row['runs']:,} runs"
    share = share_of_claim(row)
    return (
        Cell(row["mechanism"]),
        Cell(row["variant"]),
        Cell(row["unit"]),
        number(row["claimed"], claim),
        number(row["lower_bound"], proved(row)),
        number(share, f"{100 * share:.0f}%" if row["claimed"] else "–"),
        Cell("computed" if row["method"] == "exact" else sampled),
        Cell("refuted" if row["verdict"] == "violated" else "stands"),
    )
