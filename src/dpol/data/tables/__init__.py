"""Reading the tables that people have: their formats, dates, numbers and names."""
