"""Laws of every registered algorithm; new ones are covered by their registration."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.experts.exponential_weights import ExponentialWeights
from dpol.experts.interface import can_read
from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank
from dpol.experts.learners.joined import LearnerAlone
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import RidgeBank
from dpol.experts.learners.state_space import MODELS, StateSpaceModel
from dpol.experts.meta import RWMeta
from dpol.experts.play import RawGains, guarantee_of, observations, play_rounds, rounds, setup_of
from dpol.experts.registry import (
    LEARNERS,
    REGISTRY,
    code_that_plays,
    label_of,
    make_members,
    modules_of,
)
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import NOISES, NoisyGains, privatize
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.privacy.guarantee import GIVEN_CHANGE, ONE_PERSON, ONE_ROUND, UNIT
from dpol.studies.audits.bounds import audit_runs, with_fitted_direction
from dpol.studies.hospitals.runs import play_suite
from steps import pure_step

ERROR = 1e-6

MEMBERS = [
    member
    for spec in (
        *REGISTRY,
        {"algorithm": "rw-meta", "label": "rw-meta-floor-0", "exploration_floor": 0.0},
        {"algorithm": "rw-meta", "label": "rw-meta-correlated", "decorrelate": False},
    )
    for member in make_members(spec)
]
LABELS = [member.label for member in MEMBERS]

every_member = pytest.mark.parametrize("member", MEMBERS, ids=LABELS)


def by_label(label):
    return MEMBERS[LABELS.index(label)].algorithm


def source_for(algorithm, stream, mu=0.5, replicates=range(7)):
    if algorithm.model == "local":
        return privatize(stream, "isotropic", mu, seed=1, replicates=replicates)
    return RawGains(stream, mu, len(replicates))


def generators(replicates=range(7), seed=1):
    return replicate_generators(seed, ("registry",), replicates, "own")


def run(algorithm, source, *, player=play_rounds, seed=1):
    return player(algorithm, source, generators(range(source.n_replicates), seed))


def draws(algorithm, source):
    """True if it uses random numbers of its own."""
    own = generators(range(source.n_replicates))
    before = pickle.dumps(own)
    play_rounds(algorithm, source, own)
    return pickle.dumps(own) != before


def suite_of(member, stream, replicates, seed=1, mu=0.5):
    return play_suite(stream, [member], noise="isotropic", mu=mu, seed=seed, replicates=replicates)


BEDS = (5.0, 17.0, 30.0, 44.0, 21.0)


@pytest.fixture(scope="module")
def game(make_stream):
    """A stream of random gains; every round has the same noise scale, as some algorithms need."""

    def make(rounds, n):
        gains = np.random.default_rng(0).random((rounds, n))
        return make_stream(gains, BEDS[:n])

    return make


@pytest.fixture(scope="module")
def stream(game):
    return game(12, 4)


def test_labels_are_all_different():
    twice = {label for label in LABELS if LABELS.count(label) > 1}
    assert not twice, f"these labels belong to two algorithms: {twice}"
    assert {member.family for member in MEMBERS} == set(REGISTRY)


@every_member
def test_the_seed_decides_the_game_if_there_is_noise(member, stream):
    algorithm = member.algorithm
    noisy = algorithm.model == "local" or draws(algorithm, source_for(algorithm, stream))
    assert noisy or algorithm.model == "none", f"{member.label}: is central, but draws no noise"
    one, same, other = (
        suite_of(member, stream, range(7), seed).played[0].actions for seed in (1, 1, 2)
    )
    assert [(one == it).all() for it in (same, other)] == [True, not noisy], (
        f"{member.label}: takes its noise from elsewhere than the generators that step is given,"
        " or none at all"
    )


@every_member
@pytest.mark.parametrize("shape", [(1, 2), (1, 3), (2, 2)])
@pytest.mark.parametrize("mu", [0.5, math.inf])
def test_the_smallest_games_can_be_played(member, game, shape, mu):
    actions = run(member.algorithm, source_for(member.algorithm, game(*shape), mu, range(1)))
    assert actions.shape == (1, shape[0])
    assert ((actions >= 0) & (actions < shape[1])).all()


@every_member
@pytest.mark.parametrize("rounds", [1, 3])
def test_one_expert_alone_is_chosen_or_the_game_refused(member, game, rounds):
    source = source_for(member.algorithm, game(rounds, 1), 0.5, range(1))
    try:
        actions = run(member.algorithm, source)
    except ValueError as error:
        assert "needs at least 2 experts" in str(error)  # noqa: PT017 (either is right)
    else:
        assert actions.tolist() == [[0] * rounds]


def changed_in_round(source, s):
    """The source with other gains in round s; capacities and noise scales are public."""
    raw = isinstance(source, RawGains)
    gains = (source.stream if raw else source).gains.copy()
    other = np.random.default_rng(s).permutation(np.linspace(0, 1, 4))
    gains[..., s, :] = other if raw else 10 * other
    if raw:
        return dataclasses.replace(source, stream=dataclasses.replace(source.stream, gains=gains))
    return dataclasses.replace(source, gains=gains)


def rounds_moved(player, algorithm, stream):
    """Rounds whose actions move, for each changed round s."""
    source = source_for(algorithm, stream)
    games = [source, *(changed_in_round(source, s) for s in range(stream.n_rounds))]
    before, *after = (run(algorithm, it, player=player) for it in games)
    return [np.flatnonzero((it != before).any(axis=0)) for it in after]


def play_with_foresight(algorithm, source, own):
    """A driver with the fault that the causality test is there to catch."""
    state, actions = algorithm.init(setup_of(source)), []
    for revealed in observations(source):
        state, chosen = algorithm.step(state, revealed, own)
        actions.append(chosen)
    return np.stack(actions, axis=1)


@every_member
def test_the_gains_of_a_round_move_later_actions_only(member, stream):
    moved = rounds_moved(play_rounds, member.algorithm, stream)
    assert all((rounds > s).all() for s, rounds in enumerate(moved)), (
        f"{member.label}: an action depends on gains of its own round or a later one; a step may"
        " use the state and the values of its observation only"
    )
    assert any(len(rounds) for rounds in moved), f"{member.label}: learns nothing from the gains"


@every_member
def test_a_look_ahead_is_caught(member, stream):
    """The look-ahead lets algorithms that act on the last round's gains move too early."""
    known = rounds_moved(play_rounds, member.algorithm, stream)
    if not any(s + 1 in rounds for s, rounds in enumerate(known)):
        return
    moved = rounds_moved(play_with_foresight, member.algorithm, stream)
    assert any((rounds <= s).any() for s, rounds in enumerate(moved))


