"""Errors that a user can fix.

Each message names the file, key or row, what is wrong with it, and the remedy. dpol prints it
without a traceback; any other exception is a bug in dpol and keeps its traceback.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from string import Formatter
from typing import TypeAlias


@dataclass(frozen=True)
class Key:
    """A key of a config in a message, which each edge that speaks to a person names in its words.

    Args:
        location: keys and list indices that lead to it.
        value: what it should be set to, as JSON; then the message shows lines to paste.
    """

    location: tuple[str | int, ...]
    value: str = ""

    def __str__(self) -> str:
        """Return its name in a config, such as dataset.endpoints[0].url, or lines of the config."""
        if self.value:
            lines = [f"{'  ' * depth}{part}:" for depth, part in enumerate(self.location)]
            return "\n".join(["in the config:", *lines]) + f" {self.value}"
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.location)
        return "".join(parts).removeprefix(".")


Text: TypeAlias = "str | Key | tuple[Text, ...]"
"""A message, or a part of one."""


def keyed(template: str, **values: Text) -> Text:
    """Return a text whose fields are keys of a config, or the given values.

    >>> keyed("Lower {dataset.cleaning.max_carry} to {most}.", most="3")[1]
    Key(location=('dataset', 'cleaning', 'max_carry'), value='')
    """
    parts: list[Text] = []
    for words, field, *_ in Formatter().parse(template):
        parts.append(words)
        if field is not None:
            parts.append(values[field] if field in values else Key(tuple(field.split("."))))
    return tuple(parts)


def in_words(text: Text, name: Callable[[Key], str] = str) -> str:
    """Return a text with its keys named by `name`, as in a config by default."""
    if isinstance(text, tuple):
        return "".join(in_words(part, name) for part in text)
    return name(text) if isinstance(text, Key) else str(text)


def in_lines(texts: Iterable[Text]) -> Text:
    """Return texts as one, each on a line of its own."""
    return tuple(part for text in texts for part in ("\n", text))[1:]


class DpolError(Exception):
    """A mistake outside dpol; users see its text, the parts in `args`, as it is."""

    def __init__(self, *text: Text) -> None:
        super().__init__(*text)

    def __str__(self) -> str:
        return in_words(self.args)


class UsageError(DpolError):
    """Invalid command-line usage; the command ends with exit code 2 instead of 1."""


class ConfigError(DpolError):
    """A config file breaks a rule; the text lists every broken rule at once."""


class DataError(DpolError):
    """A data file or table breaks a rule."""


class FetchError(DpolError):
    """A dataset could not be fetched."""


class OutputError(DpolError):
    """A result could not be written."""


def in_one_line(error: BaseException) -> str:
    """Return the kind, text and notes of an error that code of another package raised.

    >>> in_one_line(KeyError("north"))
    "KeyError: 'north'"
    """
    parts = traceback.format_exception_only(error)
    return "; ".join(" ".join(part.split()) for part in parts)


# ---- packages of the extra `pipeline`, which the library does without ----------------------------

PIPELINE = {
    "matplotlib", "openpyxl", "pandas", "pyarrow", "requests", "rocrate", "snakemake", "urllib3",
}  # fmt: skip
"""Modules of the extra."""


def missing(error: ModuleNotFoundError) -> str:
    """Return what to install if a module of the extra is missing; empty for any other module."""
    if error.name is None or error.name.partition(".")[0] not in PIPELINE:
        return ""
    return f'{error.name} is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"'


@contextmanager
def needs_pipeline() -> Iterator[None]:
    """Let an import of a module of the extra fail with what to install.

    Raises:
        ModuleNotFoundError: the module is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if remedy := missing(error):
            raise ModuleNotFoundError(remedy, name=error.name) from None
        raise
