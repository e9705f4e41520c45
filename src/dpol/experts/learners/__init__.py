"""Learners: experts that learn from the noisy gains themselves; one file per bank."""
