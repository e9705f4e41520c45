-- Of the noise of a share, or of a count without capacity. NULL in rows from before this column. A
-- row that is taken in from an output has lost its chain, so it cannot be computed again.
ALTER TABLE release ADD COLUMN noise_sd TEXT;
