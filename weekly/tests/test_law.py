"""The law of the noise against another program's, whose draws differ in every run."""

from __future__ import annotations

import hmac

import numpy as np
import opendp.prelude as opendp
import pytest
from scipy import special

from dpol.noise.keyed import discrete_gaussian

DRAWS = 20_000


def library(scale):
    opendp.enable_features("contrib")
    integers = opendp.vector_domain(opendp.atom_domain(T=opendp.i64))
    space = integers, opendp.l2_distance(T=float)
    return np.array(opendp.m.make_gaussian(*space, scale=float(scale))([0] * DRAWS))


def agree(one, other):
    """Chi-squared test of two samples in 20 cells: equal laws differ with probability 1e-6."""
    edges = np.unique(np.quantile(other, np.arange(1, 20) / 20))
    table = np.array(
        [np.bincount(np.searchsorted(edges, it), minlength=len(edges) + 1) for it in (one, other)]
    )
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=0) / 2
    statistic = float(((table - expected) ** 2 / expected).sum())
    return special.chdtrc(table.shape[1] - 1, statistic) > 1e-6


@pytest.mark.parametrize("scale", [1, 2, 5, 1000, 2**20 + 3])
def test_draws_have_the_law_of_another_program(scale):
    """A scale wrong by a tenth is noticed."""
    keys = (hmac.digest(b"s" * 32, f"{scale},{it}".encode(), "sha512") for it in range(DRAWS))
    drawn = np.array([discrete_gaussian(key, scale) for key in keys])
    assert agree(drawn, library(scale))
    if scale > 5:
        assert not agree(np.round(1.1 * drawn), library(scale))
