"""L2P: private online learning by lazy resampling, over any measure.

Source: "Private Online Learning via Lazy Algorithms", section 3.
"""

from dpol.lazy.transform import LazyParameters, LazyState, Measure, advance, play, start

__all__ = ["LazyParameters", "LazyState", "Measure", "advance", "play", "start"]
