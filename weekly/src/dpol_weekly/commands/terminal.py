"""What a person types and reads at a terminal."""

from __future__ import annotations

import argparse
import datetime
import sys


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
