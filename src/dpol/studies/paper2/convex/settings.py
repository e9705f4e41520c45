"""Settings of the study of L2P for convex losses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpol.core.settings import Settings, Several
from dpol.studies.paper2.lazy.settings import Epsilons

GameName = Literal[
    "linear-ball",
    "linear-box",
    "linear-simplex",
    "absolute-ball",
    "absolute-box",
    "absolute-simplex",
    "logistic-ball",
    "logistic-box",
    "logistic-simplex",
]
"""Games: a kind of losses and a convex body of points."""
LINEAR: GameName = "linear-ball"
"""The hard case of the theorem."""
COUPLED = "ctrl"
"""L2P's predecessor; it plays smooth losses on a ball or a box."""
ONE_POINT = "lazy-regularised-weights"
"""L2P's immediate predecessor: its measure, and one point."""


class Convex(Settings):
    """Regret of L2P for convex losses on a body, and of its rivals."""

    n_rounds: Several[Annotated[int, Field(ge=2, le=1_000_000)]]
    """Numbers of rounds T."""
    dimensions: Several[Annotated[int, Field(ge=1, le=10_000)]]
    """Dimensions d."""
    epsilons: Epsilons
    """Privacy epsilon for a change of one round's loss."""
    games: Several[GameName] = [LINEAR]
    """Losses and body of each game; `linear-ball` is the hard case."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """Privacy delta."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""

    @model_validator(mode="after")
    def _simplex_has_two_corners(self) -> Convex:
        if 1 in self.dimensions and any(game.endswith("simplex") for game in self.games):
            raise ValueError("a simplex needs at least 2 dimensions; leave 1 out of dimensions")
        return self
