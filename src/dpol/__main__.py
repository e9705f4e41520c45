"""`python -m dpol` is the command `dpol`."""

import sys

from dpol.cli import main

sys.exit(main())
