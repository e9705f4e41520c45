"""The command `dpol`, run in the process of a test."""

from __future__ import annotations

import contextlib
import io

from dpol.cli import main


def command(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `dpol` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(it) for it in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()
