"""The studies: one folder each, with its settings, its points, its tables and its figures."""
