"""Appearance of results: tables, the style of figures, words and names."""
