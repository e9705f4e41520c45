"""Play a game in a separate process that holds noisy gains but neither raw gains nor a seed.

Every run plays local algorithms of other packages here, and `dpol check` the local algorithms that
it checks. The process is a fresh Python, not a copy of the one that made the noise. It gets the
noisy gains, the entry of the suite, and generators without their seed, because the seed would allow
the noise to be drawn again. While the process imports the algorithm, Python opens only code and
files of the installation and of the package. While the algorithm plays, the system opens nothing at
all: no file, connection or pipe, not even for machine code. An attempt that Python sees fails the
game, even if the algorithm carries on.

So an algorithm that takes raw gains from an object, a frame, a file or the seed of the noise fails,
or plays without them. This does not stop a package that reads files by machine code, or changes
dpol, when it is imported; that raises its own limits as root; that brings public gains along; or
that finds a small seed of the run by trying seeds on its own random numbers.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.machinery import all_suffixes
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from dpol.core.errors import AlgorithmError
from dpol.core.plugins import is_foreign
from dpol.core.randomness import ReplicateGenerators
from dpol.experts.interface import Actions, Member
from dpol.experts.play import play_rounds
from dpol.experts.registry import make_members, modules_of
from dpol.noise import NoisyGains
from dpol.noise.seeds import Seeds

_PACKAGE = Path(__file__).parents[1]
_NEVER = "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "socket.", "subprocess."
_NOT_IN_A_GAME = "ctypes.", "os.", "resource.", "sqlite3."
"""Prefixes of audit events that are refused: always, and while an algorithm plays."""
_REMEDY = "it gets only setup, observations and generators; import and read when the module loads"
_LATE = "numpy.fft", "numpy.ma", "numpy.polynomial", "numpy.random"
"""Parts of NumPy that its functions load at their first call."""
_LATE_OF_DPOL = "scipy.interpolate"
"""A module that the algorithms of dpol import when they play."""
_START, _STEP = 300.0, 0.1
"""Time limit of a process in seconds: to start, and for each replicate and round of a game."""
_AGAIN = 2
"""Number of replicates of a game that are played again, each on its own."""


def play_alone(member: Member, source: NoisyGains) -> Actions:
    """Play a game in a separate process and return its (R, T) actions.

    Some replicates, chosen by the run's seed, are played again, each on its own. An algorithm that
    averages the noise of several replicates then plays other actions.

    Args:
        member: local algorithm, made by `make_members`.
        source: noisy gains, with their seed.

    Raises:
        AlgorithmError: the algorithm fails, opens something, takes too long, or its replicates
            depend on each other.
    """
    (whole,) = played_alone([(member, source)])
    if isinstance(whole, str):
        raise AlgorithmError(f"{member.label}, played without raw gains: {whole}; {_REMEDY}")
    if source.n_replicates == 1 or not source.noise_scale.any():
        return whole
    seeds = _seeds_of(source)
    chooser, *_ = seeds.algorithm(f"{member.label}, played again").generators
    rows = chooser.choice(source.n_replicates, min(_AGAIN, source.n_replicates), replace=False)
    parts = [
        replace(
            source,
            initial=source.initial[[row]],
            gains=source.gains[[row]],
            seeds=replace(seeds, replicates=(seeds.replicates[row],)),
        )
        for row in rows
    ]
    every = played_alone([(member, part) for part in parts])
    for row, again in zip(rows, every, strict=True):
        if isinstance(again, str) or not np.array_equal(whole[[row]], again):
            raise AlgorithmError(
                f"{member.label}: replicate {seeds.replicates[row]} alone plays other actions than"
                f" among {source.n_replicates} replicates; a step must not mix replicates (dpol"
                " check shows where)"
            )
    return whole


def played_alone(games: Sequence[tuple[Member, NoisyGains]]) -> list[Actions | str]:
    """Play games in one separate process; return the (R, T) actions of each, or why it failed.

    Args:
        games: local algorithms, made by `make_members`, and noisy gains with their seeds.
    """
    # No algorithm is pickled: its own code would run for that, here, where raw gains are.
    given = []
    for member, source in games:
        streams = _seeds_of(source).algorithm(member.label)
        states = [generator.bit_generator.state for generator in streams.generators]
        given.append((member.spec, member.label, states, replace(source, seeds=None)))
    # importlib.metadata would try to open missing paths, in case they are archives.
    path = os.pathsep.join(str(Path(p).absolute()) for p in sys.path if p and Path(p).exists())
    seconds = _START + _STEP * sum(source.n_replicates * source.n_rounds for _, source in games)
    try:
        done = subprocess.run(
            [sys.executable, "-B", "-P", "-m", __name__],
            input=pickle.dumps(given),
            env={**os.environ, "PYTHONPATH": path},
            cwd=os.sep,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"it takes more than {seconds:.0f} s" for _ in games]
    try:
        results = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        said = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return [f"its process ended: {said or done.returncode}" for _ in games]
    return [r if isinstance(r, str) else np.array(r, dtype=np.int32) for r in results]


def _seeds_of(source: NoisyGains) -> Seeds:
    if source.seeds is None:
        raise ValueError("these noisy gains have no seed; make them by dpol.privatize")
    return source.seeds


def _play(given: bytes) -> list[Any]:
    games = pickle.loads(given)
    tried: list[str] = []
    homes = [Path(folder).resolve() for folder in (sys.prefix, sys.base_prefix, _PACKAGE)]
    sys.addaudithook(partial(_refuse, tried, homes))
    loaded = [_attempt(tried, _load, spec, label, homes) for spec, label, *_ in games]
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
    homes.clear()
    return [
        made if isinstance(made, str) else _attempt(tried, _game, made, *game[2:])
        for made, game in zip(loaded, games, strict=True)
    ]


def _attempt(tried: list[str], do: Callable[..., Any], *words: Any) -> Any:
    """Return the result of a call; the reason as a text if it fails or tries to open something."""
    tried.clear()
    try:
        made = do(*words)
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EMFILE and not tried:
            tried.append(str(error.filename or error))
        notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
        made = f"{type(error).__name__}: {error}{notes}"
    return f"it opens {tried[0]}" if tried else made


def _load(spec: Any, label: str, homes: list[Path]) -> Any:
    """Load the algorithm of an entry of a suite; make the files of its packages readable."""
    first, *others = modules_of(spec)
    for late in _LATE if is_foreign(first) else (*_LATE, _LATE_OF_DPOL):
        import_module(late)
    for module in (first, *others):
        package = find_spec(module.partition(".")[0])
        for folder in (package and package.submodule_search_locations) or ():
            homes.append(Path(folder).resolve())
    return {member.label: member.algorithm for member in make_members(spec)}[label]


def _game(algorithm: Any, states: Sequence[Any], source: NoisyGains) -> Any:
    return play_rounds(algorithm, source, _without_seed(states)).tolist()


def _without_seed(states: Sequence[Any]) -> ReplicateGenerators:
    """Return generators in these states; NumPy's own copies would carry the seed."""
    made = []
    for state in states:
        bits = np.random.PCG64()
        bits.state = state
        made.append(np.random.Generator(bits))
    return ReplicateGenerators(tuple(made))


def _refuse(tried: list[str], homes: list[Path], event: str, words: tuple[Any, ...]) -> None:
    """Refuse an audit event that no algorithm needs, and note it.

    Raises:
        PermissionError: the event is refused.
    """
    if event == "open" and isinstance(words[0], str | bytes | os.PathLike):
        path = Path(os.path.realpath(os.fsdecode(words[0])))
        about = homes and path.parent.suffix == ".dist-info"  # of packages, and of entry points
        code = path.name.endswith(tuple(all_suffixes()))
        if about or code or any(map(path.is_relative_to, homes)):
            return
        tried.append(str(words[0]))
    elif event.startswith(_NEVER if homes else (*_NEVER, *_NOT_IN_A_GAME)):
        tried.append(event)
    else:
        return
    raise PermissionError(f"a local algorithm opens nothing: {tried[-1]}")


if __name__ == "__main__":
    given, told = sys.stdin.buffer.read(), os.fdopen(os.dup(1), "w")
    sys.stdout = sys.stderr
    print(json.dumps(_play(given)), file=told, flush=True)
