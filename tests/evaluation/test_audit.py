from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest

from dpol.config import Audit
from dpol.evaluation.audit import experts as audit
from dpol.evaluation.audit.core import AUDIT_COLUMNS
from dpol.evaluation.audit.experts import audit_adabatch, audit_noise, audit_tree, hospitals
from dpol.evaluation.audit.labels import (
    audit_membership,
    audit_response,
    audit_sampled,
    audit_vector,
    counterexample,
)
from dpol.evaluation.audit.lazy import audit_lazy
from dpol.evaluation.audit.study import study_audit
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.play import RawGains, setup_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.lazy.transform import LazyParameters
from dpol.local import privatize
from dpol.local.clipping import Clipping, LikelihoodSensitivity
from dpol.local.label_messages import (
    MembershipClient,
    ResponseClient,
    SampledClient,
    VectorClient,
)
from dpol.local.noisy_gains import CALIBRATIONS, achieved_mu, noise_scale
from dpol.privacy.audit import runs_needed
from dpol.privacy.tree_noise import TreeNoise
from dpol.randomness import replicate_generators

SMALL = Audit(runs=3000)


@pytest.fixture(scope="module")
def study():
    return study_audit(Audit(), seed=1)


# ---- the study -----------------------------------------------------------------------------------


def test_every_mechanism_is_audited_and_all_but_the_published_exp3_are_consistent(study):
    assert tuple(study.columns) == AUDIT_COLUMNS
    assert set(study.loc[study.mechanism == "Gaussian noise on gains", "calibration"]) == set(
        CALIBRATIONS
    )
    found = study.groupby("mechanism", sort=False).size().to_dict()
    assert found == {
        "Gaussian noise on gains": 4,
        "tree-aggregated prefix sums": 2,
        "RW-AdaBatch, actions": 1,
        "RW-AdaBatch, sum of a batch": 1,
        "L2P for experts": 2,
        "private EXP3, message": 2,
        "private WMA, message": 2,
        "randomised response": 1,
        "membership response": 1,
    }
    violated = study[study.verdict == "violated"]
    assert violated[["mechanism", "calibration"]].to_numpy().tolist() == [
        ["private EXP3, message", "published sensitivity"]
    ]
    assert violated.lower_bound.iloc[0] == pytest.approx(1.02, abs=0.001)
    assert study.notna().all().all()
    exact = study.method == "exact"
    assert (study.runs[exact] == 0).all()
    assert (study.confidence[~exact] == 0.95).all()


def test_bounds_of_gaussian_mechanisms_reach_four_fifths_of_the_claim(study):
    """And the runs suffice for this with probability 0.99 for each of them."""
    gaussian = study[(study.parameter == "mu") & (study.mechanism != "RW-AdaBatch, actions")]
    assert len(gaussian) == 7
    assert (gaussian.lower_bound >= 0.8 * gaussian.claimed).all()
    assert all(
        runs_needed(row.claimed) <= row.runs for row in gaussian[["claimed", "runs"]].itertuples()
    )


def test_actions_reveal_less_than_the_gains_but_something(study):
    row = study[study.mechanism == "RW-AdaBatch, actions"].iloc[0]
    assert 0.3 < row.lower_bound < 0.8 * row.claimed


def test_a_study_depends_on_its_seed_only():
    tiny = Audit(runs=200)
    one, same, other = (study_audit(tiny, seed=seed) for seed in (1, 1, 2))
    assert one.equals(same)
    sampled = one.method == "sampled"
    assert (one.lower_bound != other.lower_bound)[sampled].sum() >= 5
    assert (one.runs[sampled] <= 200).all()


# ---- inputs and outputs --------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_the_two_streams_of_hospitals_are_as_far_apart_as_one_person_can_bring_them(calibration):
    one, other = hospitals()
    gap = other.gains - one.gains
    assert (np.abs(gap) * one.capacity).round(9).tolist() == [[4, 4, 0], [0, 0, 0]]
    scale = noise_scale(one, calibration, 0.7)
    assert np.linalg.norm(gap / scale) == pytest.approx(achieved_mu(one, scale), rel=1e-12)


def test_noisy_nodes_without_noise_are_sums_of_their_rounds():
    stream = audit._beds()[1]
    gains = np.random.default_rng(0).random(stream.gains.shape)
    source = RawGains(dataclasses.replace(stream, gains=gains), math.inf, 2)
    generators = replicate_generators(0, ("test",), range(2), "tree")
    nodes = audit._noisy_nodes(TreeFTPL(), source, generators)
    spans = [(0, 1), (0, 2), (2, 3), (0, 4), (4, 5), (4, 6), (6, 7)]
    expected = [gains[first:last].sum(axis=0) for first, last in spans]
    np.testing.assert_allclose(nodes, np.broadcast_to(expected, nodes.shape), rtol=1e-12)


