"""Whether a person sits at a terminal."""

from __future__ import annotations

import sys


def on_terminal() -> bool:
    """Return True if a person reads what is printed, and can answer."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