@every_member
def test_a_step_changes_neither_the_state_nor_the_observation(member, stream):
    """A step, taken twice, gives the same state and actions."""
    algorithm = member.algorithm
    source = source_for(algorithm, stream, replicates=range(3))
    state, observation = algorithm.init(setup_of(source)), None
    for t, revealed in enumerate(observations(source)):

        def step(state, observation, t=t):
            return algorithm.step(state, observation, generators(range(3), t))

        state = pure_step(member.label, step, state, observation)
        observation = revealed


@every_member
@pytest.mark.parametrize("size", [1, 3, 7])
def test_any_block_size_plays_the_same_games(member, stream, size):
    blocks = [range(7)[start : start + size] for start in range(0, 7, size)]
    whole, *parts = (suite_of(member, stream, it).played[0].actions for it in (range(7), *blocks))
    together = f"{member.label}: a replicate depends on the others that it is played with"
    np.testing.assert_array_equal(np.concatenate(parts), whole, err_msg=together)


@every_member
@pytest.mark.parametrize("noise", NOISES)
def test_any_noise_can_be_played_or_is_refused(member, random_stream, noise):
    """Capacities change from round to round, and so does the scale of the noise."""
    if member.algorithm.model != "local":
        return
    source = privatize(random_stream(9, 3), noise, 0.5, seed=1, replicates=range(2))
    constant = (source.noise_scale == source.noise_scale[0, 0]).all()
    if not can_read(member.algorithm.reads_noise, NOISES[noise].memory):
        with pytest.raises(ValueError, match="takes noise as independent"):
            run(member.algorithm, source)
    elif constant or not member.algorithm.constant_noise:
        assert run(member.algorithm, source).shape == (2, 9)
    else:
        with pytest.raises(ValueError, match="isotropic-constant"):
            run(member.algorithm, source)


@every_member
def test_the_wrong_source_is_refused(member, stream):
    local = member.algorithm.model == "local"
    wrong = source_for(by_label("follow-the-leader" if local else "rw-ftpl"), stream)
    with pytest.raises(TypeError, match="cannot play"):
        run(member.algorithm, wrong)


