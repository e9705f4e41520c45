"""What must hold for every registered bank of learners; new ones are covered by their line."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.exponential_weights import ExponentialWeights
from dpol.experts.interface import check_bank
from dpol.experts.learners import LEARNERS
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta
from dpol.experts.play import observations, play, setup_of
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import privatize
from dpol.noise.noisy_gains import NOISES
from steps import pure_step

BANKS = {name: make() for name, make in LEARNERS.items()}
every_bank = pytest.mark.parametrize("name", BANKS)
ROUNDS, EXPERTS, REPLICATES = 14, 4, 5


@pytest.fixture(scope="module")
def source(random_stream):
    stream = random_stream(ROUNDS, EXPERTS)
    return privatize(stream, "capacity", 0.5, seed=1, replicates=range(REPLICATES))


def actions_of(bank, source):
    """(R, T, m)."""
    state, observation, played = bank.init(setup_of(source)), None, []
    for revealed in observations(source):
        state, actions = bank.step(state, observation)
        played.append(actions)
        observation = revealed
    return np.stack(played, axis=1)


@every_bank
def test_it_is_a_bank(name):
    check_bank(name, BANKS[name])


@every_bank
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("mu", [0.5, math.inf])
def test_every_learner_acts_in_every_round(name, noise, mu, random_stream):
    stream = random_stream(ROUNDS, EXPERTS)
    noisy = privatize(stream, noise, mu, seed=1, replicates=range(REPLICATES))
    actions = actions_of(BANKS[name], noisy)
    labels = BANKS[name].labels
    assert actions.shape == (REPLICATES, ROUNDS, len(labels)), (
        f"{name}: step must return an action for each replicate and each of {len(labels)} labels"
    )
    assert actions.dtype == np.int32, f"{name}: actions must be of type np.int32"
    assert actions.min() >= 0
    assert actions.max() < EXPERTS
    for label, own in zip(labels, np.moveaxis(actions, 2, 0), strict=True):
        assert len(np.unique(own)) > 1, f"{label}: plays the same expert in every round"


@every_bank
def test_the_smallest_games_can_be_played(name, random_stream):
    for shape in ((1, 1), (1, 2), (2, 1), (3, 2)):
        noisy = privatize(random_stream(*shape), "isotropic", 0.5, seed=1, replicates=range(1))
        assert actions_of(BANKS[name], noisy).shape == (1, shape[0], len(BANKS[name].labels))


@every_bank
def test_the_gains_of_a_round_move_later_actions_only(name, source):
    before = actions_of(BANKS[name], source)
    learned = False
    for s in range(ROUNDS):
        gains = source.gains.copy()
        gains[:, s] = 10 * np.random.default_rng(s).permutation(np.linspace(0, 1, EXPERTS))
        after = actions_of(BANKS[name], dataclasses.replace(source, gains=gains))
        moved = np.flatnonzero((after != before).any(axis=(0, 2)))
        learned |= bool(len(moved))
        assert (moved > s).all(), (
            f"{name}: an action depends on gains of its own round or a later one"
        )
    assert learned, f"{name}: learns nothing from the gains"


@every_bank
def test_a_step_changes_nothing_and_keeps_nothing(name, source):
    bank = BANKS[name]
    state, observation = bank.init(setup_of(source)), None
    for revealed in observations(source):
        state = pure_step(name, bank.step, state, observation)
        observation = revealed


@every_bank
def test_replicates_at_once_are_separate_games(name, source):
    whole = actions_of(BANKS[name], source)
    for r in range(REPLICATES):
        alone = dataclasses.replace(source, initial=source.initial[[r]], gains=source.gains[[r]])
        np.testing.assert_array_equal(
            actions_of(BANKS[name], alone)[0],
            whole[r],
            err_msg=f"{name}: a replicate depends on the others that it is played with",
        )


@every_bank
def test_equal_parameters_make_equal_banks(name):
    assert LEARNERS[name]() == BANKS[name] == pickle.loads(pickle.dumps(BANKS[name]))


@every_bank
def test_selections_play_what_the_learners_say(name, source):
    """By the name that a config gives."""
    said = actions_of(BANKS[name], source)
    for algorithm, kind in (("rw-meta", RWMeta), ("exponential-weights", ExponentialWeights)):
        (member,) = make_members({"algorithm": algorithm, "label": "x", "learners": [name]})
        assert member.algorithm == kind(learners=(BANKS[name],))
        assert member.algorithm.n_learners == len(BANKS[name].labels)
        generators = replicate_generators(1, ("learners",), range(REPLICATES), "own")
        played = play(member.algorithm, source, generators)
        assert (said == played[..., None]).any(axis=2).all()


@every_bank
def test_every_learner_is_an_algorithm_of_the_family_too(name, source):
    members = make_members(name)
    assert {member.family for member in members} == {name}
    assert [member.label for member in members] == list(BANKS[name].labels)
    said = actions_of(BANKS[name], source)
    generators = replicate_generators(1, ("learners",), range(REPLICATES), "own")
    for place, member in enumerate(members):
        np.testing.assert_array_equal(play(member.algorithm, source, generators), said[..., place])


# ---- banks without a line of their own in the registry of algorithms -----------------------------


def test_a_learner_of_a_bank_can_be_played_alone(source, crowd):
    bank = RidgeBank((2, 3), {"weak": 0.1})
    said = actions_of(bank, source)
    for place in range(2):
        np.testing.assert_array_equal(
            play(LearnerAlone(bank, place), source, crowd(source.n_replicates)), said[..., place]
        )
    with pytest.raises(ValueError, match="one learner alone is needed, got ridge-w2-weak, ridge-"):
        LearnerAlone(bank)


def test_a_bank_without_a_line_becomes_a_family(monkeypatch):
    from dpol.experts import registry

    made = registry._each_alone("lines", RidgeBank)
    monkeypatch.setitem(REGISTRY, "lines", made)
    members = make_members({"algorithm": "lines", "windows": [4, 2], "penalties": {"x": 3.0}})
    assert [member.label for member in members] == ["ridge-w4-x", "ridge-w2-x"]
    bank = RidgeBank((4, 2), {"x": 3.0})
    assert [member.algorithm for member in members] == [LearnerAlone(bank, it) for it in (0, 1)]
    assert {(member.family, member.algorithm.origin) for member in members} == {("lines", "ours")}
    with pytest.raises(ValueError, match="lines has no parameter 'window'; it has windows, penal"):
        make_members({"algorithm": "lines", "window": 4})


def test_one_learner_can_be_given_a_label(monkeypatch):
    from dpol.experts import registry

    monkeypatch.setitem(REGISTRY, "leader", registry._each_alone("leader", LeaderBank))
    (member,) = make_members({"algorithm": "leader", "label": "mine"})
    assert (member.label, member.family) == ("mine", "leader")
