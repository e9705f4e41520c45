"""Differentially private online learning."""