@pytest.mark.parametrize("count", [0, 1, 6, 8])
@pytest.mark.parametrize("label", ["rw-meta", "follow-the-leader"])
def test_another_number_of_generators_than_replicates_is_refused(label, stream, count):
    """NumPy would broadcast one generator to seven equal games."""
    algorithm = by_label(label)
    message = f"plays 7 replicates and needs one generator for each, got {count}"
    with pytest.raises(ValueError, match=message):
        play_rounds(algorithm, source_for(algorithm, stream), generators(range(count)))


GIVEN_SENSITIVITY = 0.3


@pytest.fixture(scope="module")
def given_stream(stream):
    sensitivity = np.full(stream.n_rounds, GIVEN_SENSITIVITY)
    return dataclasses.replace(stream, capacity=None, given_sensitivity=sensitivity)


@every_member
@pytest.mark.parametrize("mu", [0.5, math.inf])
@pytest.mark.parametrize("source", ["stream", "given_stream"])
def test_the_guarantee_is_complete(request, member, source, mu):
    """Gains with a given sensitivity are protected by the round, and by no person."""
    algorithm, stream, given = member.algorithm, request.getfixturevalue(source), source[0] == "g"
    source = source_for(algorithm, stream, mu)
    assert run(algorithm, source).shape == (7, 12)
    found = guarantee_of(algorithm, source)
    assert found.model == algorithm.model, f"{member.label}: its record is of another model"
    assert (found.adjacency, found.unit) == (
        (GIVEN_CHANGE, ONE_ROUND) if given else (ONE_PERSON, UNIT)
    )
    values = found.as_dict()
    pair, public = values.pop("epsilon_delta"), values.pop("taken_as_public")
    assert public == ""
    assert all(isinstance(value, float) or value for value in values.values())
    assert repr(json.loads(json.dumps(values))) == repr(values)
    assert not (given and "person" in str(values))
    assert found.sampler == ("none" if algorithm.model == "none" else "seeded")
    if algorithm.model == "none" or mu == math.inf:
        # Some have noise at any mu.
        noisy = algorithm.model == "central" and draws(algorithm, source)
        assert noisy or found.mu == math.inf
        return
    if pair is None:
        assert 0 < found.mu <= mu * (1 + 1e-12), f"{member.label}: misses the level mu = {mu}"
    else:
        assert math.isnan(found.mu)
        assert 0 < pair[0] <= epsilon_of_delta(pair[1], mu)
    known = {"L2, gain": stream.sensitivity.max(), "L-infinity, gain": stream.largest_change}
    expected = known.get(found.sensitivity_unit, found.sensitivity)
    assert found.sensitivity == pytest.approx(expected)
    assert 0 < found.sensitivity < math.inf


def audit_of(algorithm, make_stream, runs=4000):
    """An audit of its actions, on two streams that differ in one person in the first round."""
    gains = np.full((8, 2), 0.5)
    moved = gains.copy()
    moved[0] = (0.0, 1.0)
    sources = [RawGains(make_stream(it, 2.0), 0.5, runs) for it in (gains, moved)]
    actions = [
        play_rounds(algorithm, source, generators(range(first, first + runs)))
        for source, first in zip(sources, (0, runs), strict=True)
    ]
    fitted = with_fitted_direction(*(it.astype(float) for it in actions))
    guarantee = guarantee_of(algorithm, sources[0])
    epsilon, delta = guarantee.epsilon_delta or (None, 0.0)
    return audit_runs(
        *(np.hstack([own, it]) for own, it in zip(fitted, actions, strict=True)),
        parameter="mu" if epsilon is None else "epsilon",
        claimed=guarantee.mu if epsilon is None else epsilon,
        confidence=1 - ERROR,
        delta=delta,
    )


@pytest.mark.parametrize(
    "member", [it for it in MEMBERS if it.algorithm.model == "central"], ids=lambda it: it.label
)
def test_the_actions_of_a_central_algorithm_do_not_refute_its_guarantee(member, make_stream):
    found = audit_of(member.algorithm, make_stream)
    assert found.verdict == "consistent", (
        f"{member.label}: its actions prove {found.parameter} >= {found.lower_bound:.3g}, its"
        f" guarantee claims {found.claimed:.3g}: noise is missing or too small"
    )


@dataclasses.dataclass(frozen=True)
class NoNoise(TreeFTPL):
    """A tree that forgets its noise, but not its record."""

    def init(self, setup):
        return dataclasses.replace(super().init(setup), total_scale=0.0, node_scale=0.0)


