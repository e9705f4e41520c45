"""Turning pydantic's errors into one message that a person can act on."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, HttpUrl, ValidationError

from dpol.core.errors import ConfigError
from dpol.core.near import did_you_mean, nearest
from dpol.core.settings import MISSING, TRUTH_VALUE, Problem

_LIST, _BLOCK, _TEXT = "a list, such as [a, b]", "a block of keys", "text"
_WHOLE, _NUMBER, _TRUTH = "a whole number", "a number", "true or false"
_DAY, _ADDRESS = "a date such as 2021-01-31", "an address that begins with http:// or https://"
_TYPES: Mapping[object, str] = {
    list: _LIST,
    dict: _BLOCK,
    str: _TEXT,
    int: _WHOLE,
    float: _NUMBER,
    bool: _TRUTH,
    datetime.date: _DAY,
    HttpUrl: _ADDRESS,
}
"""Names of types in messages."""
_KINDS = {
    "list_": f"must be {_LIST}",
    "tuple_": f"must be {_LIST}",
    "dict_": f"must be {_BLOCK}",
    "model_": f"must be {_BLOCK}",
    "string_type": f"must be {_TEXT}",
    "int_": f"must be {_WHOLE}",
    "float_": f"must be {_NUMBER}",
    "finite_number": "must be a finite number",
    "bool_": f"must be {_TRUTH}",
    "date_": f"must be {_DAY}",
    "url_": f"must be {_ADDRESS}",
    "missing": "is missing and has no default",
    "string_pattern_mismatch": "must be letters, digits, '.', '_' and '-', and begin with a letter"
    " or digit",
}
"""Allowed values in words, by the beginning of pydantic's type of error."""


def refusal(place: str, problems: Sequence[Problem], manual: str) -> ConfigError:
    """Return one error that lists all problems of the file `place`; `manual` explains its keys."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    lines = "\n".join(f"  {problem}" for problem in problems)
    return ConfigError(f"{place}: {count}\n{lines}\n{manual} explains every key.")


def problems_of(error: ValidationError, model: type[BaseModel]) -> list[Problem]:
    """Return the problems that pydantic found when it validated a model."""
    problems = [_problem(detail, model) for detail in error.errors(include_url=False)]
    outer = {each.location[:depth] for each in problems for depth in range(len(each.location))}
    # If an item is wrong, pydantic may also report that its list has the wrong type.
    return [*{str(each): each for each in problems if each.location not in outer}.values()]


def _problem(detail: Any, model: type[BaseModel]) -> Problem:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    place = _place(model, detail["loc"])
    location = place.location
    if kind == TRUTH_VALUE:
        return Problem((*location, context["key"]), context["value"], detail["msg"])
    if kind == "union_tag_not_found":
        *tags, last = filter(None, map(_tag, place.options))
        return Problem((*location, "kind"), MISSING, f"is missing: {', '.join(tags)} or {last}")
    if kind == "union_tag_invalid":
        location, value = (*location, "kind"), value.get("kind")
    if place.choices and _words(kind):  # no choice fits, and pydantic says why for each
        words = " or ".join(dict.fromkeys(map(_called, place.choices)))
        return Problem(location, value, f"must be {words}")
    expected = context.get("expected") or " or ".join(
        context.get("expected_tags", "").rsplit(", ", 1)
    )
    if expected:
        options = re.findall("'([^']*)'", expected)
        return Problem(location, value, f"must be {expected}{did_you_mean(value, options)}")
    problem = Problem(location, MISSING if kind == "missing" else value, _allowed(detail))
    if kind == "extra_forbidden":
        return replace(problem, allowed=f"unknown key{nearest(location[-1], place.keys)}")
    return problem


def _allowed(detail: Any) -> str:
    kind = detail["type"]
    if allowed := _words(kind):
        number = kind == "string_type" and isinstance(detail["input"], (int, float, datetime.date))
        return allowed + ("; put it in quotes" if number else "")
    message = str(detail["msg"]).partition(" after validation")[0]
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    message = re.sub("^[A-Z][a-z]+ should", "must", message)
    return message[0].lower() + message[1:]


def _words(kind: str) -> str | None:
    """Return the allowed values in words; None if pydantic's own message has them."""
    return next((words for prefix, words in _KINDS.items() if kind.startswith(prefix)), None)


@dataclass(frozen=True)
class _Place:
    """A place in a model.

    Args:
        location: the keys and indices that lead there, without the names that pydantic adds.
        keys: the known keys of the innermost block.
        options: the types that the value may have.
        choices: the same types, if pydantic found that the value has none of them.
    """

    location: tuple[str | int, ...]
    keys: Sequence[str]
    options: Sequence[Any]
    choices: Sequence[Any]


def _place(model: type[BaseModel], location: Sequence[str | int]) -> _Place:
    kept: list[str | int] = []
    options: list[Any] = [model]
    keys: list[str] = []
    choices: list[Any] = []
    for part in location:
        named = not choices and len(options) > 1  # then pydantic names one of them
        choices = []
        if named and (tagged := [option for option in options if _tag(option) == part]):
            options = tagged
        elif named:
            choices = options
        elif part != "[key]":
            kept.append(part)
            keys = [key for option in options for key in getattr(option, "model_fields", {})]
            options = [inner for option in options for inner in _inside(option, part)]
    return _Place(tuple(kept), keys, options, choices)


def _inside(option: Any, part: str | int) -> list[Any]:
    """Return the types that the value of a key, or an item, of a type may have."""
    if isinstance(option, type) and issubclass(option, BaseModel):
        field = option.model_fields.get(str(part))
        return _options(field.annotation) if field else []
    arguments = get_args(option)
    if get_origin(option) is dict or isinstance(part, int):
        return _options(arguments[-1]) if arguments else []
    return []


def _options(annotation: Any) -> list[Any]:
    """Return the types in an annotation, without None."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _options(get_args(annotation)[0])
    if origin is Union or origin is UnionType:
        return [option for inner in get_args(annotation) for option in _options(inner)]
    return [] if annotation is NoneType else [annotation]


def _called(option: Any) -> str:
    if get_origin(option) is Literal:
        return " or ".join(map(repr, get_args(option)))
    if isinstance(option, type) and issubclass(option, BaseModel):
        return _BLOCK
    return _TYPES.get(get_origin(option) or option, "another value")


def _tag(option: Any) -> str | None:
    field = getattr(option, "model_fields", {}).get("kind")
    options = get_args(field.annotation) if field else ()
    return str(options[0]) if len(options) == 1 else None
