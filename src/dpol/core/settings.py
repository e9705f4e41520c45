"""Base class and common values of the models of a config, and what is said of a wrong one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from dpol.core.errors import ConfigError, Key, Text
from dpol.core.words import counted, did_you_mean, nearest

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=64)]
Value = TypeVar("Value")
Left: TypeAlias = str | Mapping[str, str]
"""What to do about a key of an earlier release; of a block, about each of its keys."""


def all_different(values: list[Value]) -> list[Value]:
    """Return the values. Raises ValueError if two are equal, such as 1 and 1.0."""
    if twice := [value for n, value in enumerate(values) if value in values[:n]]:
        raise ValueError(f"must not hold {twice[0]} twice")
    return values


Different = Annotated[list[Value], AfterValidator(all_different)]
"""Different values, perhaps none."""
Several = Annotated[list[Value], Field(min_length=1), AfterValidator(all_different)]
"""One or more different values."""


MISSING = object()
"""Value of an absent key."""


@dataclass(frozen=True)
class Problem:
    """A broken rule in a config.

    Args:
        location: keys and list indices that lead to the value.
        value: the value in the config.
        allowed: what is allowed instead.
    """

    location: tuple[str | int, ...]
    value: object
    allowed: Text

    @property
    def text(self) -> Text:
        """The key, its value and what is allowed."""
        value = "" if self.value is MISSING else f" = {self.shown}"
        return Key(self.location), f"{value}: ", self.allowed

    @property
    def shown(self) -> str:
        """The value in a message, cut to 80 characters."""
        shown = repr(self.value)
        return shown if len(shown) <= 80 else shown[:77] + "..."


_NUMBER = re.compile(r"\b(int|float)\b")


@dataclass(frozen=True)
class _Boolean:
    """A boolean where none belongs; a number does not accept it, as it accepts True for 1."""

    value: bool

    def __repr__(self) -> str:
        return repr(self.value)


def _without_booleans(value: object, kind: Any) -> object:
    """Return a value for a field of some type; a boolean for a number is a `_Boolean`."""
    if isinstance(value, bool) and _NUMBER.search(str(kind)) and "bool" not in str(kind):
        return _Boolean(value)
    if isinstance(value, list):
        return [_without_booleans(item, kind) for item in value]
    if isinstance(value, Mapping) and get_origin(kind) is dict:
        return {key: _without_booleans(item, get_args(kind)[1]) for key, item in value.items()}
    return value


class Settings(BaseModel):
    """Base class of all config models: frozen, and unknown keys are refused."""

    LEFT: ClassVar[Mapping[str, Left]] = {}
    """Keys of an earlier release, each with what to do instead."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _plain_values(cls, raw: object) -> object:
        """Keep booleans from numbers, and drop keys with null whose default is null."""
        if not isinstance(raw, Mapping):
            return raw
        given = {}
        for key, value in raw.items():
            field = cls.model_fields.get(key)
            if value is not None or field is None or field.default is not None:
                given[key] = _without_booleans(value, field and field.annotation)
        return given


# ---- pydantic's errors as one message that a person can act on -----------------------------------

MANUAL = "The page Configs of the documentation"
_ALLOWED = {
    "missing": "is missing and has no default",
    "list_": "must be a list, such as [a, b]",
    "dict_|model_": "must be a block of keys",
    "string_type": "must be text",
    "string_pattern": "must be letters, digits, '.', '_' and '-', and begin with a letter or digit",
    "int_": "must be a whole number",
    "float_": "must be a number",
    "bool_": "must be true or false",
    "date_": "must be a date such as 2021-01-31",
    "url_": "must be an address that begins with http:// or https://",
    "invalid_key": "is no text to YAML, as dates, yes and no are; put it in quotes, or remove it",
}
"""Allowed values in words, by the beginning of pydantic's type of error."""


def refusal(place: str, problems: Sequence[Problem], manual: str = MANUAL) -> ConfigError:
    """Return one error that lists all problems of the file `place`; `manual` explains its keys."""
    lines = [("\n  ", problem.text) for problem in problems]
    count = counted(len(problems), "problem")
    return ConfigError(f"{place}: {count}", *lines, f"\n{manual} explains every key.")


