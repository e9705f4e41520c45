"""Fetching tables, and cleaning them into the canonical panel."""
