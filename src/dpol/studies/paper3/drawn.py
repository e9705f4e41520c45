"""What draws the figures and makes the table of learning from private labels."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper3.figures import risk, selection
from dpol.studies.paper3.settings import Labels
from dpol.studies.paper3.table import labels_table

DRAWN = Drawn(
    settings=Labels,
    figures={"labels-risk": risk, "labels-selection": selection},
    tables={"labels": labels_table},
)
