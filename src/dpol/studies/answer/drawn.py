"""Functions that draw the answer of a run: its first figure, tables of systems, and widgets."""

from dpol.studies.answer.league import draw_league, league_table
from dpol.studies.answer.privacy import privacy_table
from dpol.studies.answer.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.answer.promises import draw_promises, promises_table
from dpol.studies.answer.replay import replay_widget
from dpol.studies.answer.slider import answer_widget
from dpol.studies.answer.switches import draw_switches
from dpol.studies.drawing import Drawn

DRAWN = Drawn(
    figures={
        "privacy-utility": draw_privacy_utility,
        "league": draw_league,
        "promises": draw_promises,
        "switches": draw_switches,
    },
    tables={
        "answer": answer_table,
        "privacy": privacy_table,
        "league": league_table,
        "promises": promises_table,
    },
    widgets={"privacy-utility": answer_widget, "replay": replay_widget},
)
