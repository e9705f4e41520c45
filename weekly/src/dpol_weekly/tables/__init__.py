"""Reading a holder's table as text, without pandas: a hospital installs none."""
