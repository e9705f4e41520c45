"""Learning a distribution from locally private labels."""
