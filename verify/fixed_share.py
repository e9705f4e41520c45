"""Choose the two settings of `fixed-share`, before they play anything else.

    python verify/fixed_share.py results/simulated/streams results/beyond/streams

Plays each rate and share with `capacity` noise on three kinds of data: the streams of
config/simulated.yaml, the worlds of verify/worlds.py, and the first 20 weeks of the streams of
config/beyond.yaml. Prints the pairs of a gentle setting, with a rate below 1, and a steep one that
keep most of the possible gain, if the better of the two counts for each stream and level. The kinds
count the same, and so do the streams of a kind. Takes three minutes.

How it came about: the grid was widened twice, because its edge was best (at the smallest rate only
the share matters any more). Then two rates below 1 would have been the best pair (60.9%), and the
rule of one steep setting was added after a look at that, and after reviewers had reported steep
ones above `random-effects` in Central Texas. All looks were at the data named here.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import worlds

import dpol
from dpol.checks.learners import bank_actions
from dpol.core.randomness import Floats
from dpol.experts.learners.fixed_share import FixedShareBank

RATES = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
SHARES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7)
GRID = FixedShareBank(
    {f"rate {pair[0]:g}, share {pair[1]:g}": pair for pair in itertools.product(RATES, SHARES)}
)
MUS = (np.inf, 1.0, 0.5, 0.25)
SEED, RUNS, WEEKS, SHOWN = 1, 100, 20, 8


def games(folders: list[Path]) -> Iterator[tuple[str, dpol.NoisyGains, Floats]]:
    """Yield the kind of data, noisy gains, and gains (T, n) or (R, T, n), of each game."""
    paths = [path for folder in folders for path in sorted(folder.glob("*.parquet"))]
    for path, mu in itertools.product(paths, MUS):
        stream, first = dpol.read_stream(path), None if path.parent == folders[0] else WEEKS
        cut = {name: getattr(stream, name)[:first] for name in ("gains", "capacity", "periods")}
        stream = dataclasses.replace(stream, **cut)
        noisy = dpol.privatize(stream, "capacity", mu, seed=SEED, replicates=RUNS)
        yield path.parent.parent.name, noisy, stream.gains
    for world, mu in itertools.product(worlds.WORLDS, MUS):
        yield "worlds", worlds.game(world, mu), worlds.streams_of(world)[1]


def kept(noisy: dpol.NoisyGains, gains: Floats) -> Floats:
    """Return the share of the possible gain that each setting keeps."""
    gains = np.broadcast_to(gains, noisy.gains.shape)
    own = np.take_along_axis(gains, bank_actions(GRID, noisy), axis=2).sum(axis=1).mean(axis=0)
    uniform, best = (each.sum(axis=1).mean() for each in (gains.mean(axis=2), gains.max(axis=2)))
    return np.asarray((own - uniform) / (best - uniform))


def main(folders: list[Path]) -> None:
    """Print what the best pairs of settings keep."""
    rows: dict[str, list[Floats]] = {}
    for kind, *game in games(folders):
        rows.setdefault(kind, []).append(kept(*game))
    shares = {kind: np.array(own) for kind, own in rows.items()}

    def mean_kept(pair: tuple[int, int]) -> list[float]:
        return [float(own[:, pair].max(axis=1).mean()) for own in shares.values()]

    settings = list(GRID.settings.values())
    gentle = [place for place, (rate, _) in enumerate(settings) if rate < 1]
    pairs = itertools.product(gentle, sorted({*range(len(settings))} - {*gentle}))
    for pair in sorted(pairs, key=lambda pair: -np.mean(mean_kept(pair)))[:SHOWN]:
        by_kind = zip(shares, mean_kept(pair), strict=True)
        each = ", ".join(f"{kind} {100 * share:.1f}%" for kind, share in by_kind)
        print(*(settings[place] for place in pair), f"{100 * np.mean(mean_kept(pair)):.2f}%", each)


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]])
