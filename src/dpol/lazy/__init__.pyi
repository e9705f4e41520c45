"""Public names of this package and their modules, for the lazy loader and type checkers."""

from .accounting import LazyGame as LazyGame
from .accounting import published_epsilon as published_epsilon
from .accounting import sound_epsilon as sound_epsilon
from .algorithm import LazyWeights as LazyWeights
from .dartboard import ShrinkingDartboard as ShrinkingDartboard
from .dartboard import choose_dartboard as choose_dartboard
from .leaders import doubling_edges as doubling_edges
from .leaders import play_blocks as play_blocks
from .leaders import play_leaders as play_leaders
from .parameters import AccountedParameters as AccountedParameters
from .parameters import choose_parameters as choose_parameters
from .parameters import theorem_3_10 as theorem_3_10
from .stochastic_losses import GapLosses as GapLosses
from .stochastic_losses import PairedLosses as PairedLosses
from .stochastic_losses import TurnLosses as TurnLosses
from .transform import LazyParameters as LazyParameters
from .transform import LazyState as LazyState
from .transform import Measure as Measure
from .transform import advance as advance
from .transform import play_measure as play_measure
from .transform import start as start
from .weights import WeightsMeasure as WeightsMeasure
from .weights import play_weights as play_weights