def test_a_central_algorithm_without_noise_is_refuted(make_stream):
    found = audit_of(NoNoise("min-noise"), make_stream)
    assert (found.verdict, found.claimed) == ("violated", pytest.approx(0.5))


SCALED = [it for it in MEMBERS if getattr(it.algorithm, "scales_noise", False)]


@pytest.mark.parametrize("member", SCALED, ids=lambda it: it.label)
def test_a_curator_scales_its_noise_as_the_game_says(member, stream, given_stream):
    """Each expert has noise of its own by capacity, at the same mu; it needs capacities."""
    source = source_for(member.algorithm, stream, 0.05)
    own = dataclasses.replace(source, noise="capacity")
    guarantee = guarantee_of(member.algorithm, own)
    assert "capacity" in guarantee.mechanism
    assert 0 < guarantee.mu <= 0.05 * (1 + 1e-12)
    assert (run(member.algorithm, own) != run(member.algorithm, source)).any()
    with pytest.raises(ValueError, match="the noise capacity needs gains with capacities"):
        run(member.algorithm, dataclasses.replace(own, stream=given_stream))


@pytest.mark.parametrize("noise", ["isotropic-constant", "isotropic-worst-case", "none", ""])
def test_a_noise_that_no_curator_has_is_refused(stream, noise):
    with pytest.raises(ValueError, match="noise must be isotropic or capacity"):
        RawGains(stream, 0.5, noise=noise)


# --- No privacy is the limit of little privacy ---

# Those for which the limit is another than the same actions, and is tested below. An algorithm
# whose actions at mu = inf are chosen by chance belongs here, with a test of its own.
OTHER_LIMITS = ("rw-meta-floor-0", "l2p")


def limits(algorithm, stream):
    """The game at mu = 1e12 and at mu = inf.

    With noisy gains the initial noise is the same in both: without any, round 1 is a tie.
    """
    near, limit = (source_for(algorithm, stream, mu) for mu in (1e12, math.inf))
    if isinstance(near, NoisyGains):
        initial = 0.1 * np.random.default_rng(0).random(near.initial.shape)
        near, limit = (dataclasses.replace(one, initial=initial) for one in (near, limit))
    return near, limit


@pytest.mark.parametrize(
    "member",
    [member for member in MEMBERS if member.label not in OTHER_LIMITS],
    ids=lambda member: member.label,
)
def test_a_huge_mu_plays_like_no_privacy(member, game):
    """The games agree from round 2 on, where raw gains leave no ties."""
    near, limit = limits(member.algorithm, game(30, 4))
    with_noise, without = (run(member.algorithm, source) for source in (near, limit))
    np.testing.assert_array_equal(
        with_noise[:, 1:],
        without[:, 1:],
        err_msg=f"{member.label}: plays otherwise at mu = 1e12 than at mu = inf; is a scale of its"
        " noise not proportional to 1 / mu, or not 0 at mu = inf?",
    )
    assert len(np.unique(without)) > 1


def test_rw_meta_with_floor_0_and_a_huge_mu_plays_a_leading_learner(game):
    """Learners tie at mu = inf as long as they have acted alike; any of them may be played."""
    algorithm = by_label("rw-meta-floor-0")
    near, limit = limits(algorithm, game(30, 4))
    actions = run(algorithm, near)
    for t, (state, _) in enumerate(rounds(algorithm, limit, generators())):
        leading = state.gains >= state.gains.max(axis=1, keepdims=True) - 1e-9
        assert ((state.actions == actions[:, t : t + 1]) & leading).any(axis=1).all()


def test_l2p_with_a_huge_mu_draws_from_the_same_weights(game):
    """Fake switches change when it redraws, but not the law of what it plays in a round."""
    algorithm = by_label("l2p")
    near, limit = (
        algorithm.parameters_for(setup_of(source)) for source in limits(algorithm, game(30, 4))
    )
    assert (near.batch_size, limit.batch_size) == (1, 1)
    assert near.eta == limit.eta
    assert limit.fake_switch == 0.0


@pytest.mark.parametrize("label", ["rw-ftpl", "tree-ftpl-min-noise"])
def test_without_noise_it_is_follow_the_leader(label, game):
    stream = game(40, 5)
    leader = by_label("follow-the-leader")
    expected = run(leader, source_for(leader, stream, math.inf))
    algorithm = by_label(label)
    np.testing.assert_array_equal(run(algorithm, source_for(algorithm, stream, math.inf)), expected)
    assert (run(algorithm, source_for(algorithm, stream, 0.5)) != expected).any()


