"""The main study: algorithms side by side on gain streams."""
