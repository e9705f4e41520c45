"""Settings of the games on released numbers."""

from __future__ import annotations

from collections.abc import Iterator

from dpol.core.imports import load
from dpol.core.settings import AlgorithmSpec, Problem, Settings

_REGISTRY = "dpol.experts.registry"  # as text: planning imports no mathematics


class ReleasedGames(Settings):
    """Algorithms that decide from released numbers, each by itself."""

    algorithms: list[AlgorithmSpec] = ["empirical-bayes", "random-effects", "rw-ftpl"]
    """Algorithms that play in addition to the deployment's own, which always plays: local
    algorithms as in a suite. One that is the deployment's is played once."""

    def problems(self, source: str) -> Iterator[Problem]:
        """The numbers were not released, or an algorithm cannot play them."""
        if source != "released":
            allowed = f"must not be given because dataset.source.kind is {source}, not released"
            yield Problem((), "a block", allowed)
        for index, spec in enumerate(self.algorithms):
            try:
                members = load(f"{_REGISTRY}:make_members")(spec)
                wrong = load("dpol.live.game:unfit")(members[0].algorithm, memory=False)
                if len(members) > 1:
                    wrong = f"must be one algorithm; {members[0].family} is {len(members)}"
            except ValueError as error:
                wrong = str(error)
            if wrong:
                yield Problem(("algorithms", index), spec, wrong)

    def watched(self) -> tuple[AlgorithmSpec, ...]:
        """All algorithms: the deployment's is not known before it is read."""
        return (*load(f"{_REGISTRY}:REGISTRY"), *self.algorithms)
