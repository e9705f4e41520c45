"""Records of privacy guarantees, made where the noise is made."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from dpol.core.arguments import check_number
from dpol.privacy.stays import STAYS

Model = Literal["local", "central", "none"]
"""Trust model, by who sees raw data: nobody, a curator, or everybody."""
Origin = Literal["paper", "standard", "ours", "other"]
"""Origin of a method: a paper of the project, a textbook, us, or another package."""


MU_OF_STAYS = tuple(f"mu_{v}_week{'s' * (v > 1)}" for v in STAYS)
"""Columns with the mu of a person counted in 1, 2, 4, 8 weeks (`STAYS`)."""


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """A privacy guarantee: its content, the people it protects, and its assumptions.

    Its `sampler` is the source of the noise: `seeded` (for experiments), or `none` without privacy.

    Args:
        mechanism: mechanism that adds the noise.
        adjacency: the two inputs that must be hard to tell apart.
        unit: the data that differ between them.
        sensitivity: how far the released quantity can move between them (largest round).
        sensitivity_unit: norm and quantity of `sensitivity`.
        mu: Gaussian-DP parameter that the noise achieves; 0 = nothing is revealed,
            inf = no guarantee.
        model: `local` (each site adds noise), `central` (a curator sees raw data), `none`.
        epsilon_delta: a guarantee that is not Gaussian DP, or None; with it, mu is not a number.
        taken_as_public: quantity computed from private data that the guarantee does not cover;
            empty if there is none.
        stays: upper bounds on the mu of a person counted in 1, 2, 4, 8 rounds (`STAYS`), in a row
            or not; None where no people are counted, and for guarantees that are not Gaussian DP.
        carried: if a missing count repeats the last one, the number of further rounds that may
            count a person of the unit, and an upper bound on this person's mu.
        memory: dependence of the noise on earlier noise; empty for independent noise.

    Raises:
        ValueError: a number is negative or NaN, apart from mu with `epsilon_delta`, delta is not
            below 1, or `stays` has other than four numbers.

    >>> one_week = Guarantee(
    ...     mechanism="Gaussian noise on counts",
    ...     adjacency=ONE_PERSON,
    ...     unit=UNIT,
    ...     sensitivity=1.0,
    ...     sensitivity_unit="persons",
    ...     mu=0.5,
    ...     model="local",
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
    sampler: Literal["seeded", "none"] = field(init=False)
    epsilon_delta: tuple[float, float] | None = None
    taken_as_public: str = ""
    stays: tuple[float, ...] | None = None
    carried: tuple[int, float] | None = None
    memory: str = ""

    def __post_init__(self) -> None:
        for name in ("mu", "sensitivity")[self.epsilon_delta is not None :]:
            object.__setattr__(self, name, check_number(name, getattr(self, name), "[0, inf]"))
        object.__setattr__(self, "sampler", "none" if self.model == "none" else "seeded")
        if self.stays and len(self.stays) != len(STAYS):
            raise ValueError(f"stays must have {len(STAYS)} numbers, got {len(self.stays)}")
        epsilon, delta = self.epsilon_delta or (0.0, 0.0)
        check_number("epsilon", epsilon, "[0, inf]")
        check_number("delta", delta, "[0, 1)")
        for number in (*(self.stays or ()), *(self.carried or ())):
            check_number("each of stays and carried", number, "[0, inf]")

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at `delta` that the guarantee implies; inf if it implies none.

        Raises:
            ValueError: delta is not in (0, 1).
        """
        return implied_epsilon(delta, self.mu, self.epsilon_delta)

    def as_columns(self) -> dict[str, Any]:
        """Return the record as columns of a table of results."""
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
        """Return columns of the mu of longer stays and of carried counts, and of the memory."""
        stays = self.stays or (math.nan,) * len(STAYS)
        weeks, mu = self.carried or (math.nan, math.nan)
        columns = dict(zip(MU_OF_STAYS, stays, strict=True))
        carried = {"carried_weeks": float(weeks), "mu_carried": mu}
        return {**columns, **carried, "noise_memory": self.memory}

    def as_row(self) -> dict[str, Any]:
        """Return the whole record as columns; missing fields are NaN."""
        epsilon, delta = self.epsilon_delta or (math.nan, math.nan)
        columns = {**self.as_columns(), **self.stay_columns()}
        return {**columns, "guaranteed_epsilon": epsilon, "guaranteed_delta": delta}

    def as_dict(self) -> dict[str, Any]:
        """Return plain values to store with a result, without empty stays, carry and memory."""
        facts = dataclasses.asdict(self)
        for name in ("stays", "carried", "memory"):  # records without them key the draws of audits
            if not facts[name]:
                del facts[name]
        return {key: list(v) if isinstance(v, tuple) else v for key, v in facts.items()}


def implied_epsilon(delta: float, mu: float, epsilon_delta: tuple[float, float] | None) -> float:
    """Return the epsilon at `delta` that a guarantee implies; inf if it implies none.

    Args:
        delta: the delta.
        mu: its Gaussian-DP parameter; not used with `epsilon_delta`.
        epsilon_delta: a guarantee that is not Gaussian DP, or None.

    Raises:
        ValueError: delta is not in (0, 1).
    """
    check_number("delta", delta, "(0, 1)")
    if epsilon_delta is None:
        from dpol.privacy.gaussian_dp import epsilon_of_delta

        return epsilon_of_delta(delta, mu)
    epsilon, least_delta = epsilon_delta
    return epsilon if delta >= least_delta else math.inf


def in_words(text: str, count_sensitivity: float, counted: str) -> str:
    """Return a text on one person, for a person who may change a count by more than 1.

    >>> in_words(UNIT, 1, "loans"), in_words(UNIT, 20, "loans")
    ('one person in one round', 'one person who changes a count of loans by up to 20 in one round')
    """
    if count_sensitivity <= 1:
        return text
    of = f"a count of {counted}" if counted else "a count"
    return text.replace(
        "one person", f"one person who changes {of} by up to {count_sensitivity:g}", 1
    )


ONE_PERSON = "two streams that differ in one person in one round, counted elsewhere or nowhere"
"""Adjacency where people are counted."""
UNIT = "one person in one round"
"""Unit of `ONE_PERSON`."""
STAY = (
    "two streams that differ in one person, counted elsewhere or nowhere in any of {} rounds in a"
    " row"
)
"""Adjacency where people stay for several rounds."""
STAY_UNIT = "one person in at most {} rounds in a row"
"""Unit of `STAY`."""
AT_ONE_PLACE = ", and at no more than one place in each stream"
"""Added to `STAY` where each place adapts the cost of a round to its own data."""
WHOLE_LOSSES = "two loss sequences that differ in one round"
"""Adjacency where all losses of one round may change."""
GIVEN_CHANGE = (
    "two streams that differ in the gains of one round, by at most the L2 sensitivity given for it"
)
"""Adjacency where the sensitivity of a round is given."""
ONE_ROUND = "one round"
"""Unit where whole rounds change."""

NO_PRIVACY = Guarantee(
    mechanism="none",
    adjacency=ONE_PERSON,
    unit=UNIT,
    sensitivity=0.0,
    sensitivity_unit="none",
    mu=float("inf"),
    model="none",
    stays=(math.inf,) * len(STAYS),
)
"""Record of an algorithm without privacy."""
NO_NOISE = "none"
"""Name of the noise of such an algorithm."""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """The inputs that a guarantee makes hard to tell apart, and the rounds that count a person.

    Args:
        adjacency: as in `Guarantee`.
        unit: as in `Guarantee`.
        taken_as_public: as in `Guarantee`.
        stay: longest stay of one person of the unit, in rounds in a row; None where no people are
            counted.
        max_carry: number of further rounds, because a missing count repeats the last one.
    """

    adjacency: str = ONE_PERSON
    unit: str = UNIT
    taken_as_public: str = ""
    stay: int | None = 1
    max_carry: int = 0

    def as_fields(self, mu_of: Callable[[int], float] | None = None) -> dict[str, Any]:
        """Return fields of a `Guarantee` by name.

        Args:
            mu_of: maps a number of rounds, in a row or not, to the mu of a person counted in them;
                None for a guarantee that is not Gaussian DP.
        """
        fields: dict[str, Any] = dataclasses.asdict(self)
        stay, carry = fields.pop("stay"), fields.pop("max_carry")
        if mu_of is None or stay is None:
            return fields
        carried = (carry, mu_of(stay + carry)) if carry else None
        return fields | {"stays": tuple(map(mu_of, STAYS)), "carried": carried}


PERSONS = Neighbours()
"""Neighbours where people are counted."""
