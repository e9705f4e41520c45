"""Private online convex optimisation on a ball: L2P beside its competitors."""
