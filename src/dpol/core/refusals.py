"""Turning pydantic's findings into one message that a person can act on."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dpol.core.errors import ConfigError
from dpol.core.near import did_you_mean, nearest
from dpol.core.settings import MISSING, TRUTH_VALUE, Problem

_KINDS = {
    "list_": "must be a list, such as [a, b]",
    "dict_": "must be a block of keys",
    "model_": "must be a block of keys",
    "string_type": "must be text",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "bool_": "must be true or false",
    "date_": "must be a date such as 2021-01-31",
    "missing": "is missing and has no default",
    "string_pattern_mismatch": "must be letters, digits, '.', '_' and '-', and begin with a letter"
    " or digit",
}
"""Allowed values in words, by the beginning of pydantic's name for the mistake."""


def refusal(place: str, problems: Sequence[Problem], manual: str) -> ConfigError:
    """One error that lists all problems of the file `place`; `manual` explains its keys."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = "\n".join(f"  {problem}" for problem in problems)
    return ConfigError(f"{place}: {count}\n{lines}\n{manual} explains every key.")


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """The problems in what pydantic found when it validated a model."""
    return [_problem(detail, model) for detail in error.errors(include_url=False)]


def _problem(detail: Any, model: type[BaseModel]) -> Problem:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    location, fields, models = _location(model, detail["loc"])
    if kind == TRUTH_VALUE:
        return Problem((*location, context["key"]), context["value"], detail["msg"])
    if kind == "union_tag_not_found":
        *tags, last = filter(None, map(_tag, models))
        return Problem((*location, "kind"), MISSING, f"is missing: {', '.join(tags)} or {last}")
    if kind == "union_tag_invalid":
        location, value = (*location, "kind"), context["tag"]
    if expected := context.get("expected", context.get("expected_tags")):
        options = re.findall("'([^']*)'", expected)
        return Problem(location, value, f"must be {expected}{did_you_mean(value, options)}")
    problem = Problem(location, MISSING if kind == "missing" else value, _allowed(detail))
    if kind == "extra_forbidden":
        return replace(problem, allowed=f"unknown key{nearest(location[-1], fields)}")
    return problem


def _allowed(detail: Any) -> str:
    kind = detail["type"]
    for prefix, allowed in _KINDS.items():
        if kind.startswith(prefix):
            number = kind == "string_type" and isinstance(
                detail["input"], (int, float, datetime.date)
            )
            return allowed + ("; put it in quotes" if number else "")
    message = str(detail["msg"]).removeprefix("Value error, ")
    message = message.replace("Input should be", "must be").replace("String should", "must")
    return message[0].lower() + message[1:] if message[1:2].islower() else message


def _location(
    model: type[BaseModel], location: Sequence[str | int]
) -> tuple[tuple[str | int, ...], list[str], list[type[BaseModel]]]:
    """A location without the tags that pydantic adds, the known keys next to its last, and the
    models that its value may have."""
    kept: list[str | int] = []
    models, fields = [model], list(model.model_fields)
    for part in location:
        tagged = [it for it in models if len(models) > 1 and _tag(it) == part]
        if tagged:
            models = tagged
        elif not str(part).startswith("["):  # such as [key]
            kept.append(part)
            fields = list(models[0].model_fields) if models else fields
            of_part = (it.model_fields[str(part)] for it in models if part in it.model_fields)
            models = [it for field in of_part for it in _models_in(field.annotation)] or models
    return tuple(kept), fields, models


def _tag(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("kind")
    options = get_args(field.annotation) if field else ()
    return str(options[0]) if len(options) == 1 else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
