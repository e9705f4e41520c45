"""Exhibits of "Prediction with Expert Advice under Local Differential Privacy"."""
