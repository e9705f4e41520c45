"""What draws the figures of learning from private labels."""

from dpol.studies.drawing import Drawn
from dpol.studies.paper3.figures import risk, selection
from dpol.studies.paper3.settings import Labels

DRAWN = Drawn(settings=Labels, figures={"labels-risk": risk, "labels-selection": selection})
