"""Tools that all packages share: errors, files, randomness, intervals and settings."""
