"""Privacy accounting and the records of guarantees."""
