"""Table of correlated and independent noise, with the privacy loss for longer stays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd

from dpol.core.words import counted
from dpol.privacy.guarantee import AT_ONE_PLACE, MU_OF_STAYS, STAY, STAY_UNIT
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.mechanisms import mechanisms_table
from dpol.show.names import OURS, name_of
from dpol.show.table import Column, Group, Line, Section, Table, TableCell, one_section
from dpol.show.words import mu_title, power
from dpol.studies.comparison.noise_memory import INDEPENDENT, REMEMBERED, of_reader
from dpol.studies.comparison.settings import Comparison, NoiseMemories
from dpol.studies.study import Facts, Frames

_Row = Mapping[Any, Any]


def memory_table(frames: Frames, settings: Comparison, facts: Facts) -> Table:
    """Build the table: a section per stream, a group per mu, a line per unit of privacy."""
    every, asked = frames["memory"], settings.memory
    assert asked is not None, "the table is made only where memories are compared"
    frame = of_reader(every)
    sections = []
    for label, title in facts.streams.items():
        rows = frame[frame["stream"] == label]
        groups = [
            Group(mu_title(mu), tuple(_lines(rows[rows["level"] == mu], asked))) for mu in asked.mus
        ]
        size = "n = {n_experts}, T = {n_rounds}".format_map(rows.iloc[0])
        sections.append(Section(title, size, tuple(groups)))
    mus = sorted(set(frame["mu"]), reverse=True)
    mechanisms = mechanisms_table(
        _by_noise(every), mus, name="memory-mechanisms", title="Guarantees of the noises"
    )
    rivals = [_rivals_table(every, asked, facts)] if asked.rivals else []
    return Table(
        caption="Independent and correlated noise: total gain, and μ for longer stays",
        name="memory",
        corner=("stream", "privacy", "unit"),
        headers=(
            "independent",
            "correlated †",
            Column("difference", prose=True),
            Column(f"against independent at {asked.times:g} μ", prose=True),
            "memory b",
            Column(f"μ for stays of {', '.join(map(str, STAYS))} weeks", prose=True),
        ),
        sections=tuple(sections),
        footers=tuple(_footers(frame, asked.times, facts)),
        numbers=every,
        following=(*rivals, *filter(None, [mechanisms])),
    )


def _rivals_table(frame: pd.DataFrame, asked: NoiseMemories, facts: Facts) -> Table:
    """Build the table of the further noises: a section per stream, a line per mu and unit."""
    keys = ["stream", "level", "weeks"]
    correlated = dict(iter(frame[frame["noise"] == REMEMBERED].groupby(keys)))
    further = frame.drop(of_reader(frame).index).groupby(["noise", "algorithm"], sort=False)
    of_rival = {title: dict(iter(rows.groupby(keys))) for title, rows in further}
    sections = []
    for label, title in facts.streams.items():
        lines = []
        for mu, weeks in product(asked.mus, asked.weeks):
            (ours,) = correlated[label, mu, weeks].to_dict("records")
            cells = [TableCell(footers.amount(ours["mean_gain"], ours["ci_half_width"]))]
            for rival in of_rival.values():
                first, *more = rival[label, mu, weeks].to_dict("records")
                gain = footers.amount(first["mean_gain"], first["ci_half_width"])
                notes = (f"same ε: {row['mean_gain']:.2f}, {row['verdict']}" for row in more)
                cells.append(TableCell(f"{gain}, {first['verdict']}", tuple(notes)))
            lines.append((f"{mu_title(mu)}, {counted(weeks, 'week')}", tuple(cells)))
        sections.append(one_section(lines, title))
    return Table(
        caption="Noise that adapts to the data: total gain",
        name="memory-rivals",
        corner=("stream", "privacy and unit"),
        headers=(
            f"{REMEMBERED}, {frame['algorithm'].iloc[0]} †",
            *(Column(", ".join(map(str, title)), prose=True) for title in of_rival),
        ),
        sections=tuple(sections),
        footers=(
            "Verdict: whether correlated noise gains more. An attacker is right as often as under"
            " Gaussian noise of this μ; with budgets and PeGaSus, at most as often. Same ε: Laplace"
            f" noise has the ε that μ has at δ = {power(facts.delta)}, those three with δ = 0.",
        ),
    )


def _by_noise(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Group the rows by noise, with w for the unit, which has a column of its own."""
    ends = frame["adjacency"].str.endswith(AT_ONE_PLACE).map({True: AT_ONE_PLACE, False: ""})
    shown = frame.assign(adjacency=STAY.format("w") + ends, unit=STAY_UNIT.format("w"))
    return {name_of(str(noise)).long: own for noise, own in shown.groupby("noise", sort=False)}


def _lines(rows: pd.DataFrame, settings: NoiseMemories) -> Iterator[Line]:
    """Yield a line for each unit of a stream and mu, and one for their common aim."""
    for weeks in settings.weeks:
        own = rows[rows["weeks"] == weeks].to_dict("records")
        of_kind = {(row["noise"], row["times"]): row for row in own}
        memory = of_kind[REMEMBERED, 1.0]
        same, more = (of_kind[INDEPENDENT, times] for times in (1.0, settings.times))
        yield (
            counted(weeks, "week"),
            (
                TableCell(footers.amount(same["mean_gain"], same["ci_half_width"])),
                TableCell(footers.amount(memory["mean_gain"], memory["ci_half_width"])),
                TableCell(f"{footers.signed(same)}, {same['verdict']}"),
                TableCell(f"{footers.signed(more)}, {more['aim_verdict']}"),
                TableCell(_span(memory["smallest_b"], memory["largest_b"])),
                TableCell(_stays(memory), (f"independent: {_stays(same)}",)),
            ),
        )
    verdict = rows.loc[(rows["noise"] == INDEPENDENT) & (rows["times"] == 1), "aim_verdict"]
    cells = ("", "", verdict.iloc[0], "", "", "")
    yield "aim: at or above in every unit", tuple(map(TableCell, cells))


def _span(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _stays(row: _Row) -> str:
    return ", ".join(f"{row[name]:.3g}" for name in MU_OF_STAYS)


def _footers(frame: pd.DataFrame, times: float, facts: Facts) -> Iterator[str]:
    first = frame.iloc[0]
    yield (
        f"Gains of {first['algorithm']}, summed over all rounds and averaged over"
        f" {first['replicates']} runs. The two noises are drawn independently. At the given μ, each"
        " protects a person who is counted in at most as many consecutive weeks as the unit."
    )
    yield (
        "Difference: correlated minus independent noise. It is above or below if its whole interval"
        " is, and undecided if the interval contains 0. The aims: at or above independent noise in"
        f" every unit, and at or above independent noise at {times:g} times the μ in each unit."
    )
    yield (
        "μ for stays: the μ of a person who stays that long. Stays longer than the unit have a"
        " larger μ than requested, and it grows faster with correlated noise. Memory b: how much of"
        " a hospital's noise cancels earlier noise; 0 is independent noise."
    )
    yield footers.describe_intervals_behind(frame)
    yield footers.describe_data(facts.simulated)
    yield from footers.describe_guarantee(pd.concat(_by_noise(frame)))
    yield f"{OURS}."
