"""Distribution of every message (noise, indices, flips, answers), guarantees and bad input."""

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from dpol.core.randomness import replicate_generators
from dpol.labels.clients import (
    MembershipClient,
    ResponseClient,
    SampledClient,
    VectorClient,
    laplace,
    laplace_message_loss,
    scale_factor,
    uniform_index,
)
from dpol.labels.hypotheses import HypothesisClass
from dpol.privacy.noise_laws import LAPLACE
from grids import each_and_corners
from labels import plain
from replicates import many

# A sound sample is rejected with at most this probability, in every statistical test.
ERROR = 1e-6
ROUNDS = 4


def sampled(rule="exact", epsilon=1.0, rounds=ROUNDS, masses=plain.TWO_FEATURES):
    return SampledClient(plain.clipping(masses, rounds, rule), epsilon)


def vector(rule="exact"):
    return VectorClient(plain.clipping(plain.TWO_FEATURES, ROUNDS, rule), 1.0)


CLIENTS = {
    "vector": vector(),
    "sampled": sampled(),
    "response": ResponseClient(4, 1.0),
    "membership": MembershipClient(plain.HYPOTHESES, 1.0),
}
every_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)


# ---- ingredients ---------------------------------------------------------------------------------


def test_laplace_is_symmetric_and_finite_at_both_ends():
    steps = np.concatenate([np.arange(1000), np.random.default_rng(0).integers(2**53, size=1000)])
    uniforms = steps * 2.0**-53
    np.testing.assert_array_equal(laplace(plain.LAST - uniforms), -laplace(uniforms))
    ends = laplace(np.array([0.0, plain.LAST]))
    np.testing.assert_allclose(ends, [-53 * math.log(2), 53 * math.log(2)], rtol=1e-12)
    assert (laplace(np.array([0.5 - 2.0**-53, 0.5])) * [-1, 1] > 0).all()


@given(st.lists(st.floats(0, plain.LAST), min_size=1, max_size=5))
def test_laplace_inverts_its_distribution(uniforms):
    uniforms = np.array(uniforms)
    before = uniforms.copy()
    law = plain.laplace_cdf(laplace(uniforms), 1.0)
    np.testing.assert_allclose(law, uniforms, rtol=1e-9, atol=1.2e-16)
    np.testing.assert_array_equal(uniforms, before)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 1000, 1023, 99_991, 2**20 + 1])
def test_an_index_never_reaches_its_size(size):
    drawn = uniform_index(np.array([0.0, plain.LAST]), size)
    assert drawn.tolist() == [0, size - 1]
    assert drawn.dtype == np.int64


@every_client
def test_a_message_depends_on_the_label_of_its_own_round_only(client):
    features = np.random.default_rng(0).integers(2, size=40)
    labels = np.zeros((5, 40), dtype=int)
    other = labels.copy()
    other[:, 20] = 2
    found = [
        client.privatize(these, features, replicate_generators(1, (), range(5), "t"))
        for these in (labels, other)
    ]
    pairs = zip(*(vars(messages).values() for messages in found), strict=True)
    differs = [(one != changed).reshape(5, 40, -1).any(axis=(0, 2)) for one, changed in pairs]
    assert np.flatnonzero(np.any(differs, axis=0)).tolist() == [20]


# ---- private WMA and EXP3 ------------------------------------------------------------------------

SIZE = 60_000
# Labels 0 and 3; at feature 1 no hypothesis gives label 3 any mass.
PLACES = list(itertools.product([0, 1], [0, 3]))


def has_noise_of(scale, sample, x, label, j):
    """Run Kolmogorov and Smirnov's test; a fifth more or less noise fails."""
    F = plain.TWO_FEATURES[x]
    chances = plain.chances_of_cells(F, ROUNDS, label)

    def follows(scale):
        law = functools.partial(plain.message_cdf, F=F, T=ROUNDS, j=j, scale=scale, chances=chances)
        return stats.kstest(sample, law).pvalue > ERROR / 24

    return follows(scale) and not (follows(0.8 * scale) or follows(1.25 * scale))


def scale_by_hand(x, j, rule):
    logs = np.log(plain.clipped(plain.TWO_FEATURES[x], ROUNDS)[j])
    return logs.max() - logs.min() if rule == "exact" else math.log(3 * ROUNDS)


