"""An algorithm of another package whose proof is in zCDP: ranked."""

from __future__ import annotations

import re

import dpol

ENTRY = {"algorithm": "checks.sound:InZcdp", "label": "mine"}


def test_it_stands_among_those_of_its_level_and_its_mu_is_marked(random_stream):
    league = dpol.league(
        [ENTRY, "tree-ftpl-min-noise"], random_stream(12, 3), levels=(1.0,), replicates=5
    )
    rows = league.standings.set_index("algorithm")
    assert {*rows["guarantee"]} == {"raw"}
    assert rows.loc["mine", "numerical"].all()
    assert not rows.loc[["tree-ftpl-min-noise"], "numerical"].any()
    assert re.search("mine, (capacity|isotropic) noise, numerical μ", league._repr_html_())
