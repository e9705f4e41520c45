"""Mistakes in an algorithm, a bank or a parameter give errors that name it and the remedy."""

from __future__ import annotations

import math
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
    origin: ClassVar[str] = "dpol"


@dataclass(frozen=True)
class NoStep(LocalAlgorithm[Any]):
    origin: ClassVar[str] = "dpol"

    def init(self, setup: Any) -> Any: ...


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Thawed, "must be a frozen dataclass; `@dataclass(frozen=True)`"),
        (type("No", (Functions, LocalAlgorithm), {"origin": "dpol"}), "must be a frozen dataclass"),
        (
            None,
            "mine: None: must derive from an algorithm or from a bank of learners; `class Mine(",
        ),
        (frozen(), "Mine (MODULE): must derive from an algorithm or from a bank"),
        (NoStep, "mine: cannot be made: Can't instantiate abstract class NoStep "),
        (frozen(CentralAlgorithm, origin="dpol"), "Can't instantiate abstract class Mine "),
    ],
    ids=lambda x: x[:20] if isinstance(x, str) else getattr(x, "__name__", None),
)
def test_what_is_no_algorithm_is_refused_when_it_is_made(kind, message, register):
    register(kind)
    message = message.replace("MODULE", getattr(kind, "__module__", ""))
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


# ---- parameters, through the registry as in a config ---------------------------------------------


BROKEN = [
    ("rw-ftpl", {"unknown": 1}, "rw-ftpl has no parameter 'unknown'; it has none"),
    ("ridge", {"window": 4}, "ridge has no parameter 'window'; it has windows, penalties"),
    ("tree-ftpl-min-noise", {"objective": "min-regret"}, "has no parameter 'objective'"),
    ("tree-ftpl-min-noise", {"noise": "capacity"}, "has no parameter 'noise'"),
    ("rw-adabatch", {"alpha": 0.0}, "alpha must be a number in (0, 1e6], got 0.0"),
    ("rw-adabatch", {"bound": "chernoff"}, "bound must be borell-tis or reflection, got"),
    ("rw-meta", {"exploration_floor": -1}, "exploration_floor must be a number from 0 to 1e6"),
    ("rw-meta", {"decorrelate": 1}, "decorrelate must be true or false, got 1"),
    *(("rw-meta", {"learners": banks}, message) for banks, message in [
        ([], "learners must not be empty"),
        ("rw-ftpl", "learners must be a list, got 'rw-ftpl'"),
        (["no-such-learner"], "learner 'no-such-learner' is not one of ridge, "),
        ([5], "learner 5 is not one of"),
        ([{"learner": "ridge", "windows": [0]}], "windows must be whole numbers"),
    ]),
    *(("ridge", {"windows": w}, "windows must be whole numbers from 1 to 10000") for w in (
        [], [0], [8, 2.5],
    )),
    ("discounted-mean", {"decay": 1.1}, "decay must be a number from 0 to 1, got 1.1"),
    ("discounted-mean", {"caution": -1}, "caution must be a number from 0 to 100, got -1"),
    ("ridge", {"windows": [8, 8]}, "a window is listed twice"),
    *(("ridge", {"penalties": p}, "penalties must be named, like") for p in (
        {}, [0.1, 1.0],
    )),
    ("ridge", {"penalties": {"weak": 0}}, "penalties.weak must be a number from 1e-9 to 1e9"),
    ("fixed-share", {"rate": 0}, "rate must be a number in (0, 1e6], got 0"),
    ("fixed-share", {"share": 2}, "share must be a number in (0, 1], got 2"),
    ("mf-window", {"window": 0}, "window must be a whole number of at least 1"),
    ("mf-discounted", {"decay": 1.1}, "decay must be a number in (0, 1]"),
    *(("l2p", {"delta": d}, "delta must be a number in (0, 1)") for d in (0.0, 1.0, math.nan)),
    ("l2p", {"accountant": "hopeful"}, "accountant must be published or sound, got 'hopeful'"),
    ("l2p", {"largest_batch": 0}, "largest_batch must be a whole number of at least 1, got 0"),
    ("split-budget", {"learners": []}, "learners must not be empty"),
    ("random-effects", {"scales": []}, "scales must be a list of numbers above 0"),
    ("random-effects", {"scales": [0.5, 0]}, "scales must be a number in (0, inf), got 0"),
    ("random-effects", {"scales": [0.5, 0.5]}, "a scale is listed twice"),
    ("random-effects", {"effect": 0}, "effect must be a number in (0, inf), got 0"),
    ("random-effects", {"persistence": 1}, "persistence must be a number in [0, 1), got 1"),
    ("random-effects", {"forgetting": 1.1}, "forgetting must be a number in (0, 1], got 1.1"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "parameters", "message"), BROKEN, ids=str)
def test_a_parameter_out_of_range_is_refused(family, parameters, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_members({"algorithm": family, **parameters})


@pytest.mark.parametrize(
    "spec", ["nothing", {"algorithm": "nothing"}, {"algorithm": ["rw-ftpl"]}, 5, None], ids=str
)
def test_an_unknown_algorithm_is_refused(spec):
    with pytest.raises(ValueError, match=r"^algorithm .* is not one of persistence, "):
        make_members(spec)


def test_a_block_without_an_algorithm_is_refused():
    with pytest.raises(ValueError, match="^the key algorithm is missing$"):
        make_members({"label": "x"})
