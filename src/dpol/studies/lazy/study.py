"""The study of L2P for experts: its regret and its competitors', on synthetic losses."""

from __future__ import annotations

import itertools

from dpol.studies.lazy.settings import ADVERSARIES, ALGORITHMS, LEADERS, Lazy
from dpol.studies.study import Facts, Point, Study

LONG = 200_000
"""Number of rounds from which each adversary is a separate point."""


def points(settings: Lazy, facts: Facts) -> dict[str, Point]:
    """Return a point for each T and d, and in long games for each adversary.

    >>> facts = Facts({}, simulated=True, confidence=0.95)
    >>> labels = list(points(Lazy(n_rounds=[100, 10**6], n_experts=[2], epsilons=[1]), facts))
    >>> len(labels), labels[:2]
    (3, ['T100-d2', 'T1000000-d2-stochastic'])
    """
    by_label: dict[str, Point] = {}
    for T, d in itertools.product(settings.n_rounds, settings.n_experts):
        led = LEADERS if T * d <= settings.largest_tree else ()
        one = settings.model_copy(update={"n_rounds": [T], "n_experts": [d]})
        game = {
            "lazy": one.model_dump(mode="json", exclude={"largest_tree"}),
            "algorithms": [name for name in ALGORITHMS if name in led or name not in LEADERS],
        }
        together = {"": ADVERSARIES} if T < LONG else {f"-{name}": (name,) for name in ADVERSARIES}
        for suffix, adversaries in together.items():
            by_label[f"T{T}-d{d}{suffix}"] = Point(
                settings=game | {"adversaries": list(adversaries)}, seconds=3.0
            )
    return by_label


STUDY = Study(
    name="lazy",
    title="Lazy algorithms: L2P for experts",
    settings=Lazy,
    package="dpol.studies.lazy",
    results=("lazy",),
    points=points,
)
