"""The study of L2P for online convex optimisation: its regret and its competitors'."""
