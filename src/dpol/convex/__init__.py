"""Private online convex optimisation on a ball."""
