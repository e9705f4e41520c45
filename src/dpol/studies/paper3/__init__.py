"""The study of learning a distribution from locally private labels."""
