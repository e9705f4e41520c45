"""The league has the recorded rows of today."""

from __future__ import annotations

import league
from recorded_numbers import standings


def test_the_best_local_rule_of_a_level_is_the_first_line_of_the_level() -> None:
    rows = standings("states").query("guarantee == 'the level' and mu == 0.25")
    best = rows.loc[rows["gain_share"].idxmax()]
    own = league.tables().split("## Fifteen states")[1]
    said = f"| 0.25 | `{best['algorithm']}`, {best['noise']} † | {100 * best['gain_share']:.1f} ± "
    assert said in own
