"""Algorithms, learners and noises: broken ones that fail a check, and sound ones."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dpol
from checks.scales import named, times
from dpol.experts.learners.leader import LeaderBank
from dpol.noise.noises import CAPACITY, ISOTROPIC
from dpol.privacy.gaussian_dp import pure_epsilon
from dpol.privacy.losses import Loss


def faults_of(module: str) -> dict[str, str]:
    """Return what is wrong, in the words of their docstrings, with the classes of a module."""
    every = vars(sys.modules[module]).items()
    named = {name: it for name, it in every if not name.startswith("_") and isinstance(it, type)}
    own = {name: it.__doc__ or "" for name, it in named.items() if it.__module__ == module}
    return {name: " ".join(words.split()).removesuffix(".") for name, words in own.items()}


def leader(scores: Any) -> Any:
    return scores.argmax(axis=1).astype(np.int32)


@dataclass(frozen=True)
class Sound(dpol.LocalAlgorithm[Any]):
    """Follow the leader of the recent past."""

    def init(self, setup: Any) -> Any:
        return setup.initial

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        scores = state if observation is None else 0.8 * state + observation.gains
        return scores, leader(scores)


class OfThisModule(Sound):
    """A sound algorithm with changed scores."""

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        state, _ = super().step(state, observation, generators)
        return state, leader(self.changed(state, observation, generators))

    def changed(self, scores: Any, observation: Any, generators: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class RandomFromElsewhere(OfThisModule):
    def changed(self, scores, observation, generators):
        return scores + np.random.default_rng().normal(size=scores.shape)


@dataclass(frozen=True)
class LooksAhead(OfThisModule):
    """Takes this round's gains from a frame of the loop that plays it."""

    def changed(self, scores, observation, generators):
        frame: Any = sys._getframe()
        while not isinstance(frame.f_locals.get("source"), dpol.NoisyGains):
            frame = frame.f_back
        return frame.f_locals["source"].gains[:, frame.f_locals["t"]]


@dataclass(frozen=True)
class NeverLearns(OfThisModule):
    def changed(self, scores, observation, generators):
        return np.tile([1.0] + [0.0] * (scores.shape[1] - 1), (len(scores), 1))


@dataclass(frozen=True)
class ChangesItsState(Sound):
    def init(self, setup):
        return setup.initial.copy()

    def step(self, state, observation, generators):
        if observation is not None:
            state += observation.gains
        return state, leader(state)


@dataclass(frozen=True)
class RemembersElsewhere(OfThisModule):
    kept: dict[str, Any] = field(default_factory=dict, compare=False)

    def changed(self, scores, observation, generators):
        self.kept["calls"] = self.kept.get("calls", 0) + 1
        return np.roll(scores, self.kept["calls"], axis=1)


@dataclass(frozen=True)
class KnowsItsStates(Sound):
    """Plays differently from a state that it did not make itself, such as a restored one."""

    kept: dict[int, Any] = field(default_factory=dict, compare=False)

    def step(self, state, observation, generators):
        known = observation is None or id(state) in self.kept
        state, actions = super().step(state, observation, generators)
        self.kept[id(state)] = state
        return state, actions if known else (actions + 1) % state.shape[1]


@dataclass(frozen=True)
class DoesNotPickle(Sound):
    weigh: Any = field(default_factory=lambda: lambda scores: scores)


@dataclass(frozen=True)
class MixesReplicates(OfThisModule):
    def changed(self, scores, observation, generators):
        return np.broadcast_to(scores.mean(axis=0), scores.shape)


@dataclass(frozen=True)
class NamesNoExpert(Sound):
    def step(self, state, observation, generators):
        state, actions = super().step(state, observation, generators)
        return state, actions + 1


@dataclass(frozen=True)
class NeedsTwoRounds(Sound):
    def init(self, setup):
        setup.noise_scale[1]
        return setup.initial


@dataclass(frozen=True)
class WantsNoise(OfThisModule):
    """Plays differently at mu = inf and at any other mu."""

    def changed(self, scores, observation, generators):
        noisy = observation is None or observation.noise_scale.any()
        return scores if noisy else -scores


@dataclass(frozen=True)
class RandomWithoutNoise(OfThisModule):
    """Plays the first expert with probability 0.9 at mu = inf, and 0.5 otherwise."""

    def changed(self, scores, observation, generators):
        noisy = observation is None or observation.noise_scale.any()
        first = generators.uniform() < (0.5 if noisy else 0.9)
        return np.where(first[:, None], [1.0] + [0.0] * (scores.shape[1] - 1), scores)


@dataclass(frozen=True)
class SoundCurator(dpol.TreeFTPL):
    """The tree of dpol."""


@dataclass(frozen=True)
class ClaimsMore(dpol.TreeFTPL):
    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        return dataclasses.replace(record, loss=record.loss.times(4))


