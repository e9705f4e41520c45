"""Guarantees as events of dp_accounting, against its own classes and accountants."""

from __future__ import annotations

import json
import math

import dp_accounting
import pytest
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpol.privacy.dp_events import dp_event, dp_event_facts, mu_of_dp_event
from dpol.privacy.gaussian_dp import epsilon_of_delta

ONE = dp_accounting.NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACED = dp_accounting.NeighboringRelation.REPLACE_ONE


def gaussian(mu):
    return dp_event(dp_event_facts(mu))


@pytest.mark.parametrize("epsilon_delta", [None, (0.5, 0.0), (800.0, 0.0), (1.0, 1e-6)])
@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0, math.inf])
def test_the_plain_data_is_that_of_dp_accounting(mu, epsilon_delta):
    """Field by field, also after JSON; an unsupported event is one that accountants refuse."""
    facts = dp_event_facts(mu, epsilon_delta)
    event = dp_event(facts)
    assert event.to_named_tuple()._asdict() == json.loads(json.dumps(facts, allow_nan=False))
    refused = epsilon_delta == (1.0, 1e-6)
    assert RdpAccountant(neighboring_relation=REPLACED).supports(event) != refused


@pytest.mark.parametrize("mu", [0.05, 0.25, 0.5, 1.0, 3.0])
def test_accountants_of_dp_accounting_agree(mu):
    """The PLD accountant within 1e-3, the RDP one at least; a mu wrong by 1% is not within that.

    With the relation REPLACE_ONE the PLD accountant would answer for 2 mu, the RDP one for mu.
    """
    event = gaussian(mu)
    exact = PLDAccountant(neighboring_relation=ONE).compose(event)
    bound = RdpAccountant(neighboring_relation=ONE).compose(event)
    for delta in (1e-9, 1e-6, 1e-3):
        ours = epsilon_of_delta(delta, mu)
        assert exact.get_epsilon(delta) == pytest.approx(ours, abs=1e-3)
        assert bound.get_epsilon(delta) >= ours
        if ours > 0.2:
            assert epsilon_of_delta(delta, 1.01 * mu) > exact.get_epsilon(delta) + 1e-3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_a_pure_epsilon_is_that_of_randomized_response(epsilon):
    event = dp_event(dp_event_facts(math.nan, (epsilon, 0.0)))
    accountant = PLDAccountant(neighboring_relation=REPLACED).compose(event)
    assert accountant.get_epsilon(0.0) == pytest.approx(epsilon, abs=1e-3)


def test_an_event_leads_back_to_mu():
    for mu in (0.0, 0.05, 0.3, 2.0, math.inf):
        event = gaussian(mu)
        assert mu_of_dp_event(event) == pytest.approx(mu, rel=1e-15)
        assert mu_of_dp_event(dp_event_facts(mu)) == mu_of_dp_event(event)
    half = gaussian(0.5)
    weeks = dp_accounting.SelfComposedDpEvent(half, 4)
    both = dp_accounting.ComposedDpEvent([weeks, gaussian(0.75)])
    assert (mu_of_dp_event(weeks), mu_of_dp_event(both)) == (1.0, 1.25)
    assert mu_of_dp_event(dp_accounting.SelfComposedDpEvent(gaussian(math.inf), 0)) == 0
    assert mu_of_dp_event(dp_accounting.GaussianDpEvent(0.0)) == math.inf


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (dp_accounting.LaplaceDpEvent(1.0), "LaplaceDpEvent has no Gaussian-DP parameter"),
        (dp_accounting.PoissonSampledDpEvent(0.1, dp_accounting.GaussianDpEvent(1.0)), "Poisson"),
        (dp_accounting.GaussianDpEvent(-1.0), "must not be negative"),
        (dp_accounting.GaussianDpEvent(math.nan), "must not be negative"),
        (
            dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(1.0), -1),
            "count must not be",
        ),
    ],
)
def test_other_events_are_refused(event, message):
    with pytest.raises(ValueError, match=message):
        mu_of_dp_event(event)
