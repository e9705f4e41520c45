"""The public names and their modules: `dpol/__init__.py` and type checkers read them here."""

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
from dpol.report.compare import RunComparison as RunComparison
from dpol.report.compare import compare_runs as compare_runs

__version__: str
