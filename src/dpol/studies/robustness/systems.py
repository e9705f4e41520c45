"""Systems that see noisy gains, and what they keep; tables as streams."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
import pandas as pd

from dpol.core.errors import ConfigError
from dpol.core.randomness import Floats
from dpol.core.shipped import place_of
from dpol.data.cleaning import clean_table
from dpol.data.stream import GainStream
from dpol.experts.interface import Actions
from dpol.experts.registry import make_members
from dpol.noise.noisy_gains import privatize
from dpol.privacy.settings import keeps_level
from dpol.studies.comparison.standings import guaranteed
from dpol.studies.games.settings import Suite
from dpol.studies.robustness.settings import Table


def local_systems(suites: Mapping[str, Suite], stream: GainStream, mu: float) -> pd.DataFrame:
    """Return a row, with its `guarantee`, for each system of suites that sees noisy gains
    and keeps the level.
    """
    rows = []
    for noise, entries in chain(*(suite.by_noise.items() for suite in suites.values())):
        local = [it for it in chain(*map(make_members, entries)) if it.algorithm.model == "local"]
        if not local:  # nothing can be made with the noise of algorithms without privacy
            continue
        made = privatize(stream, noise, mu, seed=1, replicates=1).guarantee
        if keeps_level(made.mu, mu):
            facts = {"noise": noise, "mu": mu, "sees": "noisy", **made.stay_columns()}
            for it in local:
                rows.append({"algorithm": it.label, "family": it.family, **facts, "member": it})
    return pd.DataFrame(rows).assign(guarantee=guaranteed)


def totals_of(gains: Floats, actions: Actions) -> tuple[Floats, Floats]:
    """Return how much more than a random choice each run gains, and could gain, each (R,).

    Args:
        gains: (R, T, n) raw gains, of each run its own.
        actions: (R, T) actions.
    """
    uniform, best = gains.mean(axis=2).sum(axis=1), gains.max(axis=2).sum(axis=1)
    own = np.take_along_axis(gains, actions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
    return np.asarray(own - uniform), np.asarray(best - uniform)


def panel_of(table: Table) -> pd.DataFrame:
    """Return the clean panel of a table.

    Raises:
        ConfigError: it is no file on this machine.
    """
    source = table.dataset.source
    if source.kind != "local":
        raise ConfigError(f"a table of robustness must be local, not {source.kind}; name its file")
    gains = [*table.gains.values()]
    return clean_table(place_of(source.file), table.dataset, table.streams, gains)[0]
