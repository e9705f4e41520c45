"""Running it every week: reports are collected into a log, decisions are replayed from it."""
