"""Audits: attacks on every mechanism, which compare its outputs with its privacy claim."""
