"""What must hold for every registered bank of learners; new ones are covered by their line."""

from __future__ import annotations

import dataclasses
import math
import pickle

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.exponential_weights import ExponentialWeights
from dpol.experts.interface import LearnerBank
from dpol.experts.learners.joined import JoinedBank, LearnerAlone, each_alone
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.meta import RWMeta
from dpol.experts.play import observations, play_rounds, setup_of
from dpol.experts.registry import LEARNERS, learner_name, make_bank, make_members
from dpol.noise import NOISES, privatize
from steps import FixedBank, bank_actions, pure_step

BANKS = {name: make_bank(name) for name in LEARNERS}
every_bank = pytest.mark.parametrize("name", BANKS)
ROUNDS, EXPERTS, REPLICATES = 14, 4, 5


@pytest.fixture(scope="module")
def source(random_stream):
    return privatize(random_stream(ROUNDS, EXPERTS), "capacity", 0.5, seed=1, replicates=REPLICATES)


@every_bank
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("mu", [0.5, math.inf])
def test_every_learner_acts_in_every_round(name, noise, mu, random_stream):
    stream = random_stream(ROUNDS, EXPERTS)
    noisy = privatize(stream, noise, mu, seed=1, replicates=REPLICATES)
    actions = bank_actions(BANKS[name], noisy)
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
@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (3, 2)])
def test_the_smallest_games_can_be_played(name, shape, random_stream):
    noisy = privatize(random_stream(*shape), "isotropic", 0.5, seed=1, replicates=1)
    assert bank_actions(BANKS[name], noisy).shape == (1, shape[0], len(BANKS[name].labels))


@every_bank
def test_the_gains_of_a_round_move_later_actions_only(name, source):
    before = bank_actions(BANKS[name], source)
    learned = False
    for s in range(ROUNDS):
        gains = source.gains.copy()
        gains[:, s] = 10 * np.random.default_rng(s).permutation(np.linspace(0, 1, EXPERTS))
        after = bank_actions(BANKS[name], dataclasses.replace(source, gains=gains))
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
    whole = bank_actions(BANKS[name], source)
    for r in range(REPLICATES):
        alone = dataclasses.replace(source, initial=source.initial[[r]], gains=source.gains[[r]])
        np.testing.assert_array_equal(
            bank_actions(BANKS[name], alone)[0],
            whole[r],
            err_msg=f"{name}: a replicate depends on the others that it is played with",
        )


@every_bank
def test_equal_parameters_make_equal_banks(name):
    assert make_bank(name) == BANKS[name] == pickle.loads(pickle.dumps(BANKS[name]))
    assert learner_name(BANKS[name]) == name


@every_bank
def test_selections_play_what_the_learners_say(name, source):
    """By the name that a config gives. One learner is played in every round."""
    said = bank_actions(BANKS[name], source)
    generators = replicate_generators(1, ("learners",), range(REPLICATES), "own")
    for algorithm, kind in (("rw-meta", RWMeta), ("exponential-weights", ExponentialWeights)):
        (member,) = make_members({"algorithm": algorithm, "label": "x", "learners": [name]})
        assert member.algorithm == kind(learners=(BANKS[name],))
        assert member.algorithm.n_learners == len(BANKS[name].labels)
        played = play_rounds(member.algorithm, source, generators)
        assert (said == played[..., None]).any(axis=2).all()
        for label, own in zip(BANKS[name].labels, np.moveaxis(said, 2, 0), strict=True):
            one = kind(learners=(FixedBank(own[0][:, None].tolist()),))
            played = play_rounds(one, source, generators)
            np.testing.assert_array_equal(played[0], own[0], err_msg=label)


@every_bank
def test_every_learner_is_an_algorithm_of_the_family_too(name, source):
    members = make_members(name)
    assert {member.family for member in members} == {name}
    assert [member.label for member in members] == list(BANKS[name].labels)
    said = bank_actions(BANKS[name], source)
    generators = replicate_generators(1, ("learners",), range(REPLICATES), "own")
    for place, member in enumerate(members):
        actions = play_rounds(member.algorithm, source, generators)
        np.testing.assert_array_equal(actions, said[..., place])


# ---- a learner alone, and banks together ---------------------------------------------------------


@every_bank
@pytest.mark.parametrize("single", [LearnerBank.single, None], ids=["general", "own"])
def test_a_learner_alone_plays_its_column_of_the_bank(name, single, source, crowd):
    """Also where all of the bank must be played for it."""
    bank = BANKS[name]
    said = bank_actions(bank, source)
    for place, label in enumerate(bank.labels):
        alone = LearnerAlone(*(single or type(bank).single)(bank, place))
        assert (alone.label, alone.origin) == (label, bank.origin)
        actions = play_rounds(alone, source, crowd(REPLICATES))
        np.testing.assert_array_equal(actions, said[..., place])


def test_only_learners_of_a_bank_can_be_played_alone():
    bank = RidgeBank((2, 3), {"weak": 0.1})
    assert [alone.label for alone in each_alone(bank)] == list(bank.labels)
    with pytest.raises(ValueError, match="place must be from 0 to 1, got 2"):
        LearnerAlone(bank, 2)


def test_joined_banks_act_side_by_side(source):
    banks = tuple(BANKS.values())
    joined = JoinedBank(banks)
    assert joined.labels == tuple(label for bank in banks for label in bank.labels)
    expected = np.concatenate([bank_actions(bank, source) for bank in banks], axis=2)
    np.testing.assert_array_equal(bank_actions(joined, source), expected)


@pytest.mark.parametrize("kind", [RWMeta, ExponentialWeights])
def test_no_learners_are_refused(kind):
    with pytest.raises(ValueError, match="learners must not be empty"):
        kind(learners=())
    assert kind(learners=(FixedBank([[0, 1]]),)).n_learners == 2
