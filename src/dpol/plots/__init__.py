"""Figures: one module each, and the look they share."""
