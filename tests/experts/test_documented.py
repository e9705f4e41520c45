"""The manual of configs knows every algorithm, every learner and their parameters."""

from __future__ import annotations

import re

import pytest

from dpol.config.docs import algorithms, noises, with_manual
from dpol.experts.registry import LEARNERS, REGISTRY, make_members
from dpol.noise import NOISES

OF_ALGORITHMS, OF_LEARNERS = algorithms().split("\nLearners, with the parameters above:\n")


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
    if like := re.match("Like `([^`]+)`", about):
        parameters += row(like[1])[3]
    for parameter in REGISTRY[name].parameters(name):
        assert re.search(rf"`{parameter}`( \([^)]*\))?: [\w`]", parameters), (
            f"{name}: say what {parameter} is, under Args: in the docstring of its class"
        )


def test_a_row_like_another_says_what_differs():
    assert row("fixed-share")[3] == "`share` (0.02)"
    assert row("rw-meta-floor-0")[3] == "`exploration_floor` (fixed)"


def test_no_two_algorithms_are_described_alike():
    abouts = [row(name)[1] for name in REGISTRY]
    assert len(set(abouts)) == len(abouts)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_are_named_with_the_parameters_of_their_algorithm(name):
    assert f"`{name}`" in OF_LEARNERS
    assert LEARNERS[name].parameters(name).keys() == REGISTRY[name].parameters(name).keys()


def test_every_noise_is_described():
    rows = {line.split(" | ")[0]: line.split(" | ")[1:] for line in noises().splitlines()[2:]}
    assert list(rows) == [f"`{name}`" for name in NOISES]
    assert rows["`capacity`"][1] == "ours"
    assert rows["`isotropic`"][1] == "the paper"


def test_a_page_without_the_markers_is_refused():
    with pytest.raises(ValueError, match="the page lacks the lines '<!-- algorithms: generated"):
        with_manual("nothing")
    with pytest.raises(ValueError, match="algorithms"):
        with_manual("<!-- end of algorithms -->")
