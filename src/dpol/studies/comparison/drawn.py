"""What draws the figures and makes the tables of the comparison."""

from dpol.studies.answer.comparison import comparison_table
from dpol.studies.answer.promises import draw_promises, promises_table
from dpol.studies.answer.questions import draw_questions, questions_table, questions_widget
from dpol.studies.drawing import Drawn
from dpol.studies.games.names import Roles

DRAWN = Drawn(
    settings=Roles,
    figures={"questions": draw_questions, "promises": draw_promises},
    tables={
        "answer-by-question": questions_table,
        "comparison": comparison_table,
        "promises": promises_table,
    },
    widgets={"questions": questions_widget},
)
