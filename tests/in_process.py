"""The command `dpol` in the process of a test."""

from __future__ import annotations

import contextlib
import io

from dpol.cli import main


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `dpol` and return its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()
