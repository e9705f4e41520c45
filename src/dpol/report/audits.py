"""The audits as a table."""

from __future__ import annotations

import pandas as pd

from dpol.evaluation.audit.core import AUDIT_COLUMNS
from dpol.frames import check_frame
from dpol.report.tables import Cell, PlainTable, number
from dpol.wording import SYMBOLS, proved


def audit_table(audits: pd.DataFrame) -> PlainTable:
    """What is claimed of each mechanism, what its outputs prove, and the verdict.

    Args:
        audits: table of `dpol.evaluation.audit.study.study_audit`.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_frame(audits, AUDIT_COLUMNS, "audits")
    rows = []
    for row in audits.to_dict("records"):
        delta = f" (δ = {row['delta']:g})" if row["parameter"] == "epsilon" and row["delta"] else ""
        sampled = f"{row['runs']:,} runs, {100 * row['confidence']:g}%"
        how = "computed" if row["method"] == "exact" else sampled
        claim = f"{SYMBOLS[row['parameter']]} = {row['claimed']:.3g}{delta}"
        share = row["lower_bound"] / row["claimed"]
        rows.append(
            (
                Cell(row["mechanism"]),
                Cell(row["calibration"]),
                Cell(row["unit"]),
                number(row["claimed"], claim),
                number(row["lower_bound"], proved(row)),
                number(share, f"{100 * share:.0f}%"),
                Cell(how),
                Cell("refuted" if row["verdict"] == "violated" else "stands"),
            )
        )
    adjacency = "; ".join(dict.fromkeys(audits["adjacency"]))
    return PlainTable(
        "audit",
        "Audits",
        ("mechanism", "variant", "unit", "claimed", "proved", "share", "how", "verdict"),
        tuple(rows),
        (
            f"Adjacent: {adjacency}.",
            "Proved: a lower bound on the parameter, sampled with the confidence given or computed"
            " from the law of the outputs. A claim that stands is not thereby proved.",
        ),
    )
