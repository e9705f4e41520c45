"""Table of correlated and other noise, with the privacy loss for longer stays."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pandas as pd

from dpol.core.words import counted
from dpol.privacy.guarantee import AT_ONE_PLACE, MU_OF_STAYS, STAY, STAY_UNIT
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.names import OURS, marked, name_of
from dpol.show.table import Column, Group, Line, Section, Table, TableCell
from dpol.show.words import mu_title, power
from dpol.studies.comparison.noise_memory import REMEMBERED
from dpol.studies.comparison.settings import Comparison
from dpol.studies.study import Facts, Frames

_SAME = {
    "": "{times:g} times the μ",
    "mu": "same μ",
    "guess": "same guesses",
    "epsilon": "same ε",
    "pure": "same ε at δ = 0",
}
"""What a noise has in common with correlated noise, by `same` of its row."""


def memory_table(frames: Frames, settings: Comparison, facts: Facts) -> Table:
    """Build the table: a section per stream, a group per mu and unit of privacy, a line per noise.

    Args:
        frames: the table of noises.
        settings: the levels and units.
        facts: titles of the streams, delta, and whether the data are simulated.
    """
    frame, asked = frames["memory"], settings.memory
    assert asked is not None, "the table is made only where memories are compared"
    sections = []
    for label, title in facts.streams.items():
        rows = frame[frame["stream"] == label]
        groups = []
        for mu, weeks in product(asked.mus, asked.weeks):
            own = rows[(rows["level"] == mu) & (rows["weeks"] == weeks)].to_dict("records")
            groups.append(
                Group(f"{mu_title(mu)}, {counted(weeks, 'week')}", tuple(map(_line, own)))
            )
        size = "n = {n_experts}, T = {n_rounds}".format_map(rows.iloc[0])
        sections.append(Section(title, size, tuple(groups)))
    # The unit has the name w, since a group has its own.
    ends = frame["adjacency"].str.endswith(AT_ONE_PLACE).map({True: AT_ONE_PLACE, False: ""})
    shown = frame.assign(adjacency=STAY.format("w") + ends, unit=STAY_UNIT.format("w"))
    return Table(
        caption="Correlated and other noise: total gain, and μ for longer stays",
        name="memory",
        corner=("stream", "privacy and unit", "noise"),
        headers=(
            "gain",
            Column("lead of correlated noise", prose=True),
            Column(f"μ for stays of {', '.join(map(str, STAYS))} weeks", prose=True),
        ),
        sections=tuple(sections),
        footers=tuple(_footers(frame, shown, facts)),
        numbers=frame,
    )


def _line(row: dict[Any, Any]) -> Line:
    noise = row["noise"]
    name, same, lead = marked(name_of(noise).long, name_of(noise).ours), "", "—"
    if noise != REMEMBERED:
        same = f", {_SAME[row['same']].format_map(row)}"
        lead = f"{footers.signed(row)}, {row['verdict']}"
    stays = [row[name] for name in MU_OF_STAYS]
    return f"{name}, {row['algorithm']}{same}", (
        TableCell(footers.amount(row["mean_gain"], row["ci_half_width"])),
        TableCell(lead),
        TableCell("—" if any(map(pd.isna, stays)) else ", ".join(f"{mu:.3g}" for mu in stays)),
    )


def _footers(frame: pd.DataFrame, shown: pd.DataFrame, facts: Facts) -> Iterator[str]:
    yield (
        "Gains are summed over all rounds and averaged over"
        f" {frame['replicates'].iloc[0]} runs. All noises are drawn independently, and protect a"
        " person who is counted in at most as many consecutive weeks as the unit. The lead is above"
        " or below 0 if its whole interval is, and undecided if the interval contains 0."
    )
    yield (
        "Same guesses: an attacker is right as often as under Gaussian noise of this μ; with"
        f" budgets and PeGaSus, at most as often. Same ε: Laplace noise has the ε that μ has at δ ="
        f" {power(facts.delta)}, those three with δ = 0."
    )
    yield (
        "μ for stays: the μ of a person who stays that long. Stays longer than the unit have a"
        " larger μ than requested, and it grows faster with correlated noise. —: no μ."
    )
    yield footers.describe_intervals_behind(frame)
    yield footers.describe_data(facts.simulated)
    yield from footers.describe_guarantee(shown)
    yield f"{OURS}."
