"""Checked values of a YAML file that a person writes: all its mistakes in one error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from dpol.core.errors import ConfigError
from dpol.core.refusals import problems_of, refusal
from dpol.core.settings import Problem, Settings
from dpol.core.yaml_files import read_yaml

Model = TypeVar("Model", bound=Settings)


def read_keys(path: Path | str, remedy: str) -> Mapping[str, Any]:
    """Return the keys of a YAML file; none of one that holds only comments.

    Raises:
        ConfigError: it cannot be read, or holds no keys; `remedy` says what to do then.
    """
    raw = read_yaml(path) or {}
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: holds no keys; {remedy}")
    return raw


def checked(
    model: type[Model],
    raw: Mapping[str, Any],
    place: str,
    *,
    rules: Callable[[Model], Iterable[Problem]],
    manual: str,
) -> Model:
    """Check plain values as a model.

    Args:
        model: the model.
        raw: the values by their keys.
        place: where they are from, for messages.
        rules: yields the broken rules that involve several keys.
        manual: the page that explains the keys.

    Raises:
        ConfigError: the values break rules; all are listed.
    """
    try:
        made = model.model_validate(raw)
    except ValidationError as error:
        raise refusal(place, problems_of(error, model, raw), manual) from None
    if problems := [*rules(made)]:
        raise refusal(place, problems, manual)
    return made
