"""The main experiment: algorithms side by side on the gain streams of hospitals."""
