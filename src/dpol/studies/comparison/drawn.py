"""What draws the figures and makes the tables of the standings."""

from dpol.studies.answer.league import draw_league, league_table
from dpol.studies.answer.privacy import privacy_table
from dpol.studies.answer.privacy_utility import answer_table, draw_privacy_utility
from dpol.studies.answer.promises import draw_promises, promises_table
from dpol.studies.answer.slider import answer_widget
from dpol.studies.drawing import Drawn
from dpol.studies.games.names import Compared

DRAWN = Drawn(
    settings=Compared,
    figures={
        "privacy-utility": draw_privacy_utility,
        "league": draw_league,
        "promises": draw_promises,
    },
    tables={
        "answer": answer_table,
        "privacy": privacy_table,
        "league": league_table,
        "promises": promises_table,
    },
    widgets={"privacy-utility": answer_widget},
)
