"""The claims ledger and its seeds, computed once in a test run."""

from __future__ import annotations

import contextlib
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from dpol.core import randomness
from dpol.studies.ledger.claims import compute as study
from dpol.studies.ledger.claims.core import Finding

SEED = 1
"""Root seed of the ledger and of everything whose seeds are compared with it."""

Uses = dict[tuple[int, tuple[int, ...]], list[tuple[str, str, tuple[Any, ...]]]]
"""Uses of each seed: root and state -> study, purpose and key of every use."""


@contextlib.contextmanager
def recording(uses: Uses, user: str) -> Iterator[None]:
    """Record (user, purpose, key) for every seed drawn in this context."""
    original = randomness.seed_sequence

    def record(root, key):
        seed = original(root, key)
        purpose = key[-1] if isinstance(key[-1], str) else key[0]
        uses[root, tuple(seed.generate_state(4))].append((user, purpose, key))
        return seed

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("dpol.") and getattr(module, "seed_sequence", None) is original:
                patch.setattr(module, "seed_sequence", record)
        yield


def compute() -> tuple[dict[str, list[Finding]], Uses]:
    """Compute all findings by statement, and the uses of their seeds."""
    findings: dict[str, list[Finding]] = defaultdict(list)
    uses: Uses = defaultdict(list)
    asked = [it for it in study.statements().values() if not it.on_data]
    with recording(uses, "claims"):
        for check in dict.fromkeys(it.check for it in asked):
            for finding in check(SEED):
                findings[finding.name].append(finding)
    return findings, uses
