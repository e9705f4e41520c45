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
from dpol_weekly.holder import draws
from dpol_weekly.memory import Memory
from dpol_weekly.noise import CountNoise
from dpol_weekly.sampler import SecureNoise
from neighbours import in_process, in_real_process, play, refutations

SCHEMES = {
    "independent": {"memory": "none", "unit": 1},
    "independent, stays": {"memory": "none", "unit": 3},
    "memory": {"memory": "designed", "unit": 1},
    "memory, stays": {"memory": "designed", "unit": 3},
}
"""Noise and unit of an agreement."""
# Tables of eight rows, so that a position within a run comes again and again.
SMALL = {"pairs": 4, "mu": 0.25}
# Many hospitals at once, for faults that only many rows show.
WIDE = {"pairs": 600, "mu": 2.0, "at_once": 2}
LEDGERS = 30


def seen(folder, command, ledgers, **setting):
    """The releases of so many ledgers, a run of the command for each week."""
    rng, runs = np.random.default_rng(7), []
    for number in range(ledgers):
        own = folder / f"{command.__name__}-{setting['pairs']}-{number}"
        own.mkdir()
        runs.append(play(own, command, rng, **setting))
    return runs


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)
def test_weekly_releases_keep_what_the_agreement_claims(folder, scheme):
    assert refutations(seen(folder, in_process, LEDGERS, **SMALL, **scheme), ERROR) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_installed_command_keeps_it(folder, scheme):
    """Noise 10% too small, or a memory that a second run does not know, would not pass here."""
    assert refutations(seen(folder, in_real_process, 1, **WIDE, **SCHEMES[scheme]), ERROR) == []


@pytest.mark.parametrize("scheme", ["independent", "memory, stays"])
def test_the_installed_command_keeps_it_in_every_row(folder, scheme):
    """A third draw of 0, or the draws of another entity, would not pass here."""
    weekly = {**SMALL, **SCHEMES[scheme], "weeks": 3}
    assert refutations(seen(folder, in_real_process, 1, **weekly), ERROR) == []


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


def one_scale(least):
    """A chain takes the draws of the entity with the least noise, and 0 when those run out."""

    def draws(draw, scale, size):
        least.append(scale)
        return draw(min(least), size // 2) + [0] * (size - size // 2)

    return draws


def no_state(monkeypatch):
    """The state of a chain is never written."""
    monkeypatch.setattr(draws, "keep_state", lambda *_: None)


def unit_of_one(monkeypatch):
    monkeypatch.setattr(Deployment, "memory", lambda self: Memory(None, 1))


def sensitivity_of_one(monkeypatch):
    monkeypatch.setattr(Deployment, "count_noise", lambda self: CountNoise(Decimal(str(self.mu))))


FAULTS = {
    "the third draw of a call is 0": (
        *(on_draws(third_is_zero), SMALL, LEDGERS, "independent"),
        {"variance of row 3", "one person by row 3"},
    ),
    "the third draw of a call is 0, with memory": (
        *(on_draws(third_is_zero), SMALL, LEDGERS, "memory, stays"),
        {"variance of row 5", "variance of row 6"},
    ),
    "another entity's scale": (
        *(on_draws(one_scale([])), SMALL, 6, "memory"),
        {"variance of row 7", "variance of row 8"},
    ),
    "noise 10% too small": (
        *(on_draws(ten_percent_less), WIDE, 1, "memory, stays"),
        {"variance of all"},
    ),
    "a memory that is never written": (
        *(no_state, WIDE, 1, "memory"),
        {"later weeks of small"},
    ),
    "a unit of one week": (
        *(unit_of_one, WIDE, 1, "memory, stays"),
        {"variance of all", "one person by one hospital"},
    ),
    "a sensitivity of 1": (
        *(sensitivity_of_one, WIDE, 1, "independent"),
        {"variance of all", "one person by one hospital", "one person by both"},
    ),
}
"""Faults: how to make each, the tables that show it, and the claims that the audit must name."""


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_named(folder, monkeypatch, fault):
    put, tables, ledgers, scheme, named = fault
    put(monkeypatch)
    broken = refutations(seen(folder, in_process, ledgers, **tables, **SCHEMES[scheme]), ERROR)
    assert named <= set(broken)
