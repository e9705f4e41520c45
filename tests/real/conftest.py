"""Where the packages of `requirements/peers.txt` are, and how exact jax is."""

import os
import sys
from pathlib import Path

# At the end: the folder holds a package `tests` too.
sys.path.append(str(Path(sys.prefix) / "peers"))
os.environ["JAX_ENABLE_X64"] = "1"
