"""The configuration: its models, its checks, the grid of jobs, and what is written about it."""
