-- Of the noise of a share, or of a count without capacity. NULL for rows released before this column.
ALTER TABLE release ADD COLUMN noise_sd TEXT;
