"""Titles of the papers whose algorithms are here."""

EXPERTS = "Prediction with Expert Advice under Local Differential Privacy"
LAZY = "Private Online Learning via Lazy Algorithms"
DISTRIBUTIONS = "Online Distribution Learning with Local Privacy Constraints"
