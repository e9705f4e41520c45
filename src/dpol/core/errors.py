"""Errors that a user can fix.

Each message names the file, key or row, what is wrong with it, and the remedy. dpol prints it
without a traceback; any other exception is a bug in dpol and keeps its traceback.
"""

from __future__ import annotations

import traceback


class DpolError(Exception):
    """A mistake outside dpol; users see its text as it is."""


class UsageError(DpolError):
    """Invalid command-line usage; the command ends with exit code 2 instead of 1."""


class ConfigError(DpolError):
    """A config file breaks a rule; the text lists every broken rule at once."""


class DataError(DpolError):
    """A data file or table breaks a rule."""


class AlgorithmError(DpolError):
    """An algorithm of another package fails while a run plays it."""


class FetchError(DpolError):
    """A dataset could not be fetched."""


class OutputError(DpolError):
    """A result could not be written."""


def in_one_line(error: Exception) -> str:
    """Return the kind, text and notes of an error that code of another package raised.

    >>> in_one_line(KeyError("north"))
    "KeyError: 'north'"
    """
    parts = traceback.format_exception_only(error)
    return "; ".join(" ".join(part.split()) for part in parts)
