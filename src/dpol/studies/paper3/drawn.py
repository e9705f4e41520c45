"""What draws the figures and makes the table of learning from private labels."""

from dpol.studies.paper3.figures import risk, selection
from dpol.studies.paper3.table import labels_table
from dpol.studies.study import Drawn

DRAWN = Drawn(
    figures={"labels-risk": risk, "labels-selection": selection}, tables={"labels": labels_table}
)
