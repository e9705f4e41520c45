"""Records of privacy guarantees, made where the noise is made."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from dpol.core.arguments import check_fields, check_whole
from dpol.privacy.losses import NOTHING_KEPT, Loss
from dpol.privacy.stays import STAYS

Model = Literal["local", "central", "none"]
"""Trust model, by who sees raw data: nobody, a curator, or everybody."""
Origin = Literal["paper", "standard", "dpol", "other"]
"""Origin of a method: a paper of the project, a textbook, dpol, or another package."""


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
        loss: what a person of the unit loses at most.
        model: `local` (each site adds noise), `central` (a curator sees raw data), `none`.
        taken_as_public: quantity computed from private data that the guarantee does not cover;
            empty if there is none.
        stays: losses of a person counted in 1, 2, 4, 8 rounds (`STAYS`), in a row or not; None
            where no people are counted, or where nothing is proved about stays.
        in_rounds: maps any number of rounds to this loss, also of rounds with given sensitivities;
            it does not travel with the record.
        carried: if a missing count repeats the last one, the number of further rounds that may
            count a person of the unit, and this person's loss.
        memory: dependence of the noise on earlier noise; empty for independent noise.

    Raises:
        ValueError: a number is no number of its kind, or `stays` has other than four losses.

    >>> one_week = Guarantee(
    ...     mechanism="Gaussian noise on counts",
    ...     adjacency=ONE_PERSON,
    ...     unit=UNIT,
    ...     sensitivity=1.0,
    ...     sensitivity_unit="persons",
    ...     loss=Loss(gaussian=0.5),
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
    loss: Loss
    model: Model
    sampler: Literal["seeded", "none"] = field(init=False)
    taken_as_public: str = ""
    stays: tuple[Loss, ...] | None = None
    in_rounds: Callable[[int], Loss] | None = field(default=None, repr=False, compare=False)
    carried: tuple[int, Loss] | None = None
    memory: str = ""

    def __post_init__(self) -> None:
        check_fields(self, sensitivity="[0, inf)")
        object.__setattr__(self, "sampler", "none" if self.model == "none" else "seeded")
        if self.stays is not None and len(self.stays) != len(STAYS):
            raise ValueError(f"stays must have the losses of {STAYS} rounds, got {len(self.stays)}")
        if self.carried is not None:
            check_whole("the rounds of carried", self.carried[0])

    @property
    def mu(self) -> float:
        """Smallest Gaussian-DP parameter that is proved; inf if none is."""
        return self.loss.mu

    def epsilon(self, delta: float) -> float:
        """Return the epsilon at `delta` that the guarantee implies; inf if it implies none."""
        return self.loss.epsilon(delta)

    def of_rounds(self, rounds: int) -> Loss:
        """Return the loss of a person counted in a number of rounds, in a row or not.

        A record that was read knows `STAYS` only: more rounds count as the next of them, and those
        beyond the last one as several people.

        Raises:
            ValueError: rounds is below 1, or the record says nothing about several rounds; the text
                names the calls of `dpol.account` that bound them.
        """
        check_whole("rounds", rounds)
        if self.in_rounds is not None:
            return self.in_rounds(rounds)
        if self.stays is None:
            if rounds == 1:
                return self.loss
            raise ValueError(
                f"the record is of {self.unit}; nothing is proved about {rounds} rounds. Call"
                f" dpol.account({self.mu:g}, weeks={rounds}) if the noise is Gaussian and fresh in"
                f" each round, else dpol.account({rounds} * {self.mu:g}), an upper bound"
            )
        if rounds <= STAYS[-1]:
            return self.stays[bisect_left(STAYS, rounds)]
        return Loss(gaussian=math.ceil(rounds / STAYS[-1]) * self.stays[-1].mu)

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
        stays = [it.mu for it in self.stays or ()] or [math.nan] * len(STAYS)
        weeks, mu = (self.carried[0], self.carried[1].mu) if self.carried else (math.nan, math.nan)
        columns = dict(zip(MU_OF_STAYS, stays, strict=True))
        carried = {"carried_weeks": float(weeks), "mu_carried": mu}
        return {**columns, **carried, "memory": self.memory}

    def as_row(self) -> dict[str, Any]:
        """Return the whole record as columns; missing fields are NaN."""
        loss = {"numerical": self.loss.numerical, "loss": json.dumps(self.loss.as_data())}
        return {**self.as_columns(), **self.stay_columns(), **loss}


TIMES = "one person's μ is up to {:g} times as large"
"""How far the numbers that play are from what a record is about, in its `taken_as_public`."""


def times_of(taken_as_public: str) -> float:
    """Return how many times as large a mu is on the numbers that play, as a record tells it.

    >>> times_of(f"on these cleaned counts {TIMES.format(7 / 6)}"), times_of("")
    (1.16667, 1.0)
    """
    found = re.search(TIMES.replace("{:g}", r"([\d.e+]+)"), taken_as_public)
    return float(found[1]) if found else 1.0


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
    loss=NOTHING_KEPT,
    model="none",
    stays=(NOTHING_KEPT,) * len(STAYS),
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

    def as_fields(self, in_rounds: Callable[[int], Loss] | None = None) -> dict[str, Any]:
        """Return fields of a `Guarantee` by name.

        Args:
            in_rounds: as in `Guarantee`.
        """
        fields: dict[str, Any] = dataclasses.asdict(self)
        stay, carry = fields.pop("stay"), fields.pop("max_carry")
        if in_rounds is None or stay is None:
            return fields
        carried = (carry, in_rounds(stay + carry)) if carry else None
        stays = tuple(map(in_rounds, STAYS))
        return fields | {"in_rounds": in_rounds, "stays": stays, "carried": carried}


PERSONS = Neighbours()
"""Neighbours where people are counted."""
