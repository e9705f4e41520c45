"""The command `dpol`, and hashes of code, in the process of a test."""

from __future__ import annotations

import contextlib
import io

from dpol.cli import main
from dpol.core import plugins
from dpol.reruns import code_hashes


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `dpol` and return its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return code, out.getvalue(), err.getvalue()


def forget_code() -> None:
    """Read code again to hash it, as another process does, but parse no module of dpol again."""
    for it in (*vars(code_hashes).values(), *vars(plugins).values()):
        if hasattr(it, "cache_clear") and it is not code_hashes._parsed:
            it.cache_clear()
