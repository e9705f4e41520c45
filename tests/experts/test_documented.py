"""The manual of configs describes every algorithm and its parameters."""

from __future__ import annotations

import re

import pytest
from manual import algorithms

from dpol.experts.registry import REGISTRY

OF_ALGORITHMS, _ = algorithms().split("\nLearners, with the parameters above:\n")


def row(name):
    (line,) = [line for line in OF_ALGORITHMS.splitlines() if re.match(f"`{name}`( †)? \\|", line)]
    _, about, _, *parameters = line.split(" | ")
    return about, "".join(parameters)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_algorithm_is_described(name):
    about, parameters = row(name)
    assert len(about) > 20
    if like := re.search(r"Like `([^`]+)`\.", about):
        parameters += row(like[1])[1]
    for parameter in REGISTRY[name].parameters(name):
        assert re.search(rf"`{parameter}`( \([^)]*\))?: [\w`]", parameters), (
            f"{name}: say what {parameter} is, under Args: in the docstring of its class"
        )
