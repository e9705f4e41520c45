"""Checks of "Private Online Learning via Lazy Algorithms": L2P, its proofs, and its regret.

L2P plays every batch by the measure at its start (Lemma 3.4), so its expected loss for experts is
computed, not sampled. The O-notation of the paper hides constants; what is checked is how fast
things grow.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import scipy

from dpol.core.randomness import Floats
from dpol.lazy.accounting import ACCOUNTANTS, LazyGame, published_epsilon, sound_epsilon
from dpol.lazy.exact import LazyLaw, output_laws, worst_epsilon
from dpol.lazy.parameters import theorem_3_10
from dpol.lazy.weights import WeightsMeasure
from dpol.privacy.gaussian_dp import epsilon_of_delta
from dpol.studies.claims.core import Findings, generator, of_number

_DELTA = 1e-6


def zcdp_conversion(_: int) -> Findings:
    """epsilon of a Gaussian mechanism, which is rho-zCDP, against the conversion of the paper."""
    for rho, delta in itertools.product(np.geomspace(1e-4, 1, 9), (0.249, 0.1, 1e-3, 1e-6, 1e-12)):
        claimed = 3 * math.sqrt(rho * math.log(1 / delta))
        exact = epsilon_of_delta(delta, math.sqrt(2 * rho))
        yield of_number("zcdp-conversion", claimed, exact, f"ρ = {rho:.3g}, δ = {delta:g}")


# ---- multiplicative weights ------------------------------------------------------------------


def log_ratios(seed: int) -> Findings:
    """Log ratios of multiplicative weights: one more loss, another loss, and two redraws."""
    eta, rng = 0.1, generator(seed, "cumulative losses")
    measure = WeightsMeasure(3, eta)
    corners = np.array(list(itertools.product((0, 1), repeat=3)), dtype=float)
    step, neighbour = 0.0, 0.0
    for state in rng.uniform(0, 20 / eta, (400, 3)):
        laws = np.log([measure.probabilities(measure.absorb(state, loss)) for loss in corners])
        step = max(step, float(np.abs(laws - np.log(measure.probabilities(state))).max()))
        neighbour = max(neighbour, float(np.abs(laws[:, None] - laws[None]).max()))
    yield of_number("one-more-loss", eta, step)
    yield of_number("another-loss", 2 * eta, neighbour)
    facts = {"eta": eta, "each": neighbour}
    yield of_number("later-batches", eta, 2 * neighbour, facts=facts)


def indicator(_: int) -> Findings:
    """The one indicator that depends on the differing loss: log ratio of its two laws."""
    for eta, p, B in itertools.product((1e-3, 0.01, 0.1), (0.01, 0.1, 0.5, 0.9), (1, 5)):
        gap = np.linspace(-B, B, 2 * B + 1)
        # Two losses of one round move the difference of two experts' losses by up to 2.
        kept = (1 - p) ** 2 * np.minimum(1, np.exp(-2 * B * eta - eta * gap))
        one, other = kept[:, None], kept[None]
        allowed = np.abs(gap[:, None] - gap[None]) <= 2
        loss = np.maximum(np.log(one / other), np.log1p(-one) - np.log1p(-other))
        case = f"η = {eta:g}, p = {p:g}, B = {B}"
        yield of_number("differing-batch", 2 * eta / p, float(loss[allowed].max()), case)


def redraw(seed: int) -> Findings:
    """Renyi divergence of a redraw over its order."""
    rng = generator(seed, "redraws")
    eta, d = 0.05, 4
    states = rng.uniform(0, 2 / eta, (2000, d)) * (rng.random((2000, 1)) < 0.5)
    change = rng.choice([-1.0, 1.0], (2000, d))
    one, other = (np.exp(-eta * s) for s in (states, states + change))
    one, other = (it / it.sum(axis=1, keepdims=True) for it in (one, other))
    orders = np.array([1.0001, 1.5, 2.0, 8.0, 64.0])[:, None, None]
    moments = (one * (one / other) ** (orders - 1)).sum(axis=2)
    found = np.log(moments) / (orders[..., 0] - 1) / orders[..., 0]
    yield of_number("redraw", eta**2 / 2, float(found.max()), f"η = {eta}")


# ---- the transformation ----------------------------------------------------------------------


def marginals(_: int) -> Findings:
    """The law of x_s by enumeration, against the measure; and the keep probability."""
    d, rest, law = 3, 3, LazyLaw(2, 0.3, 0.2, 2.0)
    batches = np.array(list(itertools.product((0.0, 2.0), repeat=d)))
    index = np.array(list(itertools.product(range(len(batches)), repeat=rest)))
    sums = batches[index]
    laws = output_laws(sums, law).reshape(-1, *([d] * (rest + 1)))
    off = 0.0
    for s in range(rest + 1):
        others = tuple(1 + r for r in range(rest + 1) if r != s)
        nu = np.exp(-law.eta * sums[:, :s].sum(axis=1))
        nu /= nu.sum(axis=1, keepdims=True)
        off = max(off, float(np.abs(laws.sum(axis=others) - nu).sum(axis=1).max() / 2))
    facts = {"d": d, "batches": rest + 1, "sequences": len(sums), "law": law}
    yield of_number("marginal", 0.0, off, facts=facts)
    B, eta = law.batch_size, law.eta
    gap = float((batches[:, :, None] - batches[:, None]).max())
    facts |= {"gap": gap / B}
    yield of_number("keep-ratio", law.normaliser, gap * eta / (B * eta), facts=facts)


# ---- privacy ---------------------------------------------------------------------------------


def published_over_sound(_: int) -> Findings:
    """The value of Theorem 3.2 over a sound one, on a grid inside its preconditions."""
    ratios = {}
    for T, delta, B in itertools.product((10**3, 10**4, 10**6), (1e-3, 1e-6), (1, 3, 10, 30)):
        game = LazyGame(T, delta, normaliser=2.0)
        for eta, p in itertools.product(np.geomspace(1e-5, 0.1, 9), (0.003, 0.03, 0.2, 0.5, 0.9)):
            found = published_epsilon(game, B, float(eta), p)
            if found < math.inf:
                # The conversion gives 0 where delta alone covers the loss.
                sound = max(sound_epsilon(game, B, float(eta), p), 1e-9)
                case = f"T = {T:,}, δ = {delta:g}, B = {B}, η = {eta:.3g}, p = {p:g}"
                ratios[case] = found / sound
    case = min(ratios, key=lambda it: ratios[it])
    yield of_number("published-over-sound", 1.0, ratios[case], case, facts={"points": len(ratios)})


def exact_privacy(_: int) -> Findings:
    """Exact epsilon of small games against what the accountants say."""
    edge = 0.499 / math.log(2 * 4 / 1e-6)  # of Theorem 3.2's preconditions, for p = 1/2
    switches = (1e-3, 0.05, 0.5)
    games = {
        "published": [((2, 1), share * edge, share / 2) for share in (0.5, 1.0, 1.5)],
        "sound": list(itertools.product(((2, 1), (2, 2), (3, 1)), (0.01, 0.1, 0.5), switches)),
    }
    for name, settings in games.items():
        for (d, B), eta, p in settings:
            batches, whole = (4, range(B + 1)) if d == 2 else (3, (0, B))
            game = LazyGame(batches * B, _DELTA, normaliser=2.0 if name == "published" else 1.0)
            law = LazyLaw(B, eta, p, game.normaliser)
            exact = worst_epsilon(d, batches - 1, law, whole, delta=_DELTA)
            case = f"d = {d}, B = {B}, η = {eta:.3g}, p = {p:g}"
            claimed = ACCOUNTANTS[name](game, B, eta, p)
            yield of_number(
                f"{name}-games", claimed, exact, case, facts={"settings": len(settings)}
            )


# ---- batches ---------------------------------------------------------------------------------


def expected_loss(losses: Floats, eta: float, batch_size: int) -> float:
    """Expected loss of L2P over multiplicative weights, marginals exact; losses (T, d)."""
    measure = WeightsMeasure(losses.shape[1], eta)
    state, total = measure.initial(), 0.0
    for start in range(0, len(losses), batch_size):
        batch = losses[start : start + batch_size].sum(axis=0)
        total += float(measure.probabilities(state) @ batch)
        state = measure.absorb(state, batch)
    return total


def batching(_: int) -> Findings:
    """Growth with eta of the regret that batches add; the paper claims a power of 2."""
    T, B, etas = 10_000, 10, np.geomspace(1e-5, 1e-2, 7)
    # One expert loses all of a batch, the other all of the next. Then the weights are back.
    two = np.repeat(np.eye(2), B, axis=0)
    each = [expected_loss(two, eta, B) - expected_loss(two, eta, 1) for eta in etas.tolist()]
    added = T / (2 * B) * np.array(each)
    exponents = np.diff(np.log(added)) / np.diff(np.log(etas))
    at = int(np.abs(etas - 1e-3).argmin())
    over = added / (T * (B * etas) ** 2)
    facts = {"B": B, "added": added[at], "eta": etas[at], "over": over[at]}
    facts |= {"first_eta": etas[0], "first_over": over[0]}
    yield of_number("cost-of-batches", 2.0, float(exponents.min()), facts=facts)


def batched_bound(seed: int) -> Findings:
    """Regret of L2P for experts against log(d)/eta + eta T B / 8."""
    rng, T = generator(seed, "losses of experts"), 400
    for d, B, eta in itertools.product((2, 10), (1, 4, 20), (0.01, 0.1, 0.5)):
        in_turn = np.zeros((T, d))
        in_turn[:, :2] = np.tile(np.repeat(np.eye(2), B, axis=0), (T // B, 1))[:T]
        games = {
            "in turn": in_turn,
            "coins": (rng.random((T, d)) < np.linspace(0.1, 0.9, d)).astype(float),
            "one good": np.tile(np.arange(d) > 0, (T, 1)).astype(float),
        }
        bound = math.log(d) / eta + eta * T * B / 8
        for label, losses in games.items():
            regret = expected_loss(losses, eta, B) - float(losses.sum(axis=0).min())
            case = f"{label}, d = {d}, B = {B}, η = {eta:g}"
            yield of_number("batched-regret", bound, regret, case, facts={"T": T})


def rate_of_experts(_: int) -> Findings:
    """Regret of Theorem 3.10 over its rate, at eps = T^(-1/4)."""
    ratios, horizons = [], [10.0**k for k in (8, 10, 12)]
    for T in horizons:
        epsilon = T ** (-1 / 4)
        found = theorem_3_10(LazyGame(int(T), _DELTA, normaliser=2.0), epsilon=epsilon, n_experts=2)
        measure = WeightsMeasure(2, found.eta)
        # The second of two batches meets the weights that the first has moved.
        behind = measure.probabilities(np.array([found.batch_size, 0.0]))[1] - 0.5
        log_term = math.log(T / _DELTA)
        private = T ** (1 / 3) * math.log(2) * log_term / epsilon ** (2 / 3)
        rate = math.sqrt(T * math.log(2)) + private
        ratios.append(T / 2 * behind / rate)
    exponent = math.log(ratios[-1] / ratios[0]) / math.log(horizons[-1] / horizons[0])
    growth = ", ".join(f"{r:.2g} at T = {T:g}" for r, T in zip(ratios, horizons, strict=True))
    yield of_number("rate-of-experts", 0.0, exponent, growth)


# ---- lower bound -----------------------------------------------------------------------------

EPOCHS_POWER = 4 / 3
"""The adversary of Theorem 4.2 changes the best expert (T epsilon)^(4/3) times."""


def rate_of_lower_bound(_: int) -> Findings:
    """Growth of the best expert's advantage in the games of Theorem 4.2's adversary."""
    d, horizons, advantages = 10, [10**4, 10**5, 10**6, 10**7], []
    for T in horizons:
        epsilon = T**-0.5
        epochs = round((T * epsilon) ** EPOCHS_POWER)
        advantages.append(T / epochs * _mean_lead(epochs, d))
    slope = np.polyfit(np.log(horizons), np.log(advantages), 1)[0]
    ratio = advantages[-1] / (horizons[-1] ** (1 / 3) * horizons[-1] ** (1 / 3))
    yield of_number("rate-of-lower-bound", 1 / 3 + 1 / 3, float(slope), facts={"over": ratio})


def _mean_lead(epochs: int, d: int) -> float:
    """E[epochs / 2 - the smallest of d binomials(epochs, 1/2)]."""
    reach = math.ceil(10 * math.sqrt(epochs))
    k = np.arange(max(0, epochs // 2 - reach), min(epochs, epochs // 2 + reach) + 1)
    above = scipy.special.bdtrc(k, epochs, 0.5)  # P(binomial > k)
    return float(epochs / 2 - (k[0] + (above**d).sum()))


SHARPNESS = 0.5
"""The exponential mechanism with exp(-SHARPNESS epsilon loss) is epsilon-DP up to 1/2."""


def repeated_loss(_: int) -> Findings:
    """Lemma 4.4 for the exponential mechanism."""
    for d, T, share in itertools.product((2, 10, 1000), (1, 10, 100), (0.01, 0.1, 1.0)):
        epsilon = share / T
        zeros = np.arange(d + 1)
        log_binomial = scipy.special.gammaln(d + 1) - scipy.special.gammaln(zeros + 1)
        chance = np.exp(log_binomial - scipy.special.gammaln(d - zeros + 1)) / 2.0**d
        decay = math.exp(-SHARPNESS * epsilon * T)
        lost = (d - zeros) * decay / ((d - zeros) * decay + zeros)
        gain = T / 2 - T * float(chance @ lost)
        case = f"d = {d:,}, T = {T}, ε = {epsilon:g}"
        yield of_number("repeated-loss", T * T * epsilon / 2, gain, case, trivial=T / 2)
