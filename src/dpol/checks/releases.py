"""What the releases of a noise show, compared with what the noise declares.

The streams are drawn, with empty and full gains among them. Each test of a sound noise fails with
probability 1e-12, and there are fewer than 1e6. The noise of a release over its declared deviation
is a residual: its mean is 0 and its variance 1 in all, and its law is the same in every place and
round, for small and large counts, and independent of all others. Limits hold for every sample size:
Hoeffding's for shares, Clopper and Pearson's for events, for variances that are too small
exp(-n t^2 / 2 E Z^4); those for means and for variances that are too large are normal ones. No test
sees raw gains in digits that nobody reads, such as the last ones of a noisy release.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpol.checks import CheckError
from dpol.checks.algorithms import wrong_in_record
from dpol.checks.audits import SHARES
from dpol.checks.settings import Setting, delta_of, drawn_settings, fixed_settings
from dpol.core.intervals import clopper_pearson_upper
from dpol.core.randomness import Floats, seed_sequence
from dpol.data.stream import GainStream
from dpol.data.synthetic import largest_changes
from dpol.noise import Noise, privatize
from dpol.noise.event_streams import Mechanism, Release
from dpol.noise.noisy_gains import NoisyGains
from dpol.privacy.auditing import audit_runs, with_fitted_direction
from dpol.privacy.losses import Loss, Promise
from dpol.privacy.noise_laws import LAWS
from dpol.privacy.stays import STAYS

_ERROR, _LOG, _NORMAL = 1e-12, math.log(2e12), 8.0
_GAMES = 300
Flags = NDArray[np.bool_]
_LAPLACE = 7.2
"""More than the fourth moment of Laplace noise."""
_STRENGTHS = 0.1, 0.7, 3.0
_LESS = 1 - 1e-6
"""A computed loss may be too small by rounding."""


def settings_of(noise: Noise, seed: int) -> Iterator[Setting]:
    """Yield drawn settings; gains differ between places, and many are empty or full."""
    for it in _drawn(noise, seed):
        rng = np.random.default_rng(seed_sequence(seed, ("gains", it.stream.label)))
        shares = rng.random(it.stream.gains.shape)
        shares = np.select([shares < 0.2, shares < 0.3], [0.0, 1.0], rng.random(shares.shape))
        gains = shares * it.stream.gain_range
        yield dataclasses.replace(it, stream=dataclasses.replace(it.stream, gains=gains))


def _drawn(noise: Noise, seed: int) -> Iterator[Setting]:
    given = "" if noise.needs_capacities else noise.name
    return drawn_settings(seed, [noise.name], stays=True, given=given, last=0)


def releases_are_as_declared(noise: Noise, seed: int) -> float:
    """Check releases; return the largest share of the noise that is refused, 0 if none is."""
    made = noise.mechanism
    repeats = made is not None and made.repeats
    residuals = []
    for setting in settings_of(noise, seed):
        noisy = _released(noise, setting.stream, setting.mu, seed, _GAMES)
        _own_place_and_later(noise, setting, noisy, seed)
        if not repeats:
            of_releases = noisy.gains.transpose(1, 0, 2) - setting.stream.gains[:, None]
            residuals.append(_residuals(noisy, of_releases))
            _alike(residuals[-1], setting)
    if repeats and made is not None:
        return _spends_what_it_says(made, seed)
    refused = _of_the_declared_deviation(residuals)
    if made is not None:
        _of_the_declared_law(made, seed)
    return refused


def record_covers_what_is_declared(noise: Noise, seed: int) -> None:
    """Check the record of each setting against the declared noise on the person's two streams.

    `_spends_what_it_says` checks a mechanism that repeats releases.
    """
    made = noise.mechanism
    for setting in [*fixed_settings(noise.name, stays=True), *_drawn(noise, seed)]:
        one, other = setting.streams()
        noisy = privatize(one, noise.name, setting.mu, seed=seed, replicates=1)
        record = noisy.guarantee
        claimed, delta = setting.claim(record), delta_of(record)
        if wrong := wrong_in_record(record, one, setting.mu, model="local", noisy=False):
            raise CheckError(f"{setting}, its record {wrong}; add noise, or correct the record")
        if (guess := noise.best_guess(setting.mu, one.stay)) < record.loss.guess * _LESS:
            raise CheckError(
                f"{setting}, its best_guess is {guess:.3g}, but its record has"
                f" {record.loss.guess:.3g}"
            )
        if made is None:
            shift = _residuals(noisy, (other.gains - one.gains)[:, None])
            exact = Loss(gaussian=float(np.linalg.norm(shift)))
        elif made.repeats:
            continue
        else:
            each = made.epsilon(Promise(mu=setting.mu), one.stay) / one.stay
            exact = made.law.loss(each, int((one.gains != other.gains).sum()))
        least = exact.epsilon(delta) if delta else exact.mu
        if claimed < least * _LESS:
            what = "epsilon" if delta else "mu"
            raise CheckError(
                f"{setting}, its declared noise has {what} = {least:.3g}, but its record claims"
                f" {claimed:.3g}"
            )


def _released(noise: Noise, stream: GainStream, mu: float, seed: int, count: int) -> NoisyGains:
    noisy = privatize(stream, noise.name, mu, seed=seed, replicates=count)
    if noisy.gains.shape != (count, *stream.gains.shape) or not np.isfinite(noisy.gains).all():
        raise CheckError("its releases are not all finite, or not of the shape (T, R, n)")
    return noisy


def _own_place_and_later(noise: Noise, setting: Setting, noisy: NoisyGains, seed: int) -> None:
    """Check, with the same draws, that a gain moves releases of its place from its round on."""
    stream = setting.stream
    rng = np.random.default_rng(seed_sequence(seed, ("moved", stream.label)))
    t, i = map(rng.integers, stream.gains.shape)
    gains = stream.gains.copy()
    gains[t, i] = 0.0 if gains[t, i] > stream.gain_range / 2 else stream.gain_range
    moved = dataclasses.replace(stream, gains=gains)
    after = _released(noise, moved, setting.mu, seed, 2).gains
    tolerance = 1e-9 * (stream.gain_range + np.abs(after).max())
    wrong = (np.abs(after - noisy.gains[:2]) > tolerance).any(axis=0)
    wrong[t:, i] = False
    if wrong.any():
        s, j = np.argwhere(wrong)[0]
        raise CheckError(
            f"changing the count of place {i} in round {t + 1} changes the release of place {j} in"
            f" round {s + 1} ({setting.noise} noise, mu {setting.mu:.3g}); a release may use only"
            " its own place's counts, up to its round"
        )


def _residuals(noisy: NoisyGains, noise: Floats) -> Floats:
    """Return noise (T, R, n) over its declared deviation, without memory."""
    if noisy.memory is None or noisy.fresh_scale is None:
        return np.round(noise / noisy.noise_scale[:, None], 9)
    return noisy.memory.fresh(noise / noisy.fresh_scale[:, None])


def _groups(stream: GainStream) -> Iterator[tuple[str, Flags]]:
    """Yield groups of cells (T, n), in words."""
    gains, changes = stream.gains, largest_changes(stream)
    rounds, places = np.arange(len(gains))[:, None], np.arange(gains.shape[1])
    every = np.ones(gains.shape, dtype=bool)
    yield "where gains are 0", gains == 0
    yield "where gains are full", gains == stream.gain_range
    yield "where counts are large", gains / changes > np.median(gains / changes)
    yield "where capacities are large", every & (changes < np.median(changes))
    yield "in later rounds", every & (rounds >= len(gains) / 2)
    yield "in every second round", every & (rounds % 2 == 1)
    yield from ((f"in round {t + 1}", every & (rounds == t)) for t in range(len(gains)))
    yield from ((f"at place {i}", every & (places == i)) for i in range(gains.shape[1]))


def _alike(z: Floats, setting: Setting) -> None:
    """Check that residuals (T, R, n) of a setting are alike and independent."""
    rounds, games, n = z.shape
    said = f"({setting.noise} noise, {rounds} rounds, {n} experts, mu {setting.mu:.3g})"
    counts = setting.stream.gains / largest_changes(setting.stream)
    spread = counts - counts.mean()
    slope = float((z.mean(axis=1) * spread).sum()) * math.sqrt(games)
    if abs(slope) > _NORMAL * math.sqrt((z**2).mean() * (spread**2).sum()):
        raise CheckError(
            f"releases do not rise with the count as they must, by one a person: the noise"
            f" {'rises' if slope > 0 else 'falls'} with it {said}"
        )
    for what, values in (("size", np.abs(z)), ("sign", z)):
        over = values > np.median(values)
        share, shares = over.mean(), over.mean(axis=1)
        for where, cells in _groups(setting.stream):
            limit = math.sqrt(_LOG / (2 * max(cells.sum(), 1) * games))
            if cells.any() and abs(shares[cells].mean() - share) > limit:
                raise CheckError(
                    f"the {what} of its noise, over its declared deviation, is another {where}"
                    f" {said}; declare the deviation of every place and round"
                )
    signs = np.where(z > np.median(z), 1.0, -1.0)
    signs -= signs.mean()
    for lag in range(rounds):
        products = np.einsum("tri,trj->ij", signs[: rounds - lag], signs[lag:], optimize=True)
        pairs = ~np.eye(n, dtype=bool) if lag == 0 else np.ones((n, n), dtype=bool)
        if not pairs.any():
            continue
        each = (rounds - lag) * games
        own = [np.trace(products) / n] if lag else []
        limit = math.sqrt(2 * _LOG / each)
        found = np.abs(products[pairs]).max() > limit * each
        if found or any(abs(it) > math.sqrt(2 * _LOG * each / n) for it in own):
            raise CheckError(
                f"the noise of two releases depends on each other, {lag} rounds apart {said}; draw"
                " fresh noise in each round and at each place"
            )


def _of_the_declared_deviation(residuals: list[Floats]) -> float:
    """Check mean and variance of residuals; return the largest share that would be refused."""
    every = np.concatenate([z.ravel() for z in residuals])
    fourth = 1.2 * float((every**4).mean() / (every**2).mean() ** 2)
    parts = [every, *(z.ravel() for z in residuals)]
    for z in parts:
        mean, variance = float(z.mean()), float((z**2).mean())
        if abs(mean) > _NORMAL * math.sqrt(variance / len(z)):
            raise CheckError(
                f"the mean of its noise is {mean:.3g} of its declared deviation, not 0; centre it"
            )
        low = 1 - math.sqrt(2 * fourth * _LOG / len(z))
        high = 1 + _NORMAL * math.sqrt(max(fourth - 1, 0) / len(z))
        if not low <= variance <= high:
            raise CheckError(
                f"the deviation of its noise is {math.sqrt(variance):.3g} of what it declares;"
                " declare the one that it has"
            )
    low = 1 - math.sqrt(2 * fourth * _LOG / len(every))
    variance = float((every**2).mean())
    return next((it for it in SHARES if it**2 * variance < low), 0.0)


def _of_the_declared_law(made: Mechanism, seed: int) -> None:
    """Check events of one release against the declared loss of a move by one."""
    rng = np.random.default_rng(seed_sequence(seed, ("law",)))
    for mu, stay in ((0.5, 1), (1.0, 1), (4.0, 1), (2.0, 3)):
        epsilon = made.epsilon(Promise(mu=mu), stay)
        x, capacity = np.round(rng.uniform(0, 50, (6, 5)), 1), rng.uniform(5, 50, 5)
        x[rng.random(x.shape) < 0.1] = 0
        release = _release(made, x, capacity, 10_000, epsilon, stay, rng)
        # Places are the last axis; the two halves of the games are the two halves of the noise.
        noise = np.round(release.counts - x[:, None], 6)
        halves = [noise[:, ::2].ravel(), noise[:, 1::2].ravel()]
        loss = made.law.loss(epsilon / stay, 1)
        if said := _exceeds(loss, *halves):
            raise CheckError(
                f"{said} {made.law.words} of strength {epsilon / stay:.3g}; the noise is of another"
                " law, or its loss is larger"
            )


def _release(
    made: Mechanism, x: Floats, capacity: Floats, count: int, epsilon: float, stay: int,
    rng: np.random.Generator, share: float = 1.0,
) -> Release:  # fmt: skip
    draws = share * rng.laplace(size=(len(x), made.draws, count, x.shape[1]))
    return made.release(x, capacity, draws, epsilon, stay)


def _exceeds(loss: Loss, chosen: Floats, counted: Floats) -> str:
    """Return an event that a move of 1 makes likelier than the loss allows; empty if none is.

    Events are half-lines, and the set of values and of intervals that are likeliest after a move.
    """
    most = loss.epsilon(max(1.5 * loss.told, 1e-3))
    most = most if 0 < most < math.inf else 1.0
    cuts = np.quantile(counted, np.linspace(0.002, 0.998, 41))
    ordered, n = np.sort(counted), len(counted)
    above = [n - np.searchsorted(ordered, cuts - move, side="right") for move in (0, 1)]
    below = [np.searchsorted(ordered, cuts + move, side="left") for move in (0, 1)]
    values, times = np.unique(chosen, return_counts=True)
    atoms = np.unique(np.round([*(values[times > 4]), *(values[times > 4] + 1)], 6))
    cells = _cells(chosen, atoms), _cells(np.round(chosen + 1, 6), atoms)
    names, at = np.unique(np.concatenate(cells), return_inverse=True)
    before, after = (np.bincount(it, minlength=len(names)) for it in np.split(at, 2))
    held = _cells(counted, atoms), _cells(np.round(counted + 1, 6), atoms)
    for epsilon in most * np.array([0.0, 0.25, 0.5, 0.75, 0.9, 1.001, 1.1]):
        likely = names[after > math.exp(epsilon) * before]
        event = [np.array([np.isin(it, likely).sum()]) for it in held]
        wrong, right = (np.concatenate(it) for it in zip(above, below, event, strict=True))
        delta = _proved_delta(right, wrong, n, float(epsilon))
        if (over := delta.max()) > loss.delta(float(epsilon)) + 1e-9:
            said = loss.delta(float(epsilon))
            return f"a move has delta >= {over:.3g} at epsilon {epsilon:.3g}, not {said:.3g} as"
    return ""


def _proved_delta(right: Floats, wrong: Floats, n: int, epsilon: float) -> Floats:
    """Return lower bounds on delta at an epsilon, by events that n games each had so often."""
    least = 1 - clopper_pearson_upper(n - right, n, _ERROR)
    return np.asarray(least - math.exp(epsilon) * clopper_pearson_upper(wrong, n, _ERROR))


def _cells(noise: Floats, atoms: Floats) -> Floats:
    """Return the cell of each number: itself if it is an atom, else a quarter of a person."""
    at = np.searchsorted(atoms, noise).clip(max=max(len(atoms) - 1, 0))
    own = atoms[at] == noise if len(atoms) else np.zeros(noise.shape, dtype=bool)
    return np.where(own, 1e9 + at, np.floor(4 * noise))


def _spends_what_it_says(made: Mechanism, seed: int) -> float:
    """Check a mechanism that repeats releases, on counts that jump by many deviations.

    After a jump, whatever is released afresh has at least the noise of what the round spends.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("jumps",)))
    refused = 0.0
    for stay in (1, 3, 20):
        dearest = made.dearest(Promise(mu=1.0), stay)
        epsilon = dearest / made.most(stay)
        rounds, places = 2 * stay + 4, 8
        x = np.floor(rng.uniform(1e3, 1e4, (rounds, places)) * stay / epsilon)
        hold = np.maximum.accumulate(
            np.where(rng.random((rounds, places)) < 0.5, np.arange(rounds)[:, None], 0), axis=0
        )
        x = np.take_along_axis(x, hold, axis=0)
        jumped = np.append(np.ones((1, places), dtype=bool), x[1:] != x[:-1], axis=0)
        capacity = x.max(axis=0)
        games = 4000 if stay < 20 else 1500
        release = _release(made, x, capacity, games, epsilon, stay, rng)
        _keeps_the_window(made, release.spent, dearest, stay)
        if not made.adapts and np.ptp(release.spent, axis=(1, 2)).any():
            raise CheckError(
                "the rounds in which it spends epsilon depend on counts or noise; set adapts=True"
            )
        if said := _fresh_noise(made, release, x, jumped):
            raise CheckError(f"{said} (stay {stay})")
        if stay == 1:
            _hides_decisions(made, rng)
        if stay < 20:
            _withstands_an_attack(made, stay, rng)
        for share in SHARES:
            if share <= refused:
                break
            less = _release(made, x, capacity, games, epsilon, stay, rng, share)
            if _fresh_noise(made, less, x, jumped):
                refused = share
    return refused


