from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import labels_plain as plain
from dpol.distributions.selection import average_prediction, median_estimate


def test_the_average_of_predictions_is_the_prediction_of_average_weights():
    rng = np.random.default_rng(0)
    weights, masses = rng.dirichlet(np.ones(3), size=(2, 5)), rng.dirichlet(np.ones(4), size=3)
    found = average_prediction(weights.mean(axis=1), masses)
    for r in range(2):
        each = [[sum(w * row[y] for w, row in zip(ws, masses)) for y in range(4)]  # noqa: B905
                for ws in weights[r]]  # fmt: skip
        np.testing.assert_allclose(found[r], np.mean(each, axis=0), rtol=1e-12)


def test_the_centre_is_chosen_by_hand():
    """On two labels the distance is the difference of the first masses."""
    first = np.array([[0.0, 0.5, 0.6, 0.7, 1.0], [0.9, 0.1, 0.2, 0.15, 0.95]])
    estimates = np.stack([first, 1 - first], axis=2)
    # Median distances: 0.6, 0.2, 0.1, 0.2, 0.4 and 0.75, 0.1, 0.1, 0.05, 0.8.
    np.testing.assert_array_equal(median_estimate(estimates)[:, 0], [0.6, 0.15])


def test_a_single_estimate_is_chosen():
    assert median_estimate(np.array([[[0.25, 0.75]]])).tolist() == [[0.25, 0.75]]


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(2, 5), st.sampled_from([0.2, 1.0]))
def test_the_chosen_is_within_three_times_of_what_most_reach(seed, G, M, kind):
    """Most lie near the truth; the others lie anywhere, or all at one wrong place."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(M))
    estimates = rng.dirichlet(np.full(M, kind), size=G)
    most = G // 2 + 1
    near = 0.1 * rng.random((most, 1))
    estimates[:most] = (1 - near) * truth + near * estimates[:most]
    if seed % 2:
        estimates[most:] = np.eye(M)[0]
    distances = sorted(plain.tv(truth, estimate) for estimate in estimates)
    chosen = median_estimate(rng.permutation(estimates)[None])[0]
    assert chosen.tolist() in estimates.tolist()
    assert plain.tv(truth, chosen) <= 3 * distances[most - 1] + 1e-12


def test_an_average_would_not_be_within_three_times():
    """The power of the test above."""
    estimates = np.array([[0.5, 0.5]] * 3 + [[1.0, 0.0]] * 2)
    assert median_estimate(estimates[None]).tolist() == [[0.5, 0.5]]
    assert plain.tv(estimates.mean(axis=0), [0.5, 0.5]) > 0.1
