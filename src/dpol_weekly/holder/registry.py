"""Entries for the public registry of differential-privacy deployments, from records of releases."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import printable
from dpol.privacy.guarantee import Guarantee
from dpol.show.pages import load_template

_OPEN = "Which entities are in the table and for which periods; their capacities, where it has them"
_NO_RECORD = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RuntimeError,  # no convergence, or too deep
)
SCHEMA = "July 2026 (changes #184 to #186)"
"""The version of the registry's schema whose keys the template has."""


@dataclass(frozen=True, kw_only=True)
class _Record:
    """Facts of a release's record; numbers of the guarantee are positive and finite."""

    guarantee: Guarantee
    releases: int
    rows: int
    first: datetime.date
    numbers: Mapping[str, float]


def registry_entry(path: Path) -> str:
    """An entry of the OpenDP deployments registry, as YAML, from the record of a release.

    mu-GDP implies rho-zCDP with rho = mu^2 / 2 (Dong, Roth and Su, "Gaussian Differential Privacy",
    corollary B.6). Numbers are rounded up. What a record does not know is marked TODO.

    Args:
        path: the record, `NAME.csv.guarantee.json`.

    Raises:
        DataError: the file cannot be read, is not a release's record, or its noise is not secure.
    """
    record = _read(path)
    guarantee = record.guarantee
    if guarantee.sampler != "secure":
        raise DataError(
            f"{path}: its noise can be reproduced, so nobody is protected; register a release that"
            " dpol privatize made"
        )
    texts = {name: rounded_up(number, digits=4) for name, number in record.numbers.items()}
    return load_template("registry.yaml.j2", "dpol_weekly.holder").render(
        version=__version__,
        schema=SCHEMA,
        name=printable(path.name),
        unprotected="; ".join(filter(None, (_OPEN, str(guarantee.taken_as_public)))),
        unit=str(guarantee.unit).replace("round", "period"),
        adjacency=str(guarantee.adjacency).replace("round", "period"),
        mechanisms=f"dpol: {guarantee.mechanism}, drawn exactly, on integers, by OpenDP",
        runs=record.releases,
        rows=record.rows,
        first=record.first,
        **texts | {"rho": f"{Decimal(texts['rho']):f}"},  # YAML takes 5e-07 for text.
    )


def _read(path: Path) -> _Record:
    names = {field.name for field in dataclasses.fields(Guarantee)}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        guarantee = Guarantee(**{name: facts[name] for name in names & set(facts)})
        mu = guarantee.mu
        numbers = {
            "rho": mu * mu / 2,
            "mu": mu,
            "one": mu / math.sqrt(2),
            "four": float((guarantee.stays or ())[2]),
            "over_all": float(facts["mu_over_all_outputs"]),
            "epsilon": guarantee.epsilon(1e-6),
        }
        if guarantee.epsilon_delta is not None:
            raise ValueError("counts are released with Gaussian noise")
        if not all(0 < number < math.inf for number in numbers.values()):
            raise ValueError(f"not all of {numbers} are positive and finite")
        return _Record(
            guarantee=guarantee,
            releases=len(facts["releases"]),
            rows=int(facts["rows"]),
            first=datetime.date.fromisoformat(facts["releases"][0]["date"]),
            numbers=numbers,
        )
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except _NO_RECORD:
        wrong = "is not the record of a release; give the .csv.guarantee.json of dpol privatize"
        raise DataError(f"{path}: {wrong}") from None
