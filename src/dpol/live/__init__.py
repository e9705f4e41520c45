"""Running it every week: noisy reports are collected into a log, and decisions are replayed from it."""
