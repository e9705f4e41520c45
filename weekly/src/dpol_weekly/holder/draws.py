"""Noise drawn for counts, and the chains of noise with memory as they are kept in a ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import Count
from dpol_weekly.holder.entries import Output, Released, select
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.memory import Chain, ChainTerms, Memory, numbers_of, released, terms_of
from dpol_weekly.noise import noisy
from dpol_weekly.sampler import NoiseSampler

_TERMS = "a, b, unit_weeks, chain_periods, chain.mu, decimals, scale"


@dataclass(frozen=True, kw_only=True)
class Place:
    """A count to be released, and its place in the ledger.

    Args:
        count: still raw.
        entity: number of its entity.
        version: 1 for the first release of this entity and period, over all outputs.
    """

    count: Count
    entity: int
    version: int


def draw(
    ledger: Ledger,
    output: Output,
    places: Sequence[Place],
    deployment: Deployment,
    sampler: NoiseSampler,
) -> list[Released]:
    """Counts in the order of their periods, as they are released; chains go on in the ledger.

    Args:
        ledger: the ledger.
        output: which gets the rows.
        places: the counts.
        deployment: says which noise they get.
        sampler: where the noise comes from.
    """
    noise, memory = deployment.count_noise(), deployment.memory()
    drawn: Sequence[tuple[int, float, int | None]]
    if memory:
        terms = _terms(ledger, output, places, deployment, memory)
        drawn = _with_memory(ledger, output, places, terms, sampler)
    else:
        steps_of = sampler.discrete_gaussian(noise.scale, len(places))
        drawn = [(steps, noise.standard_deviation, None) for steps in steps_of]
    rows = []
    for place, (steps, deviation, chain) in zip(places, drawn, strict=True):
        count = place.count
        numbers = noisy(count.count, count.capacity, noise, steps=steps, deviation=deviation)
        row = Released(
            name=count.entity,
            entity=place.entity,
            period=count.period,
            version=place.version,
            numbers=numbers,
            spent_mu=numbers.mu,
            chain=chain,
        )
        rows.append(row)
    return rows


def add_chain(ledger: Ledger, output: Output, entity: int, terms: ChainTerms) -> Chain:
    """Begin a chain of an entity in an output; the one before, if there is one, has ended."""
    end = "UPDATE chain SET u = NULL WHERE output = ? AND entity = ? AND u IS NOT NULL"
    ledger.execute(end, output.number, entity)
    number = ledger.connection.execute(
        "INSERT INTO chain (output, entity, a, b, unit_weeks, chain_periods, mu, decimals, scale,"
        " u) VALUES (:output, :entity, :a, :b, :unit_weeks, :chain_periods, :mu, :decimals, :scale,"
        " '0')",
        {"output": output.number, "entity": entity, **terms._asdict()},
    ).lastrowid
    return Chain(number=int(number or 0), terms=terms)


def keep_state(ledger: Ledger, chain: Chain) -> None:
    """Remember the state of a chain."""
    ledger.execute("UPDATE chain SET u = ? WHERE number = ?", str(chain.u), chain.number)


def end_all(ledger: Ledger) -> None:
    """End all chains of all outputs: they may have gone on in a newer copy of the ledger."""
    ledger.execute("UPDATE chain SET u = NULL")


def memories(
    ledger: Ledger, output: Output | None = None
) -> dict[int | None, tuple[Fraction, Fraction, int]]:
    """(a, b) and the unit of every chain, by its number; of those in an output, if it is given.

    Rows of an output that are of no chain have the number None, (0, 0), and one period.
    """
    every = "SELECT number AS chain, a, b, unit_weeks FROM chain"
    held = (
        "SELECT DISTINCT release.chain, a, b, unit_weeks FROM held AS release"
        " JOIN run ON run.number = release.run LEFT JOIN chain ON chain.number = release.chain"
        f" WHERE run.output = {output.number}"
        if output
        else every
    )
    return {
        row["chain"]: (Fraction(row["a"] or 0), Fraction(row["b"] or 0), row["unit_weeks"] or 1)
        for row in select(ledger, held)
    }


def parts_of(ledger: Ledger, output: Output) -> list[dict[str, Any]]:
    """The facts of the chains of an output for a receiver, in the order of their first rows.

    Rows are counted over the whole output, from 1. States are secret, so none is among the facts.
    """
    found = select(
        ledger,
        "SELECT name AS entity, row AS first_row, MIN(period) AS first_period,"
        f" COUNT(*) AS releases, {_TERMS} FROM (SELECT"
        " release.*, ROW_NUMBER() OVER (ORDER BY release.number) AS row FROM held AS release"
        " JOIN run ON run.number = release.run WHERE run.output = ?)"
        " AS release JOIN chain ON chain.number = release.chain GROUP BY chain.number ORDER BY row",
        output.number,
    )
    return [{**row, **{name: float(row[name]) for name in ("a", "b", "mu")}} for row in found]


def _with_memory(
    ledger: Ledger,
    output: Output,
    places: Sequence[Place],
    terms: Mapping[int, ChainTerms],
    sampler: NoiseSampler,
) -> list[tuple[int, float, int | None]]:
    """Noise in steps, its deviation in people, and the chain's number, of each row.

    A new chain begins where an entity has none yet, the last one has other terms or is complete, or
    has released this period or a later one.
    """
    needed = Counter(terms[place.entity].scale for place in places)
    draws = {scale: iter(sampler.discrete_gaussian(scale, n)) for scale, n in needed.items()}
    live = {entity: _live_chain(ledger, output, entity) for entity in terms}
    drawn: list[tuple[int, float, int | None]] = []
    for place in places:
        wanted, chain = terms[place.entity], live[place.entity]
        if not (
            chain
            and chain.terms == wanted
            and chain.last < place.count.period
            and chain.releases < wanted.chain_periods
        ):
            chain = add_chain(ledger, output, place.entity, wanted)
        deviation = chain.terms.standard_deviation_after(chain.releases)
        steps, chain = released(chain, place.count.period, next(draws[wanted.scale]))
        live[place.entity] = chain
        drawn.append((steps, deviation, chain.number))
    for chain in filter(None, live.values()):
        keep_state(ledger, chain)
    return drawn


def _terms(
    ledger: Ledger,
    output: Output,
    places: Sequence[Place],
    deployment: Deployment,
    memory: Memory,
) -> dict[int, ChainTerms]:
    """The terms of each entity; a designed memory is made for its capacity.

    That is the agreed one. Of one that is reported it is the first in the output.
    """
    noise, agreed = deployment.count_noise(), deployment.entities
    capacities = {place.entity: place.count.capacity for place in reversed(places)}
    reported = {place.entity for place in places if agreed[place.count.entity].beds is None}
    first = select(
        ledger,
        "SELECT release.entity, capacity, MIN(release.number) FROM held AS release"
        " JOIN run ON run.number = release.run WHERE run.output = ? GROUP BY release.entity",
        output.number,
    )
    capacities |= {row["entity"]: row["capacity"] for row in first if row["entity"] in reported}
    numbers = numbers_of(noise, memory, [float(capacity) for capacity in capacities.values()])
    return {
        entity: terms_of(noise, of_entity, memory)
        for entity, of_entity in zip(capacities, numbers, strict=True)
    }


def _live_chain(ledger: Ledger, output: Output, entity: int) -> Chain | None:
    """The chain of an entity's last row in an output, if it has one whose state is known."""
    found = select(
        ledger,
        f"SELECT chain.number, u, period, (SELECT COUNT(*) FROM release AS one"
        f" WHERE one.entity = release.entity AND one.chain = chain.number) AS releases, {_TERMS}"
        " FROM held AS release JOIN run ON run.number = release.run"
        " LEFT JOIN chain ON chain.number = release.chain"
        " WHERE run.output = ? AND release.entity = ? ORDER BY release.number DESC LIMIT 1",
        *(output.number, entity),
    )
    if not found or found[0]["u"] is None:
        return None
    facts = dict(found[0])
    return Chain(
        number=facts.pop("number"),
        u=Fraction(facts.pop("u")),
        last=facts.pop("period"),
        releases=facts.pop("releases"),
        terms=ChainTerms(**facts),
    )
