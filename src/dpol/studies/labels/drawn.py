"""What draws the figures and makes the table of learning from private labels."""

from dpol.studies.labels.figures import risk, selection
from dpol.studies.labels.table import labels_table
from dpol.studies.study import Drawn

DRAWN = Drawn(
    figures={"labels-risk": risk, "labels-selection": selection}, tables={"labels": labels_table}
)
