"""What every room needs and none owns: errors, files, randomness, intervals, settings."""
