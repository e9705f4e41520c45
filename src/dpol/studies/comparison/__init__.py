"""Standings: every system beside the strongest rival, the baseline and our method."""
