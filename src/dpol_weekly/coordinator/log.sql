-- The log of a coordinator: what was collected, all of it public. Rows are only ever added.
-- The agreements, each an amendment of the one before; `agreement` is all of it, as it is hashed.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, sha256 TEXT NOT NULL,
    agreement TEXT NOT NULL
);

-- Reports and acts have numbers of one sequence: the order in which they came. `received` is
-- universal time. No decision depends on it.
CREATE TABLE report (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, sha256 TEXT NOT NULL, file TEXT NOT NULL,
    ledger TEXT NOT NULL, output TEXT NOT NULL, key TEXT NOT NULL  -- '': nobody signed it
);

CREATE INDEX report_output ON report (ledger, output);

-- Heads of the hash chain of a holder's ledger after its runs: those that a report was first to
-- state. A report that begins with an earlier run again takes the place of what came from there on.
CREATE TABLE ledger_head (
    report INTEGER NOT NULL REFERENCES report, run INTEGER NOT NULL, head TEXT NOT NULL,
    PRIMARY KEY (report, run)
);

-- The hash chain of the log: after each report and act, the digest of it and of the head before.
CREATE TABLE link (number INTEGER PRIMARY KEY, head TEXT NOT NULL);

-- What the coordinator did about an entity. `set aside`: what was released before for a period, or
-- for all ('') periods, does not count. `new ledger`: it reports from another ledger from now on.
CREATE TABLE act (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('set aside', 'new ledger')), entity TEXT NOT NULL,
    period TEXT NOT NULL, reason TEXT NOT NULL
);

CREATE INDEX act_entity ON act (entity, kind);

-- What is public of the noise of releases, a row for each kind: of fresh noise `scale` steps of
-- 10^-decimals persons, and memory (a, b). Noise without memory has a = b.
CREATE TABLE noise (
    number INTEGER PRIMARY KEY, mu TEXT NOT NULL, count_sensitivity TEXT NOT NULL, a TEXT NOT NULL,
    b TEXT NOT NULL, unit_weeks INTEGER NOT NULL, scale INTEGER NOT NULL,
    decimals INTEGER NOT NULL,
    UNIQUE (mu, count_sensitivity, a, b, unit_weeks, scale, decimals)
);

-- Numbers are the text that was released. A version above 1 supersedes those before. The row is
-- number `place` of its chain of noise, from 1.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, report INTEGER NOT NULL REFERENCES report, entity TEXT NOT NULL,
    period TEXT NOT NULL, version INTEGER NOT NULL, noisy_count TEXT NOT NULL,
    capacity TEXT NOT NULL, noisy_share TEXT NOT NULL, chain TEXT NOT NULL,
    place INTEGER NOT NULL, noise INTEGER NOT NULL REFERENCES noise,
    UNIQUE (entity, period, version)
);

CREATE INDEX release_report ON release (report);

-- `set_aside` is the reason; NULL: the row counts.
CREATE VIEW listed AS SELECT release.*, (
    SELECT reason FROM act WHERE act.entity = release.entity AND kind = 'set aside'
    AND act.number > report AND act.period IN ('', release.period) ORDER BY act.number LIMIT 1
) AS set_aside FROM release;

CREATE VIEW released AS
SELECT listed.*, mu, count_sensitivity, a, b, unit_weeks, scale, decimals
FROM listed JOIN noise ON noise.number = listed.noise;

CREATE TRIGGER deployment_kept BEFORE DELETE ON deployment
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER deployment_same BEFORE UPDATE ON deployment
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER report_kept BEFORE DELETE ON report
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER report_same BEFORE UPDATE ON report
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER act_kept BEFORE DELETE ON act
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER act_same BEFORE UPDATE ON act
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER noise_kept BEFORE DELETE ON noise
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER noise_same BEFORE UPDATE ON noise
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER release_kept BEFORE DELETE ON release
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER release_same BEFORE UPDATE ON release
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER ledger_head_kept BEFORE DELETE ON ledger_head
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER ledger_head_same BEFORE UPDATE ON ledger_head
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER link_kept BEFORE DELETE ON link
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;

CREATE TRIGGER link_same BEFORE UPDATE ON link
BEGIN SELECT RAISE(ABORT, 'rows of the log are only ever added'); END;
