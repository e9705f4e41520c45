"""Audit of the release path: neighbouring tables through `dpol privatize`, row by row of a run.

The claim is the agreement's mu, not the record's. Noise is secure, so it differs in every run of
the tests: a sound release is refuted with probability at most 1e-6 in each test.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from conftest import ERROR
from dpol_weekly.deployment import Deployment
from dpol_weekly.noise import CountNoise
from dpol_weekly.sampler import SecureNoise
from neighbours import in_process, play, refutations

# Tables of eight rows, so that a position within a run comes again and again.
SMALL = {"pairs": 4, "mu": 0.25}
# Many hospitals at once, for faults that only many rows show.
WIDE = {"pairs": 300, "mu": 2.0, "at_once": 2}
LEDGERS = 8


def seen(folder, command, ledgers, **setting):
    """Return the releases of several ledgers, with a run of the command for each week."""
    rng, runs = np.random.default_rng(7), []
    for number in range(ledgers):
        own = folder / f"{command.__name__}-{setting['pairs']}-{number}"
        own.mkdir()
        runs.append(play(own, command, rng, **setting))
    return runs


def test_weekly_releases_keep_what_the_agreement_claims(folder):
    assert refutations(seen(folder, in_process, LEDGERS, **SMALL), ERROR) == []


def on_draws(change):
    """A fault of the sampler: `change(draw, scale, size)`, where `draw` is the sound sampler."""
    sound = SecureNoise.discrete_gaussian

    def put(monkeypatch):
        def draws(self, scale, size):
            return change(lambda *asked: sound(self, *asked), scale, size)

        monkeypatch.setattr(SecureNoise, "discrete_gaussian", draws)

    return put


def third_is_zero(draw, scale, size):
    draws = draw(scale, size)
    return draws[:2] + [0] * len(draws[2:3]) + draws[3:]


def ten_percent_less(draw, scale, size):
    return draw(round(0.9 * scale), size)


def again(kept):
    """Every entity gets the draw of its week before."""

    def draws(draw, scale, size):
        half = kept.setdefault(size, draw(scale, size))[: size // 2]
        return half + half

    return draws


def sensitivity_of_one(monkeypatch):
    monkeypatch.setattr(Deployment, "count_noise", lambda self: CountNoise(Decimal(str(self.mu))))


FAULTS = {
    "the third draw of a call is 0": (
        *(on_draws(third_is_zero), SMALL, LEDGERS),
        {"variance of row 3"},
    ),
    # The noise is secure, so it has no seed: 300 pairs would miss this fault in 3% of runs, and 900
    # miss it once in 10^13.
    "noise 10% too small": (
        *(on_draws(ten_percent_less), WIDE | {"pairs": 900}, 1),
        {"variance of all"},
    ),
    "the draws of the run before": (*(on_draws(again({})), WIDE, 1), {"weeks"}),
    # 900 pairs miss this fault once in some 30,000 runs.
    "a sensitivity of 1": (
        *(sensitivity_of_one, WIDE | {"pairs": 900}, 1),
        {"variance of all", "one person by one hospital", "one person by both"},
    ),
}
"""Faults: how to make each, the tables that show it, and the claims that the audit must name."""


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_named(folder, monkeypatch, fault):
    put, tables, ledgers, named = fault
    put(monkeypatch)
    assert named <= {*refutations(seen(folder, in_process, ledgers, **tables), ERROR)}
