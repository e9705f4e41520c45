import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from dpol.core.randomness import (
    CoinsAhead,
    ReplicateGenerators,
    replicate_generators,
    seed_sequence,
)

KEY = ("CA", "isotropic", 0.5)
parts = st.lists(
    st.text(max_size=4) | st.integers(-9, 9) | st.floats(0, 9, allow_nan=False), max_size=3
).map(tuple)


def words(root, key):
    return tuple(seed_sequence(root, key).generate_state(4).tolist())


def normals(replicates, purpose="noise", count=5):
    return replicate_generators(1, KEY, replicates, purpose).standard_normal(count)


def test_seeds_do_not_change_between_versions():
    assert words(20260101, KEY)[:2] == (715649399, 2859865395)


@given(parts, parts)
@example(("ab", "c"), ("a", "bc"))
@example(("a", "b"), ("b", "a"))
@example((1,), (1.0,))
@example((1,), ("1",))
@example(("a", "b"), ("a, b",))
@example((0.1,), (0.1 + 2e-17,))
def test_different_roots_and_keys_give_different_seeds(one, other):
    assert (words(1, one) == words(1, other)) == (repr(one) == repr(other))
    assert words(1, one) != words(2, one)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=6, unique=True))
def test_a_replicate_has_the_same_numbers_whoever_else_is_drawn(replicates):
    together = normals(replicates)
    for row, replicate in zip(together, replicates, strict=True):
        np.testing.assert_array_equal(row, normals([replicate])[0])


def test_rows_are_the_generators_own_numbers_in_order():
    fresh = [np.random.default_rng(seed) for seed in (5, 6)]
    generators = ReplicateGenerators(tuple(np.random.default_rng(seed) for seed in (5, 6)))
    for _ in range(2):
        expected = [rng.standard_normal((2, 2)) for rng in fresh]
        np.testing.assert_array_equal(generators.standard_normal(2, 2), expected)
        np.testing.assert_array_equal(generators.uniform(), [rng.random() for rng in fresh])


def test_replicates_and_purposes_are_uncorrelated_unit_normals(checks):
    """The error probability is 1e-6, and a column used twice is rejected."""
    columns = np.concatenate(
        [normals(range(4), purpose=purpose, count=20_000) for purpose in ("noise", "algorithm")]
    ).T
    assert checks.columns_are_unit_normals(columns)
    columns[:, 7] = columns[:, 0]
    assert not checks.columns_are_unit_normals(columns)


@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 3), min_size=1), st.integers(1, 400), st.floats(0, 1))
    )
)
def test_coins_drawn_ahead_are_the_same(draws):
    """Of some replicates at a time, beyond the end of a block, whether all or few are used."""
    plain = replicate_generators(1, KEY, range(4), "coins")
    ahead = CoinsAhead(replicate_generators(1, KEY, range(4), "coins"))
    for rows, count, share in draws:
        some, used = np.array(sorted(rows)), int(share * count)
        np.testing.assert_array_equal(
            ahead.next(some, count)[:, :used], plain.of(some).uniforms(used)
        )
        ahead.used[some] += used
