"""What holds for the steps of algorithms and of banks of learners alike."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np


def pure_step(name: str, step: Callable[[Any, Any], Any], state: Any, observation: Any) -> Any:
    """Take a step twice: nothing given is changed, both give the same; returns the next state."""
    before = pickle.dumps((state, observation))
    following, actions = step(state, observation)
    again, same = step(state, observation)
    assert pickle.dumps((state, observation)) == before, (
        f"{name}: step changes the state or the observation that it is given; make new"
        " arrays, `total = total + gains` in place of `total += gains`"
    )
    hidden = f"{name}: the same step twice differs: something is kept outside the state"
    np.testing.assert_array_equal(actions, same, err_msg=hidden)
    assert pickle.dumps(following) == pickle.dumps(again), hidden
    return following
