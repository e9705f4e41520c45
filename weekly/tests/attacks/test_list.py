"""Attacks and faults, one by one, in list.yaml: each has the test that makes it, or a reason."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest
import yaml

TESTS = Path(__file__).parents[1]
LISTS = yaml.safe_load((TESTS / "attacks/list.yaml").read_text(encoding="utf-8"))
LETTERS = "46b", "46c", "56b", "59b", "59c", "66b", "67b", "92b"
REASONS = "documented", "later", "gone"


@cache
def names_in(file):
    """Names of the tests of a file."""
    folder, _, name = file.rpartition("/")
    tree = ast.parse((TESTS / folder / f"test_{name}.py").read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("attack", [(of, name) for of, names in LISTS.items() for name in names])
def test_every_attack_has_its_test_or_a_reason(attack):
    of, name = attack
    assert LISTS[of][name]
    for where in LISTS[of][name]:
        kind, _, reason = where.partition(": ")
        file, _, test = where.partition("::")
        assert (kind in REASONS and reason) or f"test_{test}" in names_in(file), where


def test_nothing_is_left_out():
    numbers = {of: [name.partition(" ")[0] for name in names] for of, names in LISTS.items()}
    wanted = {str(number) for number in range(1, 128) if not 82 <= number <= 89} | set(LETTERS)
    assert sorted(numbers["attacks"]) == sorted(wanted)
    assert set(numbers["campaigns"]) == {*"134567", "1b", "2a", "2b", "2c", "2d", "2e"}
    faults = numbers["faults"]
    assert len(faults) == len(set(faults))
    assert {fault.rstrip("abcdefgh") for fault in faults} == {f"R{n}" for n in range(1, 17)}
