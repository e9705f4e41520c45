"""Differentially private online learning: algorithms, accounting and experiments.

The public names, loaded when they are first used: `docs/reference/public.md` says what each is.
To add one: a line in `__init__.pyi`, which type checkers read too.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_STUB = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_IMPORT = re.compile(r"^from ([\w.]+) import (\w+) as \2$", re.MULTILINE)
_MODULES = {name: module for module, name in _IMPORT.findall(_STUB)}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'dpol' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
