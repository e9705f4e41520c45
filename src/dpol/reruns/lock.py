"""The lock of a run: one call at a time makes its results, from whatever folder it was started."""

from __future__ import annotations

import atexit
import fcntl
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

from dpol.core.errors import OutputError
from dpol.core.files import output_error


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
    path = folder / "logs/lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with file:
            file.seek(0)
            held = file.read() or "it just began"
        raise OutputError(
            f"{folder}: another run is at work there: {held}; wait for its end, or give this config"
            " another `run`"
        ) from None
    except OSError as error:
        raise output_error(path, error) from error
    file.truncate(0)
    since = time.strftime("%H:%M")
    file.write(f"process {os.getpid()} on {platform.node()}, since {since}, {config}")
    file.flush()

    def release() -> None:
        if not file.closed:
            file.truncate(0)  # what is left names no machine
            file.close()

    return atexit.register(release)
