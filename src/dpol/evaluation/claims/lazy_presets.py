"""Checks of the same paper as `lazy`: its theorems with parameters, experts and convex losses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from dpol.evaluation.claims.core import Claim, Row, generator, worst
from dpol.lazy.accounting import LazyGame
from dpol.lazy.exact import exact_epsilon
from dpol.lazy.parameters import theorem_3_10
from dpol.papers import LAZY
from dpol.privacy.gaussian_dp import mu_of_epsilon
from dpol.randomness import Floats
from dpol.studies.convex.accounting import ConvexGame, theorem_3_12

_EPSILONS = (0.1, 0.25, 1.0)


def formula(T: int, delta: float, B: int, eta: float, p: float) -> float:
    """epsilon by Theorem 3.2 with delta_0 = 0, whether or not its preconditions hold."""
    log_term = math.log(2 * T / delta)
    spread = T * eta**2 * p / B
    return 2 * eta / p + eta + 1.5 * spread * log_term + log_term * math.sqrt(6 * spread)


def _product(T: int, delta: float, B: int, eta: float, p: float) -> float:
    """What Theorem 3.2 needs to be at most 1."""
    return eta * B * math.log(2 * T / delta) / p


# ---- experts ---------------------------------------------------------------------------------


def preset_of_experts(
    seed: int,
    horizons: Sequence[int] = (10**3, 10**4, 10**6),
    epsilons: Sequence[float] = _EPSILONS,
    delta: float = 1e-6,
) -> Iterator[Claim]:
    """The parameters of Theorem 3.10: Theorem 3.2's precondition and value, and our accounting."""
    del seed
    rows = []
    grid = list(itertools.product(horizons, epsilons, (10, 300, 10_000)))
    where = (
        f"{len(grid)} settings: T = {horizons[0]:,} to {horizons[-1]:,}, ε = {epsilons[0]:g} to"
        f" {epsilons[-1]:g}, d = 10, 300, 10,000, δ = {delta:g}; the worst one"
    )
    for T, epsilon, d in grid:
        found = theorem_3_10(LazyGame(T, delta, normaliser=2.0), epsilon=epsilon, n_experts=d)
        terms = T, delta, found.batch_size, found.eta, found.fake_switch
        case = f"T = {T:,}, ε = {epsilon:g}, d = {d:,}"
        private = Claim(
            LAZY,
            "Theorem 3.10, privacy",
            "with its parameters (η as in its proof) the algorithm is (ε, δ)-DP",
            f"our sound accounting over ε at {where}",
            claimed=1.0,
            relation="<=",
            measured=found.epsilon / epsilon,
            measured_is="upper bound",
            witness=f"{case}: our upper bound is {found.epsilon:.3f}",
            note=f"{case}; our accounting, not the paper's proof",
        )
        rows.append((*_by_theorem_3_2("Theorem 3.10", terms, epsilon, case, where), private))
    yield from map(worst, zip(*rows, strict=True))


def _by_theorem_3_2(
    theorem: str, terms: tuple[int, float, int, float, float], epsilon: float, case: str, where: str
) -> tuple[Claim, Claim]:
    """What Theorem 3.2 says of the parameters (T, delta, B, eta, p) of another theorem."""
    product, own, first = _product(*terms), formula(*terms), 2 * terms[3] / terms[4]
    return (
        Claim(
            LAZY,
            f"{theorem}, precondition",
            "its parameters meet ηB log(1/δ1)/p <= 1, on which its proof relies",
            f"ηB log(1/δ1)/p with δ = 2 T δ1 at {where}",
            claimed=1.0,
            relation="<=",
            measured=product,
            witness=f"{case}: {product:.2f}",
            note=case,
        ),
        Claim(
            LAZY,
            f"{theorem}, privacy by Theorem 3.2",
            "Theorem 3.2 gives its parameters at most ε, as its proof says",
            f"the formula of Theorem 3.2 (δ0 = 0) over ε at {where}",
            claimed=1.0,
            relation="<=",
            measured=own / epsilon,
            witness=f"{case}: the formula gives {own:.3g}, {own / epsilon:.2f} times ε, of which"
            f" 2η/p alone is {first / epsilon:.2f} times ε",
            note=case,
        ),
    )


# Probabilities p of a fake switch; 0 is what small p come near to.
_SWITCHES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 0.99)


