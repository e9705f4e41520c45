"""Checks of every registered algorithm; a new algorithm is covered by its registration."""

import copy
import dataclasses
import math
import re
from contextlib import nullcontext

import numpy as np
import pytest
from manual import algorithms

from checks.sound import Bank
from dpol.checks.algorithms import CHECKS, game, random_stream, source_for
from dpol.experts.adabatch import RWAdaBatch
from dpol.experts.discounted_mean import DiscountedMean
from dpol.experts.interface import can_read
from dpol.experts.learners.alone import LearnerAlone
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.learners.typical_level import TypicalLevel
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.meta import RWMeta
from dpol.experts.play import RawGains, guarantee_of, play_rounds
from dpol.experts.registry import LEARNERS, REGISTRY, label_of, make_members, simplicity_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import CENTRAL_NOISES, NOISES, NoisyGains, privatize
from replicates import many

MEMBERS = [
    member
    for spec in (
        *REGISTRY,
        {"algorithm": "rw-meta", "label": "rw-meta-correlated", "decorrelate": False},
    )
    for member in make_members(spec)
]
LABELS = [member.label for member in MEMBERS]

every_member = pytest.mark.parametrize("member", MEMBERS, ids=LABELS)


def by_label(label):
    return MEMBERS[LABELS.index(label)].algorithm


STREAM = random_stream()
LOCAL = [member for member in MEMBERS if member.algorithm.model == "local"]
CENTRAL = [member for member in MEMBERS if member.algorithm.model == "central"]


def label(member):
    return member.label


def test_labels_are_all_different():
    twice = {label for label in LABELS if LABELS.count(label) > 1}
    assert not twice, f"these labels belong to two algorithms: {twice}"
    assert {member.family for member in MEMBERS} == set(REGISTRY)


@every_member
@pytest.mark.parametrize("check", CHECKS)
def test_every_algorithm_passes_the_checks(member, check):
    CHECKS[check](member)


@pytest.mark.parametrize("member", LOCAL, ids=label)
def test_any_noise_can_be_played_or_is_refused(random_stream, member):
    stream, algorithm = random_stream(9, 3), member.algorithm
    for name, noise in NOISES.items():
        source = privatize(stream, name, 0.5, seed=1, replicates=2)
        constant = (source.noise_scale == source.noise_scale[0, 0]).all()
        refusal = ""
        if not can_read(algorithm.reads_noise, noise.memory):
            refusal = "takes noise as independent"
        elif algorithm.constant_noise and not constant:
            refusal = "isotropic-constant"
        with pytest.raises(ValueError, match=refusal) if refusal else nullcontext():
            game(member, source)


# --- The game ---


def run(algorithm, source):
    return play_rounds(algorithm, source, many(source.n_replicates))


@pytest.mark.parametrize("count", [0, 1, 6, 8])
@pytest.mark.parametrize("label", ["rw-meta", "follow-the-leader"])
def test_another_number_of_generators_than_replicates_is_refused(label, count):
    """NumPy would broadcast one generator over seven equal games."""
    algorithm = by_label(label)
    message = f"plays 7 replicates and needs one generator for each, got {count}"
    with pytest.raises(ValueError, match=message):
        play_rounds(algorithm, source_for(algorithm, STREAM), many(count))


@pytest.mark.parametrize("member", [m for m in CENTRAL if m.algorithm.scales_noise], ids=label)
def test_a_curator_names_the_noise_of_the_game_and_that_by_capacity_needs_capacities(member):
    scaled = dataclasses.replace(source_for(member.algorithm, STREAM), noise="capacity")
    assert "capacity" in guarantee_of(member.algorithm, scaled).mechanism
    sensitivity = np.full(STREAM.n_rounds, 0.3)
    given = dataclasses.replace(STREAM, capacity=None, given_sensitivity=sensitivity)
    with pytest.raises(ValueError, match="the noise capacity needs gains with capacities"):
        run(member.algorithm, dataclasses.replace(scaled, stream=given))


@pytest.mark.parametrize("noise", CENTRAL_NOISES)
@pytest.mark.parametrize("member", [*LOCAL, *CENTRAL], ids=label)
def test_a_person_in_four_counts_gets_four_times_the_noise(member, noise):
    """Then gains four times as large lead to the same actions; a factor of 4 is not rounded."""
    local = member.algorithm.model == "local"
    one_scale = member.algorithm.constant_noise if local else not member.algorithm.scales_noise
    if noise == "capacity" and one_scale:
        pytest.skip("plays noise of one scale, or no noise on gains")

    def played(stream):
        if local:
            source = privatize(stream, noise, 0.1, seed=1, replicates=100)
        else:
            source = RawGains(stream, 0.1, 100, noise=noise)
        return run(member.algorithm, source), guarantee_of(member.algorithm, source)

    gains = dataclasses.replace(STREAM, gains=4 * STREAM.gains, gain_range=4.0)
    once, often = played(STREAM), played(dataclasses.replace(gains, count_sensitivity=4.0))
    np.testing.assert_array_equal(often[0], once[0])
    np.testing.assert_equal(*((told.loss, told.stays) for _, told in (once, often)))
    assert often[1].unit == "one person who changes a count by up to 4 in one round"
    assert (played(gains)[0] != once[0]).any(), "less noise is noticed"


