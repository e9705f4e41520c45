"""Audits of the actions of every central algorithm of the registry, and the settings of audits."""

from __future__ import annotations

import dataclasses
import math

import pytest

from dpol.checks.algorithms import actions_do_not_refute_the_record
from dpol.checks.audits import long_settings
from dpol.experts.interface import Member
from dpol.experts.registry import REGISTRY, make_members
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


MEMBERS = [member for name in REGISTRY for member in make_members(name)]
CENTRAL = [member for member in MEMBERS if member.algorithm.model == "central"]


@pytest.mark.parametrize("member", CENTRAL, ids=lambda member: member.label)
def test_its_actions_do_not_refute_its_guarantee(member: Member) -> None:
    found = actions_do_not_refute_the_record(member)
    # The choices of L2P show little; the ledger has its exact losses.
    little = "cannot tell, because its actions show too little (pr"
    assert found.startswith(little if member.label == "l2p" else "holds, proves mu >= ")
