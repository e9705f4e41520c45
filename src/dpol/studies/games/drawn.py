"""What draws the figures and makes the tables of the main study."""

from dpol.studies.games.answer import answer_widget
from dpol.studies.games.gains import average_gain_table
from dpol.studies.games.paper import draw_figure_2, table_2
from dpol.studies.games.privacy import privacy_table
from dpol.studies.games.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.games.replay import replay_widget
from dpol.studies.study import Drawn

DRAWN = Drawn(
    figures={"figure-2": draw_figure_2, "privacy-utility": draw_privacy_utility},
    tables={
        "table-2": table_2,
        "answer": answer_table,
        "privacy": privacy_table,
        "average-gain": average_gain_table,
    },
    widgets={"privacy-utility": answer_widget, "replay": replay_widget},
)
