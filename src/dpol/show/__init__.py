"""How results look: tables, the style of figures, words and names."""