@pytest.mark.parametrize("rule", ["exact", "published"])
@pytest.mark.parametrize(("x", "label"), PLACES)
def test_messages_follow_their_distribution(checks, rule, x, label):
    """The noise on all values has scale factor * s_j; on one, of a uniform index J, s_J / eps."""
    labels, features = np.full((1, 3 * SIZE), label), np.full(3 * SIZE, x)
    values = vector(rule).privatize(labels[:, :SIZE], features[:SIZE], many(1, label)).values[0]
    assert values.shape == (SIZE, 3)
    messages = sampled(rule, epsilon=0.5).privatize(labels, features, many(1, label))
    index, value = messages.index[0], messages.values[0]
    counts = np.bincount(index)
    assert checks.frequencies(counts, [1 / 3] * 3)
    assert not checks.frequencies(counts, [0.32, 0.34, 0.34])
    for j in range(3):
        scale = scale_by_hand(x, j, rule)
        assert has_noise_of(scale_factor(3, 1.0, 1e-6, rule) * scale, values[:, j], x, label, j)
        assert has_noise_of(scale / 0.5, value[index == j], x, label, j)


# ---- randomised response and membership ----------------------------------------------------------


@pytest.mark.parametrize("name", ["response", "membership"])
@pytest.mark.parametrize(("x", "label"), PLACES)
def test_answers_follow_their_chances(checks, name, x, label):
    """Likelihoods of the posterior tell the chances by hand; those of another epsilon fail."""
    client, count = CLIENTS[name], 90_000
    messages = client.privatize(np.full((1, count), label), np.full(count, x), many(1, label))
    for epsilon in (1 / 1.1, 1.0, 1.1):
        asked = dataclasses.replace(client, epsilon=epsilon)
        chances = asked.chances(np.tile(np.eye(4)[label], (2, 1, 1)))[x, :, :, 0]
        cells = messages.index[0] * chances.shape[1] + messages.values[0]
        counts = np.bincount(cells, minlength=chances.size)
        law = chances.ravel() / len(chances)
        assert checks.frequencies(counts, law) == (epsilon == 1.0)


def test_membership_sets_by_hand():
    one = [[0.5, 0.3, 0.2], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]  # averages 0.267, 0.333, 0.4
    two = [[0.8, 0.15, 0.05], [0.8, 0.05, 0.15], [0.65, 0.2, 0.15]]  # 0.75, 0.133, 0.117
    sets = MembershipClient(HypothesisClass([one, two]), 1.0).sets
    expected = [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [1, 0, 1], [0, 1, 1]]]
    np.testing.assert_array_equal(sets, np.array(expected, dtype=bool))


# ---- guarantees ----------------------------------------------------------------------------------


@given(plain.cases(most_features=1), st.floats(0.1, 6))
def test_the_record_covers_the_exact_loss_of_a_sampled_message(case, epsilon):
    masses, rounds = case
    exact, published = (sampled(rule, epsilon, rounds, masses) for rule in ("exact", "published"))
    assert exact.exact_loss <= exact.guarantee.epsilon(0.0) * (1 + 1e-12)
    assert exact.guarantee.epsilon(0.0) == epsilon
    guaranteed = published.guarantee.epsilon(0.0)
    assert published.exact_loss <= guaranteed * (1 + 1e-12)
    over = published.clipping.ranges.max() > math.log(masses.shape[1] * rounds)
    assert (guaranteed > epsilon) == over


class LessNoise(VectorClient):
    factor = 1.5


def test_a_vector_without_room_for_the_excess_says_what_its_noise_gives():
    """Two Laplace releases: delta(0) = 1 - e^-a (1 + a / 2) for two of strength a."""
    client = LessNoise(plain.clipping(plain.COUNTEREXAMPLE, 300, "published"), 1.0)
    a, loss = client.clipping.excess / 1.5, client.guarantee.loss
    assert loss.epsilon(0.0) == pytest.approx(2 * a)
    assert loss.delta(0.0) == pytest.approx(1 - math.exp(-a) * (1 + a / 2), rel=1e-3)
    assert 1.0 < loss.epsilon(1e-6) < 2 * a


