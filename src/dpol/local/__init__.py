"""Clients of private distribution learning, and the release of counts."""
