"""Prediction with expert advice: one file per algorithm, one driver, one registry."""
