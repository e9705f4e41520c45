"""Public names of this package and their modules, for the lazy loader and type checkers."""

from .accounting import ConvexGame as ConvexGame
from .accounting import ConvexParameters as ConvexParameters
from .accounting import choose_convex_parameters as choose_convex_parameters
from .accounting import convex_epsilon as convex_epsilon
from .accounting import theorem_3_12 as theorem_3_12
from .ball import Ball as Ball
from .ball import sample_truncated_gaussian as sample_truncated_gaussian
from .comparators import NOISES as NOISES
from .comparators import best_regulariser as best_regulariser
from .comparators import gradient_descent as gradient_descent
from .comparators import private_ftrl as private_ftrl
from .losses import ConvexLosses as ConvexLosses
from .losses import LinearLosses as LinearLosses
from .losses import LogisticLosses as LogisticLosses
from .losses import drifting_losses as drifting_losses
from .losses import total_loss as total_loss
from .measure import LogisticWeights as LogisticWeights
from .measure import RegularisedWeights as RegularisedWeights
from .measure import measure_for as measure_for
