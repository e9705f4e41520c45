"""Mistakes in an algorithm or a bank give errors that name the class and the remedy."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.interface import CentralAlgorithm, LearnerBank, LocalAlgorithm
from dpol.experts.play import RawGains, observations, play_rounds
from dpol.experts.registry import LEARNERS, REGISTRY, Registration, make_members
from dpol.noise import privatize


class Functions:
    """Functions of an interface, without its attributes."""

    init = step = lambda self, *given: None


def frozen(*bases: type, **attributes: Any) -> type:
    return dataclass(frozen=True)(type("Mine", (Functions, *bases), attributes))


@pytest.fixture
def register(monkeypatch):
    """Register a class as `mine`."""

    def registered(kind: Any, registry: dict[str, Registration] = REGISTRY) -> None:
        monkeypatch.setattr(sys.modules[__name__], "Mine", kind, raising=False)
        monkeypatch.setitem(registry, "mine", Registration(f"{__name__}:Mine"))

    return registered


@dataclass
class Thawed(Functions, LocalAlgorithm[Any]):
    origin: ClassVar[str] = "ours"


@dataclass(frozen=True)
class NoStep(LocalAlgorithm[Any]):
    origin: ClassVar[str] = "ours"

    def init(self, setup: Any) -> Any: ...


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Thawed, "must be a frozen dataclass; `@dataclass(frozen=True)`"),
        (type("No", (Functions, LocalAlgorithm), {"origin": "ours"}), "must be a frozen dataclass"),
        (
            None,
            "mine: None: must derive from an algorithm or from a bank of learners; `class Mine(",
        ),
        (frozen(), "Mine (test_interface): must derive from an algorithm or from a bank"),
        (NoStep, "mine: cannot be made: Can't instantiate abstract class NoStep "),
        (frozen(CentralAlgorithm, origin="ours"), "Can't instantiate abstract class Mine "),
    ],
    ids=lambda x: x[:20] if isinstance(x, str) else getattr(x, "__name__", None),
)
def test_what_is_no_algorithm_is_refused_when_it_is_made(kind, message, register):
    register(kind)
    message = message.replace("test_interface", getattr(kind, "__module__", ""))
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        make_members("mine")
    assert str(caught.value).startswith("mine: ")


@dataclass(frozen=True)
class Bank(Functions, LearnerBank[Any]):
    labels: tuple[str, ...] = ("one", "other")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("one", "one"), "labels must be a tuple of different names, one for each learner"),
        ((), 'got (); `return ("mine",)`'),
        ("one", "got 'one'"),
        (("a name",), "got ('a name',)"),
    ],
)
def test_a_bank_without_sound_labels_is_refused_as_family_and_as_learner(labels, message, register):
    register(Bank)
    register(Bank, LEARNERS)
    wrong = {"labels": labels}
    for spec in (
        {"algorithm": "mine", **wrong},
        {"algorithm": "rw-meta", "learners": [{"learner": "mine", **wrong}]},
    ):
        with pytest.raises(ValueError, match="mine: class Bank ") as caught:
            make_members(spec)
        assert message in str(caught.value)


# ---- while playing -------------------------------------------------------------------------------


def local(step):
    """Return RW-FTPL with another step from round 2 on, a function of state and observation."""

    @dataclass(frozen=True)
    class Mine(RandomWalkFTPL):
        def step(self, state, observation, generators):
            if observation is None:
                return state, np.zeros(len(state), dtype=np.int32)
            return step(state, observation)

    return Mine()


@pytest.fixture(scope="module")
def noisy(random_stream):
    return privatize(random_stream(4, 5), "isotropic", 0.5, seed=1, replicates=3)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda s, _: (s, s.argmax(axis=1)[:, None]), r"the actions have shape \(3, 1\) and type"),
        (lambda s, _: (s, s.argmax(axis=1)[0]), "the actions are not an array, but of type int64"),
        (lambda s, _: (s, 2), "the actions are not an array, but of type int"),
        (lambda s, _: (s, s.argmax(axis=0)), r"the actions have shape \(5,\) and type int64"),
        (lambda s, _: (s, s.max(axis=1)), r"the actions have shape \(3,\) and type float64"),
        (lambda s, _: (s, s.argmax(axis=1) * 0 - 1), "the actions lie between -1 and -1"),
        (lambda s, _: (s, s.argmax(axis=1) * 0 + 5), "the actions lie between 5 and 5"),
    ],
)
def test_wrong_actions_are_refused_in_their_round(step, message, noisy):
    with pytest.raises(ValueError, match=rf"^Mine\.step, round 2: {message}") as caught:
        play_rounds(local(step), noisy, noisy.seeds.algorithm("own"))
    assert str(caught.value).endswith(
        "actions is an array of shape (3,) with an expert from 0 to 4 for each replicate, such as"
        " scores.argmax(axis=1).astype(np.int32)"
    )


@pytest.mark.parametrize(
    "given",
    [lambda state, _: state, lambda _, seen: seen.gains, lambda _, seen: seen.noise_scale],
    ids=["state", "gains", "noise_scale"],
)
def test_a_step_that_changes_what_it_is_given_is_refused(given, noisy):
    def step(state, observation):
        given(state, observation)[:] = 1
        return state, state.argmax(axis=1)

    with pytest.raises(ValueError, match="read-only") as caught:
        play_rounds(local(step), noisy, noisy.seeds.algorithm("own"))
    (note,) = caught.value.__notes__
    assert note.startswith("in Mine.step, round 2: an algorithm may only read")
    assert "`total = total + gains`" in note


def test_an_observation_leads_to_no_other_round(random_stream, noisy):
    """A view of all rounds would lead to later gains through its base."""
    curator = RawGains(random_stream(4, 5), 0.5, 3)
    for source, whole in ((noisy, noisy.gains), (curator, curator.stream.gains)):
        for t, seen in enumerate(observations(source)):
            np.testing.assert_array_equal(seen.gains, np.broadcast_to(whole[..., t, :], (3, 5)))
            behind = seen.gains
            while behind is not None:
                assert behind.size <= seen.gains.size
                assert not behind.flags.writeable
                assert not np.shares_memory(behind, whole)
                behind = behind.base


def test_any_other_failure_names_the_algorithm_and_the_round(noisy):
    with pytest.raises(ZeroDivisionError) as caught:
        play_rounds(local(lambda s, _: 1 / 0), noisy, noisy.seeds.algorithm("own"))
    assert caught.value.__notes__ == ["in Mine.step, round 2"]
