"""The page that a run ends with: everything it made, in one file."""
