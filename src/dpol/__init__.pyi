"""Public names and their modules, read by `dpol/__init__.py` and by type checkers."""

from .checks.check import Verdict as Verdict
from .checks.check import check as check
from .core.errors import ConfigError as ConfigError
from .core.errors import DataError as DataError
from .core.errors import DpolError as DpolError
from .core.randomness import ReplicateGenerators as ReplicateGenerators
from .data.library import read_table as read_table
from .data.stream import GainStream as GainStream
from .data.stream import read_stream as read_stream
from .data.stream import write_stream as write_stream
from .experts.adabatch import RWAdaBatch as RWAdaBatch
from .experts.follow_the_leader import FollowTheLeader as FollowTheLeader
from .experts.ftpl import RandomWalkFTPL as RandomWalkFTPL
from .experts.games import play as play
from .experts.interface import CentralAlgorithm as CentralAlgorithm
from .experts.interface import CuratorSetup as CuratorSetup
from .experts.interface import LearnerBank as LearnerBank
from .experts.interface import LocalAlgorithm as LocalAlgorithm
from .experts.interface import LocalSetup as LocalSetup
from .experts.interface import NonPrivateAlgorithm as NonPrivateAlgorithm
from .experts.interface import Observation as Observation
from .experts.learners.alone import LearnerAlone as LearnerAlone
from .experts.learners.leader import LeaderBank as LeaderBank
from .experts.learners.ridge import RidgeBank as RidgeBank
from .experts.meta import RWMeta as RWMeta
from .experts.multiplicative_weights import MultiplicativeWeights as MultiplicativeWeights
from .experts.play import Games as Games
from .experts.play import RawGains as RawGains
from .experts.registry import make_members as make_members
from .experts.tree_ftpl import TreeFTPL as TreeFTPL
from .lazy.algorithm import LazyWeights as LazyWeights
from .noise.noises import NOISES as NOISES
from .noise.noises import Noise as Noise
from .noise.noisy_gains import NoisyGains as NoisyGains
from .noise.noisy_gains import privatize as privatize
from .privacy.account import Protection as Protection
from .privacy.account import account as account
from .privacy.guarantee import Guarantee as Guarantee
from .report.league import League as League
from .report.league import league as league
from .report.run import Run as Run
from .report.run import open_run as open_run

__version__: str
