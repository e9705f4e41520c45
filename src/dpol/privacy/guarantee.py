"""The record of a privacy guarantee, made where the noise is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpol.privacy.stays import STAYS

Model = Literal["local", "central", "none"]
"""People who see raw data: nobody, a curator, or everybody."""
Origin = Literal["paper", "standard", "ours", "other"]
"""Origin of a method: a paper of the project, a textbook, us, or another package."""


MU_OF_STAYS = tuple(f"mu_{v}_week{'s' * (v > 1)}" for v in STAYS)
"""Columns with the mu of a person who is counted in so many weeks: `STAYS`."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A privacy guarantee: its content, the people it protects, and its assumptions.

    Args:
        mechanism: what adds the noise.
        adjacency: which two inputs must be hard to tell apart.
        unit: whose data differ between them.
        sensitivity: how far the released quantity can move between them (largest round).
        sensitivity_unit: norm and quantity of `sensitivity`.
        mu: Gaussian-DP parameter that the noise achieves; 0 = nothing is revealed,
            inf = no guarantee.
        model: `local` (each site adds noise), `central` (a curator sees raw data), `none`.
        sampler: where the noise came from: `seeded` (experiments) or `secure` (releases).
        epsilon_delta: a guarantee of another kind than Gaussian DP, if there is one; mu is
            not a number then.
        taken_as_public: what was computed from private data and is not covered; empty if
            nothing was.
        stays: mu of a person counted in 1, 2, 4, 8 rounds (`STAYS`), in a row or not, at most;
            None where no people are counted, and for guarantees of another kind.
        carried: for data in which a missing count repeats the last one: in how many further rounds
            a person of the unit may be counted thereby, and the mu of that person, at most.
        memory: how noise depends on earlier noise; empty for independent noise.

    Raises:
        ValueError: mu is negative, or not a number without `epsilon_delta`.

    >>> one_week = Guarantee(
    ...     mechanism="Gaussian noise on counts",
    ...     adjacency=ONE_PERSON,
    ...     unit=UNIT,
    ...     sensitivity=1.0,
    ...     sensitivity_unit="persons",
    ...     mu=0.5,
    ...     model="local",
    ...     sampler="seeded",
    ... )
    >>> round(one_week.epsilon(1e-6), 3)
    2.254
    """

    mechanism: str
    adjacency: str
    unit: str
    sensitivity: float
    sensitivity_unit: str
    mu: float
    model: Model
    sampler: Literal["seeded", "secure", "none"]
    epsilon_delta: tuple[float, float] | None = None
    taken_as_public: str = ""
    stays: tuple[float, ...] | None = None
    carried: tuple[int, float] | None = None
    memory: str = ""

    def __post_init__(self) -> None:
        for name in ("epsilon_delta", "stays", "carried"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.epsilon_delta is None and not self.mu >= 0:
            raise ValueError(f"mu must not be negative, got {self.mu}")

    def epsilon(self, delta: float) -> float:
        """The epsilon at `delta` that the guarantee implies; inf if none.

        Raises:
            ValueError: delta is not in (0, 1).
        """
        if self.epsilon_delta is None:
            from dpol.privacy.gaussian_dp import epsilon_of_delta

            return epsilon_of_delta(delta, self.mu)
        epsilon, own_delta = self.epsilon_delta
        return epsilon if delta >= own_delta else float("inf")

    def as_columns(self) -> dict[str, Any]:
        """The record as columns of a table of results."""
        return {
            "model": self.model,
            "mechanism": self.mechanism,
            "adjacency": self.adjacency,
            "unit": self.unit,
            "sensitivity": self.sensitivity,
            "sensitivity_unit": self.sensitivity_unit,
            "sampler": self.sampler,
            "guaranteed_mu": self.mu,
            "taken_as_public": self.taken_as_public,
        }

    def stay_columns(self) -> dict[str, float | str]:
        """Columns of the cost of longer stays and of carrying forward, and of the memory."""
        stays = self.stays or (math.nan,) * len(STAYS)
        weeks, mu = self.carried or (math.nan, math.nan)
        columns = dict(zip(MU_OF_STAYS, stays, strict=True))
        carried = {"carried_weeks": float(weeks), "mu_carried": mu}
        return {**columns, **carried, "noise_memory": self.memory}

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for storing with a result; without stays and memory if there are none."""
        facts = dataclasses.asdict(self)
        for name in ("stays", "carried", "memory"):  # audits draw by records that have none of them
            if not facts[name]:
                del facts[name]
        return {key: list(it) if isinstance(it, tuple) else it for key, it in facts.items()}


def in_words(text: str, count_sensitivity: float, counted: str) -> str:
    """A text on one person, who may be counted several times in one round.

    >>> in_words(UNIT, 1, "loans"), in_words(UNIT, 20, "loans")
    ('one person in one round', 'one person with up to 20 loans in one round')
    """
    if count_sensitivity <= 1:
        return text
    return text.replace("one person", f"one person with up to {count_sensitivity:g} {counted}", 1)


ONE_PERSON = "two streams that differ in one person in one round, counted elsewhere or nowhere"
"""Adjacency where people are counted."""
UNIT = "one person in one round"
"""The unit of `ONE_PERSON`."""
STAY = (
    "two streams that differ in one person, counted elsewhere or nowhere in any of {} rounds in a"
    " row"
)
"""Adjacency where people stay for several rounds."""
STAY_UNIT = "one person in at most {} rounds in a row"
"""The unit of `STAY`."""
WHOLE_LOSSES = "two loss sequences that differ in one round"
"""Adjacency where all losses of a round may change."""
GIVEN_CHANGE = (
    "two streams that differ in the gains of one round, by at most the L2 sensitivity given for it"
)
"""Adjacency where the sensitivity is given."""
ONE_ROUND = "one round"
"""The unit where whole rounds change."""

NO_PRIVACY = Guarantee(
    mechanism="none",
    adjacency=ONE_PERSON,
    unit=UNIT,
    sensitivity=0.0,
    sensitivity_unit="none",
    mu=float("inf"),
    model="none",
    sampler="none",
    stays=(math.inf,) * len(STAYS),
)
"""The record of what has no privacy."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The inputs between which a guarantee holds, and the rounds in which a person is counted.

    Args:
        adjacency: as in `Guarantee`.
        unit: likewise.
        taken_as_public: likewise.
        stay: in how many rounds in a row one person of the unit may be counted; None where no
            people are.
        max_carry: in how many further rounds, because a missing count repeats the last one.
    """

    adjacency: str = ONE_PERSON
    unit: str = UNIT
    taken_as_public: str = ""
    stay: int | None = 1
    max_carry: int = 0

    def as_fields(self, mu_of: Callable[[int], float] | None = None) -> dict[str, Any]:
        """Fields of a `Guarantee` by name.

        Args:
            mu_of: the mu of a person counted in so many rounds, in a row or not; None where the
                guarantee is of another kind.
        """
        fields: dict[str, Any] = dataclasses.asdict(self)
        stay, carry = fields.pop("stay"), fields.pop("max_carry")
        if mu_of is None or stay is None:
            return fields
        carried = (carry, mu_of(stay + carry)) if carry else None
        return fields | {"stays": tuple(map(mu_of, STAYS)), "carried": carried}


PERSONS = Neighbours()
"""Neighbours where people are counted."""
