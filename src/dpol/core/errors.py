"""Errors that a user can fix.

The code that raises one writes the whole story: the file, key or row, what is wrong
with it, and the remedy. The program prints the message without a
traceback; every other exception is a defect of dpol and keeps its traceback.
"""

from __future__ import annotations


class DpolError(Exception):
    """A mistake outside the program; its text is meant for the user as it is."""


class UsageError(DpolError):
    """Nobody can mean what was typed; a command ends with exit code 2 instead of 1."""


class ConfigError(DpolError):
    """A config file breaks a rule; the text lists every broken rule at once."""


class DataError(DpolError):
    """A data file or table breaks a rule."""


class AlgorithmError(DpolError):
    """An algorithm of another package fails a check while a run plays it."""


class FetchError(DpolError):
    """A dataset could not be fetched."""


class OutputError(DpolError):
    """A result could not be written."""
