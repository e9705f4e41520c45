"""The guarantee of a release as a formal statement, with all numbers that it follows from.

`dpol_weekly.records` recomputes it from the file alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from dpol import __version__
from dpol.privacy.chains import squared_norm
from dpol_weekly.deployment import Deployment
from dpol_weekly.noise import CountNoise
from dpol_weekly.released import Cells, ChainRows

_FORMAL = {
    "definition": "mu-Gaussian differential privacy (Dong, Roth and Su, Gaussian Differential"
    " Privacy): no test tells the outputs of two neighbouring tables apart with smaller errors than"
    " the best test of N(0, 1) against N(mu, 1).",
    "mechanism": "Each count is rounded half up to a multiple of 10^-decimals. Noise of so many"
    " steps is added: floor(u + 1/2) + z, z a fresh discrete Gaussian of the integer scale. u is 0"
    " at the start of a chain; after noise n it is b u + (a - b) n, exactly. Without memory a = b.",
    "neighbours": "Two tables that differ in one person. In each of at most unit_weeks periods in a"
    " row, that person is counted at another entity, or nowhere, in the other table.",
    "assumptions": [
        "One person changes one count by at most count_sensitivity.",
        "No person is counted by two entities of the agreement in one period.",
        "Entities, periods, capacities, and which rows were reported are public.",
        "Fresh noise is independent and has exactly the stated law. Nobody else sees u.",
    ],
    "theorems": [
        "A shift of m steps under a discrete Gaussian of scale k is m / (k - 1)-GDP, as"
        " dpol_weekly.sampler shows.",
        "Adaptive composition: squares of mu add up (Smith and Thakurta, Fully Adaptive Composition"
        " for Gaussian Differential Privacy).",
        "So scale >= sqrt(2) (S N + E) / mu + 1 is enough. S is the sensitivity in steps, N^2"
        " squared_norm, E^2 = unit_weeks chain_periods, and 0 without memory (dpol_weekly.memory).",
        "Ceiling: if no entity and period spends more than budget_mu^2 / (2 longest_stay) in any"
        " ledger, a person of the longest stay has at most budget_mu (dpol_weekly.holder.ceiling).",
    ],
}


def claim(
    rows: Sequence[Cells],
    chains: Sequence[Mapping[str, Any]],
    deployment: Deployment,
    most_spent: Fraction,
) -> dict[str, Any]:
    """The formal statement, as plain values.

    Args:
        rows: that were released.
        chains: of their noise.
        deployment: that they were released for last.
        most_spent: the most that an entity spent in a period, as the ceiling weighs rows.
    """
    of_chains, kinds = ChainRows(chains), Counter[tuple[tuple[str, Any], ...]]()
    for number, row in enumerate(rows, start=1):
        part, _ = of_chains.of(number, row.entity)
        noise = CountNoise(Decimal(row.mu), Decimal(row.count_sensitivity))
        alone = {"a": 0, "b": 0, "unit_weeks": 1, "chain_periods": 1}
        terms = part or {**alone, "decimals": noise.decimals, "scale": noise.scale}
        a, b = Fraction(str(terms["a"])), Fraction(str(terms["b"]))
        kind = {
            "mu": row.mu,
            "count_sensitivity": row.count_sensitivity,
            "chains": part is not None,
            "a": str(a),
            "b": str(b),
            "unit_weeks": terms["unit_weeks"],
            "chain_periods": terms["chain_periods"],
            "squared_norm": str(squared_norm(a, b, terms["unit_weeks"])),
            "decimals": terms["decimals"],
            "scale": terms["scale"],
        }
        kinds[tuple(kind.items())] += 1
    return {
        **_FORMAL,
        "version": f"dpol {__version__}",
        "noise": [{**dict(kind), "rows": number} for kind, number in kinds.items()],
        "ceiling": {
            "first": deployment.periods.first.isoformat(),
            "days": deployment.periods.days,
            "longest_stay": deployment.longest_stay,
            "budget_mu": deployment.budget_mu,
            "most": str(most_spent),
        },
    }
