"""Differentially private online learning: algorithms, accounting and experiments.

The public names, loaded when they are first used: `docs/reference/public.md` says what each is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpol.core.errors import ConfigError as ConfigError
    from dpol.core.errors import DataError as DataError
    from dpol.core.errors import DpolError as DpolError
    from dpol.data.stream import GainStream as GainStream
    from dpol.data.stream import read_stream as read_stream
    from dpol.data.stream import write_stream as write_stream
    from dpol.experts.adabatch import RWAdaBatch as RWAdaBatch
    from dpol.experts.exponential_weights import ExponentialWeights as ExponentialWeights
    from dpol.experts.follow_the_leader import FollowTheLeader as FollowTheLeader
    from dpol.experts.ftpl import RandomWalkFTPL as RandomWalkFTPL
    from dpol.experts.games import play as play
    from dpol.experts.learners.empirical_bayes import EmpiricalBayesBank as EmpiricalBayesBank
    from dpol.experts.learners.joined import LearnerAlone as LearnerAlone
    from dpol.experts.learners.leader import LeaderBank as LeaderBank
    from dpol.experts.learners.ridge import RidgeBank as RidgeBank
    from dpol.experts.learners.state_space import KalmanBank as KalmanBank
    from dpol.experts.learners.state_space import StateSpaceModel as StateSpaceModel
    from dpol.experts.meta import RWMeta as RWMeta
    from dpol.experts.multiplicative_weights import MultiplicativeWeights as MultiplicativeWeights
    from dpol.experts.play import Games as Games
    from dpol.experts.play import RawGains as RawGains
    from dpol.experts.registry import make_members as make_members
    from dpol.experts.tree_ftpl import TreeFTPL as TreeFTPL
    from dpol.lazy.algorithm import LazyWeights as LazyWeights
    from dpol.noise import NOISES as NOISES
    from dpol.noise import NoisyGains as NoisyGains
    from dpol.noise import privatize as privatize
    from dpol.privacy.guarantee import Guarantee as Guarantee

__version__ = "0.1.0"

# Where the names are. Type checkers read the imports above; a test holds the two lists equal.
_MODULES = {
    "dpol.core.errors": ("ConfigError", "DataError", "DpolError"),
    "dpol.data.stream": ("GainStream", "read_stream", "write_stream"),
    "dpol.experts.adabatch": ("RWAdaBatch",),
    "dpol.experts.exponential_weights": ("ExponentialWeights",),
    "dpol.experts.follow_the_leader": ("FollowTheLeader",),
    "dpol.experts.ftpl": ("RandomWalkFTPL",),
    "dpol.experts.games": ("play",),
    "dpol.lazy.algorithm": ("LazyWeights",),
    "dpol.experts.learners.empirical_bayes": ("EmpiricalBayesBank",),
    "dpol.experts.learners.joined": ("LearnerAlone",),
    "dpol.experts.learners.leader": ("LeaderBank",),
    "dpol.experts.learners.ridge": ("RidgeBank",),
    "dpol.experts.learners.state_space": ("KalmanBank", "StateSpaceModel"),
    "dpol.experts.meta": ("RWMeta",),
    "dpol.experts.multiplicative_weights": ("MultiplicativeWeights",),
    "dpol.experts.play": ("Games", "RawGains"),
    "dpol.experts.registry": ("make_members",),
    "dpol.experts.tree_ftpl": ("TreeFTPL",),
    "dpol.noise": ("NOISES", "NoisyGains", "privatize"),
    "dpol.privacy.guarantee": ("Guarantee",),
}
_PLACES = {name: module for module, names in _MODULES.items() for name in names}
__all__ = sorted(_PLACES)


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module 'dpol' has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