@dataclass(frozen=True)
class NamesNobody(dpol.TreeFTPL):
    def guarantee(self, setup: Any) -> Any:
        return dataclasses.replace(super().guarantee(setup), unit="a hospital")


@dataclass(frozen=True)
class SoundForgetful(dpol.CentralAlgorithm[Any]):
    """Follows the last round alone, with fresh Gaussian noise; no number is kept."""

    def init(self, setup: Any) -> Any:
        noise = np.sqrt(2 * setup.stay) * setup.largest_change / setup.mu
        return 0, np.full(setup.n_experts, noise)

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise = state
        draws = generators.standard_normal(len(noise))
        gains = np.zeros_like(draws) if observation is None else observation.gains
        return (t + 1, noise), leader(gains + self.scale(t, noise, gains) * draws)

    def scale(self, t: int, noise: Any, gains: Any) -> Any:
        return noise

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / np.sqrt(setup.stay)
        return setup.guarantee("fresh noise", setup.mu, lambda weeks: float(week * weeks**0.5))


class AlwaysNamesPersons(SoundForgetful):
    def guarantee(self, setup: Any) -> Any:
        return dataclasses.replace(super().guarantee(setup), mechanism="noise for a person")


def tied(gains: Any) -> Any:
    *_, second, best = np.sort(gains).T
    return (second == best)[:, None]


SCALES = {
    "ShrinksWithData": lambda t, noise, gains: noise * (1.2 - gains),
    "NoneAtZero": lambda t, noise, gains: noise * (gains > 0),
    "NoneLate": lambda t, noise, gains: noise * (t < 5),
    "TooSmallByRootTwo": lambda t, noise, gains: noise / np.sqrt(2),
    "NoneInRoundTwo": lambda t, noise, gains: noise * (t != 2),  # the third step sees round 2
    "NoneAtATie": lambda t, noise, gains: noise * ~tied(gains),
    "NoneFromTheFourthOn": lambda t, noise, gains: noise * (np.arange(len(noise)) < 3),
    "NoneFromRoundTwelve": lambda t, noise, gains: noise * (t < 12),
}
"""Wrong scales of the noise of `SoundForgetful`, by the names of its subclasses."""
for _name, _scale in SCALES.items():
    _own = {"scale": staticmethod(_scale), "__module__": __name__}
    globals()[_name] = type(_name, (SoundForgetful,), _own)


def zcdp_of(mu: float) -> float:
    """Return rho of rho-zCDP that implies mu."""
    e = pure_epsilon(mu) * (1 - 1e-9)
    return e * np.tanh(e / 2) if mu < np.inf else np.inf


class SoundInZcdp(SoundForgetful):
    """Its proof is in zCDP: noise of the deviation sqrt(2 stay) c over sqrt(2 rho)."""

    def init(self, setup: Any) -> Any:
        rho = zcdp_of(setup.mu)
        noise = np.sqrt(setup.stay / rho) * setup.largest_change
        return 0, np.full(setup.n_experts, noise)

    def guarantee(self, setup: Any) -> Any:
        rho = float(zcdp_of(setup.mu))
        return setup.guarantee(
            "noise with a proof in zCDP",
            Loss(zcdp=rho),
            lambda weeks: Loss(zcdp=rho * weeks / setup.stay),
        )


class OtherNoise(SoundForgetful):
    """The same, with other noise than `scale` times `draws`."""

    def init(self, setup: Any) -> Any:
        return *super().init(setup), np.zeros((setup.n_replicates, setup.n_experts))

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        draws = generators.standard_normal(len(noise))
        gains = np.zeros_like(draws) if observation is None else observation.gains + 0 * draws
        scores, kept = self.noisy(t, gains, draws * noise, noise, kept)
        return (t + 1, noise, kept), leader(scores)


class SharedByTwo(OtherNoise):
    def noisy(self, t, gains, draws, scale, kept):
        return gains + draws[:, [0, 0, *range(2, len(scale))]], kept


class UsedAgain(OtherNoise):
    def noisy(self, t, gains, draws, scale, kept):
        kept = draws if t == 0 else kept
        return gains + kept, kept


class RemembersRoundSix(OtherNoise):
    def noisy(self, t, gains, draws, scale, kept):
        kept = gains if t == 6 else kept  # the seventh step sees round 6
        return (kept if t == 7 else gains + draws), kept


class Bounded(OtherNoise):
    def noisy(self, t, gains, draws, scale, kept):
        return gains + scale * np.clip(draws / np.maximum(scale, 1e-9), -1, 1), kept


class SeedOfData(OtherNoise):
    def noisy(self, t, gains, draws, scale, kept):
        rng = np.random.default_rng(int(1e6 * gains[0].max()))
        return gains + scale * rng.standard_normal(len(scale)), kept


