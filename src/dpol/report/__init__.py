"""The page that a run ends with: everything it made, and the answers, in one file."""
