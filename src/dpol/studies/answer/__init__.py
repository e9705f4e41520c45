"""What a run answers: its first figure, and the tables of systems, promises and questions."""
