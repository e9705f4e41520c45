"""The claims ledger with the seeds it draws from: computed once a test run."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from dpol.core import randomness
from dpol.studies.claims import study
from dpol.studies.claims.core import Finding

SEED = 1
"""Root seed of the ledger and of everything whose seeds are compared with its own."""

Uses = dict[tuple[int, tuple[int, ...]], list[tuple[str, str, tuple[Any, ...]]]]
"""What each seed is drawn for: root and state -> study, purpose and key of every use."""


@contextlib.contextmanager
def recording(uses: Uses, user: str) -> Iterator[None]:
    """Add (user, purpose, key) to the uses of every seed that is asked for meanwhile."""
    original = randomness.seed_sequence

    def record(root, key):
        found = original(root, key)
        purpose = key[-1] if isinstance(key[-1], str) else key[0]
        uses[root, tuple(found.generate_state(4))].append((user, purpose, key))
        return found

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("dpol.") and getattr(module, "seed_sequence", None) is original:
                patch.setattr(module, "seed_sequence", record)
        yield


def compute() -> tuple[dict[str, list[Finding]], Uses]:
    """All findings by statement, and what their seeds are drawn for."""
    about = study.statements().values()
    checks = {study.check_of(it) for it in about if not it.found_by.startswith("gains.")}
    findings: dict[str, list[Finding]] = {}
    uses: Uses = defaultdict(list)
    with recording(uses, "claims"):
        for check in checks:
            findings |= study.findings(check, SEED)
    return findings, uses
