"""What draws the figure and makes the table of L2P for convex losses."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper2.lazy.exhibits import draw_learned
from dpol.studies.paper2.lazy.rates import rates_table

DRAWN = Drawn(
    figures={"convex-regret": draw_learned},
    tables={"convex-stated-rates": rates_table},
)
