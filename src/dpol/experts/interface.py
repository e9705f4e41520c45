"""Whether an algorithm, or a bank of learners, is what the registry may hold."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NoReturn, get_args

from dpol.experts.play import CentralAlgorithm, Origin
from dpol.privacy.guarantee import Model

LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""Labels are parts of file names."""


def check_algorithm(name: str, algorithm: Any) -> None:
    """Refuse what does not keep the interface of `dpol.experts.play.Algorithm`.

    Raises:
        ValueError: what is wrong, with the remedy.
    """
    kind = type(algorithm)
    _check_dataclass(name, kind, ("init", "step"))
    for attribute, allowed, usual in (
        ("model", get_args(Model), "local"),
        ("origin", get_args(Origin), "ours"),
    ):
        example = f'{attribute}: ClassVar[{attribute.title()}] = "{usual}"'
        either = ", ".join(allowed)
        if attribute in {field.name for field in fields(algorithm)}:
            _refuse(name, kind, f"{attribute} is a parameter, which a config could set", example)
        if getattr(algorithm, attribute, None) not in allowed:
            _refuse(name, kind, f"{attribute} is missing, or not one of {either}", example)
    if algorithm.model == "central" and not isinstance(algorithm, CentralAlgorithm):
        wrong = "it is central, so it makes its own noise, but does not tell its privacy"
        _refuse(name, kind, wrong, "def guarantee(self, setup: CuratorSetup) -> Guarantee")


def check_bank(name: str, bank: Any) -> None:
    """Refuse what does not keep the interface of `dpol.experts.learners.LearnerBank`.

    Raises:
        ValueError: what is wrong, with the remedy.
    """
    kind = type(bank)
    _check_dataclass(name, kind, ("labels", "init", "step"))
    labels = bank.labels
    sound = isinstance(labels, tuple) and labels and len(set(labels)) == len(labels)
    if not sound or not all(isinstance(it, str) and LABEL.fullmatch(it) for it in labels):
        wrong = f"labels must be a tuple of different names, one for each learner, got {labels!r}"
        _refuse(name, kind, wrong, f'return ("{name}",)')


def _check_dataclass(name: str, kind: type, functions: Sequence[str]) -> None:
    if not is_dataclass(kind) or not getattr(kind, "__dataclass_params__").frozen:  # noqa: B009
        _refuse(name, kind, "it is no frozen dataclass", "@dataclass(frozen=True)")
    for function in functions:
        if not hasattr(kind, function):
            _refuse(name, kind, f"it has no {function}", f"def {function}(self, ...)")


def _refuse(name: str, kind: type, wrong: str, remedy: str) -> NoReturn:
    raise ValueError(f"{name}: class {kind.__qualname__} ({kind.__module__}): {wrong}; `{remedy}`")
