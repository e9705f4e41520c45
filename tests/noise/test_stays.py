"""Every noise protects a person who stays for several rounds, at the requested mu."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from dpol.core.errors import DataError
from dpol.data.stream import read_stream, write_stream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.noisy_max import NoisyMax
from dpol.experts.play import RawGains, guarantee_of, play_rounds, setup_of
from dpol.experts.registry import make_members
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.noise import CENTRAL_NOISES, NOISES, find_noise, privatize
from dpol.privacy.stays import STAYS as LENGTHS
from dpol.privacy.tree_noise import tree_nodes
from laplace_noise import NAME
from replicates import many

T, N, MU = 7, 3, 0.5
STAYS = 1, 2, 3
CENTRAL = MatrixFTPL(), MatrixFTPL(decay=0.9), NoisyMax(window=2), TreeFTPL()


@pytest.fixture
def stream(random_stream):
    """Return gains in which a person changes counts by 2."""
    return random_stream(T, N, count_sensitivity=2.0)


def staying(stream, stay):
    return dataclasses.replace(stream, stay=stay)


def largest_move(stream, scales, columns, stay, in_a_row=True):
    """Return the largest Mahalanobis distance over all stays and pairs of hospitals in each week.

    `columns`, (m, T) or (n, m, T) with a matrix for each hospital, maps gains to what gets noise.
    """
    columns = np.broadcast_to(columns, (N, *np.shape(columns)[-2:]))
    shifts = stream.count_sensitivity / stream.capacity / scales
    sets = itertools.combinations(range(T), stay)
    pairs = [np.eye(N)[i] - np.eye(N)[k] for i, k in itertools.combinations(range(N), 2)]
    largest = 0.0
    for rounds in sets:
        if in_a_row and rounds[-1] - rounds[0] >= stay:
            continue
        for moved in itertools.product(pairs, repeat=stay):
            weeks = (np.array(moved) * shifts[list(rounds)]).T[:, :, None]
            largest = max(largest, float(np.linalg.norm(columns[:, :, rounds] @ weeks)))
    return largest


def releases_of(noisy):
    """Return C of each hospital: the inverse of the matrix that makes its noise from its draws."""
    if noisy.memory is None:
        return np.eye(T)
    draws = np.repeat(np.eye(T)[:, :, None], N, axis=2)  # (T, draw, n)
    return np.linalg.inv(noisy.memory.noise(draws).transpose(2, 0, 1))


@pytest.mark.parametrize("stay", STAYS)
@pytest.mark.parametrize("noise", NOISES)
def test_local_noise_covers_every_stay(stream, noise, stay):
    noisy = privatize(staying(stream, stay), noise, MU, seed=1, replicates=1)
    fresh = noisy.noise_scale if noisy.fresh_scale is None else noisy.fresh_scale
    columns = releases_of(noisy)
    moved = largest_move(stream, fresh, columns, stay)
    told = [largest_move(stream, fresh, columns, min(v, T), False) for v in (*LENGTHS, 3)]
    recorded = [*(loss.mu for loss in noisy.guarantee.stays), noisy.guarantee.of_rounds(3).mu]
    if noisy.memory is None:
        assert recorded == pytest.approx(told)
    else:  # as for chains of any length
        assert (np.array(recorded) >= np.array(told) * (1 - 1e-12)).all()
        assert recorded[0] <= MU * (1 + 1e-9)
    assert moved == pytest.approx(noisy.guarantee.mu)
    assert noisy.guarantee.mu <= MU * (1 + 1e-12)
    one = privatize(stream, noise, MU, seed=1, replicates=1)
    if noise != "isotropic-worst-case" and noisy.memory is None:
        np.testing.assert_allclose(noisy.noise_scale, math.sqrt(stay) * one.noise_scale)
    rounds = "one round" if stay == 1 else f"at most {stay} rounds in a row"
    assert noisy.guarantee.unit == f"one person who changes a count by up to 2 in {rounds}"


def central_release(algorithm, source):
    """Return the scales of the noise of an algorithm and the columns that map gains to it."""
    setup = setup_of(source)
    if isinstance(algorithm, TreeFTPL):
        state = algorithm.init(setup)
        return state.relative * state.node_scale, tree_nodes(T)
    mechanism = algorithm.mechanism(setup)
    return mechanism.scale, mechanism.factorization.right


@pytest.mark.parametrize("stay", STAYS)
@pytest.mark.parametrize("noise", CENTRAL_NOISES)
@pytest.mark.parametrize("varies", [True, False])
@pytest.mark.parametrize("algorithm", CENTRAL, ids=repr)
def test_central_noise_and_records_cover_every_stay(stream, algorithm, varies, noise, stay):
    """Records hold for every set of weeks, and are close to the worst if capacities do not vary."""
    if not varies:
        stream = dataclasses.replace(stream, capacity=np.tile([20.0, 20.0, 40.0], (T, 1)))
    source = RawGains(staying(stream, stay), MU, noise=noise)
    scales, columns = central_release(algorithm, source)
    record = guarantee_of(algorithm, source)
    recorded = [loss.mu for loss in record.stays]
    for length, told in zip(LENGTHS, recorded, strict=True):
        moved = largest_move(stream, scales, columns, min(length, T), in_a_row=False)
        assert moved <= told * (1 + 1e-12)
        if not varies:
            assert told < (1 + 1e-12 if length == 1 else 1.06) * moved
            assert length == 1 or recorded[0] < 0.75 * moved
    moved = largest_move(stream, scales, columns, stay)
    assert moved <= record.mu * (1 + 1e-12) <= MU * (1 + 1e-9)
    assert record.mu > 0.5 * MU
    if isinstance(algorithm, TreeFTPL):  # takes the worst capacities of all rounds
        return
    if stay == 1:
        assert moved == pytest.approx(record.mu, rel=1e-12)
    else:  # noise for one round is too little
        scales, _ = central_release(algorithm, RawGains(stream, MU, noise=noise))
        assert largest_move(stream, scales, columns, stay) > MU


def test_what_protects_one_round_refuses_longer_stays(random_stream):
    (member,) = make_members("l2p")
    source = RawGains(staying(random_stream(5, 2), 2), MU)
    with pytest.raises(ValueError, match="here a person may stay 2 rounds"):
        play_rounds(member.algorithm, source, many(1))


def test_a_stay_is_kept_in_the_file_and_refused_where_it_means_nothing(stream, tmp_path):
    for stay in STAYS:
        write_stream(staying(stream, stay), tmp_path / "stream.parquet")
        assert read_stream(tmp_path / "stream.parquet").stay == stay
    with pytest.raises(DataError, match="stay must be 1 for gains without capacities"):
        dataclasses.replace(stream, capacity=None, given_sensitivity=np.ones(T), stay=2)


@pytest.mark.parametrize("name", [*NOISES, NAME])
def test_a_stay_longer_than_the_game_is_the_game(stream, name):
    long, whole = (
        privatize(staying(stream, stay), name, 1.0, seed=1, replicates=2) for stay in (148, T)
    )
    assert staying(stream, 148).stay == long.stay == T
    assert (long.gains == whole.gains).all()
    assert long.guarantee == whole.guarantee
    if find_noise(name).needs_capacities:  # the others have more noise than mu asks for
        assert long.guarantee.mu == pytest.approx(1.0, rel=2e-2)


@pytest.mark.parametrize("algorithm", CENTRAL, ids=repr)
def test_without_noise_the_record_says_so_for_every_stay(stream, algorithm):
    for stay in STAYS:
        record = guarantee_of(algorithm, RawGains(staying(stream, stay), math.inf))
        assert record.mu == math.inf
        assert [loss.mu for loss in record.stays] == [math.inf] * len(LENGTHS)
