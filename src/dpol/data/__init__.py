"""Getting a table and cleaning it into the canonical panel."""