def problems_of(error: ValidationError, model: type[BaseModel], raw: object) -> list[Problem]:
    """Return the problems that pydantic found when it validated `raw` as a model."""
    details = error.errors(include_url=False)
    return [problem for detail in details for problem in _problems(detail, model, raw)]


def inside(value: object) -> dict[str, object]:
    """Return the values in a block or a list, by key or index as text."""
    pairs = dict(enumerate(value)) if isinstance(value, list) else value
    return {str(key): inner for key, inner in pairs.items()} if isinstance(pairs, Mapping) else {}


def _problems(detail: Any, model: type[BaseModel], raw: object) -> Iterator[Problem]:
    kind, value, allowed = detail["type"], detail["input"], _allowed(detail)
    if kind == "invalid_key":  # pydantic places a key such as yes at 1
        detail = {**detail, "loc": (*detail["loc"][:-1], str(value))}
        value = MISSING
    location, models = _place(detail, [model], raw)
    expected = detail.get("ctx", {}).get("expected")
    if kind == "extra_forbidden":
        keys = [key for each in models for key in each.model_fields]
        for left in (getattr(each, "LEFT", {}) for each in models):
            if location[-1] in left:
                yield from _left(location, value, left[location[-1]])
                return
        yield Problem(location, value, f"unknown key{nearest(location[-1], keys)}")
        return
    if kind.startswith("union_tag"):
        location, value = (*location, "kind"), value.get("kind", MISSING)
        kinds = ", ".join(repr(name) for each in models for name in _kinds(each))
        expected = " or ".join(kinds.rsplit(", ", 1))
    if expected:
        near = did_you_mean(value, re.findall("'([^']*)'", expected))
        allowed = f"{'is missing; ' if value is MISSING else ''}must be {expected}{near}"
    yield Problem(location, MISSING if kind == "missing" else value, allowed)


def _left(location: tuple[str | int, ...], value: object, left: Left) -> Iterator[Problem]:
    """Yield what to do about a key of an earlier release, or about each key of a block."""
    if isinstance(left, str):
        yield Problem(location, value, f"delete it: {left}")
        return
    for key, own in inside(value).items() or {"": value}.items():
        instead = left.get(key, "; ".join(left.values()) if not key else "it is no key")
        yield Problem((*location, *[key] * bool(key)), own, f"delete it: {instead}")


def _allowed(detail: Any) -> str:
    kind, message = detail["type"], detail["msg"].partition(" after validation")[0]
    if kind == "value_error":
        message = str(detail["ctx"]["error"])
    # Its `ctx` holds 1e-09 and 1.0 where pydantic's own words have 0.000000001 and 1.
    message = re.sub("^[A-Z][a-z]+ should", "must", message)
    allowed = next((words for begin, words in _ALLOWED.items() if re.match(begin, kind)), None)
    if allowed and re.match("int_|float_", kind) and "," in str(detail["input"]):
        return f"{allowed}; write a decimal point, and no comma"
    if kind == "string_type" and not isinstance(detail["input"], (Mapping, list, type(None))):
        return f"{allowed}; put it in quotes"
    return allowed or message[0].lower() + message[1:]


def _place(detail: Any, models: list[Any], raw: object) -> tuple[tuple[str | int, ...], list[Any]]:
    """Return the keys and indices that lead to a value, and the models of the block around it.

    Pydantic's location also holds names that are not in the file, such as the kinds of a union.
    """
    kept: tuple[str | int, ...] = ()
    for part in detail["loc"]:
        if len(models) > 1 and (tagged := [each for each in models if part in _kinds(each)]):
            models = tagged
            continue
        known = (it for each in models for it in each.model_fields.items())
        fields = [field for name, field in known if part in (name, field.alias)]
        models = [each for field in fields for each in _models(field.annotation)] or models
        items = inside(raw)
        if fields or str(part) in items:
            kept, raw = (*kept, part), items.get(str(part))
    return kept, models


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _kinds(model: type[BaseModel]) -> tuple[str, ...]:
    return get_args(model.model_fields["kind"].annotation) if "kind" in model.model_fields else ()
