"""The command `dpol`, as `python -m dpol`."""

import sys

from dpol.cli import main

if __name__ == "__main__":
    sys.exit(main())
