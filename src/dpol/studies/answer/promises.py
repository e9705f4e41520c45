"""Which noise for which promise: the share of the possible gain that each noise keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from dpol.core.words import at_most, counted, fixed
from dpol.privacy.account import PURE, SAME, best_guess, promises_of
from dpol.privacy.losses import Promise
from dpol.show.entries import OUR_MARK, marked, noise_entry
from dpol.show.table import Column, Group, Table, TableCell, TableSection
from dpol.show.words import describe_data, describe_interval, mu_title, plus_minus, power
from dpol.studies.study import Facts, Frames

_KEY = ["level", "same", "weeks", "noise", "algorithm"]
_OF_NOISE = ["gaussian", "every_week"]


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


def promise_in_words(same: str, promise: Promise) -> str:
    """Return what a promise limits, in a few words."""
    if same == SAME and promise.mu is not None:
        return f"the whole curve: {mu_title(promise.mu)}"
    if promise.epsilon == 0:
        return f"the best guess: right at most {at_most(50 * (1 + promise.delta))}%"
    return f"ε = {promise.epsilon:.3g}, δ = {power(promise.delta) if promise.delta else '0 (pure)'}"


def promises_table(frames: Frames, facts: Facts) -> Table:
    """Build the table: a section per level, a group per promise, a line per noise."""
    shares = shares_kept(frames["memory"], frames["summary"])
    shares = shares[shares["every_week"]]
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
