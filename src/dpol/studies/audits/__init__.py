"""An audit of every mechanism: what was asked of it, against what its outputs prove.

The claim comes from what was asked, never from the scale that a mechanism computes. Rows of the
methods `event`, `covariance` and `fit` run the code that plays, and take the mechanism as an
argument, so that a broken one can be put in its place; rows `exact` compute a loss from a law and
run none. Each row names its code, inputs and statistic.
"""
