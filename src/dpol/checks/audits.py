"""Audits of the actions of an algorithm, in several settings.

Games with a person at either of two experts prove a lower bound on the privacy parameter; above the
claim of the record, it refutes the record. Few games of every setting rank the settings, more games
rank the best of these again, and many fresh games of the last few count.

An audit of this size cannot see:

- a fault that needs two rare conditions at once, such as no noise in round 17 of games of 5
  experts: a setting or two have it, and their person must be in that round
- a fault outside the drawn settings: from round 41 on, at a seventh expert, at capacities above 50
- a fault in few games, such as no noise in one of a hundred
- noise that is a little too small in long games: choices show less than releases, and the worst
  choice, last and alone, may not show a person at all
- a delta below 1e-3: such events are too rare
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from dpol.checks import CheckError
from dpol.checks.settings import Setting, delta_of
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.privacy.auditing import (
    AuditResult,
    audit_runs,
    selection_half,
    with_fitted_direction,
)
from dpol.privacy.guarantee import Guarantee

ERROR = 1e-6
"""Largest probability that a statistical check refuses a sound algorithm or noise."""
SHARES = 0.9, 0.5, 0.3, 0.1
"""Shares of the right noise with which a check plays again, to tell its power."""
Play = Callable[[Setting, GainStream, int, int, float], tuple[Floats, Guarantee]]
"""Maps a setting, one of its streams, R, a seed, and a share of the right noise, to outputs
(R, T, n) and to the record of the right noise."""
# Settings that are ranked again, and whose games count, of those with small and with large claims.
_KEPT, _LAST = 6, 2
# Outputs that count besides combinations, and quantiles at which a number is an event.
_COLUMNS, _QUANTILES = 8, (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)
_ROUNDING = 1 + 1e-9
# Actions of the games of a short setting on each stream, settings that are played with less noise,
# and the smallest delta that games show.
_SHORT, _LIKELY, _SEEN = 800_000, 2, 1e-3


def audit(
    play: Play,
    settings: Sequence[Setting],
    short: Sequence[Setting] = (),
    *,
    seed: int,
    games: tuple[int, int, int],
) -> str:
    """Audit records, and return the verdict; a sound record is refuted with probability `ERROR`.

    The error is divided equally among the settings whose games count. The verdict is `cannot tell`
    if a tenth of the noise does not refute the record either.

    Args:
        play: plays the games.
        settings: the settings, of which the worst count.
        short: settings of few rounds that all count, with `_SHORT` actions in all.
        seed: root seed.
        games: numbers of games, on each stream: of all settings, of the best of these, and those
            that count.

    Raises:
        CheckError: the games refute a record, or its mu is above that of the setting.
    """
    counted = [(each, games[-1]) for each in _worst(play, settings, seed, games)]
    counted += [(each, _SHORT // each.stream.gains.size) for each in short]
    error = ERROR / len(counted)

    def bound(setting: Setting, count: int, share: float) -> AuditResult:
        return _played(play, setting, count, seed, share).bounded(error)

    found = [(setting, bound(setting, count, 1.0)) for setting, count in counted]
    ratios = [it.lower_bound / max(it.claimed, 1e-9) for _, it in found]
    setting, worst = found[max(range(len(found)), key=ratios.__getitem__)]
    if wrong := worst.refuted(f"{setting}, its actions"):
        raise CheckError(f"{wrong}; noise is missing or too small")
    likely = [counted[i] for i in np.argsort(ratios)[-_LIKELY:]]

    def seen(share: float) -> bool:
        return any(bound(it, count, share).verdict == "violated" for it, count in likely)

    least = SHARES[-1] if seen(SHARES[-1]) else 0.0
    refused = next(filter(seen, SHARES[:-1]), least) if least else 0.0
    unseen = f"; nothing shows its delta of {worst.delta:g}" if 0 < worst.delta < _SEEN else ""
    proved = f"proves {worst.proved} of {worst.claimed:.3g}"
    if not refused:
        return f"cannot tell, because a tenth of the noise would pass too ({proved}{unseen})"
    return f"holds, {proved}; would refute {refused:g} of the noise{unseen}"


def _worst(
    play: Play, settings: Sequence[Setting], seed: int, games: tuple[int, int, int]
) -> list[Setting]:
    """Return the settings that seem to exceed their claims most.

    Noise that is too small shows best at a large claim, noise that is used again at a small one.
    """
    first, more, _ = games
    played = [_played(play, each, first, seed) for each in settings]
    for each in played:
        if not each.delta and each.record.mu > each.setting.mu * _ROUNDING:
            raise CheckError(
                f"{each.setting}, the record claims mu = {each.record.mu:.3g} but"
                f" {each.setting.mu:.3g} was requested; add noise"
            )
    counted = []
    for low, high in ((0.0, 1.0), (1.0, math.inf)):
        best = _best([each for each in played if low <= each.claim < high], _KEPT)
        again = [_played(play, each.setting, more, seed) for each in best]
        counted += [each.setting for each in _best(again, _LAST)]
    return counted


@dataclass(frozen=True, eq=False, kw_only=True)
class _Played:
    """Games of a setting.

    Args:
        setting: the setting.
        record: their record.
        both: (R, d) outputs with the person at either expert, and their changes between rounds.
        combined: (R, 2) combinations of the differences between the two experts: the best one by
            `with_fitted_direction`, and the sum from the person's first round on.
    """

    setting: Setting
    record: Guarantee
    both: list[Floats]
    combined: list[Floats]

    @property
    def claim(self) -> float:
        """The claim of the record for the person."""
        return self.setting.claim(self.record)

    @property
    def delta(self) -> float:
        """Delta of the claim if it is an epsilon; 0 if it is a mu."""
        return delta_of(self.record)

    def score(self) -> float:
        """Return by how many deviations the likeliest event exceeds the claim: a guess."""
        fresh = [each[len(each) // 2 :] for each in self.combined]
        return max(float(self.excess(*each).max()) for each in (fresh, self.both))

    def excess(self, first: Floats, second: Floats) -> Floats:
        """Return, for each column of (R, d) outputs, the largest z-score of its events."""
        levels = np.quantile(np.concatenate([first, second]), _QUANTILES, axis=0)
        counts = [(outputs > levels[:, None]).sum(axis=1) for outputs in (first, second)]
        one, other = ((count + 0.5) / (len(first) + 1) for count in counts)
        wrong = np.stack([one, other, 1 - one, 1 - other])
        right = wrong[[1, 0, 3, 2]]
        if self.delta:
            slope = np.exp(min(self.claim, 100.0))
            most = slope * wrong + self.delta
        else:
            quantile = scipy.special.ndtri(wrong)
            most = scipy.special.ndtr(quantile + self.claim)
            slope = np.exp(-self.claim * (quantile + self.claim / 2))
        variance = (right * (1 - right) + slope**2 * wrong * (1 - wrong)) / len(first)
        return np.asarray(((right - most) / np.sqrt(variance)).max(axis=(0, 1)))

    def bounded(self, error: float) -> AuditResult:
        """Audit the claim by the combinations, and the outputs that seem to exceed it most."""
        likeliest = np.argsort(self.excess(*map(selection_half, self.both)))[-_COLUMNS:]
        columns = zip(self.combined, (each[:, likeliest] for each in self.both), strict=True)
        return audit_runs(
            *map(np.hstack, columns),
            parameter="epsilon" if self.delta else "mu",
            claimed=self.claim,
            confidence=1 - error,
            delta=self.delta,
        )


def _played(play: Play, setting: Setting, count: int, seed: int, share: float = 1.0) -> _Played:
    seeds = map(int, seed_sequence(seed, ("audit", count)).generate_state(2))
    games = zip(setting.streams(), seeds, strict=True)
    made = [play(setting, stream, count, own, share) for stream, own in games]
    one, other = setting.experts
    apart = [outputs[..., one] - outputs[..., other] for outputs, _ in made]
    sums = (np.arange(setting.stream.n_rounds) >= setting.rounds[0]).astype(float)[:, None]
    fitted = zip(with_fitted_direction(*apart), apart, strict=True)
    pairs = [(outputs, np.diff(outputs, axis=1)) for outputs, _ in made]
    return _Played(
        setting=setting,
        record=made[0][1],
        both=[np.hstack([each.reshape(count, -1) for each in pair]) for pair in pairs],
        combined=[np.hstack([best, each @ sums]) for best, each in fitted],
    )


def _best(played: Sequence[_Played], kept: int) -> list[_Played]:
    scores = [each.score() for each in played]
    return [played[i] for i in np.argsort(scores)[-kept:]]
