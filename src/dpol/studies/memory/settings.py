"""Settings of the study of noise with memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from dpol.core.imports import load
from dpol.core.settings import AlgorithmSpec, Problem, Settings, all_different
from dpol.experts.interface import Member, can_read
from dpol.noise import CAPACITY, MEMORY
from dpol.privacy.settings import FiniteMu

INDEPENDENT, REMEMBERED = CAPACITY.name, MEMORY.name
"""The two noises that are compared; the memory is the designed one."""
_REGISTRY = "dpol.experts.registry"  # as text: jobs watch the algorithm, not all algorithms


class NoiseMemories(Settings):
    """Gain with designed memory compared with independent noise, for units of several weeks."""

    weeks: Annotated[
        list[Annotated[int, Field(ge=1, le=520)]],
        Field(min_length=1, max_length=6),
        AfterValidator(all_different),
    ] = [1, 2, 4, 8]
    """Units of privacy: a person in at most so many weeks in a row. Both noises protect each."""
    mus: Annotated[list[FiniteMu], Field(min_length=1), AfterValidator(all_different)]
    """Gaussian-DP parameters mu of such a person."""
    times: Annotated[float, Field(gt=1, le=10)] = 1.3
    """An aim: as good as independent noise at so many times the mu. The other aim: at every mu,
    not worse than independent noise for any unit."""
    algorithm: AlgorithmSpec = "empirical-bayes"
    """One algorithm, as in a suite, that knows noise with memory."""
    replicates: Annotated[int, Field(ge=2, le=1000)] = 100
    """Runs of every setting."""

    def problems(self, source: str) -> Iterator[Problem]:
        """The algorithm cannot be played with memory, or gains have no capacities."""
        if source == "gains":
            allowed = "must not be given because dataset.source.kind is gains: no capacities"
            yield Problem((), "a block", allowed)
        try:
            member_of(self.algorithm)
        except ValueError as error:
            yield Problem(("algorithm",), self.algorithm, str(error))


def member_of(spec: AlgorithmSpec) -> Member:
    """The algorithm that a spec stands for.

    Raises:
        ValueError: it is unknown, stands for several, or takes noise as independent.
    """
    members: tuple[Member, ...] = load(f"{_REGISTRY}:make_members")(spec)
    member, *others = members
    if others:
        raise ValueError(f"must be one algorithm; {member.family} is one for each learner")
    if member.algorithm.model != "local":
        raise ValueError("must be a local algorithm, which plays noisy gains")
    if not can_read(member.algorithm.reads_noise, MEMORY.memory):
        raise ValueError("must know noise with memory; it takes noise as independent over weeks")
    return member
