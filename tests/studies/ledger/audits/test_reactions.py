"""RW-AdaBatch against an adversary that sees its actions."""

from __future__ import annotations

import numpy as np
import pytest

import adabatch_plain as plain
from dpol.data.synthetic import synthetic_stream
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.ledger.audits import adabatch
from dpol.studies.ledger.audits.compute import SAMPLED
from dpol.studies.ledger.audits.settings import Audits
from dpol.studies.paper1.batching.compute import noisy_game

SETTINGS = Audits(runs=4000, confidence=1 - 0.05 / SAMPLED)
SEED = 1


def game(rounds, mu, replicates, secret=None):
    """Return noisy gains of two experts; expert 0 gains 1 in the secret round."""
    gains = np.zeros((rounds, 2))
    if secret is not None:
        gains[secret, 0] = 1.0
    return noisy_game(synthetic_stream("reactions", gains), mu, SEED, range(replicates))


def test_only_an_adversary_that_reacts_refutes_the_claim():
    """A true claim is refuted with probability at most 0.05 / `SAMPLED`.

    Power: on 8 further seeds the bound was always beyond the claim, its mean by 5 of its standard
    deviations. The oblivious adversary gives gains with the same distribution. The local claim,
    for a batch of one round, stands against both.
    """
    reacting, oblivious = (each.result for each in adabatch.audit_reactions(SETTINGS, SEED))
    assert (reacting.verdict, oblivious.verdict) == ("violated", "consistent")
    assert reacting.claimed == oblivious.claimed == 0.2
    assert reacting.delta == oblivious.delta == pytest.approx(0.292, abs=0.001)
    alone = BatchMixture(adabatch._LOCAL_MU, np.array([1]), np.array([1.0]))
    assert 0.3 < reacting.lower_bound < alone.epsilon(reacting.delta) < 3


@pytest.mark.parametrize("believes", [False, True], ids=["sees", "believes"])
def test_the_game_agrees_with_plain_python(believes, monkeypatch):
    """Batches, actions and gains, for an adversary that sees the leaders and one that errs."""
    for name, value in (("_BEFORE", 60), ("_QUIET", 30), ("_AFTER", 8)):
        monkeypatch.setattr(adabatch, name, value)
    noisy, unused = game(69, 0.5, 6, secret=60)
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