def test_the_record_of_randomised_response_is_that_of_its_chances():
    """Of five labels: at epsilon = 1 the label has e / (e + 4), each other 1 / (e + 4)."""
    total = math.e + 4
    loss = ResponseClient(5, 1.0).guarantee.loss
    assert loss.delta(0.0) == pytest.approx((math.e - 1) / total)
    assert loss.delta(0.5) == pytest.approx((math.e - math.exp(0.5)) / total)
    tests = [((math.e + k) / total, (1 + k) / total) for k in range(4)]
    mus = [special.ndtri(power) - special.ndtri(wrong) for power, wrong in tests]
    assert max(mus) == pytest.approx(loss.mu)
    assert loss.mu < MembershipClient(HypothesisClass([[0.5, 0.5], [0.1, 0.9]]), 1.0).guarantee.mu


# ---- bad input -----------------------------------------------------------------------------------


@every_client
def test_epsilon_is_above_zero_and_infinity_claims_nothing(client):
    guarantee = dataclasses.replace(client, epsilon=math.inf).guarantee
    assert (guarantee.epsilon(0.5), guarantee.mu) == (math.inf, math.inf)
    assert (guarantee.model, guarantee.sampler, guarantee.mechanism) == ("none", "none", "none")
    for epsilon in (0.0, -1.0, math.nan, -math.inf, True, 10**400):
        with pytest.raises(ValueError, match=r"epsilon must be a number in \(0, inf\], got "):
            dataclasses.replace(client, epsilon=epsilon)


@every_client
@pytest.mark.parametrize(
    ("label", "message"), [(4, "4"), (-1, "-1"), (1.5, "numbers of type float64")]
)
def test_labels_that_do_not_exist_are_refused(client, label, message):
    with pytest.raises(ValueError, match=rf"labels must be integers in 0\.\.3, got {message}"):
        client.privatize(np.array([[0, label]]), np.zeros(2, dtype=int), many(1))


# ---- Laplace noise: its scale, and an exact loss -------------------------------------------------


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [*each_and_corners((2, 16, 64), (0.25, 1.0, 4.0), (1e-6, 1e-3, 0.1)), (1000, 1.0, 1e-6)],
)
def test_exact_is_enough_and_a_thousandth_less_is_not(n, epsilon, delta):
    """By losses of Laplace noise, which the room of privacy compares with dp_accounting."""
    factor = scale_factor(n, epsilon, delta, "exact")
    assert LAPLACE.loss(1 / factor, n).delta(epsilon) <= delta
    assert LAPLACE.loss(1 / (0.999 * factor), n).delta(epsilon) > delta


def test_the_ends_of_the_range():
    """Basic composition if delta is tiny; no noise without privacy."""
    assert scale_factor(64, 1.0, 1e-300, "exact") == 64
    assert scale_factor(64, 1.0, 1e-10, "exact") < 64
    for rule in ("published", "exact"):
        assert scale_factor(16, math.inf, 1e-6, rule) == 0.0


def on_a_grid(logs, c, keep, scales):
    """Return the largest log ratio over all pairs of labels and a grid of values."""
    used, losses = [y for y in range(len(c)) if c[y]], []
    for log, scale in zip(logs, scales, strict=True):
        inner = log[used]
        grid = np.linspace(min(inner) - 3 * scale, max(inner) + 3 * scale, 301)
        grid = np.concatenate([grid, inner])
        densities = []
        for y in range(len(c)):
            stays = keep if c[y] else 0.0
            chances = [stays * (y == z) + (1 - stays) * c[z] / c.sum() for z in used]
            parts = zip(chances, inner, strict=True)
            densities.append(sum(p * np.exp(-np.abs(grid - a) / scale) for p, a in parts))
        losses.append(np.ptp(np.log(densities), axis=0).max())
    return np.array(losses)


@given(
    plain.cases(most_features=1), st.sampled_from([0.25, 1.0, 4.0]), st.sampled_from([None, 0, 1])
)
def test_loss_agrees_with_a_dense_grid(class_, epsilon, keep):
    """For all pairs of labels; the grid holds the knots, so no other value gives more.

    With the label's block as often as in the paper, never and always.
    """
    (F,), T = class_
    clipping = plain.clipping(F, T)
    logs, c, ranges = clipping.log_cells[0], clipping.cells[0], clipping.ranges[0]
    keep = 1 - 1 / T if keep is None else float(keep)
    for scales in (np.full(len(F), math.log(len(F) * T) / epsilon), ranges / epsilon + 1e-3):
        loss = laplace_message_loss(logs, c, keep=keep, scales=scales)
        expected = on_a_grid(logs, c, keep, scales)
        np.testing.assert_allclose(loss, expected, rtol=1e-9, atol=1e-12)
