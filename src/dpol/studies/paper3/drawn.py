"""Functions that draw the figures of learning from private labels."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper3.figures import risk, selection

DRAWN = Drawn(figures={"labels-risk": risk, "labels-selection": selection})
