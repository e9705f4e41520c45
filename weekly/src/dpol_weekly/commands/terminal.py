"""What a person types and reads at a terminal."""

from __future__ import annotations

import argparse
import datetime
import errno
import sys


def on_terminal() -> bool:
    """Return True if a person reads what is printed, and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def show(text: str) -> None:
    """Print a text at once, with codes for characters that the output cannot show.

    Raises:
        OSError: the output is closed or full.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def date(text: str) -> datetime.date:
    """Parse a date."""
    from dpol_weekly.deployment import iso_date

    if day := iso_date(text):
        return day
    raise argparse.ArgumentTypeError(f"must be a date such as 2021-01-31, got {text!r}")
