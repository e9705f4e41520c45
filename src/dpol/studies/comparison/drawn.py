"""What draws the figures and makes the tables of the comparison."""

from dpol.studies.comparison.promises import draw_promises, promises_table
from dpol.studies.comparison.questions_shown import (
    draw_questions,
    questions_table,
    questions_widget,
)
from dpol.studies.comparison.tables import comparison_table
from dpol.studies.study import Drawn

DRAWN = Drawn(
    figures={"questions": draw_questions, "promises": draw_promises},
    tables={
        "answer-by-question": questions_table,
        "comparison": comparison_table,
        "promises": promises_table,
    },
    widgets={"questions": questions_widget},
)
