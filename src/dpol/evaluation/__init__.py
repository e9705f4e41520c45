"""Playing, scoring and summing up."""
