"""Hand-made runs of the main study."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Loss
from dpol.studies.games.scores import Played


def runs(gains: ArrayLike, *, guaranteed: float = 0.4, best: float = 1.0, **about: Any) -> Played:
    """Return local runs with these gains of the actions, by replicate and round.

    `best` is the largest gain of every round.
    """
    made = np.asarray(gains, dtype=float)
    about = {"stream": "nm", "label": "a", "noise": "isotropic", "mu": 0.5} | about
    guarantee = dataclasses.replace(
        NO_PRIVACY,
        mechanism=f"{about['noise']} noise",
        loss=Loss(gaussian=guaranteed),
        model="local",
        sensitivity=0.5,
    )
    facts: dict[str, Any] = {"family": about["label"], "origin": "paper"} | about
    actions = made.astype(np.int32)
    facts |= {"replicates": range(len(made)), "best": np.full(made.shape[1], best)}
    return Played(guarantee=guarantee, actions=actions, gains=made, **facts)
