"""Functions that draw the figures and make the tables of L2P, for experts and for convex losses."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper2.lazy.exhibits import draw_learned
from dpol.studies.paper2.lazy.rates import draw_rates, rates_table

DRAWN = Drawn(
    figures={
        "lazy-rates": draw_rates,
        "lazy-regret": draw_learned,
        "convex-regret": draw_learned,
    },
    tables={"lazy-stated-rates": rates_table, "convex-stated-rates": rates_table},
)
