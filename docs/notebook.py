# ---
# jupyter:
#   jupytext:
#     text_representation:
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     name: python3
# ---

# %% [markdown]
# # dpol in sixty seconds
#
# Which of ten hospitals will be the fullest next week? Every week an algorithm names one, and it
# sees only noisy counts. What does the noise cost? First, in a clone of
# dpol: `pip install . matplotlib`.

# %%
import numpy as np
from matplotlib import pyplot as plt

import dpol

# %% [markdown]
# One year of made-up occupancy: each hospital has 60 beds and drifts around its own level.

# %%
rng = np.random.default_rng(1)
drift = rng.normal(0, 0.15, size=(52, 10)).cumsum(axis=0)
occupancy = 1 / (1 + np.exp(-(np.linspace(-1, 0.5, 10) + drift)))
stream = dpol.GainStream(
    label="ten",
    gains=occupancy,
    capacity=np.full((52, 10), 60.0),
    entities=tuple("ABCDEFGHIJ"),
    periods=np.datetime64("2021-01-03") + 7 * np.arange(52),
)

# %% [markdown]
# At each privacy level the hospitals add noise (much if μ is small), and RW-Meta plays 50 times.

# %%
levels = [2, 1, 0.5, 0.25, 0.1]
shares = []
for mu in levels:
    noisy = dpol.privatize(stream, noise="capacity", mu=mu, seed=1, replicates=50)
    shares.append(dpol.play(dpol.RWMeta(), noisy).share(stream))

# %% [markdown]
# 0% is a hospital drawn at random every week, 100% the fullest hospital of every week.

# %%
figure, axes = plt.subplots()
axes.plot([f"μ = {mu}" for mu in levels], [100 * share for share in shares], marker="o")
axes.set(ylabel="share of the possible gain (%)", ylim=(0, 100))
figure.savefig("cost-of-privacy.svg")