# --- No privacy is the limit ---


def without_ties(algorithm, mu, seed=1):
    """Games with the same initial noise at any mu; without it, round 1 is tied."""
    source = source_for(algorithm, random_stream(30, 4), mu, seed=seed)
    if not isinstance(source, NoisyGains):
        return source
    initial = 0.1 * np.random.default_rng(0).random(source.initial.shape[1])
    return dataclasses.replace(source, initial=np.broadcast_to(initial, source.initial.shape))


@every_member
def test_at_a_huge_mu_it_plays_as_without_privacy(member):
    """From round 2 on; those with a limit of their own, and what is random without noise, apart."""
    near, limit, other = (
        game(member, without_ties(member.algorithm, mu, seed))
        for mu, seed in ((1e12, 1), (math.inf, 1), (math.inf, 2))
    )
    if (limit == other)[:, 1:].all() and not member.label.endswith("floor-0"):
        np.testing.assert_array_equal(near[:, 1:], limit[:, 1:])


# --- Making algorithms from a config ---


SHORT = RidgeBank((1, 2, 4, 8, 16, 32, 64))
WINDOW_5 = [{"learner": "ridge", "windows": [5]}]
MADE = [
    ("persistence", "persistence", DiscountedMean(0.0, 0.0)),
    ("tree-ftpl-min-regret", "tree-ftpl-min-regret", TreeFTPL("min-regret")),
    ("rw-meta-short", "rw-meta-short", RWMeta(learners=(SHORT, LeaderBank()))),
    (
        {"algorithm": "rw-meta-short-floor-0", "label": "rw-meta-short-floor-0"},
        "rw-meta-short-floor-0",
        RWMeta(0.0, learners=(SHORT, LeaderBank())),
    ),
    ({"algorithm": "mf-window"}, "mf-window", MatrixFTPL(window=8)),
    ({"algorithm": "mf-window", "window": 8}, "mf-window-8", MatrixFTPL(window=8)),
    ({"algorithm": "mf-window", "window": 9, "label": "nine"}, "nine", MatrixFTPL(window=9)),
    ({"algorithm": "mf-window", "window": 9, "label": "long-9"}, "long-9", MatrixFTPL(window=9)),
    ({"algorithm": "mf-discounted", "decay": 0.95}, "mf-discounted-0.95", MatrixFTPL(decay=0.95)),
    (
        {"algorithm": "rw-adabatch", "bound": "reflection", "alpha": 0.01},
        "rw-adabatch-reflection",
        RWAdaBatch(0.01, "reflection"),
    ),
    (
        {"algorithm": "rw-meta", "decorrelate": False, "exploration_floor": 0},
        "rw-meta-0-no-decorrelate",
        RWMeta(0.0, False),
    ),
    (
        {"algorithm": "rw-meta", "learners": ["rw-ftpl", *WINDOW_5]},
        "rw-meta",
        RWMeta(learners=(LeaderBank(), RidgeBank((5,)))),
    ),
    (
        {"algorithm": "rw-meta", "label": "w-5", "learners": WINDOW_5},
        "w-5",
        RWMeta(learners=(RidgeBank((5,)),)),
    ),
    ({"algorithm": "rw-meta", "label": "exp3-v2"}, "exp3-v2", RWMeta()),
    (
        {"algorithm": "random-effects", "scales": [0.1], "forgetting": 0.5},
        "random-effects-0.5",
        LearnerAlone(RandomEffectsBank(scales=(0.1,), forgetting=0.5)),
    ),
]


@pytest.mark.parametrize(("spec", "label", "algorithm"), MADE, ids=lambda made: str(made)[:60])
def test_a_spec_makes_its_algorithm_and_a_label_with_the_parameters_that_are_set(
    spec, label, algorithm
):
    before = copy.deepcopy(spec)
    (member,) = make_members(spec)
    assert (member.label, member.algorithm) == (label, algorithm)
    assert spec == before


def test_one_learner_can_be_given_a_label_and_several_cannot(monkeypatch):
    """A bank of learners without a line of its own is a family too."""
    monkeypatch.setitem(REGISTRY, "leader", LEARNERS["rw-ftpl"])
    (member,) = make_members({"algorithm": "leader", "label": "mine"})
    assert (member.label, member.family) == ("mine", "leader")
    assert member.algorithm == LearnerAlone(LeaderBank())
    with pytest.raises(ValueError, match="ridge is several algorithms with labels; leave out"):
        make_members({"algorithm": "ridge", "label": "mine"})


