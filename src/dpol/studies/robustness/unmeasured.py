"""Tables in which nobody measured some cells: fillings of these, and zeros that may hide counts.

A treatment of `fillings` says whether suppressed averages are told by their sums, and what becomes
of a hospital with patients and no beds.

verify/hidden.py measures how many zeros hide counts: 30% where one table tells, 56% where another
does. In a hidden quarter of a hospital all zeros are one of the measured hidden averages, with a
spread over the weeks. The hospitals that play, and the noise of a run, are the same in all draws.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import ConfigError
from dpol.core.intervals import half_width
from dpol.core.randomness import Floats, seed_sequence
from dpol.core.shipped import place_of
from dpol.data.cleaning import clean_table
from dpol.data.question import THE_PAPERS
from dpol.data.stream import ZERO_OR_HIDDEN, GainStream, build_stream
from dpol.experts.registry import make_members
from dpol.noise import NO_NOISE, find_noise
from dpol.noise.noisy_gains import NoisyGains, privatize
from dpol.studies.comparison.compute import rank
from dpol.studies.comparison.standings import OUR_METHOD, strongest
from dpol.studies.games.compute import play_suite
from dpol.studies.games.names import CELL, LINEAR, PAPERS
from dpol.studies.games.settings import GamesSettings, Report, lacks_of_table_2
from dpol.studies.robustness.settings import TREATMENTS, Fillings, RobustnessPoint, Table, Zeros
from dpol.studies.robustness.systems import gained_by, local_systems
from dpol.studies.study import Facts, Inputs
from dpol.studies.verdicts import UNDECIDED, verdict_on


def panel_of(table: Table) -> pd.DataFrame:
    """Return the clean panel of a table.

    Raises:
        ConfigError: it is no file on this machine.
    """
    source = table.dataset.source
    if source.kind != "local":
        raise ConfigError(f"a table of robustness must be local, not {source.kind}; name its file")
    return clean_table(place_of(source.file), table.dataset, table.streams, table.gains.values())[0]


# ---- fillings ------------------------------------------------------------------------------------


def play_fillings(block: Fillings, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play all suites at all levels; rows of local systems and of the columns of Table 2."""
    table, suites = filled(block.table, point.of, point.read_as), point.settings.suites
    panel = panel_of(table)
    streams = [build_stream(panel, label, 1.0, {}, gain=THE_PAPERS) for label in table.streams]
    played = (
        play_suite(
            stream,
            [*chain(*map(make_members, entries))],
            noise=noise,
            mu=mu,
            seed=inputs.seed,
            replicates=range(block.replicates),
        )
        for suite in suites.values()
        for stream, (noise, entries), mu in product(streams, suite.by_noise.items(), block.mus)
        if noise != NO_NOISE or mu == math.inf
    )
    plays_table_2 = not lacks_of_table_2(suites.values())
    settings = GamesSettings(report=Report().resolved(suites), plays_table_2=plays_table_2)
    titles = dict.fromkeys(table.streams, "")
    facts = Facts(titles, simulated=False, confidence=point.confidence, levels=tuple(block.mus))
    tables = rank(played, streams, settings, facts, ours=point.settings.system)
    compared = tables["standings"][[*CELL, "role", "strongest"]]
    rows = tables["summary"].merge(compared, on=CELL, validate="one_to_one")
    rows = rows.assign(treatment=TREATMENTS[point.of][0], read_as=point.read_as)
    # Of the linear models the best is kept, which Table 2 shows.
    of = ["stream", "family", "noise", "mu"]
    best = rows.sort_values(["mean_gain", "strongest"]).drop_duplicates(of, keep="last").index
    rows = rows[(rows["family"] != LINEAR) | rows.index.isin(best)]
    return rows[(rows["model"] == "local") | rows["family"].isin(PAPERS)]


def filled(table: Table, treatment: str, read_as: float) -> Table:
    """Return a table whose unmeasured cells get a treatment of `TREATMENTS` and a value."""
    _, sums, zero = TREATMENTS[treatment]
    raw = table.model_dump(mode="json")
    for name in {"count_days", "capacity_days"}.difference(sums):
        raw["dataset"]["columns"][name] = None
    values = {"suppressed_value": read_as, "suppressed_sum": read_as, "capacity_zero": zero}
    raw["dataset"]["cleaning"] |= values
    return Table.model_validate(raw)


# ---- hidden zeros --------------------------------------------------------------------------------

SPREAD = 1 / 3
"""Standard deviation of the log of a hidden average over the weeks of a quarter."""
MARK = -999999
"""What HHS writes for a suppressed number."""


def hidden_averages(file: Path | str, average: str) -> Floats:
    """Return the hidden averages of a table in which sums and days are published.

    A hidden sum, of 1 to 3, is read as 2.

    Args:
        file: path of the table.
        average: its column of averages, which ends in `_avg`.
    """
    names = [average, *(average.removesuffix("avg") + name for name in ("sum", "coverage"))]
    rows = pd.read_parquet(file, columns=names).set_axis(["average", "sum", "days"], axis=1)
    rows = rows[(rows["average"] == MARK) & (rows["days"] > 0)]
    return np.asarray(rows["sum"].where(rows["sum"] != MARK, 2) / rows["days"])


