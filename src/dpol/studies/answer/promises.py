"""Which noise for which promise: the share of the possible gain that each noise keeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from dpol.core.words import at_most, counted, fixed, listed
from dpol.privacy.account import EPSILON, GUESS, PURE, SAME, best_guess, promises_of
from dpol.privacy.losses import Promise
from dpol.privacy.noise_laws import LAWS, UNIFORM
from dpol.show import panels
from dpol.show.entries import GREY, OUR_MARK, looks_of, marked, noise_entry
from dpol.show.table import Column, Group, Table, TableCell, TableSection
from dpol.show.words import describe_data, describe_interval, mu_title, plus_minus, power
from dpol.studies.study import Facts, Frames

_KEY = ["level", "same", "weeks", "noise", "algorithm"]
_SHORT = {SAME: "curve", GUESS: "guess", EPSILON: "(ε, δ)", PURE: "pure ε"}
_OF_NOISE = ["gaussian", "every_week", "law", "noise_memory"]


def shares_kept(memory: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the share of the possible gain of each noise and reader, as its mean over the streams.

    The best guess of an attacker and mu are the largest of all streams. There is a row for each
    promise of `promises_of`, unit and noise that keeps it. Streams have noise of their own, so the
    squares of their intervals add up.

    Args:
        memory: the table `memory`.
        summary: the table `summary` of the same streams.
    """
    gaussian = memory["gaussian"]
    # Gaussian noise keeps all promises of its mu but the pure one.
    kept = [name for name in promises_of(1.0, 1e-6) if name != PURE]
    copies = [memory[~gaussian], *(memory[gaussian].assign(same=name) for name in kept)]
    of_stream = summary.groupby("stream")[["uniform_gain", "oracle_gain"]].first()
    rows = pd.concat(copies, ignore_index=True).join(of_stream, on="stream")
    possible = rows["oracle_gain"] - rows["uniform_gain"]
    rows["share"] = (rows["mean_gain"] - rows["uniform_gain"]) / possible
    rows["squared"] = (rows["ci_half_width"] / possible) ** 2
    shares = rows.groupby(_KEY, sort=False).agg(
        share=("share", "mean"),
        half=("squared", "sum"),
        streams=("share", "size"),
        best_guess=("best_guess", "max"),
        mu=("guaranteed_mu", "max"),
        **{name: (name, "first") for name in _OF_NOISE},
    )
    return shares.assign(half=shares["half"] ** 0.5 / shares["streams"]).reset_index()


def _of_every_week(frames: Frames) -> pd.DataFrame:
    """Return the shares of noises that release every week."""
    shares = shares_kept(frames["memory"], frames["summary"])
    return shares[shares["every_week"]]


def promise_in_words(same: str, promise: Promise) -> str:
    """Return what a promise limits, in a few words."""
    if same == SAME and promise.mu is not None:
        return f"the whole curve: {mu_title(promise.mu)}"
    if promise.epsilon == 0:
        return f"the best guess: right at most {at_most(50 * (1 + promise.delta))}%"
    return f"ε = {promise.epsilon:.3g}, δ = {power(promise.delta) if promise.delta else '0 (pure)'}"


def promises_table(frames: Frames, facts: Facts) -> Table:
    """Build the table: a section per level, a group per promise, a line per noise."""
    shares = _of_every_week(frames)
    cells = {tuple(row[_KEY]): row for _, row in shares.iterrows()}
    noises, readers, levels, stays = (
        list(dict.fromkeys(shares[name])) for name in ("noise", "algorithm", "level", "weeks")
    )
    gaussian = {*shares.loc[shares["gaussian"], "noise"]}
    sections = []
    for mu in levels:
        groups = []
        for same, promise in promises_of(mu, facts.delta).items():
            lines = []
            for noise in noises:
                no = "cannot" if same == PURE and noise in gaussian else "—"
                line = [
                    _cell(cells.get((mu, same, weeks, noise, reader)), no)
                    for weeks in stays
                    for reader in readers
                ]
                name = noise_entry(noise)
                lines.append((marked(name.long, name.ours), tuple(line)))
            groups.append(Group(promise_in_words(same, promise), tuple(lines)))
        size = f"best guess {at_most(100 * best_guess(mu))}%"
        sections.append(TableSection(mu_title(mu), size, tuple(groups)))
    headers = [
        Column(f"{counted(weeks, 'week')}, {reader}", "%") for weeks in stays for reader in readers
    ]
    return Table(
        caption="Share of the possible gain kept, by promise, noise and stay",
        corner=("level", "promise", "noise"),
        headers=tuple(headers),
        sections=tuple(sections),
        footers=tuple(_footers(frames["memory"], facts)),
        numbers=shares.drop(columns=["best_guess", *_OF_NOISE]),
    )


def _cell(row: pd.Series | None, no: str) -> TableCell:
    if row is None:
        return TableCell(no)
    share, half, guess = (100 * row[name] for name in ("share", "half", "best_guess"))
    details = f"guess {at_most(guess)}%", f"μ {at_most(row['mu'])}"
    return TableCell(f"{fixed(share, 1)}{plus_minus(half, 1)}", details, order=share)