def _keeps_the_window(made: Mechanism, spent: Floats, dearest: float, stay: int) -> None:
    total = np.cumsum(np.append(np.zeros((1, *spent.shape[1:])), spent, axis=0), axis=0)
    window = float((total[stay:] - total[:-stay]).max())
    charged = dearest / made.most(stay)
    if made.of_window is None:
        charged = min(charged, dearest * round(1 / made.most(stay)))
    if window > charged * (1 + 1e-9) or spent.max() > dearest * (1 + 1e-9):
        raise CheckError(
            f"on counts that jump it spends epsilon = {window:.3g} in {stay} rounds, and up to"
            f" {spent.max():.3g} in one; its record charges {charged:.3g} and {dearest:.3g}"
        )


def _fresh_noise(made: Mechanism, release: Release, x: Floats, jumped: Floats) -> str:
    """Return what is wrong with the noise of fresh releases after jumps; empty if nothing is."""
    before = np.append(np.zeros_like(release.counts[:1]), release.counts[:-1], axis=0)
    fresh = jumped[:, None] & (release.counts != before) & (release.spent > 0)
    at, spent = fresh.nonzero()[0], np.round(release.spent[fresh], 9)
    squares = (release.counts - x[:, None])[fresh] ** 2
    names, levels = np.unique(spent, return_inverse=True)
    for of, size in ((levels, len(names)), (levels * len(x) + at, len(names) * len(x))):
        counts, sums = np.bincount(of, minlength=size), np.bincount(of, squares, minlength=size)
        for k in counts.nonzero()[0]:
            declared = made.law.deviation(float(names[k // (size // len(names))]))
            ratio = math.sqrt(sums[k] / counts[k]) / declared
            if ratio**2 < 1 - math.sqrt(2 * _LAPLACE * _LOG / counts[k]):
                return (
                    f"it spends epsilon = {names[k // (size // len(names))]:.3g} in a round, but"
                    f" the deviation of its noise is {ratio:.3g} of that of {made.law.words}"
                )
    return ""


def _withstands_an_attack(made: Mechanism, stay: int, rng: np.random.Generator) -> None:
    """Attack a person who moves between two holders in one round, and in all rounds of a stay."""
    dearest, rounds, places, games = made.dearest(Promise(mu=1.0), stay), stay + 5, 8, 3000
    for counted, loss in ((1, made.of_rounds(dearest, 1)), (stay, made.window(stay, dearest))):
        outputs = []
        for person in (0, 1):
            x = np.full((rounds, places), 20.0)
            x[:counted] += person * np.tile([1.0, -1.0], places // 2)
            release = _release(
                made, x, np.full(places, 40.0), games, dearest / made.most(stay), stay, rng
            )
            pairs = release.counts.reshape(rounds, -1, 2)
            outputs.append(pairs.swapaxes(0, 1).reshape(-1, 2 * rounds))
        found = audit_runs(
            *with_fitted_direction(*outputs), parameter="mu", claimed=loss.mu, confidence=1 - 1e-9
        )
        played = f"stay {stay}, a person in {counted} of {rounds} rounds: its releases"
        if wrong := found.refuted(played):
            raise CheckError(f"{wrong}; noise is missing or too small")


def _hides_decisions(made: Mechanism, rng: np.random.Generator) -> None:
    """Check that no two counts next to each other are told apart by what is decided on them.

    Events are half-lines of the release, alone and with whether the other round has the same one.
    """
    games, dearest = 20_000, made.dearest(Promise(mu=1.0), 1)
    loss = made.of_rounds(dearest, 1)
    # The largest loss at two holders is twice that at one.
    limits = [(0.0, loss.delta(0)), (loss.most / 2, 0.0)][: 1 + (loss.delta(loss.most) == 0)]
    for first in (0, 1):
        x = np.zeros((2, 60))
        x[first] = np.arange(60)
        release = _release(made, x, np.full(60, 60.0), games, dearest / made.most(1), 1, rng)
        own, same = release.counts[first].T, (release.counts[0] == release.counts[1]).T
        _look_alike(own, limits)
        for it, far in itertools.product((True, False), (-np.inf, np.inf)):
            _look_alike(np.where(same == it, own, far), limits)


def _look_alike(values: Floats, limits: list[tuple[float, float]]) -> None:
    """Check half-lines of the values (k, R) of each count against the allowed (epsilon, delta)."""
    games = values.shape[1]
    ordered = np.sort(values, axis=1)
    cuts = ordered[:-1, np.linspace(0, games - 1, 81).astype(int)]
    below = np.array(
        [
            [np.searchsorted(*each, side="right") for each in zip(side, cuts, strict=True)]
            for side in (ordered[:-1], ordered[1:])
        ]
    )
    events = np.concatenate([below, games - below], axis=2)
    orders = (events, events[::-1])
    for (right, wrong), (epsilon, allowed) in itertools.product(orders, limits):
        worst = np.argmax(right - math.exp(epsilon) * wrong)
        k, cut = np.unravel_index(worst, right.shape)
        delta = float(_proved_delta(right[k, cut], wrong[k, cut], games, epsilon))
        if delta > allowed:
            raise CheckError(
                f"counts of {k} and {k + 1} are told apart with delta >= {delta:.3g} at epsilon"
                f" {epsilon:.3g}, not {allowed:.3g}: what it decides by a count needs noise of its"
                " own"
            )


def law_says_what_it_is(noise: Noise) -> None:
    """Check the numbers of a law and of its mechanism against each other."""
    if noise.mechanism is None:
        return
    law = noise.law
    if LAWS.get(law.name, law) != law:
        raise CheckError(f"its law has the name of another law, {law.name}; take a name of its own")
    deviations = [law.deviation(e) for e in _STRENGTHS]
    if not all(a > b > 0 for a, b in itertools.pairwise(deviations)):
        raise CheckError(f"deviations of its law do not fall with the strength: {deviations}")
    for e in _STRENGTHS:
        one = law.loss(e, 1)
        if type(one) is not Loss:
            raise CheckError("the loss of its law is not a dpol.privacy.losses.Loss; return one")
        for releases in (2, 8):
            _no_less(law.loss(e, releases), one.times(releases), f"{releases} releases of its law")
    for size, releases in itertools.product((0.1, 0.25, 1.0, 3.0), (1, 2, 8)):
        mu = size if law.loss(1e-3, 1).mu < math.inf else None
        promise = Promise(mu=mu, delta=0.0 if mu else size / 10)
        kept = law.loss(law.largest(promise, releases), releases)
        if (kept.mu / mu if mu else kept.delta(0) / promise.delta) > 1 / _LESS:
            raise CheckError(
                f"the strength that its law gives for {promise} in {releases} releases does not"
                " keep it"
            )
    made = noise.mechanism
    if not made.repeats:
        for stay in (1, 3):
            dearest = made.dearest(Promise(mu=1.0), stay)
            for rounds in STAYS:
                exact = law.loss(dearest, 2 * rounds)
                _no_less(made.of_rounds(dearest, rounds), exact, f"{rounds} rounds at two holders")


def _no_less(said: Loss, right: Loss, what: str) -> None:
    if type(said) is not Loss or said.mu < right.mu * _LESS or said.guess < right.guess * _LESS:
        raise CheckError(
            f"the loss of {what} is declared with mu = {said.mu:.3g} and guess {said.guess:.3g},"
            f" but its law has {right.mu:.3g} and {right.guess:.3g}"
        )
