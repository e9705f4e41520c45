from __future__ import annotations

import dataclasses
import json
import math

import pytest

from dpol.data.stream import SELECTION
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.lazy.algorithm import LazyWeights
from dpol.noise import privatize
from dpol.noise.noisy_gains import NOISES
from dpol.privacy.guarantee import NO_PRIVACY, Guarantee


def test_a_guarantee_survives_json():
    stored = json.loads(json.dumps(NO_PRIVACY.as_dict()))
    assert Guarantee(**stored) == NO_PRIVACY


def test_no_privacy_guarantees_nothing():
    assert NO_PRIVACY.mu == math.inf
    assert NO_PRIVACY.model == NO_PRIVACY.mechanism == NO_PRIVACY.sampler == "none"


@pytest.mark.parametrize("mu", [-0.5, math.nan])
def test_a_negative_mu_is_refused(mu):
    assert dataclasses.replace(NO_PRIVACY, mu=0.0).mu == 0.0
    with pytest.raises(ValueError, match="mu must not be negative"):
        dataclasses.replace(NO_PRIVACY, mu=mu)


@pytest.mark.parametrize(
    ("selection", "said"),
    [("counts", "min_total_cases"), ("warm-up", "warm_up_last"), ("given", ""), ("all", "")],
)
def test_every_record_says_how_the_list_of_entities_came_about(random_stream, selection, said):
    stream = random_stream(100, 3, provenance={SELECTION: selection})
    records = [privatize(stream, name, 1.0, seed=1, replicates=[0]).guarantee for name in NOISES]
    central = (TreeFTPL(), LazyWeights())
    records += [guarantee_of(it, RawGains(stream, 1.0, 1)) for it in central]
    for record in records:
        assert said in record.taken_as_public
        assert bool(said) == bool(record.taken_as_public)
