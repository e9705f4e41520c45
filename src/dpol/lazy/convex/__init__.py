"""L2P for online convex optimisation.

Make linear losses on a ball, choose parameters that reach an epsilon, and play the game:

>>> from dpol.core.randomness import replicate_generators
>>> from dpol.lazy import convex, play_measure
>>> sizes = {"n_rounds": 2000, "dimension": 3, "lipschitz": 1.0}
>>> losses, ball = convex.drifting_losses(**sizes, seed=1), convex.Ball(dimension=3, diameter=2.0)
>>> game = convex.ConvexGame(**sizes, diameter=2.0, delta=1e-6)
>>> chosen = convex.choose_convex_parameters(game, epsilon=4.0)
>>> measure = convex.measure_for(losses, ball, beta=chosen.beta, regulariser=chosen.regulariser)
>>> coins = replicate_generators(1, ("example",), range(20), "l2p")
>>> total, redraws = play_measure(measure, chosen, losses, coins)
>>> chosen.epsilon <= 4.0
True
>>> bool((total < 0).all())  # staying in the centre would cost 0
True

Source: "Private Online Learning via Lazy Algorithms", section 3.2.

Public names are loaded when they are first used. To add one, add a line to `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
