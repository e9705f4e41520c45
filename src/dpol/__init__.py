"""Differentially private online learning: algorithms, accounting and experiments.

The public names, loaded when they are first used: `docs/reference/public.md` says what each is.
To add one: a line in `__init__.pyi`, which type checkers read too.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
