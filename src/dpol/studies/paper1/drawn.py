"""Functions that draw Figure 2 and make Table 2 of the first paper, from the games of any run."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper1.figure_2 import draw_figure_2
from dpol.studies.paper1.table_2 import table_2

DRAWN = Drawn(figures={"figure-2": draw_figure_2}, tables={"table-2": table_2})
