from __future__ import annotations

import dataclasses
import json
import math

import pytest

from dpol.privacy.guarantee import NO_PRIVACY, Guarantee


def test_a_guarantee_survives_json():
    stored = json.loads(json.dumps(NO_PRIVACY.as_dict()))
    assert Guarantee(**stored) == NO_PRIVACY


def test_every_field_is_stored():
    assert set(NO_PRIVACY.as_dict()) == {
        "mechanism",
        "adjacency",
        "unit",
        "sensitivity",
        "sensitivity_unit",
        "mu",
        "model",
        "sampler",
        "epsilon_delta",
    }


def test_a_guarantee_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        NO_PRIVACY.mu = 1.0


def test_no_privacy_guarantees_nothing():
    assert NO_PRIVACY.mu == math.inf
    assert NO_PRIVACY.model == NO_PRIVACY.mechanism == NO_PRIVACY.sampler == "none"


def test_mu_zero_is_a_guarantee():
    assert dataclasses.replace(NO_PRIVACY, mu=0.0).mu == 0.0


@pytest.mark.parametrize("mu", [-0.5, math.nan])
def test_a_negative_mu_is_refused(mu):
    with pytest.raises(ValueError, match="mu must not be negative"):
        dataclasses.replace(NO_PRIVACY, mu=mu)