def experts_as_stated(seed: int, logarithm: bool = False) -> Iterator[Claim]:
    """Theorem 3.10 with the eta of its statement, or divided by log(T / delta) as in its proof.

    The statement names no p, so of several p the one counts at which the least is proved against
    it. Two experts whose losses differ in round 1 only. How often the second one is played in all
    batches after the first is one function of the outputs: its exact epsilon is at most theirs.
    """
    del seed
    T, delta, claims = 10**4, 1e-6, []
    for epsilon in _EPSILONS:
        game = LazyGame(T, delta, normaliser=2.0)
        found = theorem_3_10(game, epsilon=epsilon, n_experts=2)
        eta = found.eta * (1 if logarithm else math.log(T / delta))
        of_proof = min(10 * eta / epsilon, 1.0)
        lowers = {p: _of_plays(T, found.batch_size, eta, p, delta) for p in (*_SWITCHES, of_proof)}
        p = min(lowers, key=lambda it: lowers[it])
        lower = lowers[p]
        case = f"ε = {epsilon:g}, B = {found.batch_size}, η = {eta:.4f}"
        at = ", ".join(f"{lowers[it]:.3g} at p = {it:g}" for it in _SWITCHES)
        claims.append(
            Claim(
                LAZY,
                "Theorem 3.10, η as stated",
                "with the η of its statement, which lacks the 1/log(T/δ) of its proof, the"
                " algorithm is (ε, δ)-DP for some p",
                f"exact ε at δ = {delta:g} of how often an expert is played, over ε: 2 experts,"
                " T = 10,000, losses that differ in round 1 only, ε = 0.1, 0.25, 1; the worst, each"
                f" at the p of {len(lowers)} with the least",
                claimed=1.0,
                relation="<=",
                measured=lower / epsilon,
                measured_is="lower bound",
                witness=f"T = 10,000, losses (1, 0) or (0, 1) in round 1, then 0; {case}: the"
                f" number of plays alone has ε = {lower:.3f} at p = {p:g}, and more at the other p",
                note=f"the statement names no p, and its refutation needs none: {case}: {at};"
                f" {lowers[of_proof]:.3g} at p = 10η/ε = {of_proof:.3f}, that of the proof",
            )
        )
    yield worst(claims)