# --- Making algorithms from a config ---


BLOCK = {"process_variance": 0.1}
MADE = [
    ("tree-ftpl-min-regret", TreeFTPL("min-regret")),
    ("fixed-share", ExponentialWeights(0.02)),
    ("bayesian-average", LearnerAlone(EmpiricalBayesBank(MODELS, "common", 1.0))),
    ({"algorithm": "rw-meta", "exploration_floor": 0.5, "decorrelate": False}, RWMeta(0.5, False)),
    (
        {"algorithm": "rw-meta", "learners": ["rw-ftpl", {"learner": "ridge", "windows": [4]}]},
        RWMeta(learners=(LeaderBank(), RidgeBank((4,)))),
    ),
    (
        {"algorithm": "fixed-share", "share": 0.1, "learners": ["rw-ftpl"]},
        ExponentialWeights(0.1, (LeaderBank(),)),
    ),
    (
        {"algorithm": "empirical-bayes", "models": [BLOCK], "forgetting": 0.5},
        LearnerAlone(EmpiricalBayesBank((StateSpaceModel(0.1),), "expert", 0.5)),
    ),
]


@pytest.mark.parametrize(("spec", "algorithm"), MADE, ids=lambda it: str(it)[:60])
def test_names_and_parameters_make_the_algorithm(spec, algorithm):
    before = copy.deepcopy(spec)
    (member,) = make_members(spec)
    assert member.algorithm == algorithm
    assert spec == before


def test_one_learner_can_be_given_a_label_and_several_cannot(monkeypatch):
    """A bank of learners that has no line of its own is a family too."""
    monkeypatch.setitem(REGISTRY, "leader", LEARNERS["rw-ftpl"])
    (member,) = make_members({"algorithm": "leader", "label": "mine"})
    assert (member.label, member.family) == ("mine", "leader")
    assert member.algorithm == LearnerAlone(LeaderBank())
    with pytest.raises(ValueError, match="a label cannot be given to ridge, whose members are"):
        make_members({"algorithm": "ridge", "label": "mine"})


def test_the_default_label_is_that_of_the_registry_or_the_class():
    for name in REGISTRY:
        for member in make_members(name):
            assert label_of(member.algorithm) == member.label
    assert (label_of(NoNoise()), label_of(RWMeta(0.5))) == ("NoNoise", "rw-meta")


def test_a_suite_entry_names_the_modules_of_its_algorithm_and_learners():
    home = "dpol.experts"
    assert modules_of("rw-ftpl") == (f"{home}.ftpl",)
    assert modules_of({"algorithm": "ridge", "windows": [4]}) == (
        f"{home}.learners.ridge",
        f"{home}.learners.joined",
    )
    learners = ["kalman", {"learner": "ridge", "windows": [4]}, "kalman"]
    assert modules_of({"algorithm": "fixed-share", "learners": learners}) == (
        f"{home}.exponential_weights",
        f"{home}.learners.state_space",
        f"{home}.learners.ridge",
    )
    with pytest.raises(ValueError, match="algorithm 'nothing' is not one of rw-ftpl"):
        modules_of("nothing")


CHANGED = {"fixed-share": {"share": 0.03}, "mf-window": {"window": 9}}
"""Other defaults of entries."""


@pytest.mark.parametrize("name", CHANGED)
def test_another_default_is_another_code_for_those_that_use_it_and_for_no_other(name, monkeypatch):
    specs = [[it] for it in REGISTRY]
    specs += [[{"algorithm": name, **CHANGED[name]}]]  # sets it: the default does not matter
    before = [code_that_plays([], it) for it in specs]
    changed = dataclasses.replace(REGISTRY[name], defaults=CHANGED[name])
    monkeypatch.setitem(REGISTRY, name, changed)
    after = [code_that_plays([], it) for it in specs]
    assert [it for it, *both in zip(specs, before, after, strict=True) if len({*both}) > 1] == [
        [name]
    ]


def test_only_the_modules_of_an_entry_are_loaded_for_it():
    code = """
import sys
from dpol.experts.registry import REGISTRY, make_members, modules_of
modules = {name: modules_of(name) for name in REGISTRY}
own = set().union(*modules.values())
assert not own & set(sys.modules), own & set(sys.modules)
make_members("follow-the-leader")
assert own & set(sys.modules) == {"dpol.experts.follow_the_leader"}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
