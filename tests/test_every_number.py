"""Every number of a public function, set to a wrong one: the answer is a number, or words.

The table is made: of the public names, their signatures, and a valid example of each argument.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import math
import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import dpol
from dpol import labels, lazy
from dpol.core.randomness import replicate_generators
from dpol.lazy import convex
from dpol.privacy.guarantee import NO_PRIVACY
from dpol.privacy.losses import Promise, pure
from dpol.privacy.mixtures import BatchMixture
from dpol.privacy.noise_laws import LAWS

ROOT = Path(__file__).parents[1]
PACKAGES = "dpol", "dpol.lazy", "dpol.lazy.convex", "dpol.labels"
PRIVACY = (
    "account", "auditing", "chains", "composition", "gaussian_dp", "guarantee", "mixtures",
    "noise_laws", "stays",
)  # fmt: skip
WRONG = (-1, 0, math.nan, math.inf, -math.inf, True, 1e308, 10**400)
NO_NUMBER = -1, math.nan, -math.inf, True
"""Numbers of `WRONG` that `dpol.privacy` never takes: there a finite answer would be false."""
NUMBER = re.compile(r"\b(int|float|ArrayLike|Memory|MemoryChoice)\b")
"""Types of numbers in a signature."""

INNER = {
    "exceeds": "a bound that could not be computed, nan, exceeds every claim",
    "in_words": "of a stream, which has checked it",
    "lattice_masses": "of the laws, which have checked the number of releases",
    "log_masses": "of the laws, which have checked the number of releases",
    "places": "the inner loop of log_masses",
    "prediction_variance": "the inner loop of designed",
    "root": "the inner loop of all searches, between numbers that they computed",
    "smallest_epsilon": "likewise",
    "spread": "of masses that the sums of losses computed",
    "squared_norm": "the inner loop of chain_norm",
    "verdict_on": "as exceeds",
}
"""Functions without checks, and why."""
MADE = {
    *("AccountedParameters", "AuditResult", "Chains", "ConvexParameters", "CuratorSetup", "Games"),
    *("LabelRun", "LocalSetup", "Neighbours", "NoisyGains", "Protection"),
}
"""Records of numbers that dpol made; their classes have no checks."""
UNUSED = {
    ("trade_off_at", "threshold"): "any number; nan has nan rates",
}
"""Arguments without checks, and why."""
CALLED = {
    "games": "mu",
    "kept": "mu",
    "levels": "mu",
    "memory": "memory|a|b",
    "mus": "mu",
    "replicates": "replicates?",
}
"""Names in messages of an argument that holds several numbers."""

GAPS = tuple(lazy.GapLosses(6, 3, 0.1, 1, number) for number in (0, 1))
STREAM = dpol.GainStream(
    label="town",
    gains=np.full((6, 3), 0.2),
    capacity=np.full((6, 3), 50.0),
    entities=("a", "b", "c"),
    periods=np.datetime64("2021-01-01") + 7 * np.arange(6),
)
CLASS = labels.random_class(3, 4, seed=1)
LOSSES = convex.drifting_losses(6, 2, 1.0, seed=1)
MIXTURE = BatchMixture(1.0, np.array([1, 4]), np.array([0.5, 0.5]))
RECORD = dataclasses.replace(NO_PRIVACY, model="central", loss=pure(1.0, 1e-6), stays=None)
NUMBERS = {
    1.0: ("beta", "claimed", "diameter", "e", "epsilon", "lipschitz", "mu", "regulariser", "sigma"),
    0.1: ("distance", "eta", "fake_switch", "gap", "threshold"),
    2: (
        *("batch_size", "count", "dimension", "largest_batch", "releases", "size", "stay", "turn"),
        "weeks",
    ),
    3: ("n_experts", "n_hypotheses", "n_labels", "n_pairs", "n_rounds", "rounds"),
}
EXAMPLES = {
    **{name: number for number, names in NUMBERS.items() for name in names},
    "a": 0.0,
    "b": 0.5,
    "adjacency": "two streams",
    "algorithm": "mf-ftpl",
    "algorithms": ["rw-ftpl"],
    "ball": convex.Ball(2, 2.0),
    "bank": dpol.RidgeBank(),
    "capacity": STREAM.capacity,
    "changes": np.eye(2),
    "kept": 1.0,
    "client": "wma",
    "delta": 1e-6,
    "entities": STREAM.entities,
    "exponentials": np.ones(3),
    "features": np.zeros(6, dtype=int),
    "first": np.linspace(0, 1, 8),
    "gains": STREAM.gains,
    "generators": replicate_generators(1, ("numbers",), range(2), "coins"),
    "gram": None,
    "columns": np.eye(6),
    "hypotheses": CLASS,
    "key": ("numbers",),
    "label": "town",
    "losses": LOSSES,
    "mus": [1.0, 1.0],
    "mean": np.zeros(2),
    "mechanism": "noise",
    "memory": (0.0, 0.5),
    "model": "central",
    "name": "ridge",
    "noise": "capacity-memory",
    "noise_level": np.ones(3),
    "outputs": [np.eye(4, 2)] * 2,
    "parameter": "mu",
    "path": ROOT / "data/examples/shelters.csv",
    "table": ROOT / "data/examples/shelters.csv",
    "penalties": {"weak": 0.1},
    "periods": STREAM.periods,
    "promise": Promise(mu=1.0),
    "replicates": [0, 1],
    "rule": "exact",
    "second": np.linspace(1, 2, 8),
    "seed": 1,
    "sequences": GAPS,
    "sensitivity": 1.0,
    "sensitivity_unit": "persons",
    "shifts": np.ones((6, 3)),
    "sizes": MIXTURE.sizes,
    "stream": STREAM,
    "terms": labels.Terms(6, 1.0),
    "unit": "one person",
    "vectors": LOSSES.vectors,
    "weights": MIXTURE.weights,
}
"""A valid value of each argument, by its name; other arguments take their defaults."""
PAIRED, TURNS = lazy.PairedLosses(GAPS), lazy.TurnLosses(6, 3, 2)
LOGISTIC = convex.LogisticLosses(LOSSES.vectors, 1.0)
OTHER = {
    "lazy": {
        "blocks": list(PAIRED.between(lazy.doubling_edges(6))),
        "game": lazy.LazyGame(6, 1e-6),
        "games": [(PAIRED, 1.0)],
        "losses": PAIRED,
    },
    "lazy.convex": {
        "game": convex.ConvexGame(n_rounds=6, dimension=2, diameter=2.0, lipschitz=1.0, delta=1e-6),
        "noise": convex.NOISES["dp-ftrl"],
    },
    "Noise": {"memory": "none"},
    "PairedLosses": {"replicates": 2},
    "Guarantee": {"memory": "", "loss": RECORD.loss, "carried": (2, RECORD.loss)},
    "RawGains": {"noise": "capacity"},
    "league": {"replicates": 2, "levels": (1.0,)},
    "read_table": {
        **{"entity": "shelter", "period": "week_of", "count": "guests", "capacity": "places"},
        "cleaning": {"missing_markers": ["-"], "suppressed_markers": ["<5"]},
        **{"label": None, "name": None, "periods": None, "count_sensitivity": 1.0},
    },
    "uniform": {"e": 0.5},
}
"""Valid values of one package, class or function."""
METHODS = {
    **{f"{name}.{it}": getattr(law, it) for name, law in LAWS.items()
       for it in ("deviation", "loss", "largest")},
    **{f"BatchMixture.{it}": getattr(MIXTURE, it) for it in ("delta", "epsilon", "trade_off_at")},
    **{f"{type(it).__name__}.batches": it.batches
       for it in (GAPS[0], TURNS, LOSSES, LOGISTIC)},
    "PairedLosses.sums_of_batches": PAIRED.sums_of_batches,
    "Guarantee.epsilon": RECORD.epsilon,
}  # fmt: skip
"""Methods that take numbers of a reader, and a class with other examples."""


def public() -> dict[str, object]:
    """Return all public names that can be called, without packages."""
    found = {}
    for module in (*PACKAGES, *(f"dpol.privacy.{name}" for name in PRIVACY)):
        made = importlib.import_module(module)
        names = made.__all__ if module in PACKAGES else [*vars(made)]
        for name in names:
            it = getattr(made, name)
            own = module in PACKAGES or getattr(it, "__module__", "") == module
            if own and callable(it) and not (name.startswith("_") or name in {*INNER, *MADE}):
                found[f"{module.removeprefix('dpol.')}.{name}"] = it
    return found | METHODS


def examples_of(place: str, function: object) -> dict[str, object]:
    """Return a valid value of each argument."""
    name, (package, _, short) = place.removeprefix("dpol."), place.rpartition(".")
    own = {**EXAMPLES, **OTHER.get(package, {}), **OTHER.get(short, {}), **OTHER.get(name, {})}
    return {
        it: own.get(it, parameter.default)
        for it, parameter in inspect.signature(function).parameters.items()
    }


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def with_wrong(value: object, wrong: float) -> Iterator[object]:
    """Yield a valid value of an argument with each of its numbers replaced in turn."""
    if is_number(value):
        yield wrong
    elif isinstance(value, tuple | list):
        for place, part in enumerate(value):
            for new in with_wrong(part, wrong):
                yield type(value)([*value[:place], new, *value[place + 1 :]])
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from ({**value, key: new} for new in with_wrong(part, wrong))


def numbers_in(answer: object) -> list[float]:
    """Return all numbers of an answer that may be infinite, in order."""
    if isinstance(answer, int | float):
        return [answer if isinstance(answer, float) else 0.0]
    if isinstance(answer, np.ndarray | np.number):
        return numbers_in(answer.tolist())
    if isinstance(answer, Mapping):
        answer = tuple(answer.values())
    elif dataclasses.is_dataclass(answer):
        answer = [getattr(answer, it.name) for it in dataclasses.fields(answer)]
    if isinstance(answer, list | tuple | Iterator):
        return [number for part in answer for number in numbers_in(part)]
    return []


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise an error in code that takes longer."""

    def stop(*_: object) -> None:
        raise AssertionError("it does not answer")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def answer(function: Callable[..., object], arguments: Mapping[str, object]) -> list[float]:
    with at_most(20):
        return numbers_in(function(**arguments))


