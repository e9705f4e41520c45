"""Records of privacy, and what accounts make of them."""

import dataclasses
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import dpol
from dpol.core.errors import DataError
from dpol.core.words import at_least, at_most
from dpol.data.stream import MAX_CARRY, SELECTION, GainStream
from dpol.experts.follow_the_leader import FollowTheLeader
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.lazy.algorithm import LazyWeights
from dpol.noise import NOISES, privatize
from dpol.privacy.account import account, best_guess
from dpol.privacy.guarantee import MU_OF_STAYS, NO_PRIVACY, Guarantee
from dpol.privacy.losses import NOTHING_KEPT, Loss, pure
from dpol.privacy.stays import STAYS


def test_a_guarantee_is_written_into_a_table_whole():
    """Every field has a value of its own."""
    texts = ("mechanism", "adjacency", "unit", "sensitivity_unit", "taken_as_public")
    same = {"model": "local", "sensitivity": 3.0}
    same |= {name: f"its {name}" for name in texts}
    mus = 0.5, 0.6, 0.7, 0.8
    stays = {"stays": tuple(map(gaussian, mus)), "carried": (4, gaussian(2.0))}
    known = Guarantee(**same, loss=gaussian(0.4), memory="b of 0.8", **stays).as_row()
    assert Loss.of_data(json.loads(known.pop("loss"))) == gaussian(0.4)
    weeks = dict(zip(MU_OF_STAYS, mus, strict=True)) | {"carried_weeks": 4, "mu_carried": 2.0}
    facts = {**same, "sampler": "seeded", "numerical": False}
    assert known == {**facts, "guaranteed_mu": 0.4, **weeks, "memory": "b of 0.8"}
    other = Guarantee(**same, loss=Loss(zcdp=0.1)).as_row()
    assert other.pop("loss")
    nothing = dict.fromkeys(weeks, math.nan)
    facts |= {"numerical": True, "guaranteed_mu": Loss(zcdp=0.1).mu, "memory": ""}
    assert other == pytest.approx({**nothing, **facts}, nan_ok=True)


def gaussian(mu):
    return Loss(gaussian=mu)


def test_a_guarantee_of_epsilon_at_delta_says_nothing_about_smaller_deltas():
    record = dataclasses.replace(NO_PRIVACY, loss=pure(1.0, 1e-6))
    assert [record.epsilon(delta) for delta in (1e-6, 0.99e-6)] == [1.0, math.inf]
    assert 0.8 < record.epsilon(0.1) < 1.0  # what is left of delta pays for epsilon
    assert record.mu == math.inf


def test_stays_are_those_that_records_know():
    with pytest.raises(ValueError, match="stays must have the losses of"):
        dataclasses.replace(NO_PRIVACY, stays=(Loss(),) * 3)


@pytest.mark.parametrize(
    ("selection", "said"),
    [("counts", "min_total_cases"), ("given", ""), ("all", "")],
)
def test_every_record_says_how_the_list_of_entities_came_about(random_stream, selection, said):
    stream = random_stream(100, 3, provenance={SELECTION: selection})
    records = [privatize(stream, name, 1.0, seed=1, replicates=[0]).guarantee for name in NOISES]
    central = (TreeFTPL(), LazyWeights())
    records += [guarantee_of(algorithm, RawGains(stream, 1.0, 1)) for algorithm in central]
    for record in records:
        assert said in record.taken_as_public
        assert bool(said) == bool(record.taken_as_public)


@pytest.mark.parametrize("stay", [1, 3])
@pytest.mark.parametrize("carry", [0, 4])
def test_every_record_of_persons_says_what_longer_stays_and_carrying_cost(
    random_stream, stay, carry
):
    """Capacities do not vary here, so the mu of stays is known by hand."""
    stream = random_stream(100, 3, provenance={MAX_CARRY: carry} if carry else {})
    stream = dataclasses.replace(stream, stay=stay, capacity=np.full((100, 3), 40.0))
    record = privatize(stream, "capacity", 0.5, seed=1, replicates=[0]).guarantee
    mus = [it.mu for it in record.stays]
    assert mus == pytest.approx([0.5 * math.sqrt(v / stay) for v in STAYS])
    assert mus[0] == record.mu if stay == 1 else mus[0] < record.mu
    if carry:
        assert record.carried[0] == carry
        assert record.carried[1].mu == pytest.approx(0.5 * math.sqrt((stay + carry) / stay))
    else:
        assert record.carried is None


def test_records_of_no_persons_say_nothing_of_stays(random_stream):
    stream = random_stream(20, 3, provenance={MAX_CARRY: 4})
    rounds = dataclasses.replace(stream, capacity=None, given_sensitivity=np.ones(20))
    records = [guarantee_of(LazyWeights(), RawGains(stream, 1.0))]
    records += [guarantee_of(made, RawGains(rounds, 1.0)) for made in (TreeFTPL(), MatrixFTPL())]
    records += [privatize(rounds, "isotropic", 1.0, seed=1, replicates=1).guarantee]
    records += [guarantee_of(FollowTheLeader(), RawGains(rounds, 1.0))]
    assert all(record.stays is record.carried is None for record in records)
    free = guarantee_of(FollowTheLeader(), RawGains(stream, 1.0))
    assert free.stays == (NOTHING_KEPT,) * len(STAYS)


