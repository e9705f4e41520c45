"""A game in a process of its own, which holds noisy gains and neither raw gains nor a seed.

`played_alone` starts it, a fresh Python, and not a copy of the process that made the noise. It gets
the noisy gains, the algorithm, and generators whose seed is cut off, because the noise could be
drawn again from the seed. While the algorithm plays, it can open no file but code and what belongs
to the installation, no connection and no process; trying is a finding, also if the algorithm goes
on.

An algorithm that finds raw gains in another object, a frame, a file or the seed of the noise thus
fails, or plays otherwise than in a process where they are. What this does not show: that an
algorithm never reaches them in games unlike this one, or by machine code that Python does not see.
It finds mistakes. It does not hold hostile code.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import all_suffixes
from pathlib import Path
from typing import Any

import numpy as np

from dpol.core.randomness import ReplicateGenerators
from dpol.experts.games import seeds_of
from dpol.experts.interface import Actions, Member
from dpol.experts.play import play_rounds
from dpol.noise import NoisyGains

_BEYOND = "socket.", "subprocess.", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.system"
_SECONDS = 300


def played_alone(members: Sequence[Member], source: NoisyGains) -> list[Actions | str]:
    """The actions (R, T) of local algorithms in such a process; or why there are none.

    Raises:
        RuntimeError: the process ended with an error of its own.
    """
    games = [(it.algorithm, seeds_of(it.algorithm, source).algorithm(it.label)) for it in members]
    states = [[it.bit_generator.state for it in own.generators] for _, own in games]
    algorithms = [pickle.dumps(algorithm) for algorithm, _ in games]
    given = pickle.dumps((algorithms, states, replace(source, seeds=None)))
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-B", "-P", "-m", __name__],
        input=given,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    found = json.loads(done.stdout.splitlines()[-1])
    return [it if isinstance(it, str) else np.array(it, dtype=np.int32) for it in found]


def _play(given: bytes) -> list[Any]:
    algorithms, states, source = pickle.loads(given)
    loaded = []
    for pickled in algorithms:  # this imports their modules
        try:
            loaded.append(pickle.loads(pickled))
        except Exception as error:
            loaded.append(f"it cannot be loaded: {error}")
    tried: list[str] = []
    sys.addaudithook(lambda event, words: _refuse(event, words, tried))
    found: list[Any] = []
    for algorithm, own in zip(loaded, states, strict=True):
        if isinstance(algorithm, str):
            found.append(algorithm)
            continue
        tried.clear()
        try:
            actions = play_rounds(algorithm, source, _without_seed(own))
            found.append(f"it opens {tried[0]}" if tried else actions.tolist())
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return found


def _without_seed(states: Sequence[Any]) -> ReplicateGenerators:
    """Generators in these states; NumPy's own copies would carry the seed."""
    made = []
    for state in states:
        bits = np.random.PCG64()
        bits.state = state
        made.append(np.random.Generator(bits))
    return ReplicateGenerators(tuple(made))


def _refuse(event: str, words: tuple[Any, ...], tried: list[str]) -> None:
    """Refuse what an algorithm that plays has no need of.

    Raises:
        PermissionError: always then; it is noted too.
    """
    if event == "open" and isinstance(words[0], str | bytes | os.PathLike):
        path = Path(os.fsdecode(words[0])).absolute()
        homes = sys.prefix, sys.base_prefix
        code = path.name.endswith(tuple(all_suffixes())) or any(map(path.is_relative_to, homes))
        if code:
            return
        tried.append(str(words[0]))
    elif event.startswith(_BEYOND):
        tried.append(event)
    else:
        return
    raise PermissionError(f"a local algorithm opens nothing while it plays: {tried[-1]}")


if __name__ == "__main__":
    print("\n" + json.dumps(_play(sys.stdin.buffer.read())))
