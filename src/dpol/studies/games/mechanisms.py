"""How private is it? Table of an attacker's guesses, epsilon, the unit and what is public.

Also the table of regret bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.experts.registry import regret_bounds
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show.footers import SAMPLERS, describe_public
from dpol.show.names import ACCOUNTED, OURS, marked, name_of
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.show.words import each, mu_title, power
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import lines_of, ordered_levels
from dpol.studies.study import Facts, Frames

COLUMNS = ["system", "mu", "rounds", "right_guesses", "epsilon", "delta", "count_noise"]
"""Columns of the numbers: a row per system, level and length of a stay. `count_noise` is the
standard deviation of the noise on a count."""
_NAMED = 3
"""Most systems that a section names."""
_ON_REGRET = (
    "Regret: expected regret against the best in hindsight, for gains in [0, 1] over T rounds, with"
    " n experts, m learners and noise of scale η on every gain. “none known”: we know no bound."
)
_ON_META = (
    "The bound of rw-meta fails for learners that see the noisy gains, as the learners here do: see"
    " the ledger of claims."
)


def privacy_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build the table: a section per system of the page's first table, a column per level.

    Correlated noises have sections too. Systems with equal numbers share one. Every number is the
    largest of all streams, rounded up.

    Args:
        frames: the summary.
        main: the systems.
        facts: the levels.
    """
    summary = frames["summary"]
    systems = {line.name: line.rows for line in lines_of(summary, main, facts)}
    for noise, rows in summary[summary["noise_memory"] != ""].groupby("noise"):
        systems[name_of(str(noise)).long] = rows
    private = {
        name: rows[(rows["model"] != "none") & (rows["epsilon"] < math.inf)]
        for name, rows in systems.items()
    }
    numbers = pd.DataFrame(
        [row for name, rows in private.items() for row in _guesses_and_epsilon(name, rows)],
        columns=COLUMNS,
    )
    levels = [mu for mu in ordered_levels(facts.levels) if (numbers["mu"] == mu).any()]
    of_lines: dict[tuple[Line, ...], list[str]] = {}
    for name, own in numbers.groupby("system", sort=False):
        of_lines.setdefault(tuple(_stay_lines(own, levels)), []).append(str(name))
    sections = [one_section(lines, _listed(names)) for lines, names in of_lines.items()]
    return Table(
        caption="Right guesses of an attacker, and ε",
        name="privacy",
        corner=("system", "at most"),
        headers=tuple(map(mu_title, levels)) or ("",),
        sections=tuple(sections) or (one_section([("no noise was added", (TableCell("—"),))]),),
        footers=tuple(_privacy_footers(pd.concat(private.values()), facts)) if len(numbers) else (),
        numbers=numbers,
    )


def _guesses_and_epsilon(
    system: str, private: pd.DataFrame
) -> Iterator[tuple[str, float, int, float, float, float, float]]:
    """Yield rows with `COLUMNS`; without people who are counted, or without a mu, of one round."""
    for mu, own in private.groupby("mu", sort=False):
        level, epsilon, delta = float(str(mu)), own["epsilon"].max(), own["delta"].max()
        rest = epsilon, delta, own["count_noise"].max()
        if own["guaranteed_mu"].isna().any():
            yield system, level, 1, best_guess_of_epsilon(epsilon, delta), *rest
        elif own[list(MU_OF_STAYS)].isna().any(axis=None):
            yield system, level, 1, best_guess(own["guaranteed_mu"].max()), *rest
        else:
            for rounds, column in zip(STAYS, MU_OF_STAYS, strict=True):
                yield system, level, rounds, best_guess(own[column].max()), *rest


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {counted(more, 'other')}" if more > 0 else "")


def _stay_lines(own: pd.DataFrame, levels: list[float]) -> Iterator[Line]:
    """Yield a line for each length of a stay, and one for epsilon; the last digit is rounded up."""
    for rounds, stay in own.groupby("rounds", sort=False):
        guesses = 100 * stay.set_index("mu")["right_guesses"]
        texts = [f"{rounded_up(guesses[mu], 3)}%" if mu in guesses else "—" for mu in levels]
        yield (
            f"right guesses, counted in {counted(int(str(rounds)), 'round')}",
            tuple(map(TableCell, texts)),
        )
    epsilons = own.drop_duplicates("mu").set_index("mu")["epsilon"]
    texts = [rounded_up(epsilons[mu], 3) if mu in epsilons else "—" for mu in levels]
    yield f"ε at δ = {power(own['delta'].max())}", tuple(map(TableCell, texts))
    noises = own.drop_duplicates("mu").set_index("mu")["count_noise"].dropna()
    if len(noises):
        texts = [f"±{rounded_up(noises[mu], 3)}" if mu in noises else "—" for mu in levels]
        yield "noise on a count, one standard deviation", tuple(map(TableCell, texts))


def _privacy_footers(private: pd.DataFrame, facts: Facts) -> Iterator[str]:
    public = " ".join(["", *describe_public(private)])
    replayed = " (also of the replay)" if facts.replayed else ""
    yield (
        f"Protected: {each(private['unit'])}. Adjacent inputs: {each(private['adjacency'])}."
        f"{public} A coin is right 50% of the time. The guarantee is of what a system would"
        f" publish, not of this page: every gain, share and figure here{replayed} is computed from"
        " the true numbers."
    )
    yield from (SAMPLERS[name] for name in dict.fromkeys(private["sampler"]))


# ---- regret --------------------------------------------------------------------------------------


def regret_bounds_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build a table with the regret bound of each algorithm that was played.

    Args:
        frames: the summary.
        main: settings of the main study.
        facts: facts of the run.
    """
    ours = frames["summary"].groupby("family", sort=False)["ours"].all().rename("ours")
    numbers = ours.rename_axis("algorithm").reset_index()
    bounds = [regret_bounds().get(name, ("", "")) for name in numbers["algorithm"]]
    numbers[["regret", "against"]] = bounds
    lines = [
        (
            marked(row["algorithm"], row["ours"] and row["algorithm"] not in ACCOUNTED),
            (TableCell(row["regret"] or "none known"), TableCell(row["against"] or "—")),
        )
        for row in numbers.to_dict("records")
    ]
    footers = [_ON_REGRET]
    if (numbers["algorithm"] == "rw-meta").any():
        footers.append(_ON_META)
    if numbers["ours"].any():
        footers.append(f"{OURS}.")
    return Table(
        caption="Regret bound of each algorithm",
        name="regret-bounds",
        corner=("algorithm",),
        headers=tuple(Column(header, prose=True) for header in ("regret, at most", "against")),
        sections=(one_section(lines),),
        footers=tuple(footers),
        numbers=numbers,
    )