# ---- accounts ------------------------------------------------------------------------------------


def gains_of(sensitivity):
    """Return a stream of three experts without capacities, by the sensitivity of each round."""
    sensitivity = np.array(sensitivity, dtype=float)
    return GainStream(np.full((len(sensitivity), 3), 0.5), given_sensitivity=sensitivity)


@pytest.mark.parametrize("noise", ["isotropic", "isotropic-constant"])
def test_fresh_noise_on_gains_without_capacities_composes_over_rounds(noise):
    """Rounds add up by their squares; with one scale for all, a round counts by its sensitivity."""
    assert account(0.5, 4).mu == 1.0
    stream = gains_of([0.3, 0.4, 0.1, 0.2, 0.4])
    record = privatize(stream, noise, 0.5, seed=1, replicates=2).guarantee
    shares = np.sort([1.0] * 5 if noise == "isotropic" else stream.sensitivity / 0.4)[::-1]
    for weeks in (1, 2, 3, 5, 9):
        by_hand = 0.5 * math.sqrt((shares[:weeks] ** 2).sum())
        assert account(record, weeks=weeks).mu == pytest.approx(by_hand, rel=1e-12)
    assert record.stays is None, "no people are counted"


@pytest.mark.parametrize("mu", [0.1, 1.0 / 3, 7.7, math.inf])
def test_one_round_of_gains_without_capacities_has_the_level(mu):
    record = privatize(gains_of([0.7] * 3), "isotropic", mu, seed=1, replicates=1).guarantee
    assert account(record).mu == record.mu == pytest.approx(mu, rel=1e-15)


@pytest.mark.parametrize("algorithm", [TreeFTPL(), MatrixFTPL(), LazyWeights()], ids=repr)
def test_a_record_that_does_not_compose_says_which_call_bounds_it(algorithm):
    """The calls of the text can be pasted."""
    record = guarantee_of(algorithm, RawGains(gains_of([1.0] * 4), 0.5))
    with pytest.raises(ValueError, match="nothing is proved about 2 rounds") as why:
        account(record, weeks=2)
    shown = str(why.value)
    fresh, bound = (eval(it, {"dpol": dpol}) for it in re.findall(r"dpol\.account\([^)]*\)", shown))
    assert fresh.mu == pytest.approx(math.sqrt(2) * record.mu, rel=1e-5)
    assert bound.mu == pytest.approx(2 * record.mu, rel=1e-5)


def test_a_stay_of_gains_without_capacities_is_refused_with_the_call_that_answers():
    with pytest.raises(DataError, match=r"dpol\.account\(noisy\.guarantee, weeks=2\)"):
        dataclasses.replace(gains_of([1.0, 1.0]), stay=2)


@pytest.mark.parametrize("mu", [0.25, 1.0, 4.0])
def test_the_best_guess_is_the_best_test_of_the_trade_off_function(mu):
    alpha = np.linspace(0, 1, 1001)
    right = (1 - (alpha + special.ndtr(-special.ndtri(alpha) - mu)) / 2).max()
    assert right == pytest.approx(best_guess(mu), abs=1e-5)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.2])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_best_guess_of_epsilon_is_the_best_test_that_it_allows(epsilon, delta):
    """Error rates a and b are allowed if 1 - b <= e^epsilon a + delta, and vice versa."""
    a = np.linspace(0, 1, 100_001)
    least = np.maximum(1 - delta - np.exp(epsilon) * a, np.exp(-epsilon) * (1 - delta - a))
    right = (1 - (a + np.maximum(least, 0)) / 2).max()
    assert pure(epsilon, delta).guess == pytest.approx(right, abs=2e-4)


def test_the_table_of_the_documentation_is_right():
    text = (Path(__file__).parents[2] / "docs/explanation/privacy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
    assert [int(weeks) for weeks, _ in rows] == [1, 4, 13, 52]
    for weeks, cells in rows:
        shown = [float(cell.rstrip("%")) for cell in cells.split(" | ")]
        for place, mu in enumerate((0.25, 0.5, 1.0)):
            row = account(mu, int(weeks))
            assert row.epsilon <= shown[2 * place] <= 1.01 * row.epsilon
            assert 0 <= shown[2 * place + 1] - 100 * row.best_guess < 0.1


@given(st.floats(1e-9, 1e9), st.integers(1, 8))
def test_rounding_goes_to_the_safe_side_and_no_further_than_a_digit(value, digits):
    up, down = float(at_most(value, digits)), float(at_least(value, digits))
    assert down * (1 - 1e-11) <= value <= up * (1 + 1e-11)
    assert up - down <= 1.001 * 10.0 ** (math.floor(math.log10(value)) + 1 - digits)


def test_a_notebook_shows_a_table_with_rho():
    """0.5 over four weeks is 1, whose rho is 1 / 2."""
    shown = account(0.5, weeks=4)._repr_html_()
    for name, text in {"weeks": "4", "mu": "1", "rho": "0.5", "epsilon": "4.887"}.items():
        assert f"<tr><th>{name}</th><td>{text}</td></tr>" in shown
