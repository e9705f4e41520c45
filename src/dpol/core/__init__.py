"""Shared tools of all packages: errors, files, randomness, intervals and settings."""