@pytest.mark.parametrize("label", ["mf-window-8", "mf-window-1", "x-9.5", "8", "x_8_y"])
def test_a_label_with_another_number_is_refused(label):
    with pytest.raises(ValueError, match=r"to which no parameter is set here; .* is mf-window-9$"):
        make_members({"algorithm": "mf-window", "label": label, "window": 9})


def test_a_number_in_a_registered_name_is_the_value_of_a_parameter_that_it_fixes():
    told = {name: re.findall(r"(?<=-)[0-9.]+", name) for name in REGISTRY}
    for name in (name for name, numbers in told.items() if numbers):
        fixed = [it for it in REGISTRY[name].fixed.values() if isinstance(it, int | float)]
        assert [*map(float, told[name])] == fixed


def test_the_default_label_is_that_of_the_registry_or_the_class():
    for name in REGISTRY:
        for member in make_members(name):
            assert label_of(member.algorithm) == member.label
    assert (label_of(Bank()), label_of(RWMeta(0.5))) == ("Bank", "rw-meta")


# --- The order of simplicity ---


def test_the_registry_is_ordered_and_unknown_names_are_last():
    assert [simplicity_of(name) for name in REGISTRY] == [*range(len(REGISTRY))]
    assert simplicity_of("my.package:Mine") == simplicity_of("") == len(REGISTRY)


# ---- the manual of configs -----------------------------------------------------------------------

OF_ALGORITHMS, _ = algorithms().split("\nLearners, with the parameters above:\n")


def row(name):
    (line,) = [line for line in OF_ALGORITHMS.splitlines() if re.match(f"`{name}`( †)? \\|", line)]
    _, about, _, *parameters = line.split(" | ")
    return about, "".join(parameters)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_algorithm_is_described(name):
    about, parameters = row(name)
    assert len(about) > 20
    if like := re.search(r"Like `([^`]+)`\.", about):
        parameters += row(like[1])[1]
    for parameter in REGISTRY[name].parameters(name):
        assert re.search(rf"`{parameter}`( \([^)]*\))?: [\w`]", parameters), (
            f"{name}: say what {parameter} is, under Args: in the docstring of its class"
        )


# ---- the unit that gains are measured in ---------------------------------------------------------


BY_RANGE = ["rw-meta", "rw-meta-short", "rw-adabatch"]
"""Algorithms whose noise or batches are a multiple of the gains' range by definition."""


@pytest.fixture(scope="module")
def stream(make_stream):
    """Return experts of 10 to 400 beds with lasting and fading differences of gains near 0.1."""
    rng = np.random.default_rng(11)
    wave = 0.1 * np.exp(0.5 * np.sin(np.arange(40) / 6))[:, None]
    differences = 0.3 * rng.standard_normal(12) + 0.3 * rng.standard_normal((40, 12))
    return make_stream(wave * np.exp(differences), np.geomspace(10, 400, 12).round())


def actions_in(label, stream, *, mu=0.5, gains=1.0, gain_range=1.0):
    """Return the actions on gains and a range in another unit."""
    algorithm = by_label(label)
    noise = "isotropic-constant" if algorithm.constant_noise else "capacity"
    noisy = privatize(stream, noise, mu, seed=1, replicates=10)
    scaled = {name: gains * getattr(noisy, name) for name in ("initial", "gains", "noise_scale")}
    capacity = noisy.capacity / gains
    return run(
        algorithm, dataclasses.replace(noisy, **scaled, capacity=capacity, gain_range=gain_range)
    )


@pytest.mark.parametrize("times", [2.0**-13, 2.0**13])
@pytest.mark.parametrize("label", [*map(label, LOCAL)])
def test_gains_with_their_range_and_capacities_may_be_measured_in_any_unit(label, times, stream):
    """Powers of 2 are not rounded."""
    before = actions_in(label, stream)
    np.testing.assert_array_equal(actions_in(label, stream, gains=times, gain_range=times), before)
    if label not in BY_RANGE:
        np.testing.assert_array_equal(actions_in(label, stream, gains=times), before)


@pytest.mark.parametrize("label", BY_RANGE)
def test_what_is_a_multiple_of_the_range_follows_the_unit(label, stream):
    # With little noise RW-AdaBatch finds leads for batches.
    assert (
        actions_in(label, stream, mu=50.0, gains=1e4) != actions_in(label, stream, mu=50.0)
    ).any()


def test_a_level_that_is_fixed_in_advance_is_told_apart(stream, monkeypatch):
    """The prior of a filter with a unit of its own, 0.1 of the range, is 1,000 times too wide."""
    monkeypatch.setattr(TypicalLevel, "after", lambda self, seen: self)
    before, after = (actions_in("random-effects", stream, gains=gains) for gains in (1.0, 1e-4))
    assert (before != after).mean() > 0.1