def what_is_wrong(
    function: Callable[..., object],
    arguments: Mapping[str, object],
    name: str,
    usual: Sequence[float] = (),
) -> str:
    """Return what is wrong with the answer to a wrong number; empty for a right answer.

    An answer may be infinite, or not a number, where the usual one is, and infinite where the
    docstring says when it is `inf`.
    """
    try:
        got = answer(function, arguments)
    except (ValueError, TypeError, dpol.DpolError) as error:
        # The error of a config is a list.
        line = isinstance(error, dpol.ConfigError) or "\n" not in str(error)
        named = re.search(rf"\b({CALLED.get(name, name)})\b", str(error))
        return "" if named and line else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    said = re.search(r"\binf\b", inspect.getdoc(function) or "")
    for number, before in itertools.zip_longest(got, usual, fillvalue=0.0):
        if math.isfinite(before) and (math.isnan(number) or (math.isinf(number) and not said)):
            return f"answers {number}"
    return ""


CASES = [
    (place, function, name)
    for place, function in public().items()
    for name, valid in examples_of(place, function).items()
    if any(with_wrong(valid, 1)) and not any(place.endswith(it) and name == of for it, of in UNUSED)
]


@pytest.mark.parametrize(
    ("place", "function", "name"), CASES, ids=lambda it: it if isinstance(it, str) else ""
)
def test_a_wrong_number_is_answered_by_a_number_or_by_words(place, function, name):
    arguments = examples_of(place, function)
    usual = answer(function, arguments)
    strict = function.__module__.startswith("dpol.privacy")
    for wrong in WRONG:
        for changed in with_wrong(arguments[name], wrong):
            asked = {**arguments, name: changed}
            assert not what_is_wrong(function, asked, name, usual), wrong
            if strict and (wrong in NO_NUMBER or wrong != wrong):
                with pytest.raises((ValueError, TypeError)):
                    answer(function, asked)


