-- The log of a coordinator: what was collected, all of it public. Rows are only ever added.

-- Agreements, reports and acts have numbers of one sequence, from 0: the order in which they came.
-- `received` is universal time. No decision depends on it.

-- The agreements, each an amendment of the one before; `agreement` is all of it, as it is hashed.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, sha256 TEXT NOT NULL,
    agreement TEXT NOT NULL
);

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

-- The hash chain of the log: after each agreement, report and act, the digest of it and of the head
-- before.
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

-- Names of entities and of chains of noise, and periods by their number in the deployment.
CREATE TABLE name (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);

CREATE TABLE period (number INTEGER PRIMARY KEY, start TEXT NOT NULL UNIQUE);

-- Counts, capacities and shares are the text that was released. A version above 1 supersedes those
-- before. The row is number `place` of its chain of noise, from 1.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, report INTEGER NOT NULL REFERENCES report,
    entity INTEGER NOT NULL REFERENCES name, period INTEGER NOT NULL REFERENCES period,
    version INTEGER NOT NULL, noisy_count TEXT NOT NULL, capacity TEXT NOT NULL,
    noisy_share TEXT NOT NULL, chain INTEGER NOT NULL REFERENCES name, place INTEGER NOT NULL,
    noise INTEGER NOT NULL REFERENCES noise,
    UNIQUE (entity, period, version)
);

CREATE INDEX release_report ON release (report);

-- Releases in words.
CREATE VIEW spelled AS
SELECT release.number, report, entity.text AS entity, period.start AS period, version, noisy_count,
    capacity, noisy_share, chain.text AS chain, place, mu, count_sensitivity, a, b, unit_weeks,
    scale, decimals
FROM release JOIN name AS entity ON entity.number = release.entity
JOIN period ON period.number = release.period JOIN name AS chain ON chain.number = release.chain
JOIN noise ON noise.number = release.noise;

-- `set_aside` is the reason; NULL: the row counts.
CREATE VIEW released AS SELECT spelled.*, (
    SELECT reason FROM act WHERE act.entity = spelled.entity AND kind = 'set aside'
    AND act.number > report AND act.period IN ('', spelled.period) ORDER BY act.number LIMIT 1
) AS set_aside FROM spelled;