def _footers(frame: pd.DataFrame, facts: Facts) -> Iterator[str]:
    row = frame.iloc[0]
    behind = "intervals of the numbers behind this table (.csv)"
    yield (
        "Each promise is to one person in the counts of at most two holders, in as many weeks in a"
        " row as the column says. Every noise is the smallest that keeps it (Laplace noise a little"
        " larger). Means over the streams of"
        f" {row['replicates']} runs each. Cannot: no scale of this noise keeps the"
        " promise. —: this reader takes noise as independent between weeks. Guess: how often, at"
        " most, an attacker is right about the person. μ: the smallest that the noise keeps, and so"
        " ρ-zCDP with ρ = μ²/2."
        " (ε, δ): for every set of outputs, its probability with the person is at most e^ε times"
        " that without, plus δ; noises that keep it can differ much in the guess."
    )
    yield describe_interval(row["confidence"], row["ci_comparisons"], behind)
    yield describe_data(facts.simulated)
    yield f"{OUR_MARK}."


def draw_promises(frames: Frames, facts: Facts) -> Figure:
    """Draw what an attacker gains from noises with one best guess, and shares kept, by stay."""
    shares = _of_every_week(frames)
    mu, weeks = shares["level"].min(), list(dict.fromkeys(shares["weeks"]))
    shares = shares[(shares["level"] == mu) & (shares["algorithm"] == shares["algorithm"].iloc[0])]
    # A marker has the colour of the curve of its noise's law, which is for independent noise.
    of_curve = shares["law"].where(shares["noise_memory"] == "", shares["noise"])
    labels = dict(zip(shares["noise"], of_curve, strict=True))
    laws = [*LAWS.values(), UNIFORM]
    looks = looks_of([*(law.name for law in laws), *labels.values()])
    with panels.panels(1 + len(weeks), 2, (3.3, 2.4), form=facts.form) as drawn:
        # The smallest false negatives of any test against its false positives, for each law.
        guess, releases, ax = Promise(delta=2 * best_guess(mu) - 1), 2 * min(weeks), drawn.axes[0]
        panels.name_panel(ax, f"right at most {at_most(50 * (1 + guess.delta))}%")
        positives, epsilons = np.linspace(0, 1, 401), np.linspace(0, 12, 241)
        ax.plot([0, 1], [1, 0], color=GREY, linewidth=0.8)
        for law in laws:
            loss = law.loss(law.largest(guess, releases), releases)
            kept = 1 - np.array([loss.delta(epsilon) for epsilon in epsilons])
            odds = np.exp(epsilons)
            lines = kept - odds * positives[:, None], (kept - positives[:, None]) / odds
            negatives = np.maximum(np.max(lines, axis=(0, 2)), 0)
            ax.plot(positives, negatives, color=looks[law.name].colour, linewidth=1.1)
            drawn.name_line(ax, (positives[20], negatives[20]), law.name, looks[law.name].colour)
        ax.set(xlabel="false positives", ylabel="false negatives", xlim=(0, 0.2), ylim=(0.6, 1))
        panels.set_ticks(ax.xaxis, (0, 0.05, 0.1, 0.15, 0.2), "{:.0%}".format)
        panels.set_percent(ax.yaxis)
        for ax, stay in zip(drawn.axes[1:], weeks, strict=True):
            panels.name_panel(ax, f"{counted(stay, 'week')}, {shares['algorithm'].iloc[0]}")
            own = shares[shares["weeks"] == stay]
            for place, (noise, label) in enumerate(labels.items()):
                points = own[own["noise"] == noise]
                beside = 0.12 * (place - (len(labels) - 1) / 2)
                points = points.assign(x=points["same"].map([*_SHORT].index) + beside)
                bars = points[["x", "share", "half"]]
                panels.add_bars(ax, bars, looks[label], noise, joined=False)
            ax.set_xticks(range(len(_SHORT)), [*_SHORT.values()])
            ax.set_xlim(-0.5, len(_SHORT) - 0.5)
            low, high = ax.get_ylim()
            more = max(0.1 - (high - low), 0) / 2  # ten points at least: ticks are whole percents
            ax.set_ylim(low - more, high + more)
            ax.set_ylabel("share kept")
            panels.set_percent(ax.yaxis)
        drawn.caption(
            f"{panels.data_title(facts.simulated)}, means over streams",
            *(promise_in_words(*each) for each in promises_of(mu, facts.delta).items()),
        )
        drawn.find(_finding(shares))
        drawn.legend(
            [
                panels.key(noise_entry(noise).long, **looks[it].points)
                for noise, it in labels.items()
            ]
        )
    return drawn.figure


def _finding(shares: pd.DataFrame) -> str:
    """Name the noise whose whole interval is above the others, for each promise and two stays."""
    parts = []
    for weeks in sorted({shares["weeks"].min(), shares["weeks"].max()}):
        most = dict[str, list[str]]()
        for same, own in shares[shares["weeks"] == weeks].groupby("same", sort=False):
            best = own.loc[own["share"].idxmax()]
            others = own["share"] + own["half"] >= best["share"] - best["half"]
            alone = noise_entry(str(best["noise"])).long if others.sum() == 1 else "no noise"
            most.setdefault(alone, []).append(_SHORT[str(same)])
        each = (f"{noise} is clearly best for {listed(of, 4)}" for noise, of in most.items())
        parts.append(f"For stays of {counted(weeks, 'week')}, {'; '.join(each)}.")
    return " ".join(parts)
