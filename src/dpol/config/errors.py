"""Turning what pydantic found into one message that a person can act on."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from dpol.core.errors import ConfigError
from dpol.core.settings import TRUTH_VALUE

RENAMED = {"distributions": "labels"}
"""Keys of earlier versions, and what they are called now."""
MISSING = object()
"""The value of a key that is not there."""

_KINDS = {
    "list_": "must be a list, such as [a, b]",
    "dict_": "must be a block of keys",
    "model_": "must be a block of keys",
    "string_type": "must be text",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "bool_": "must be true or false",
    "date_": "must be a date such as 2021-01-31",
}
"""What is allowed, by how pydantic's name for the mistake begins."""


@dataclass(frozen=True)
class Problem:
    """One broken rule: where, the value found there, and what is allowed."""

    key: str
    value: object
    allowed: str

    def __str__(self) -> str:
        if self.value is MISSING:
            return f"{self.key}: {self.allowed}"
        shown = repr(self.value)
        if len(shown) > 80:
            shown = shown[:77] + "..."
        return f"{self.key} = {shown}: {self.allowed}"


def dotted(location: Iterable[str | int]) -> str:
    """A location as it is written in messages: dataset.endpoints[0].url."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """`; did you mean X?` if a known name is near."""
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]}?" if close else ""


def nearest(name: object, known: Iterable[str]) -> str:
    """`; did you mean X?`, or the known names if none is near."""
    known = list(known)
    return did_you_mean(name, known) or f"; known: {', '.join(known)}"


def problems_of(error: ValidationError, model: type[BaseModel], raw: object) -> list[Problem]:
    """The problems in a validation error, without the tags that pydantic adds to locations."""
    found = []
    for detail in error.errors(include_url=False):
        location, value, fields = _resolve(model, raw, detail["loc"])
        found.append(_problem(detail, location, value, fields))
    return found


def raise_problems(place: str, problems: Sequence[Problem]) -> None:
    """Raise one ConfigError that lists all problems, if there are any."""
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise ConfigError(f"{place}: {count}\n{lines}\nconfig/README.md explains every key.")


def _problem(
    detail: Any, location: tuple[str | int, ...], value: object, fields: Sequence[str]
) -> Problem:
    key = dotted(location)
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == TRUTH_VALUE:
        return Problem(dotted([*location, context["key"]]), context["value"], detail["msg"])
    if kind == "extra_forbidden":
        now = f"; it is called {RENAMED[key]} now" if key in RENAMED else None
        return Problem(key, value, f"unknown key{now or nearest(location[-1], fields)}")
    if kind == "missing":
        return Problem(key, MISSING, "is missing and has no default")
    if kind == "literal_error":
        options = _options(context["expected"].replace(" or ", ", "))
        allowed = f"must be {context['expected']}{did_you_mean(value, options)}"
        return Problem(key, value, allowed)
    if kind == "union_tag_invalid":
        options, tag = _options(context["expected_tags"]), context["tag"]
        allowed = f"must be {' or '.join(options)}{did_you_mean(tag, options)}"
        return Problem(f"{key}.kind", tag, allowed)
    if kind == "union_tag_not_found":
        return Problem(f"{key}.kind", MISSING, "is missing: web, local, simulated or gains")
    if kind == "string_pattern_mismatch":
        allowed = "must be letters, digits, '.', '_' and '-', and begin with a letter or digit"
        return Problem(key, value, allowed)
    for prefix, allowed in _KINDS.items():
        if kind.startswith(prefix):
            unquoted = kind == "string_type" and isinstance(value, (int, float, datetime.date))
            return Problem(key, value, allowed + ("; put it in quotes" if unquoted else ""))
    message = detail["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    if message[1:2].islower():
        message = message[0].lower() + message[1:]
    return Problem(key, value, message)


def _options(quoted: str) -> list[str]:
    return [option.strip("' ") for option in quoted.split(",")]


def _resolve(
    model: type[BaseModel], raw: object, location: tuple[str | int, ...]
) -> tuple[tuple[str | int, ...], object, list[str]]:
    """The location without pydantic's tags, the raw value there, and the keys known beside it."""
    kept: list[str | int] = []
    value: Any = raw
    models: list[type[BaseModel]] = [model]
    fields: list[str] = list(model.model_fields)
    for index, part in enumerate(location):
        if part == "[key]" and index == len(location) - 1:
            return tuple(kept), kept[-1], fields
        tagged = [m for m in models if _tag(m) == part] if len(models) > 1 else []
        if tagged:
            models, fields = tagged, list(tagged[0].model_fields)
            continue
        kept.append(part)
        fields = list(models[0].model_fields) if models else fields
        annotations = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        if annotations:
            models = [found for annotation in annotations for found in _models_in(annotation)]
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            value = MISSING
    return tuple(kept), value, fields


def _tag(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("kind")
    options = get_args(field.annotation) if field else ()
    return str(options[0]) if len(options) == 1 else None


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models_in(inner)]