class SoundSums(SoundForgetful):
    """Follows sums of all rounds; each of T sums has noise for all T."""

    def init(self, setup: Any) -> Any:
        t, noise = super().init(setup)
        kept = np.zeros((setup.n_replicates, setup.n_experts))
        return t, noise * np.sqrt(self.releases(setup)), kept

    def releases(self, setup: Any) -> int:
        return int(setup.n_rounds * setup.stay)  # each sum moves by a whole stay

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        t, noise, kept = state
        if observation is not None:
            kept = kept + observation.gains
        draws = generators.standard_normal(len(noise))
        return (t + 1, noise, kept), leader(kept + noise * draws)

    def guarantee(self, setup: Any) -> Any:
        week = setup.mu / setup.stay
        return setup.guarantee("noise on sums", setup.mu, lambda weeks: float(week * weeks))


class NoComposition(SoundSums):
    def releases(self, setup):
        return 1


class DrawnOnce(SoundSums):
    """Sums with one draw of noise for all of them, in the state."""

    def releases(self, setup):
        return 1

    def step(self, state, observation, generators):
        t, noise, kept = state
        kept = kept + (
            noise * generators.standard_normal(len(noise)) if t == 0 else observation.gains
        )
        return (t + 1, noise, kept), leader(kept)


class OfSetup(SoundForgetful):
    """Sound noise times a factor of the setup."""

    def init(self, setup: Any) -> Any:
        t, noise = super().init(setup)
        return t, noise * self.factor(setup)


def by_the_first_round(setup: Any) -> Any:
    return 1.0 if setup.changes is None else setup.changes[0].max() / setup.largest_change


FACTORS = {
    "NoneInLongGames": lambda setup: float(setup.n_rounds < 24),
    "NoneForTwo": lambda setup: float(setup.n_experts > 2),
    "NoneAtAWideRange": lambda setup: float(setup.gain_range <= 1),
    "NoneOfCapacityNoise": lambda setup: float(not setup.by_capacity),
    "NoneWhereGiven": lambda setup: float(setup.changes is not None),
    "SmallAtMiddlingMu": lambda setup: 0.4 if 0.6 < setup.mu < 1.8 else 1.0,
    "ByTheFirstRound": by_the_first_round,
}
"""Wrong factors of the noise of `OfSetup`, by the names of its subclasses."""
for _name, _factor in FACTORS.items():
    _own = {"factor": staticmethod(_factor), "__module__": __name__}
    globals()[_name] = type(_name, (OfSetup,), _own)


class LongerForLess(SoundForgetful):
    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        stays = record.stays and (record.stays[0], *(Loss(gaussian=0.1),) * 3)
        return dataclasses.replace(record, stays=stays)


class CarriedForFree(SoundForgetful):
    def guarantee(self, setup: Any) -> Any:
        record = super().guarantee(setup)
        carried = record.carried and (record.carried[0], Loss(gaussian=0.3 * record.mu))
        return dataclasses.replace(record, carried=carried)


class Differences(OtherNoise):
    """Follows the last change. A stay at one expert moves two changes, a moving person them all."""

    def init(self, setup: Any) -> Any:
        t, noise, kept = super().init(setup)
        return t, np.sqrt(2 / setup.stay) * noise, kept

    def noisy(self, t, gains, draws, scale, kept):
        return gains - kept + draws, gains

    def guarantee(self, setup: Any) -> Any:
        return setup.guarantee("changes", setup.mu, lambda weeks: float(setup.mu * weeks**0.5))


@dataclass(frozen=True)
class Blind(SoundForgetful):
    """Plays at random, so that its actions say nothing."""

    def step(self, state: Any, observation: Any, generators: Any) -> Any:
        scores = generators.uniforms(len(state[1]))
        return state, leader(scores)


@dataclass(frozen=True)
class SoundBank(LeaderBank):
    """Follow the leader, as a learner."""


@dataclass(frozen=True)
class OtherAlone(SoundBank):
    """Its one learner plays alone as another."""

    def single(self, place: int) -> Any:
        return dpol.RidgeBank((4,)), 0


@dataclass(frozen=True)
class TwoColumns(SoundBank):
    def step(self, state: Any, observation: Any) -> Any:
        state, actions = super().step(state, observation)
        return state, np.repeat(actions, 2, axis=1)


SOUND_NOISE = named(ISOTROPIC.scale, ISOTROPIC)
HALF = times(lambda stream, mu: 0.5, ISOTROPIC)
FLAT = named(lambda stream, mu: ISOTROPIC.scale(stream, mu)[0], ISOTROPIC)
UPSIDE_DOWN = named(lambda stream, mu: 9 + mu * ISOTROPIC.scale(stream, 1.0), ISOTROPIC)
NOT_CONSTANT = named(CAPACITY.scale, constant=True)
