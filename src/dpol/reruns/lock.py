"""The lock of a run: one call at a time makes its results, from whatever folder it was started."""

from __future__ import annotations

import atexit
import os
import platform
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dpol.core.errors import OutputError
from dpol.core.files import output_error, write_text


def hold(folder: Path, config: str) -> Callable[[], None]:
    """Lock the folder of a run until this process ends, however it ends.

    Args:
        folder: results/<run>; the lock is on a file among its logs.
        config: names of the config files, for the message in another call.

    Returns:
        A function that ends the lock before.

    Raises:
        OutputError: another call has the lock, or the file cannot be written or locked.
    """
    stack, holder = ExitStack(), folder / "logs/at-work"
    try:
        holder.parent.mkdir(parents=True, exist_ok=True)
        stack.enter_context(FileLock(folder / "logs/lock", timeout=0))
    except Timeout:
        held = "it just began"
        with suppress(FileNotFoundError):
            held = holder.read_text(encoding="utf-8")
        raise OutputError(
            f"{folder}: another run is at work there: {held}; wait for its end, or give this config"
            " another `run`"
        ) from None
    except OSError as error:
        raise output_error(holder, error) from error
    since = time.strftime("%H:%M")
    write_text(holder, f"process {os.getpid()} on {platform.node()}, since {since}, {config}")
    stack.callback(holder.unlink, missing_ok=True)  # what is left names no machine
    return atexit.register(stack.close)
