"""Conformance checks of banks of learners.

Each learner must also pass the checks of algorithms when it plays alone: pickling among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpol.checks import CheckError
from dpol.checks.algorithms import MU, REPLICATES, random_stream
from dpol.core.randomness import replicate_generators
from dpol.experts.games import bank_actions
from dpol.experts.interface import LearnerBank
from dpol.experts.learners.joined import LearnerAlone
from dpol.experts.play import play_rounds
from dpol.noise import privatize

Bank = LearnerBank[Any]


def learners_play_their_columns(bank: Bank) -> None:
    """Check that each learner alone plays its column of the bank."""
    noisy = privatize(random_stream(), "isotropic", MU, seed=1, replicates=REPLICATES)
    generators = replicate_generators(1, ("checks",), range(REPLICATES), "learner")
    played, shape = bank_actions(bank, noisy), (REPLICATES, noisy.n_rounds, len(bank.labels))
    if played.shape != shape:
        raise CheckError(
            f"its actions have the shape {played.shape}, not {shape}; return one for each label"
        )
    for place, label in enumerate(bank.labels):
        for alone in (LearnerAlone(bank, place), LearnerAlone(*bank.single(place))):
            if alone.label != label:
                raise CheckError(f"single({place}) has the label {alone.label}, not {label}")
            if (play_rounds(alone, noisy, generators) != played[..., place]).any():
                raise CheckError(
                    f"{label} plays a different game alone than in the bank; make single({place})"
                    f" and column {place} agree"
                )


CHECKS: Mapping[str, Callable[[Bank], None]] = {
    "learners play their columns": learners_play_their_columns,
}
"""Checks of banks, by printed title."""
