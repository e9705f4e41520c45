-- The tables of a ledger. Raw counts are in none of them, but keyed hashes of them are. See `dpol_weekly.holder.seal` for the seal.
-- The key is that of the hashes in counted.
CREATE TABLE ledger (id TEXT NOT NULL, key TEXT NOT NULL, seal TEXT NOT NULL);
-- Its path, without the date and .zip of a release, is as seen from the folder of the ledger: whole
-- folders may be moved. written: the last run
-- whose release was written; it is asked about if that file is gone.
CREATE TABLE output (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE,
    written INTEGER NOT NULL DEFAULT 0  -- 0: none was
);
-- The agreements of deployments that the holder confirmed, in full.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    agreement TEXT NOT NULL, confirmed TEXT NOT NULL
);
-- The token is chosen at random: a run of an older copy of the ledger has another one. Rows of a run
-- that is imported were not drawn, but taken from what a coordinator has. counts and
-- capacities: the columns, as JSON, that got noise, and those that were released as they are. The head is a digest of the head before
-- and of the run's rows.
CREATE TABLE run (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, date TEXT NOT NULL,
    output INTEGER NOT NULL REFERENCES output, deployment INTEGER NOT NULL REFERENCES deployment,
    sampler TEXT NOT NULL, imported INTEGER NOT NULL, counts TEXT NOT NULL, capacities TEXT NOT NULL,
    head TEXT
);
-- Moments at which all chains ended, and runs of a lost copy whose rows were taken in. Records name
-- the last one, so that a copy from before is noticed.
CREATE TABLE ended (token TEXT PRIMARY KEY);
-- Names that are folded alike are one entity: what they release adds up.
CREATE TABLE entity (number INTEGER PRIMARY KEY, folded TEXT NOT NULL UNIQUE);
-- Noise with memory: a chain is rows of an entity in an output, one after the other. Its state u, a
-- fraction, is secret: with the noisy counts it gives counts back. NULL: the chain has ended.
CREATE TABLE chain (
    number INTEGER PRIMARY KEY, output INTEGER NOT NULL REFERENCES output,
    entity INTEGER NOT NULL REFERENCES entity, a TEXT NOT NULL, b TEXT NOT NULL,
    unit_weeks INTEGER NOT NULL, chain_periods INTEGER NOT NULL, mu TEXT NOT NULL,
    decimals INTEGER NOT NULL, scale INTEGER NOT NULL, u TEXT
);
CREATE UNIQUE INDEX chain_live ON chain (output, entity) WHERE u IS NOT NULL;
-- Rows never change. A row counts with spent_mu, which is at least mu. noise_sd is that of the share.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, name TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity, period TEXT NOT NULL, version INTEGER NOT NULL,
    noisy_count TEXT NOT NULL, capacity TEXT NOT NULL, noisy_share TEXT NOT NULL, mu TEXT NOT NULL,
    noise_sd TEXT NOT NULL, spent_mu TEXT NOT NULL, chain INTEGER REFERENCES chain,
    UNIQUE (entity, period, version)
);
CREATE INDEX release_repeated ON release (entity, period) WHERE version > 1;
-- A keyed hash of the raw count of a row, see `dpol_weekly.holder.differing`.
CREATE TABLE counted (release INTEGER PRIMARY KEY REFERENCES release, hash TEXT NOT NULL);
-- Rows that left their output: an older copy of the ledger had drawn them again. They stay spent.
CREATE TABLE withdrawn (release INTEGER PRIMARY KEY REFERENCES release);
CREATE VIEW held AS SELECT * FROM release WHERE number NOT IN (SELECT release FROM withdrawn);
