"""The league: what every system keeps at every level, with its guarantee, rank and interval."""
