"""L2P: private online learning by lazy resampling, over any measure.

Make losses, choose parameters that reach an epsilon, and play the game, for experts:

>>> from dpol import lazy
>>> from dpol.core.randomness import replicate_generators
>>> losses = lazy.GapLosses(n_rounds=2000, n_experts=4, gap=0.1, seed=1)
>>> chosen = lazy.choose_parameters(lazy.LazyGame(2000, delta=1e-6), epsilon=4.0, n_experts=4)
>>> coins = replicate_generators(1, ("example",), range(20), "l2p")
>>> total, redraws = lazy.play_measure(lazy.WeightsMeasure(4, chosen.eta), chosen, losses, coins)
>>> chosen.epsilon <= 4.0
True
>>> total.shape, redraws.shape
((20,), (20,))

`play_measure` takes any `Measure`; `dpol.lazy.convex` has measures for convex losses.

Source: "Private Online Learning via Lazy Algorithms", section 3.

Public names are loaded when they are first used. To add one, add a line to `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
