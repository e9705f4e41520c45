"""Games played in a test, and their tables as the jobs of a run hand them on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from dpol.data.stream import GainStream
from dpol.experts.registry import make_members
from dpol.studies.games.collect import join_jobs
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import Played, score_tables


def suite(
    stream: GainStream,
    specs: Iterable[Any],
    *,
    noise: str = "isotropic",
    mu: float = 0.5,
    seed: int = 1,
    replicates: Sequence[int] = range(3),
) -> list[Played]:
    """Play algorithms, given as in a suite."""
    members = [member for spec in specs for member in make_members(spec)]
    return play_suite(stream, members, noise=noise, mu=mu, seed=seed, replicates=replicates)


def joined(suites: Iterable[Sequence[Played]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the scores and the cells of suites."""
    jobs = [*map(score_tables, suites)]
    return join_jobs(*([job[name] for job in jobs] for name in ("scores", "curves")))
