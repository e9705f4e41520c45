"""The suites of dpol: whole, told once, and named by configs."""

import re

import pytest

from dpol.config.experiment import parse_experiment
from dpol.core.errors import ConfigError
from dpol.experts.registry import REGISTRY, make_members
from dpol.experts.suites import SUITES, by_label
from dpol.noise import ISOTROPIC, NO_NOISE, NOISES
from dpol.studies.games.settings import Suite
from small_config import SMALL

MODELS = {"local": "local", "central": "central", "non-private": "none"}


def played(label):
    """Names and noises of the entries of a suite of dpol."""
    return [(noises, make_members(entry)) for noises, entry in Suite(**SUITES[label]).entries]


@pytest.mark.parametrize("label", MODELS)
def test_a_suite_has_every_algorithm_of_its_model(label):
    model = MODELS[label]
    of_model = {it for it in REGISTRY if make_members(it)[0].algorithm.model == model}
    families = {members[0].family for _, members in played(label)}
    assert families == of_model


def test_every_noise_that_an_experiment_needs_is_played_by_a_local_system():
    """`isotropic-worst-case` is for single comparisons."""
    noises = {noise for own, _ in played("local") for noise in own}
    assert {*NOISES} - noises == {"isotropic-worst-case"}


def test_what_a_suite_shows_is_played():
    for label, suite in SUITES.items():
        labels = {member.label for _, members in played(label) for member in members}
        assert {*suite["shown"]} <= labels


def test_no_parameter_is_without_a_choice():
    for name, entry in REGISTRY.items():
        assert bool(entry.chosen_on) == bool(entry.parameters(name)), name
        dated = bool(re.search(r" \(\d{4}-\d\d-\d\d\)$", entry.chosen_on))
        assert dated == entry.on_data >= bool(entry.seen), name


def test_names_and_blocks_may_stand_beside_each_other():
    mine = {"algorithms": ["rw-ftpl"]}
    assert by_label(["local", "central"]) == by_label({"local": None, "central": None})
    assert by_label({"local": None, "mine": mine}) == {"local": SUITES["local"], "mine": mine}
    own = {"algorithms": ["persistence"]}
    assert by_label({"local": own}) == {"local": own}, "a suite of one's own with this label"
    with pytest.raises(ConfigError, match=r"dpol has no suite locl; did you mean local\?"):
        parse_experiment({**SMALL, "suites": ["locl"]}, "here")


CONSTANT = "isotropic-constant"


def test_an_entry_plays_with_its_own_noises():
    suite = Suite(
        noises=["isotropic", "capacity"],
        algorithms=["rw-ftpl", {"algorithm": "persistence", "noises": ["capacity", CONSTANT]}],
    )
    last = {"algorithm": "persistence"}
    assert suite.by_noise == {
        "isotropic": ("rw-ftpl",),
        "capacity": ("rw-ftpl", last),
        CONSTANT: (last,),
    }
    assert [*Suite(algorithms=["follow-the-leader"]).by_noise] == [NO_NOISE]
    for noises in ([], ["louder"], [CONSTANT, CONSTANT], CONSTANT):
        entry = {"algorithm": "persistence", "noises": noises}
        with pytest.raises(ValueError, match="noise|twice"):
            Suite(algorithms=[entry])
    unfit = {"algorithm": "l2p", "noises": ["capacity"]}
    with pytest.raises(ConfigError, match=rf"must be \[{ISOTROPIC.name}\] because l2p has its own"):
        parse_experiment({**SMALL, "suites": {"raw": {"algorithms": [unfit]}}}, "here")