@pytest.mark.parametrize("objective", ["min-noise", "min-regret"])
def test_the_nodes_of_the_first_round_are_as_far_apart_as_is_claimed(objective, checks):
    """Noise of one scale on all seven nodes, three of which hold the first round."""
    one, other = audit._beds()
    source = RawGains(one, 1.0, 4000)
    generators = replicate_generators(0, ("test",), range(4000), "tree")
    noise = audit._noisy_nodes(TreeFTPL(objective), source, generators)
    noise = (noise - np.array([0.5, 1, 0.5, 2, 0.5, 1, 0.5])[:, None]).reshape(4000, 14)
    claimed = TreeFTPL(objective).achieved_mu(setup_of(source))
    scale = np.linalg.norm(other.gains - one.gains) * math.sqrt(3) / claimed
    assert checks.columns_are_unit_normals(noise / scale)
    assert not checks.columns_are_unit_normals(noise / scale * 1.2)


@pytest.mark.parametrize("alpha", [0.5, 2.2, 3.0])
def test_sums_of_batches_are_those_of_their_rounds(alpha):
    noisy = privatize(
        audit._two_vectors()[0], "isotropic-constant", 1.0, seed=3, replicates=range(300)
    )
    found = audit._play(RWAdaBatch(alpha), noisy)
    actions, sizes = play_batches(
        RWAdaBatch(alpha), noisy, replicate_generators(1, (), range(300), "unused")
    )
    np.testing.assert_array_equal(found.actions, actions)
    for row, size in enumerate(sizes.tolist()):
        # Rounds from 0; batches of the planned sizes from the first on.
        start = 0
        while start + size[start] <= 1:
            start += size[start]
        end = start + size[start]
        if end >= noisy.n_rounds:
            assert found.sizes[row] == 0
            continue
        assert found.sizes[row] == size[1] == end - start
        np.testing.assert_allclose(found.sums[row], noisy.gains[row, start:end].sum(axis=0))


def test_a_game_without_batches_cannot_be_audited():
    with pytest.raises(ValueError, match="no replicate has a batch of two rounds"):
        list(audit_adabatch(Audit(runs=100), 1, RWAdaBatch(alpha=1e-3)))


# ---- mechanisms that are broken on purpose -------------------------------------------------------


def claims_too_much(factor):
    """Noise for `factor` times mu with the guarantee of mu: the noise is too small by `factor`."""

    def mechanism(stream, calibration, mu, *, seed, replicates):
        honest = privatize(stream, calibration, mu, seed=seed, replicates=replicates[:1])
        broken = privatize(stream, calibration, factor * mu, seed=seed, replicates=replicates)
        return dataclasses.replace(
            broken, guarantee=honest.guarantee, noise_scale=honest.noise_scale
        )

    return mechanism


def reuses_initial_noise(stream, calibration, mu, *, seed, replicates):
    """z_0 is the noise of the first round too."""
    noisy = privatize(stream, calibration, mu, seed=seed, replicates=replicates)
    gains = noisy.gains.copy()
    gains[:, 0] = stream.gains[0] + noisy.initial
    return dataclasses.replace(noisy, gains=gains)


@dataclasses.dataclass(frozen=True)
class BrokenTree:
    """A tree whose nodes are spoilt after every round."""

    spoil: object
    tree: TreeFTPL = dataclasses.field(default_factory=TreeFTPL)

    model = "central"
    origin = "paper"

    def init(self, setup):
        return self.tree.init(setup)

    def step(self, state, observation, generators):
        state, actions = self.tree.step(state, observation, generators)
        nodes = self.spoil(state.noise.nodes)
        return dataclasses.replace(state, noise=TreeNoise(state.noise.rounds, nodes)), actions

    def guarantee(self, setup):
        return self.tree.guarantee(setup)


class OneDraw:
    """The noise of a play's first node for all that follow."""

    def __call__(self, nodes):
        if set(nodes) == {0}:  # After the first round only.
            (self.first,) = nodes.values()
        return dict.fromkeys(nodes, self.first) if nodes else nodes


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("calibration", "factor"),
    # The noise halved; sensitivity without its sqrt(2).
    [*itertools.product(("isotropic", "capacity"), (2.0, math.sqrt(2)))],
)
def test_too_little_noise_is_flagged(calibration, factor, seed):
    """With power 0.99: `runs_needed` for a bound above the claim of 1 where mu is `factor`."""
    assert runs_needed(factor, share=1 / factor) <= SMALL.runs
    found = audit_noise(SMALL, seed, calibration, claims_too_much(factor))
    assert found.result.claimed == pytest.approx(1.0)
    assert found.result.verdict == "violated"
    assert audit_noise(SMALL, seed, calibration).result.verdict == "consistent"


