"""Systems that see noisy gains and guarantee a level, and what they gain."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

import numpy as np
import pandas as pd

from dpol.core.randomness import Floats
from dpol.data.stream import GainStream
from dpol.experts.games import play
from dpol.experts.registry import make_members
from dpol.noise.noisy_gains import NoisyGains, privatize
from dpol.privacy.settings import keeps_level
from dpol.studies.comparison.standings import OUR_METHOD, THE_LEVEL, guaranteed, is_system
from dpol.studies.robustness.settings import Robustness


def local_systems(settings: Robustness, stream: GainStream, mu: float) -> pd.DataFrame:
    """Return a row for each system that sees noisy gains and guarantees the level, in any stay.

    The `role` tells our method.
    """
    rows = []
    for noise, entries in chain(*(suite.by_noise.items() for suite in settings.suites.values())):
        local = [it for it in chain(*map(make_members, entries)) if it.algorithm.model == "local"]
        if not local:  # nothing can be made with the noise of algorithms without privacy
            continue
        made = privatize(stream, noise, mu, seed=1, replicates=1).guarantee
        if keeps_level(made.mu, mu):
            facts = {"noise": noise, "mu": mu, "sees": "noisy", **made.stay_columns()}
            for it in local:
                rows.append({"algorithm": it.label, "family": it.family, **facts, "member": it})
    found = pd.DataFrame(rows).assign(guarantee=guaranteed)
    found["role"] = np.where(is_system(found, settings.system), OUR_METHOD, "")
    return found[found["guarantee"] == THE_LEVEL]


def gained_by(
    systems: pd.DataFrame, games: Mapping[str, NoisyGains], gains: Floats
) -> tuple[Floats, Floats]:
    """Return how much more than a random choice systems gain, (systems, R), and could gain, (R,).

    Args:
        systems: rows of `local_systems`.
        games: what they see, by noise.
        gains: (R, T, n) raw gains, of each run its own.
    """
    uniform, best = gains.mean(axis=2).sum(axis=1), gains.max(axis=2).sum(axis=1)
    gained = []
    for noise, member in systems[["noise", "member"]].itertuples(index=False):
        actions = play(member.algorithm, games[noise], label=member.label).actions
        own = np.take_along_axis(gains, actions[:, :, None], axis=2)[:, :, 0].sum(axis=1)
        gained.append(own - uniform)
    return np.stack(gained), np.asarray(best - uniform)
