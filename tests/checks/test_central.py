"""Audits of the actions of every central algorithm of the registry."""

from __future__ import annotations

import pytest

from dpol.checks.algorithms import actions_do_not_refute_the_record
from dpol.experts.interface import Member
from dpol.experts.registry import REGISTRY, make_members

MEMBERS = [member for name in REGISTRY for member in make_members(name)]
CENTRAL = [member for member in MEMBERS if member.algorithm.model == "central"]


@pytest.mark.parametrize("member", CENTRAL, ids=lambda member: member.label)
def test_its_actions_do_not_refute_its_guarantee(member: Member) -> None:
    found = actions_do_not_refute_the_record(member)
    # The choices of L2P show little; the ledger has its exact losses.
    little = "cannot tell, because its actions show too little (pr"
    assert found.startswith(little if member.label == "l2p" else "holds, proves mu >= ")
