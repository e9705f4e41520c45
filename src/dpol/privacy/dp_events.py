"""Guarantees as events of dp_accounting, which other libraries' accountants read.

An event is plain data here, as its `to_named_tuple` has it and JSON stores it: `module_name`,
`class_name`, and its parameters. So nobody has to import dp_accounting, which takes a second.
Accountants read events with neighbours that differ by one addition or removal, their default.
Pass no other relation for a Gaussian event: what differs between two inputs is in our mu already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpol.privacy.gaussian_dp import compose

MODULE = "dp_accounting.dp_event"
"""The module of dp_accounting that holds its events."""


def dp_event_facts(mu: float, epsilon_delta: tuple[float, float] | None = None) -> dict[str, Any]:
    """The event of a guarantee, as plain data.

    mu-GDP is what a Gaussian mechanism of noise multiplier 1 / mu guarantees. Every (epsilon,
    0)-DP mechanism can be computed from the answer of randomized response over two buckets
    (Kairouz, Oh and Viswanath, "The Composition Theorem for Differential Privacy"), whose
    neighbours replace their value: give accountants REPLACE_ONE. For delta above 0 there is no
    event; accountants refuse an unsupported one.

    Args:
        mu: Gaussian-DP parameter; 0 and inf are events of their own.
        epsilon_delta: a guarantee of another kind, in place of mu.

    >>> dp_event_facts(0.5)["noise_multiplier"]
    2.0
    """
    name, parameters = "GaussianDpEvent", {}
    if epsilon_delta is not None:
        epsilon, delta = epsilon_delta
        name = "UnsupportedDpEvent" if delta else "RandomizedResponseDpEvent"
        if not delta:
            other = math.exp(-epsilon)
            parameters = {"noise_parameter": 2 * other / (1 + other), "num_buckets": 2}
    elif mu == 0:
        name = "NoOpDpEvent"
    elif math.isinf(mu):
        name = "NonPrivateDpEvent"
    else:
        parameters = {"noise_multiplier": 1 / mu}
    return {"module_name": MODULE, "class_name": name, **parameters}


def dp_event(facts: Mapping[str, Any]) -> Any:
    """The event of dp_accounting that `dp_event_facts` describes."""
    from dp_accounting import dp_event as events

    parameters = {name: it for name, it in facts.items() if not name.endswith("_name")}
    return getattr(events, facts["class_name"])(**parameters)


def mu_of_dp_event(event: Any) -> float:
    """The Gaussian-DP parameter of an event: a Gaussian one, or a composition of such.

    The way back to a `Guarantee` ends here: an event does not say whose data it protects, nor what
    was taken as public.

    Args:
        event: of dp_accounting, or its plain data.

    Raises:
        ValueError: it has none that is known, or a parameter is out of range.

    >>> mu_of_dp_event({"class_name": "ComposedDpEvent", "events": [dp_event_facts(0.5)] * 4})
    1.0
    """
    plain = isinstance(event, Mapping)
    name = event["class_name"] if plain else type(event).__name__

    def parameter(key: str) -> Any:
        return event[key] if plain else getattr(event, key)

    if name in ("NoOpDpEvent", "NonPrivateDpEvent"):
        return 0.0 if name == "NoOpDpEvent" else math.inf
    if name == "GaussianDpEvent":
        multiplier = float(parameter("noise_multiplier"))
        if not multiplier >= 0:
            raise ValueError(f"noise_multiplier must not be negative, got {multiplier}")
        return 1 / multiplier if multiplier else math.inf
    if name == "ComposedDpEvent":
        return compose(map(mu_of_dp_event, parameter("events")))
    if name == "SelfComposedDpEvent":
        count = int(parameter("count"))
        if count < 0:
            raise ValueError(f"count must not be negative, got {count}")
        return math.sqrt(count) * mu_of_dp_event(parameter("event")) if count else 0.0
    raise ValueError(f"{name} has no Gaussian-DP parameter that is known; give Gaussian events")