def _of_plays(T: int, B: int, eta: float, p: float, delta: float) -> float:
    """The exact epsilon of how often expert 1 is played, if expert 0 or 1 lost round 1."""
    laws = [times_played(T // B, B, eta, p, loser)[None] for loser in (0, 1)]
    return _distance(laws[0], laws[1], delta)


def times_played(batches: int, B: int, eta: float, p: float, loser: int) -> Floats:
    """The law of how often expert 1 is played in batches 2, 3, ..., if `loser` lost round 1."""
    weights = np.exp(-eta * (np.arange(2) == loser))
    fresh = weights / weights.sum()
    # The shadow point is uniform in batch 1; later losses are equal, so it plays no role.
    kept = (1 - p) * math.exp(-2 * B * eta) * weights * (1 / weights).mean()
    start = kept / 2 + (1 - kept).mean() * fresh
    law = np.zeros((2, batches))  # last expert, number of plays of expert 1
    law[0, 0], law[1, 1] = start
    keep = (1 - p) * math.exp(-2 * B * eta)
    for _ in range(batches - 2):
        law = keep * law + (1 - keep) * fresh[:, None] * law.sum(axis=0)
        law[1, 1:], law[1, 0] = law[1, :-1].copy(), 0.0
    return np.asarray(law.sum(axis=0))


# ---- convex losses ---------------------------------------------------------------------------


_CONVEX = "nine settings: T = 1,000 to 1,000,000, ε = 0.01 to 1, δ = 1e-6; the worst one"


def preset_of_convex(seed: int, step: float = 1.0, temperature: float = 1.0) -> Iterator[Claim]:
    """Theorem 3.12 by Theorem 3.2 and Lemma 3.11; eta and beta times `step`, `temperature`."""
    del seed
    delta, rows = 1e-6, []
    for T, epsilon in itertools.product((10**3, 10**4, 10**6), (0.01, 0.1, 1.0)):
        found = theorem_3_12(ConvexGame(T, 3, 1.0, 1.0, delta), epsilon=epsilon)
        terms = T, delta, found.batch_size, step * found.eta, found.fake_switch
        case = f"T = {T:,}, ε = {epsilon:g}"
        rate = temperature * found.beta / found.regulariser
        # eta = 2 rate + sqrt(8 rate log(2 / delta_0)), solved for delta_0.
        smallest = 2 * math.exp(-(max(found.eta - 2 * rate, 0.0) ** 2) / (8 * rate))
        lemma = Claim(
            LAZY,
            "Theorem 3.12, temperature",
            "its β gives log ratios of at most η by Lemma 3.11 with a δ0 of at most δ",
            f"smallest δ0 for which Lemma 3.11 gives η at {_CONVEX}",
            claimed=delta,
            relation="<=",
            measured=smallest,
            witness=f"{case}: Lemma 3.11 needs δ0 >= {smallest:.3f}",
            note=case,
        )
        rows.append((*_by_theorem_3_2("Theorem 3.12", terms, epsilon, case, _CONVEX), lemma))
    yield from map(worst, zip(*rows, strict=True))


def accounting_of_convex(seed: int) -> Iterator[Claim]:
    """Theorem 3.12 by our own accounting, in two dimensions of the ball."""
    del seed
    for d in (10, 50):
        claims = []
        for T in (10**3, 10**4, 10**5):
            found = theorem_3_12(ConvexGame(T, d, 1.0, 1.0, 1e-6), epsilon=1.0)
            claims.append(
                Claim(
                    LAZY,
                    f"Theorem 3.12, privacy, d = {d}",
                    f"with its parameters the algorithm is (ε, δ)-DP for d = {d}",
                    "our sound accounting over ε at ε = 1, δ = 1e-6, T = 1,000 to 100,000; the"
                    " worst T",
                    claimed=1.0,
                    relation="<=",
                    measured=found.epsilon,
                    measured_is="upper bound",
                    witness=f"T = {T:,}: accounted {found.epsilon:.3f}",
                    note=f"T = {T:,}; our accounting, not the paper's proof",
                )
            )
        yield worst(claims)


def redraw_of_convex(seed: int, share: float = 1.0) -> Iterator[Claim]:
    """Densities on an interval with one loss more, or another loss; bounds times `share`."""
    rng = generator(seed, "convex losses")
    more, other = [], []
    for _ in range(30):
        beta, weight = math.exp(rng.uniform(-2, 1)), math.exp(rng.uniform(-1, 3))
        half = float(math.exp(rng.uniform(-1, 2)))
        x = np.linspace(-half, half, 4001)
        base = beta * (_convex(rng, x) + weight * x**2)
        losses = [_convex(rng, x), x, -x]
        laws = np.array([_density(base + beta * loss) for loss in (0 * x, *losses)])
        case = f"β = {beta:.3g}, λ = {weight:.3g}, D = {2 * half:.3g}, L = 1"
        for delta in (1e-2, 1e-5):
            rate = beta / weight
            limit = 2 * rate + math.sqrt(8 * rate * math.log(2 / delta))
            added = _distance(laws[:1].repeat(3, axis=0), laws[1:], delta)
            more.append(
                _redraw_claim("Lemma 3.11", share * limit, added, f"{case}, δ0 = {delta:g}")
            )
            replaced = _distance(laws[[1, 2]], laws[[2, 3]], delta)
            mu = mu_of_epsilon(replaced, delta) if replaced > 0 else 0.0
            other.append(_redraw_claim("redraw", share * math.sqrt(2 * rate), mu, case))
    yield worst(more)
    yield worst(other)


def _redraw_claim(name: str, claimed: float, measured: float, case: str) -> Claim:
    ours = name == "redraw"
    return Claim(
        LAZY,
        "accounting, convex redraw" if ours else name,
        "a draw after one other loss is L sqrt(2β/λ)-Gaussian DP (Gopi, Lee and Liu)"
        if ours
        else "one more loss moves the log density by 2βL²/λ + sqrt(8βL² log(2/δ0)/λ), up to δ0",
        ("μ of two laws" if ours else "ε at δ0 of two laws")
        + " on an interval by quadrature, 30 random settings of convex losses; the worst one",
        claimed=claimed,
        relation="<=",
        measured=measured,
        rounding=1e-3,
        witness=case,
        note=case + ("; one dimension only" if ours else ""),
        ours=ours,
    )


def _convex(rng: np.random.Generator, x: Floats) -> Floats:
    """A convex loss of Lipschitz constant 1: the largest of three lines."""
    slopes, offsets = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    return np.asarray((slopes[:, None] * x + offsets[:, None]).max(axis=0))


def _density(potential: Floats) -> Floats:
    weights = np.exp(potential.min() - potential)
    return np.asarray(weights / weights.sum())


def _distance(one: Floats, other: Floats, delta: float) -> float:
    """The largest epsilon at delta of pairs of laws, either way round."""
    both = exact_epsilon(one, other, delta), exact_epsilon(other, one, delta)
    return float(np.max(both))


ROWS: tuple[Row, ...] = (
    preset_of_experts,
    experts_as_stated,
    preset_of_convex,
    accounting_of_convex,
    redraw_of_convex,
)
