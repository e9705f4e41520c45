"""The tables of audits: the claims, and what the outputs prove."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from dpol.privacy.auditing import OUTSIDE, exceeds
from dpol.show.table import Column, Line, Mark, Table, TableCell, number, one_section
from dpol.show.words import SYMBOLS, joint_confidence, proved
from dpol.studies.study import Facts, Frames

_VERDICTS = {
    "violated": ("refuted", Mark("refuted", "bad")),
    OUTSIDE: (OUTSIDE, Mark("outside", "open")),
    "consistent": ("stands", Mark("stands", "good")),
}
_CLOSEST = 5
"""Standing claims that the short table shows."""


def closest_audits(frames: Frames, facts: Facts) -> Table:
    """Build the table of audits that refute, lie outside the guarantee, or come closest."""
    audits = frames["audits"]
    shares = audits["lower_bound"] / audits["claimed"]
    ordered = audits.loc[shares.sort_values(ascending=False, kind="stable").index]
    of = {verdict: ordered[ordered["verdict"] == verdict] for verdict in _VERDICTS}
    caption = (
        f"{len(audits)} audits: {len(of['violated'])} refuted, {len(of[OUTSIDE])} outside the"
        f" guarantee; and the {_CLOSEST} others closest to their claims"
    )
    shown = pd.concat([of["violated"], of[OUTSIDE], of["consistent"].head(_CLOSEST)])
    return _table(audits, caption, shown)


def audits_table(frames: Frames, facts: Facts) -> Table:
    """Build the table of each mechanism's claim, what its outputs prove, and the verdict."""
    audits = frames["audits"]
    adjacency = "; ".join(dict.fromkeys(audits["adjacency"]))
    ran = (
        f"{row['mechanism']}, {row['method']}: {row['inputs']}. Code: {row['code']}. Statistic:"
        f" {row['statistic']}."
        for row in audits.to_dict("records")
    )
    footers = f"Adjacent: {adjacency}.", *dict.fromkeys(ran)
    return _table(audits, "Audits", audits, footers)


def _table(
    audits: pd.DataFrame,
    caption: str,
    shown: pd.DataFrame,
    footers: tuple[str, ...] = (),
) -> Table:
    return Table(
        caption=caption,
        corner=("mechanism",),
        headers=(
            *(Column("variant", prose=True), Column("unit", prose=True)),
            *("claimed", "proved", "share"),
            *(Column("how", prose=True), Column("verdict", prose=True)),
        ),
        sections=(one_section(map(_line, shown.to_dict("records"))),),
        footers=(
            "Claimed: the requested parameter, or the mechanism’s record if that claims less.",
            "Outside the guarantee: the outputs exceed a parameter that does not hold for these"
            " inputs. This refutes nothing.",
            "Proved: a lower bound on the parameter, or the parameter itself if it was computed."
            f" All bounds hold together with {joint_confidence(audits['confidence'])} confidence."
            " A claim that stands is not proved: an audit sees only its statistic, on its inputs.",
            "Event: chosen on one half of the runs, counted on the other; nothing is assumed."
            " Covariance: assumes Gaussian noise.",
            *footers,
        ),
        numbers=shown,
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
