"""Learning a distribution from locally private labels.

Choose hypotheses, a learner, a game and its random generators, and play:

>>> import numpy as np
>>> from dpol import labels
>>> hypotheses = labels.random_class(n_hypotheses=4, n_labels=10, seed=1)
>>> terms = labels.Terms(n_rounds=2000, epsilon=1.0)
>>> learner = labels.make_learner("randomised-response", hypotheses, terms)
>>> game = labels.realisable(hypotheses, np.zeros(2000, dtype=int), replicates=20)
>>> coins = labels.label_generators(1, ("example",), 20, "randomised-response")
>>> run = labels.play_labels(learner, game, coins)
>>> learner.client.guarantee.epsilon(0.0)
1.0
>>> bool((run.final_weights.argmax(axis=1) == game.truth).all())  # every replicate found the truth
True

Source: "Online Distribution Learning with Local Privacy Constraints".

Public names are loaded when they are first used. To add one, add a line to `__init__.pyi`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
