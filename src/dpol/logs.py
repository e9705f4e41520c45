"""What a job writes to its log, and how it ends when the user made a mistake."""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dpol.errors import DpolError

LOGGER = logging.getLogger("dpol")


@contextmanager
def job_log(path: Path | str, *, echo: bool = False) -> Iterator[logging.Logger]:
    """Log to `path`; end the process with the message alone if a `DpolError` is raised.

    Args:
        path: the log file, begun anew.
        echo: also write progress to the terminal.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [logging.FileHandler(path, mode="w", encoding="utf-8")]
    if echo:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield LOGGER
    except DpolError as error:
        LOGGER.info("error: %s", error)
        print(f"\nerror: {error}\n", file=sys.stderr)
        sys.exit(1)
    except Exception:
        LOGGER.info("%s", traceback.format_exc())
        raise
    finally:
        for handler in handlers:
            LOGGER.removeHandler(handler)
            handler.close()
