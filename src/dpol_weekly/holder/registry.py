"""Entries for the public registry of differential-privacy deployments, from records of releases."""

from __future__ import annotations

import dataclasses
import datetime
import math
from decimal import Decimal
from pathlib import Path

from dpol import __version__
from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.core.words import printable
from dpol.privacy.guarantee import Guarantee
from dpol.show.pages import load_template
from dpol_weekly.released import read_facts

_OPEN = "Which entities are in the table and for which periods; their capacities, where it has them"
# What damaged facts lead to; RuntimeError: no convergence, or too deep.
_NO_RECORD = ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError
SCHEMA = "July 2026 (changes #184 to #186)"
"""The version of the registry's schema whose keys the template has."""


def registry_entry(path: Path) -> str:
    """An entry of the OpenDP deployments registry, as YAML, from the record of a release.

    mu-GDP implies rho-zCDP with rho = mu^2 / 2 (Dong, Roth and Su, "Gaussian Differential Privacy",
    corollary B.6). Numbers are rounded up. What a record does not know is marked TODO.

    Args:
        path: of the release, `NAME.zip`, or its record.

    Raises:
        DataError: the file cannot be read, is not a release's record, or its noise is not secure.
    """
    names = {field.name for field in dataclasses.fields(Guarantee)}
    try:
        facts = read_facts(path)
        guarantee = Guarantee(**{name: facts[name] for name in names & set(facts)})
        mu, stays = guarantee.mu, guarantee.stays or ()
        numbers = {
            "rho": mu * mu / 2,
            "mu": mu,
            "one": mu / math.sqrt(2),
            "four": float(stays[2]),
            "over_all": float(facts["mu_over_all_outputs"]),
            "epsilon": guarantee.epsilon(1e-6),
        }
        good = all(0 < number < math.inf for number in numbers.values())
        if not good or guarantee.epsilon_delta is not None:
            raise ValueError("counts are released with Gaussian noise")
        runs, rows = len(facts["releases"]), int(facts["rows"])
        first = datetime.date.fromisoformat(facts["releases"][0]["date"])
    except _NO_RECORD:
        wrong = "is not the record of a release; give the .zip of dpol privatize"
        raise DataError(f"{path}: {wrong}") from None
    if guarantee.sampler != "secure":
        raise DataError(
            f"{path}: its noise can be reproduced, so nobody is protected; register a release that"
            " dpol privatize made"
        )
    texts = {name: rounded_up(number, digits=4) for name, number in numbers.items()}
    texts["rho"] = f"{Decimal(texts['rho']):f}"  # YAML takes 5e-07 for text.
    return load_template("registry.yaml.j2", "dpol_weekly.holder").render(
        texts,
        version=__version__,
        schema=SCHEMA,
        name=printable(path.name),
        unprotected="; ".join(filter(None, (_OPEN, str(guarantee.taken_as_public)))),
        unit=str(guarantee.unit).replace("round", "period"),
        adjacency=str(guarantee.adjacency).replace("round", "period"),
        mechanisms=f"dpol: {guarantee.mechanism}, drawn exactly, on integers, by OpenDP",
        runs=runs,
        rows=rows,
        first=first,
    )
