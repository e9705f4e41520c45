"""Audits of the actions of an algorithm, or of other outputs, in a setting.

A setting has two streams that differ in one person, who is at either of two experts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.data.synthetic import adjacent_streams
from dpol.privacy.auditing import Parameter, selection_half
from dpol.privacy.guarantee import Guarantee
from dpol.privacy.losses import Loss
from dpol.privacy.stays import STAYS
from dpol.studies.ledger.audits.core import Audit, Subject, by_event, combinations


@dataclass(frozen=True, eq=False, kw_only=True)
class Setting:
    """A stream, a level and a person who is at one of two experts.

    Args:
        stream: the gains without the person.
        mu: level of the noise.
        noise: name of the noise.
        rounds: the rounds that count the person, from 0.
        experts: the two experts.
        moves: whether the person moves between the two from round to round.
    """

    stream: GainStream
    mu: float
    noise: str
    rounds: tuple[int, ...]
    experts: tuple[int, int]
    moves: bool = False

    def __str__(self) -> str:
        stream, (one, other) = self.stream, self.experts
        people = f"stay {stream.stay}" if stream.capacity is not None else "given sensitivity"
        return (
            f"with a person in round {', '.join(str(t + 1) for t in self.rounds)}, at expert {one}"
            f" or {other} ({stream.n_rounds} rounds, {stream.n_experts} experts, gains up to"
            f" {stream.gain_range:g}, mu {self.mu:.3g}, {people}, {self.noise} noise)"
        )

    def streams(self) -> tuple[GainStream, GainStream]:
        """Return the stream with the person at the first expert, and at the second."""
        return adjacent_streams(self.stream, self.rounds, self.experts, moves=self.moves)

    def claim(self, record: Guarantee) -> float:
        """Return the smallest mu or epsilon that a record claims for this person; inf for none."""
        rounds, stay, delta = len(self.rounds), self.stream.stay, delta_of(record)
        claims = [math.inf]
        if self.rounds[-1] - self.rounds[0] < stay:
            claims.append(_claim(record.loss, delta))
        of_rounds = [record.in_rounds(rounds)] if record.in_rounds else []
        of_rounds += [it for v, it in zip(STAYS, record.stays or (), strict=False) if rounds <= v]
        claims += [_claim(it, delta) for it in of_rounds]
        if record.carried and rounds <= stay + record.carried[0]:
            claims.append(_claim(record.carried[1], delta))
        return min(claims)


def delta_of(record: Guarantee) -> float:
    """Return the delta at which a record without a mu claims an epsilon; 0 if it has a mu."""
    return record.loss.told if record.loss.told < 1 else 0.0


def _claim(loss: Loss, delta: float) -> float:
    return loss.epsilon(delta) if delta else loss.mu


Play = Callable[[Setting, GainStream, int, int], tuple[Floats, Guarantee]]
"""Maps a setting, one of its streams, R and a seed to outputs (R, T, n) and to the record."""
# Outputs that count besides combinations, and quantiles at which a number is an event.
_COLUMNS, _QUANTILES = 8, (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditedGames:
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

    def audit(self) -> Audit:
        """Audit the claim by the combinations, and the outputs that seem to exceed it most."""
        likeliest = np.argsort(self.excess(*map(selection_half, self.both)))[-_COLUMNS:]
        subject = Subject(
            mechanism=self.record.mechanism,
            variant=f"{self.setting.noise} noise",
            code="step",
            inputs=str(self.setting),
            adjacency=self.record.adjacency,
            unit=self.record.unit,
            requested=self.claim,
            recorded=self.claim,
        )
        statistics = [self.combined, [each[:, likeliest] for each in self.both]]
        parameter: Parameter = "epsilon" if self.delta else "mu"
        return by_event(subject, "an event of the actions", statistics, parameter, self.delta)


def played(play: Play, setting: Setting, count: int, seed: int) -> AuditedGames:
    """Play `count` games on each stream of a setting."""
    seeds = map(int, seed_sequence(seed, ("audit", count)).generate_state(2))
    games = zip(setting.streams(), seeds, strict=True)
    made = [play(setting, stream, count, own) for stream, own in games]
    one, other = setting.experts
    apart = [outputs[..., one] - outputs[..., other] for outputs, _ in made]
    sums = (np.arange(setting.stream.n_rounds) >= setting.rounds[0]).astype(float)
    pairs = [(outputs, np.diff(outputs, axis=1)) for outputs, _ in made]
    return AuditedGames(
        setting=setting,
        record=made[0][1],
        both=[np.hstack([each.reshape(count, -1) for each in pair]) for pair in pairs],
        combined=combinations(apart, sums),
    )
