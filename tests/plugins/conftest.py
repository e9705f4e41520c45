"""A foreign package, as pip would install it."""

from pathlib import Path

import pytest

from in_process import forget_code

CODE = '''
"""A leader that forgets, in pandas, learners, and a noise; and some that fail."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

import dpol
from dpol.experts.learners.leader import LeaderBank
from dpol.noise import Noise


@dataclass(frozen=True)
class ForgetfulLeader(dpol.LocalAlgorithm):
    keep: float = 0.9

    def init(self, setup):
        return pd.DataFrame(setup.initial)

    def step(self, state, observation, generators):
        if observation is not None:
            state = self.keep * state + pd.DataFrame(observation.gains)
        return state, state.idxmax(axis=1).to_numpy()


@dataclass(frozen=True)
class Fails(ForgetfulLeader):
    def step(self, state, observation, generators):
        raise KeyError("north\\nsouth")


@dataclass(frozen=True)
class FailsInPublic(dpol.FollowTheLeader):
    def init(self, setup):
        raise ZeroDivisionError


@dataclass(frozen=True)
class OtherLeaders(LeaderBank):
    @property
    def labels(self):
        return ("other-leader",)


@dataclass(frozen=True)
class FailingLeader(LeaderBank):
    def step(self, state, observation):
        raise LookupError


HALF = Noise(
    name="half",
    title="half of the isotropic noise",
    origin="paper",
    central=True,
    scale=lambda stream, mu: np.broadcast_to(
        (stream.sensitivity / mu / 2)[:, None], stream.gains.shape
    ),
)
'''
ENTRY_POINTS = """\
[dpol.algorithms]
forgetful-leader = adalg:ForgetfulLeader

[dpol.learners]
other-leaders = adalg:OtherLeaders

[dpol.noises]
half = adalg:HALF
"""


def install(folder: Path, name: str, points: str = ENTRY_POINTS, code: str = CODE) -> None:
    """Write a package and its metadata into a folder of packages."""
    (folder / f"{name}.py").write_text(code)
    about = folder / f"{name}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(points)
    (about / "top_level.txt").write_text(name)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on Python's path with adalg 0.1."""
    folder = tmp_path / "packages"
    folder.mkdir()
    install(folder, "adalg")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(__import__("sys").modules, "adalg", raising=False)
    forget_code()
    return folder
