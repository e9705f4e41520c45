"""What a person types and reads at a terminal."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dpol.core.errors import DpolError
from dpol.core.options import drop_output


def on_terminal() -> bool:
    """Return True if a person reads what is printed, and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def asked(question: str) -> str:
    """Ask a question on a terminal."""
    print(f"{question} ", end="", flush=True)
    return sys.stdin.readline().strip()


def date(text: str) -> datetime.date:
    """Parse a date."""
    from dpol_weekly.deployment import iso_date

    if day := iso_date(text):
        return day
    raise argparse.ArgumentTypeError(f"must be a date such as 2021-01-31, got {text!r}")


@contextmanager
def saying(written: str) -> Iterator[None]:
    """Show something; if the block is stopped, or cannot show it, say what is released."""
    try:
        yield
        if sys.stdout is None:
            raise ValueError("it is closed")
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(written) from None
    except (OSError, ValueError) as error:
        drop_output()
        why = getattr(error, "strerror", None) or error
        raise DpolError(f"{written}; no more can be shown ({why})") from None
