"""An algorithm of another package whose proof is in zCDP: checked and ranked."""

from __future__ import annotations

import pytest

import dpol
from checks.sound import zcdp_of
from dpol.checks.check import check
from dpol.privacy.losses import mu_of_zcdp

NAME = "checks.sound:InZcdp"
ENTRY = {"algorithm": NAME, "label": "mine"}


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
def test_its_rho_is_the_largest_that_keeps_the_level(mu):
    assert mu * (1 - 1e-6) < mu_of_zcdp(zcdp_of(mu)) <= mu


def test_it_passes_the_checks():
    verdicts = check(NAME)
    assert all(verdict.holds for verdict in verdicts)
    assert any("proves mu >= " in str(verdict) for verdict in verdicts)


def test_it_stands_among_those_of_its_level_and_its_mu_is_marked(random_stream):
    league = dpol.league(
        [ENTRY, "tree-ftpl-min-noise"], random_stream(12, 3), levels=(1.0,), replicates=5
    )
    rows = league.standings.set_index("algorithm")
    assert {*rows["guarantee"]} == {"raw"}
    assert rows.loc["mine", "numerical"].all()
    assert not rows.loc[["tree-ftpl-min-noise"], "numerical"].any()
    assert "mine, capacity noise, numerical μ" in league._repr_html_() or (
        "mine, isotropic noise, numerical μ" in league._repr_html_()
    )
