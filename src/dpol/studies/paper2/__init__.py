"""Studies of "Private Online Learning via Lazy Algorithms": experts, and convex losses."""
