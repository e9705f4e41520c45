"""Common colours and texts of all figures."""

from __future__ import annotations

import itertools

import pytest

from dpol.labels.registry import LEARNERS, SELECTORS
from dpol.noise import NOISES
from dpol.show import entries
from dpol.show.entries import ALGORITHMS, LABEL_LEARNERS, OTHERS, looks_of, refuse_unnamed

KNOWN = {**ALGORITHMS, **LABEL_LEARNERS}
SHARED = {entries.GREY, entries.BLACK}
USED = [*({look.colour for look in KNOWN.values()} - SHARED), entries.ENVELOPE]


def test_a_colour_means_one_thing_in_all_figures() -> None:
    assert len(set(USED)) == len(USED)
    assert entries.BLACK not in {look.colour for look in KNOWN.values()}
    # Labels of one colour are one algorithm, except grey for algorithms without privacy.
    for one, two in itertools.combinations(KNOWN, 2):
        if KNOWN[one].colour == KNOWN[two].colour != entries.GREY:
            assert one.split("-")[0] == two.split("-")[0]
    # Labels without a look get other colours.
    assert not {look.colour for look in OTHERS} & {*USED, *SHARED}


def test_looks_of_one_figure_differ_and_do_not_depend_on_their_order() -> None:
    names = [*ALGORITHMS, *(f"mine-{number}" for number in range(8))]
    together = looks_of(names)
    assert list(together) == names
    assert together == looks_of(reversed(names))
    assert {name: together[name] for name in ALGORITHMS} == ALGORITHMS
    lines = [(look.colour, look.dashes) for look in together.values()]
    assert len(set(lines)) == len(lines)
    assert looks_of(["mine", "rw-meta"])["mine"] == looks_of(["mine"])["mine"]
    many = [f"mine-{number}" for number in range(60)]  # more than there are looks
    assert list(looks_of(many)) == many


def test_every_name_of_a_registry_has_an_entry() -> None:
    refuse_unnamed({"label_learners": [*LEARNERS, *SELECTORS]})
    with pytest.raises(ValueError, match="mine has no entry in src/dpol/show/entries.yaml; add"):
        refuse_unnamed({"noises": [*NOISES, "mine"]})
