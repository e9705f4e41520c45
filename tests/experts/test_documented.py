"""The manual of configs describes every algorithm, and marks those that are ours."""

from __future__ import annotations

import re

import pytest
from manual import algorithms

from dpol.experts.registry import REGISTRY, make_members

OF_ALGORITHMS, _ = algorithms().split("\nLearners, with the parameters above:\n")


def row(name):
    (line,) = [line for line in OF_ALGORITHMS.splitlines() if re.match(f"`{name}`( †)? \\|", line)]
    name, about, model, *parameters = line.split(" | ")
    return name, about, model, "".join(parameters)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_algorithm_is_described(name):
    label, about, model, parameters = row(name)
    members = make_members(name)
    assert len(about) > 20
    assert ("†" in label) == (members[0].algorithm.origin == "ours")
    assert model.startswith(
        {"none": "no privacy"}.get(members[0].algorithm.model, members[0].algorithm.model)
    )
    assert ("isotropic-constant" in model) == members[0].algorithm.constant_noise
    if like := re.search(r"Like `([^`]+)`\.", about):
        parameters += row(like[1])[3]
    for parameter in REGISTRY[name].parameters(name):
        assert re.search(rf"`{parameter}`( \([^)]*\))?: [\w`]", parameters), (
            f"{name}: say what {parameter} is, under Args: in the docstring of its class"
        )
