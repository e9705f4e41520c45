"""Mistakes in an algorithm or a bank: each is told by a message with its name and the remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import check_algorithm, check_bank
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.play import RawGains, play
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import privatize


class Functions:
    """An interface without attributes."""

    def init(self, setup): ...

    def step(self, state, observation, generators): ...


class Central(Functions):
    origin: ClassVar[str] = "ours"
    model: ClassVar[str] = "central"


def frozen(base=Functions, **attributes):
    """A frozen dataclass with more class attributes."""
    return dataclass(frozen=True)(type("Mine", (base,), attributes))()


@dataclass(frozen=True)
class ModelAsParameter(Functions):
    origin: ClassVar[str] = "ours"
    model: str = "local"


@dataclass
class Thawed(Functions):
    origin: ClassVar[str] = "ours"
    model: ClassVar[str] = "local"


class NoDataclass(Functions):
    origin = "ours"
    model = "local"


@dataclass(frozen=True)
class NoStep:
    model: ClassVar[str] = "local"
    origin: ClassVar[str] = "ours"

    def init(self, setup): ...


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (Thawed(), "it is no frozen dataclass; `@dataclass(frozen=True)`"),
        (NoDataclass(), "it is no frozen dataclass"),
        (None, "mine: class NoneType (builtins): it is no frozen dataclass"),
        (NoStep(), "it has no step; `def step(self, ...)`"),
        (
            frozen(origin="ours"),
            'not one of local, central, none; `model: ClassVar[Model] = "local"`',
        ),
        (frozen(origin="ours", model="private"), "model is missing, or not one of local, central"),
        (
            frozen(model="local"),
            'or not one of paper, standard, ours; `origin: ClassVar[Origin] = "',
        ),
        (ModelAsParameter(), "model is a parameter, which a config could set; `model: ClassVar[Mo"),
        (
            frozen(Central),
            "it is central, so it makes its own noise, but does not tell its privacy",
        ),
    ],
    ids=lambda it: it[:20] if isinstance(it, str) else type(it).__name__,
)
def test_what_is_no_algorithm_is_refused_when_it_is_made(algorithm, message, monkeypatch):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        check_algorithm("mine", algorithm)
    assert str(caught.value).startswith(f"mine: class {type(algorithm).__qualname__} (")
    monkeypatch.setitem(REGISTRY, "mine", lambda: algorithm)
    with pytest.raises(ValueError, match=re.escape(message)):
        make_members("mine")


@dataclass(frozen=True)
class Bank:
    labels: tuple[str, ...] = ("one", "other")

    def init(self, setup): ...

    def step(self, state, observation): ...


@pytest.mark.parametrize(
    ("bank", "message"),
    [
        (Bank(("one", "one")), "labels must be a tuple of different names, one for each learner"),
        (Bank(()), 'got (); `return ("mine",)`'),
        (Bank("one"), "got 'one'"),
        (Bank(("a name",)), "got ('a name',)"),
        (NoStep(), "mine: class NoStep (test_interface): it has no labels"),
    ],
    ids=repr,
)
def test_what_is_no_bank_is_refused(bank, message):
    check_bank("mine", Bank())
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the text is checked below)
        check_bank("mine", bank)
    assert message.replace("test_interface", type(bank).__module__) in str(caught.value)


# ---- while playing -------------------------------------------------------------------------------


def local(step):
    """RW-FTPL with another step: a function of state, gains and number of experts."""

    @dataclass(frozen=True)
    class Mine(RandomWalkFTPL):
        def step(self, state, observation, generators):
            if observation is None:
                return state, np.zeros(len(state), dtype=np.int32)
            return step(state, observation)

    return Mine()


def added_in_place(state, observation):
    state += observation.gains
    return state, state.argmax(axis=1)


def scores_in_place(state, observation):
    observation.gains[:] = 0
    return state, state.argmax(axis=1)


def scales_in_place(state, observation):
    observation.noise_scale[:] = 1
    return state, state.argmax(axis=1)


def game_of(source, replicates=3):
    return source, replicate_generators(1, ("interface",), range(replicates), "own")


@pytest.fixture(scope="module")
def noisy(random_stream):
    return privatize(random_stream(4, 5), "isotropic", 0.5, seed=1, replicates=range(3))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda s, _: (s, s.argmax(axis=1)[:, None]), r"the actions have shape \(3, 1\) and type"),
        (lambda s, _: (s, s.argmax(axis=1)[0]), "the actions are no array but of type int64"),
        (lambda s, _: (s, 2), "the actions are no array but of type int"),
        (lambda s, _: (s, s.argmax(axis=0)), r"the actions have shape \(5,\) and type int64"),
        (lambda s, _: (s, s.max(axis=1)), r"the actions have shape \(3,\) and type float64"),
        (lambda s, _: (s, s.argmax(axis=1) * 0 - 1), "the actions lie between -1 and -1"),
        (lambda s, _: (s, s.argmax(axis=1) * 0 + 5), "the actions lie between 5 and 5"),
    ],
)
def test_wrong_actions_are_refused_in_their_round(step, message, noisy):
    with pytest.raises(ValueError, match=rf"^Mine\.step, round 2: {message}") as caught:
        play(local(step), *game_of(noisy))
    assert str(caught.value).endswith(
        "the actions an array of shape (3,), an expert from 0 to 4 for each replicate, such as"
        " scores.argmax(axis=1).astype(np.int32)"
    )


@pytest.mark.parametrize("step", [added_in_place, scores_in_place, scales_in_place])
def test_whoever_changes_what_it_is_given_is_told(step, noisy):
    with pytest.raises(ValueError, match="read-only") as caught:
        play(local(step), *game_of(noisy))
    (note,) = caught.value.__notes__
    assert note.startswith("in Mine.step, round 2: an algorithm may only read")
    assert "`total = total + gains`" in note


@dataclass(frozen=True)
class Silencer:
    """A central algorithm that writes on the public noise of raw gains."""

    model: ClassVar[str] = "none"
    origin: ClassVar[str] = "ours"

    def init(self, setup):
        return np.zeros(setup.n_replicates, dtype=np.int32)

    def step(self, state, observation, generators):
        if observation is not None:
            observation.noise_scale[:] = 1
        return state, state


def test_raw_gains_cannot_be_changed_either(random_stream):
    source = RawGains(random_stream(4, 5), 0.5, 3)
    with pytest.raises(ValueError, match="read-only"):
        play(Silencer(), *game_of(source))


def test_any_other_failure_names_the_algorithm_and_the_round(noisy):
    with pytest.raises(ZeroDivisionError) as caught:
        play(local(lambda s, _: 1 / 0), *game_of(noisy))
    assert caught.value.__notes__ == ["in Mine.step, round 2"]


def test_a_registered_bank_that_is_none_is_refused_in_a_config(monkeypatch):
    from dpol.experts.learners import LEARNERS

    monkeypatch.setitem(LEARNERS, "mine", lambda: Bank(("one", "one")))
    with pytest.raises(ValueError, match="mine: class Bank .* labels must be"):
        make_members({"algorithm": "rw-meta", "learners": ["mine"]})
    monkeypatch.setitem(LEARNERS, "mine", LeaderBank)
    make_members({"algorithm": "rw-meta", "learners": ["mine"]})
