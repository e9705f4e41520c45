"""What a run answers: its lead, first figure, and the tables of systems, promises and questions."""