def with_hidden(rows: pd.DataFrame, known: Floats, hidden: float, draw: int) -> pd.DataFrame:
    """Return rows of a state's panel in which a share of the quarters hide their zeros.

    Args:
        rows: rows of one stream of a panel.
        known: hidden averages that were measured.
        hidden: probability that a quarter of a hospital hides its zeros.
        draw: number of the draw.
    """
    state = str(rows["stream"].iloc[0])
    rng = np.random.default_rng(seed_sequence(1, ("zeros", state, hidden, draw)))
    quarter = rows.groupby(["entity", rows["period"].dt.to_period("Q")]).ngroup().to_numpy()
    hides = rng.random(quarter.max() + 1) < hidden
    value = rng.choice(known, quarter.max() + 1)
    counts = value[quarter] * np.exp(SPREAD * rng.standard_normal(len(rows)))
    counts = counts.clip(known.min(), known.max())
    may_hide = (rows["count"] == 0) & rows["count_source"].isin(["reported", ZERO_OR_HIDDEN])
    at = may_hide & hides[quarter]
    density = rows["density"].mask(at, np.minimum(counts / rows["capacity"], 1))
    return rows.assign(count=rows["count"].mask(at, counts), density=density)


def shares_of(streams: Sequence[GainStream], systems: pd.DataFrame, block: Zeros) -> Floats:
    """Return shares of the possible gain, (systems, draws, replicates).

    Args:
        streams: the stream of a state in each draw.
        systems: the systems of a level.
        block: the root seed, and the number of repetitions in a draw.
    """
    replicates = block.replicates
    every = np.repeat([stream.gains for stream in streams], replicates, axis=0)
    empty = dataclasses.replace(streams[0], gains=np.zeros_like(streams[0].gains))
    games: dict[str, NoisyGains] = {}
    for noise, mu in systems[["noise", "mu"]].drop_duplicates().itertuples(index=False):
        noisy = privatize(empty, noise, mu, seed=block.seed, replicates=replicates)
        assert noisy.seeds is not None
        again = noisy.seeds.replicates * len(streams)
        games[noise] = dataclasses.replace(
            noisy,
            initial=np.tile(noisy.initial, (len(streams), 1)),
            gains=np.tile(noisy.gains, (len(streams), 1, 1)) + every,
            seeds=dataclasses.replace(noisy.seeds, replicates=again),
        )
    gained, possible = gained_by(systems, games, every)
    return (gained / possible).reshape(-1, len(streams), replicates)


def summed_up(
    systems: pd.DataFrame, shares: Floats, confidence: float, comparisons: int
) -> dict[str, Any]:
    """Return what the draws of a stream, or of the mean over streams, say of a level.

    Args:
        systems: the systems of the level.
        shares: shares of the possible gain, (systems, draws, replicates).
        confidence: joint confidence of the intervals.
        comparisons: number of intervals that hold together.
    """
    means = shares.mean(axis=2)
    draws = range(means.shape[1])
    ours = (systems["role"] == OUR_METHOD).argmax()
    rivals = [int(strongest(systems.assign(gain_share=means[:, draw])).argmax()) for draw in draws]
    apart = np.stack([shares[ours, draw] - shares[rivals[draw], draw] for draw in draws])
    lead, half = apart.mean(axis=1), half_width(apart.T, confidence, comparisons)
    verdicts = {*map(verdict_on, lead, half)}
    most = systems.iloc[max(rivals, key=rivals.count)]
    return {
        "draws": len(draws),
        "rival": most["algorithm"],
        "rival_noise": most["noise"],
        "ours": means[ours].mean(),
        "rival_share": means[rivals, draws].mean(),
        "lead": lead.mean(),
        "lead_least": lead.min(),
        "lead_most": lead.max(),
        "lead_half_width": half.max(),
        "verdict": verdicts.pop() if len(verdicts) == 1 else UNDECIDED,
    }


def play_zeros(block: Zeros, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play a question at a level; a row for each share of hidden zeros and state, and the mean."""
    table = block.tables[point.of]
    known = hidden_averages(place_of(block.told_by), table.dataset.needed_columns.count)
    gain = table.gains[point.question]
    rows_of = {str(it): rows for it, rows in panel_of(table).groupby("stream", sort=False)}

    def drawn(label: str, hidden: float) -> list[GainStream]:
        named = "-".join(filter(None, [label, point.question]))
        draws = range(block.draws if hidden else 1)
        panels = (with_hidden(rows_of[label], known, hidden, draw) for draw in draws)
        return [build_stream(panel, label, 1.0, {}, gain=gain, named=named) for panel in panels]

    at = local_systems(point.settings, drawn(next(iter(rows_of)), 0.0)[0], point.mu)
    # All draws share their noise, so it must not depend on the counts.
    at = at[[find_noise(noise).mechanism is None for noise in at["noise"]]]
    together = (len(at) - 1) * len(block.mus) * len(table.gains)
    rows = []
    for hidden in block.hidden:
        shares = {it: shares_of(drawn(it, hidden), at, block) for it in rows_of}
        key = {"run": point.of, "question": point.question, "hidden": hidden, "mu": point.mu}
        mean = np.mean([*shares.values()], axis=0)
        for label, own in {"": mean, **shares}.items():
            comparisons = together * (len(rows_of) if label else 1)
            found = summed_up(at, own, point.confidence, comparisons)
            rows.append({**key, "stream": label, **found})
    return pd.DataFrame(rows)
