"""Tables: what they show, the sentences below them, and how they are written."""
