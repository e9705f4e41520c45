"""Differentially private online learning: algorithms, accounting and experiments."""

__version__ = "0.1.0"
