"""Differentially private online learning: algorithms, accounting and experiments.

Public names are loaded on first use; `docs/reference/library.md` describes them. To add one, add a
line to `__init__.pyi`, which type checkers read too.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
