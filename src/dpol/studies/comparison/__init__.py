"""Comparison of the baseline, the tuned baseline and ours on the games of the main study."""