def test_noise_that_is_used_twice_is_flagged():
    found = audit_noise(SMALL, 1, "isotropic", reuses_initial_noise).result
    assert found.verdict == "violated"
    assert found.lower_bound > 3


def test_a_tree_that_reuses_one_draw_is_flagged():
    """The draws cancel in a difference of nodes, which the fitted direction finds."""
    found = audit_tree(SMALL, 1, BrokenTree(OneDraw()), "min-noise").result
    assert found.verdict == "violated"
    assert found.lower_bound > 3
    same = BrokenTree(lambda nodes: nodes)
    assert audit_tree(SMALL, 1, same, "min-noise") == audit_tree(SMALL, 1, TreeFTPL(), "min-noise")


def test_a_tree_with_half_of_the_noise_is_flagged():
    halved = BrokenTree(lambda nodes: {level: noise / 2 for level, noise in nodes.items()})
    assert audit_tree(SMALL, 1, halved, "min-noise").result.verdict == "violated"


def test_batches_with_half_of_the_noise_are_flagged():
    _, batch = audit_adabatch(SMALL, 1, mechanism=claims_too_much(2.0))
    assert batch.result.verdict == "violated"


def test_l2p_without_fake_switches_is_flagged():
    """Its exact epsilon is beyond 50; that of a tenth of the switches is above the claim too."""
    claimed = LazyParameters(2, 0.01, 0.001)
    for p, least in ((0.0, 50), (0.0001, 4)):
        played = dataclasses.replace(claimed, fake_switch=p)
        found = audit_lazy(SMALL, "sound", claimed, played).result
        assert (found.verdict, found.method) == ("violated", "exact")
        assert found.lower_bound >= least
    assert audit_lazy(SMALL, "sound", claimed).result.verdict == "consistent"


# The power of these is seen on ten seeds: at 99% each, ten would all succeed with 90%.
SEEDS = range(10)
MESSAGES = Audit(runs=10_000)


@pytest.mark.parametrize(
    ("audited", "broken", "honest"),
    [
        (audit_response, ResponseClient(4, 1.3), ResponseClient(4, 1.0)),
        (
            audit_membership,
            MembershipClient(counterexample(), 1.3),
            MembershipClient(counterexample(), 1.0),
        ),
    ],
)
def test_a_wrong_flip_rate_is_flagged(audited, broken, honest):
    """A tail of 1.3 in place of 1; honest ones exceed the claim in at most 5% of seeds."""
    found = [audited(MESSAGES, seed, broken).result for seed in SEEDS]
    assert [it.verdict for it in found] == ["violated"] * len(SEEDS)
    found = [audited(MESSAGES, seed, honest).result for seed in SEEDS]
    # P(Bin(10, 0.05) >= 4) = 0.001.
    assert sum(it.verdict == "violated" for it in found) < 4
    assert min(it.lower_bound for it in found) > 0.8


def sensitivity(rule="exact", rounds=300):
    return LikelihoodSensitivity(Clipping(counterexample(), rounds), rule)


def test_messages_with_too_little_noise_are_flagged():
    """WMA noised for three times its epsilon."""
    broken = VectorClient(sensitivity(), 3.0)
    found = [audit_vector(MESSAGES, seed, broken, claimed=1.0).result for seed in SEEDS]
    assert [it.verdict for it in found] == ["violated"] * len(SEEDS)
    honest = [audit_vector(MESSAGES, seed, VectorClient(sensitivity(), 1.0)) for seed in SEEDS]
    assert sum(it.result.verdict == "violated" for it in honest) < 4


def test_the_excess_of_the_published_sensitivity_is_found_by_exact_computation():
    """1.020 eps at T = 300, but not at T = 10, where mixing hides it (0.920)."""
    found = audit_sampled(SampledClient(sensitivity("published"), 1.0)).result
    assert (found.method, found.verdict) == ("exact", "violated")
    assert found.lower_bound == pytest.approx(1.0200, abs=1e-4)
    mixed = audit_sampled(SampledClient(sensitivity("published", 10), 1.0)).result
    assert mixed.verdict == "consistent"
    assert mixed.lower_bound == pytest.approx(0.920, abs=1e-3)
