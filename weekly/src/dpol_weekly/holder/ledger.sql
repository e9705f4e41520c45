-- The tables of a ledger. No raw count is in any of them, but keyed hashes of raw counts are.
-- The key is the one of these hashes; `dpol_weekly.holder.seal` explains the seal.
CREATE TABLE ledger (id TEXT NOT NULL, key TEXT NOT NULL, seal TEXT NOT NULL);
-- The agreements that the holder confirmed, in full. origin: the number of the first agreement in a
-- row of amendments.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    agreement TEXT NOT NULL, confirmed TEXT NOT NULL, origin INTEGER NOT NULL
);
-- An output holds the rows of one agreement and its amendments. Paths are relative to the folder of
-- the ledger, so that whole folders may be moved. base: what hospital.yaml asks for; path: the base,
-- or the base with a number where another agreement had an output there first. written: the last
-- run whose release file was written, or 0.
CREATE TABLE output (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, base TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE, origin INTEGER NOT NULL REFERENCES deployment,
    written INTEGER NOT NULL DEFAULT 0
);
-- counts and capacities: the columns, as JSON, that got noise, and the columns that were published
-- as they are. key: the public half of the key that signs it. head: a digest of the head before and
-- of this run with its rows.
CREATE TABLE run (
    number INTEGER PRIMARY KEY, date TEXT NOT NULL, output INTEGER NOT NULL REFERENCES output,
    deployment INTEGER NOT NULL REFERENCES deployment, sampler TEXT NOT NULL, counts TEXT NOT NULL,
    capacities TEXT NOT NULL, key TEXT NOT NULL, head TEXT
);
-- Names that are folded alike are one entity: what they release adds up.
CREATE TABLE entity (number INTEGER PRIMARY KEY, folded TEXT NOT NULL UNIQUE);
-- Rows never change. All other cells of a row follow from these and the agreement of its run.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,
    entity INTEGER NOT NULL REFERENCES entity, name TEXT NOT NULL, period TEXT NOT NULL,
    version INTEGER NOT NULL, noisy_count TEXT NOT NULL, capacity TEXT NOT NULL,
    UNIQUE (entity, period, version)
);
-- Each row with the output and the agreement of its run.
CREATE VIEW released AS
SELECT release.*, run.output, base, run.deployment, deployment.name AS deployment_name, agreement
FROM release JOIN run ON run.number = release.run JOIN output ON output.number = run.output
JOIN deployment ON deployment.number = run.deployment;
-- Keyed hashes, see `dpol_weekly.holder.hashes`: of the raw count of a row; and of the place of a
-- cell in the holder's table, with each entity as which it was released.
CREATE TABLE counted (release INTEGER PRIMARY KEY REFERENCES release, hash TEXT NOT NULL);
CREATE TABLE cell (
    hash TEXT NOT NULL, entity INTEGER NOT NULL REFERENCES entity, PRIMARY KEY (hash, entity)
);
-- Pairs of entities that count different people although they share cells, as the holder confirmed.
CREATE TABLE split (one INTEGER NOT NULL, other INTEGER NOT NULL, PRIMARY KEY (one, other));
-- Periods that a lost ledger released, and how often, as a coordinator's export says.
CREATE TABLE marked (
    deployment INTEGER NOT NULL REFERENCES deployment, entity INTEGER NOT NULL REFERENCES entity,
    period TEXT NOT NULL, times INTEGER NOT NULL, PRIMARY KEY (deployment, entity, period)
);
