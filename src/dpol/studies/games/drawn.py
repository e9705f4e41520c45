"""What draws the figures and makes the tables of the main study."""

from dpol.studies.answer.replay import replay_widget
from dpol.studies.answer.switches import draw_switches
from dpol.studies.drawing import Drawn
from dpol.studies.games.names import Shown
from dpol.studies.paper1.figure_2 import draw_figure_2
from dpol.studies.paper1.table_2 import table_2

DRAWN = Drawn(
    settings=Shown,
    figures={"figure-2": draw_figure_2, "switches": draw_switches},
    tables={"table-2": table_2},
    widgets={"replay": replay_widget},
)
