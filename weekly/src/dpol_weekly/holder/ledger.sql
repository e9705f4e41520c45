-- The tables of a ledger. No raw count is in any of them, and no function of one but its noisy count.
-- All that is entered has a number of one sequence, from 0, and the time; rows are only ever added.
-- The first entry. begin_after: nothing up to this date is released; or ''.
CREATE TABLE ledger (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, id TEXT NOT NULL,
    begin_after TEXT NOT NULL
);
-- The agreements that the holder confirmed, in full.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, name TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE, agreement TEXT NOT NULL
);
-- An output holds rows of the agreements of one name. label: how its files begin.
CREATE TABLE output (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL, id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL, label TEXT NOT NULL UNIQUE
);
-- count_column: the column that got noise. capacity_column: the one that was published as it is, or
-- NULL.
-- key: the public half of the key that signs it. secret: the name of the secret of the noise.
CREATE TABLE run (
    number INTEGER PRIMARY KEY, received TEXT NOT NULL,
    output INTEGER NOT NULL REFERENCES output, deployment INTEGER NOT NULL REFERENCES deployment,
    count_column TEXT NOT NULL, capacity_column TEXT, key TEXT NOT NULL, secret TEXT NOT NULL
);
-- The rows of runs. entity: the name as `alike` writes it; what names alike release adds up.
-- scope: the name of the agreement. place: as the holder's table names it. version: 1 for the first
-- row of a scope, place and period. So no two rows of a ledger have the same fields of noise.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, scope TEXT NOT NULL,
    place TEXT NOT NULL, entity TEXT NOT NULL, name TEXT NOT NULL, period TEXT NOT NULL,
    version INTEGER NOT NULL, noisy_count TEXT NOT NULL, capacity TEXT NOT NULL,
    UNIQUE (scope, place, period, version)
);
CREATE INDEX release_run ON release (run);
-- Each row with the output and the agreement of its run.
CREATE VIEW released AS
SELECT release.*, run.output, label, secret, run.deployment, agreement
FROM release JOIN run ON run.number = release.run JOIN output ON output.number = run.output
JOIN deployment ON deployment.number = run.deployment;
-- All that the hash chain covers, by number; and rows that belong to nothing of that.
CREATE VIEW entered AS
SELECT number, CAST(json_array('ledger', received, id, begin_after) AS BLOB) AS content
FROM ledger
UNION ALL
SELECT number, CAST(json_array('agreement', received, name, sha256, agreement) AS BLOB)
FROM deployment
UNION ALL SELECT number, CAST(json_array('output', received, id, name, label) AS BLOB) FROM output
UNION ALL
SELECT number, CAST(json_array('run', received, output, deployment, count_column,
    capacity_column, key, secret,
    (SELECT json_group_array(json_array(number, scope, place, entity, name, period, version,
        noisy_count, capacity))
        FROM (SELECT * FROM release WHERE release.run = run.number ORDER BY number))
) AS BLOB) FROM run;
CREATE VIEW stray AS SELECT * FROM release WHERE run NOT IN (SELECT number FROM run);
