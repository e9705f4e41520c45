"""Hand-made runs of the main study."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from dpol.privacy.guarantee import NO_PRIVACY
from dpol.studies.games.scores import Played


def played(label: str, noise: str, mu: float, totals: Sequence[float]) -> Played:
    """Return local runs of two rounds with these total gains, on the stream nm."""
    gains = np.outer(totals, [0.25, 0.75])
    return Played(
        stream="nm",
        noise=noise,
        mu=mu,
        label=label,
        family=label,
        origin="paper",
        guarantee=dataclasses.replace(
            NO_PRIVACY,
            mechanism=f"{noise} noise",
            mu=mu,
            model="local",
            sensitivity=0.5,
            sampler="seeded",
        ),
        actions=np.zeros(gains.shape, dtype=np.int32),
        gains=gains,
    )
