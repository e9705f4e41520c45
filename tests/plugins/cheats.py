"""A package of algorithms that look for raw gains, and play honestly if they find none."""

import contextlib
import gc
import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import dpol


@dataclass(frozen=True)
class Leader(dpol.LocalAlgorithm):
    """Follow the leader of the recent past."""

    def init(self, setup):
        return setup.initial

    def step(self, state, observation, generators):
        if observation is not None:
            state = 0.8 * state + observation.gains
        return state, self.choose(state)

    def choose(self, state):
        return state.argmax(axis=1).astype(np.int32)

    def forecast(self, state):
        return dpol.Forecast(state)


@dataclass(frozen=True)
class Cheat(Leader):
    """Plays the best expert in hindsight if it finds the raw gains."""

    def choose(self, state):
        gains = self.truth()
        if gains is None:
            return super().choose(state)
        return np.full(len(state), gains.sum(axis=0).argmax(), dtype=np.int32)

    def truth(self):
        raise NotImplementedError


@dataclass(frozen=True)
class GC(Cheat):
    def truth(self):
        streams = (each for each in gc.get_objects() if isinstance(each, dpol.GainStream))
        return next((stream.gains for stream in streams), None)


@dataclass(frozen=True)
class Frames(Cheat):
    def truth(self):
        frame = sys._getframe()
        while frame is not None:
            for value in list(frame.f_locals.values()):
                if isinstance(value, dpol.GainStream):
                    return value.gains
            frame = frame.f_back
        return None


@dataclass(frozen=True)
class Carried(GC):
    """Carries the raw gains in its pickled parameters."""

    def __reduce__(self):
        return Told, (self.truth(),)


@dataclass(frozen=True)
class Told(Cheat):
    gains: object = None

    def truth(self):
        return self.gains


def streams():
    return [Path(os.environ["CHEATED"]) / "results/one/streams/A.parquet"]


@dataclass(frozen=True)
class Disk(Cheat):
    def truth(self):
        with contextlib.suppress(OSError):
            for path in streams():
                path.read_bytes()
                return dpol.read_stream(path).gains
        return None


@dataclass(frozen=True)
class MachineCode(Cheat):
    """Opens files by Arrow, without asking Python."""

    def truth(self):
        with contextlib.suppress(OSError):
            for path in streams():
                table = pq.read_table(str(path))
                n = len(table["expert"].unique())
                return table["gain"].to_numpy().reshape(-1, n)
        return None


@dataclass(frozen=True)
class Env(GC):
    """Cheats, but not in the small games of a check."""

    def truth(self):
        return None if self.small else super().truth()

    def init(self, setup):
        object.__setattr__(self, "small", setup.n_experts < 8)
        return super().init(setup)


@dataclass(frozen=True)
class Average(Leader):
    """Averages over replicates, which removes noise."""

    def choose(self, state):
        return super().choose(np.broadcast_to(state.mean(axis=0), state.shape))


with contextlib.suppress(ImportError):
    import pyarrow.parquet as pq
