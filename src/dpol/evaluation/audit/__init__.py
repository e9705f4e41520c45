"""An audit of every mechanism, on adjacent inputs that its guarantee is worst at.

Every audit runs the project's own code and takes the mechanism as an argument, so that a broken
one can be put in its place.
"""
