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
    ledger TEXT NOT NULL, output TEXT NOT NULL, key TEXT NOT NULL
);

-- The rows that a report was first to bring: the text that was released, a period by its first day.
-- All else of a row follows from that and the agreement. A version
-- above 1 supersedes those before.
CREATE TABLE release (
    report INTEGER NOT NULL REFERENCES report, entity TEXT NOT NULL, period TEXT NOT NULL,
    version INTEGER NOT NULL, noisy_count TEXT NOT NULL, capacity TEXT NOT NULL,
    PRIMARY KEY (report, entity, period, version)
) WITHOUT ROWID;

CREATE UNIQUE INDEX release_version ON release (entity, period, version);

-- What the coordinator did about an entity. `set aside`: what was released before for a period, or
-- for all periods (NULL), does not count, and what is refused of that period is known.
-- `new ledger`: it reports from another ledger from now on.
CREATE TABLE act (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('set aside', 'new ledger')), entity TEXT NOT NULL,
    period TEXT, reason TEXT NOT NULL
);

CREATE INDEX act_entity ON act (entity, kind);

-- Each row with the report that brought it, and the reason why it was set aside (NULL: it counts).
CREATE VIEW reported AS
SELECT release.*, ledger, output, file, received, key,
    (SELECT reason FROM act WHERE act.entity = release.entity AND kind = 'set aside'
        AND act.number > report AND IFNULL(act.period, release.period) = release.period
        ORDER BY act.number LIMIT 1) AS set_aside
FROM release JOIN report ON report.number = release.report;

-- All that the hash chain covers, by number; and rows that belong to nothing of that.
CREATE VIEW entered AS
SELECT number, CAST(json_array('agreement', received, sha256, agreement) AS BLOB) AS content
FROM deployment
UNION ALL
SELECT number, CAST(json_array('report', received, sha256, file, ledger, output, key,
    (SELECT json_group_array(json_array(entity, period, version, noisy_count, capacity))
        FROM release WHERE report = number)
) AS BLOB) FROM report
UNION ALL
SELECT number, CAST(json_array('act', received, kind, entity, period, reason) AS BLOB) FROM act;

CREATE VIEW stray AS SELECT * FROM release WHERE report NOT IN (SELECT number FROM report);
