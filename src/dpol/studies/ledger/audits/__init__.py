"""Audits: attacks on mechanisms, which compare their outputs with their privacy claims."""