def test_every_number_has_an_example():
    known = {(function.__qualname__, name) for _, function, name in CASES}
    for place, function in public().items():
        for name, parameter in inspect.signature(function).parameters.items():
            kind = str(parameter.annotation)
            if NUMBER.search(kind) and "Callable" not in kind:
                left_out = any(place.endswith(it) and name == of for it, of in UNUSED)
                assert left_out or (function.__qualname__, name) in known, (place, name, kind)


def _documented(x):
    """Return x, which may be inf."""
    return x


def _refused(x):
    raise ValueError("x must be small")


def _unnamed(x):
    raise ValueError("too large")


def _two_lines(x):
    raise ValueError("x\nis too large")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_documented, ""),
        (_refused, ""),
        (lambda x: x, "answers inf"),
        (lambda x: x - x, "answers nan"),
        (lambda x: {"a": [np.array([1.0, x])]}, "answers inf"),
        (lambda x: iter([x]), "answers inf"),
        (lambda x: int(x), "OverflowError: cannot convert float infinity to integer"),
        (_unnamed, "ValueError: too large"),
        (_two_lines, "ValueError: x\nis too large"),
        (
            lambda x: np.float64(1e308) * 10,
            "RuntimeWarning: overflow encountered in scalar multiply",
        ),
    ],
)
def test_a_wrong_answer_is_found(function, said):
    assert what_is_wrong(function, {"x": math.inf}, "x") == said
