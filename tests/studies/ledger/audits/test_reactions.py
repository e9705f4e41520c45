"""RW-AdaBatch against an adversary that sees its actions."""

from __future__ import annotations

import numpy as np
import pytest

import adabatch_plain as plain
from dpol.data.synthetic import synthetic_stream
from dpol.studies.ledger.audits import adabatch
from dpol.studies.paper1.batching.compute import noisy_game


@pytest.mark.parametrize("believes", [False, True], ids=["sees", "believes"])
def test_the_game_agrees_with_plain_python(believes, monkeypatch):
    """Batches, actions and gains, for an adversary that sees the leaders and one that errs."""
    for name, value in (("_BEFORE", 60), ("_QUIET", 30), ("_AFTER", 8)):
        monkeypatch.setattr(adabatch, name, value)
    gains = np.zeros((69, 2))
    gains[60, 0] = 1.0
    noisy, unused = noisy_game(synthetic_stream("reactions", gains), 0.5, 1, range(6))
    leaders = np.random.default_rng(2).integers(0, 2, (6, 69)).astype(np.int32)
    played = adabatch.play_against(noisy, unused, leaders if believes else None)
    sizes = set()
    for run in range(6):
        total, expected = noisy.initial[run].copy(), list[int]()
        while len(expected) < 69:
            start, leader = len(expected), int(total.argmax())
            size = plain.batch_size(
                plain.borell_tis,
                float(total.max() - total.min()),
                start + 1,
                n=2,
                rounds=69,
                alpha=adabatch.REACTED_TO.alpha,
                eta=float(noisy.noise_scale[0, 0]),
                r=1.0,
            )
            sizes.add(size)
            for t in range(start, min(start + size, 69)):
                expected.append(leader)
                total += noisy.gains[run, t]
                if t >= 30 and t != 60:
                    total[1 - (leaders[run, t] if believes else leader)] += 1.0
        assert played[run].tolist() == expected
    assert len(sizes) > 2
