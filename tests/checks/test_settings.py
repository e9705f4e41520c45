"""The settings in which audits play."""

from __future__ import annotations

import dataclasses
import math

import pytest

from dpol.checks.audits import long_settings
from dpol.privacy.guarantee import AT_ONE_PLACE, NO_PRIVACY
from dpol.privacy.losses import Loss

FIRST = next(long_settings(stays=False))
RECORD = dataclasses.replace(
    NO_PRIVACY,
    loss=Loss(gaussian=3.5),
    stays=tuple(Loss(gaussian=mu) for mu in (3.0, 4.0, 5.0, 6.0)),
    carried=(2, Loss(gaussian=4.5)),
)
AT_ONE = dataclasses.replace(RECORD, adjacency=RECORD.adjacency + AT_ONE_PLACE)


@pytest.mark.parametrize(
    ("rounds", "claim", "if_moving"),
    [
        ((4,), 3.0, 3.0),
        ((1, 2, 3), 3.5, 4.5),
        ((1, 3, 4), 4.5, 4.5),
        ((0, 1, 2, 3, 4, 6), 6.0, 6.0),
        (range(9), math.inf, math.inf),
    ],
)
def test_the_claim_for_a_person_is_the_smallest_that_covers_the_rounds(rounds, claim, if_moving):
    """A stay of 3; carried counts add 2 rounds, and a record may be for persons at one place."""
    person = dataclasses.replace(
        FIRST, stream=dataclasses.replace(FIRST.stream, stay=3), rounds=tuple(rounds)
    )
    moving = dataclasses.replace(person, moves=True)
    assert [person.claim(each) for each in (RECORD, AT_ONE)] == [claim, claim]
    assert [moving.claim(each) for each in (RECORD, AT_ONE)] == [claim, if_moving]
