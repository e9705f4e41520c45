"""The coordinator's side: collect reports into a log, replay decisions from it."""
