"""The studies, a folder each: what is computed, and how it is shown."""
