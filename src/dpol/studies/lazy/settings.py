"""Settings of the study of L2P for experts."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, PositiveInt

from dpol.core.settings import Settings, all_different
from dpol.lazy.accounting import Accountant

STOCHASTIC, LOWER_BOUND = "stochastic", "lower-bound"
ADVERSARIES = (STOCHASTIC, LOWER_BOUND)
"""Names of the adversaries that make the losses."""
PRESET, ONE_ROUND, WEIGHTS = "l2p-theorem-3.10", "l2p-one-round", "multiplicative-weights"
TREE, MATRIX = "tree-ftpl-min-noise", "mf-ftpl"
BLOCKS = "private-blocks"
ONLY_STOCHASTIC = (BLOCKS,)
"""Algorithms that promise nothing on losses of an adversary, and are not played there."""
LEADERS = (TREE, MATRIX)
"""Algorithms that hold noise for every expert and round: long games leave them out."""


class Lazy(Settings):
    """Regret of L2P for experts on synthetic losses, compared with its competitors."""

    n_rounds: Annotated[
        list[Annotated[int, Field(ge=2, le=10_000_000)]],
        Field(min_length=1),
        AfterValidator(all_different),
    ]
    """Numbers of rounds T."""
    n_experts: Annotated[
        list[Annotated[int, Field(ge=2, le=100_000)]],
        Field(min_length=1),
        AfterValidator(all_different),
    ]
    """Numbers of experts d."""
    epsilons: Annotated[
        list[Annotated[float, Field(gt=0, le=100)]],
        Field(min_length=1),
        AfterValidator(all_different),
    ]
    """Privacy of a change of one round's whole loss vector."""
    delta: Annotated[float, Field(gt=0, lt=1)] = 1e-6
    """delta of the guarantee."""
    gap: Annotated[float, Field(gt=0, le=0.5)] = 0.1
    """Advantage of the best expert in the stochastic losses."""
    accountants: Annotated[list[Accountant], Field(min_length=1), AfterValidator(all_different)] = [
        "sound",
        "published",
    ]
    """Accountants by which the parameters of L2P are chosen."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""
    largest_tree: PositiveInt = 3_000_000
    """Largest T times d at which leaders of noisy prefix sums are run for comparison."""


def algorithms_of(settings: Lazy) -> tuple[str, ...]:
    """Names in the order of the rows; those that long games leave out are the last."""
    lazy = (f"l2p-{name}" for name in settings.accountants)
    return (*lazy, ONE_ROUND, PRESET, WEIGHTS, BLOCKS, *LEADERS)
