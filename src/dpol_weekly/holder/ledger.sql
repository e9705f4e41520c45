-- The tables of a ledger. Raw counts are in none of them. See `dpol.release.seal` for the seal.
CREATE TABLE ledger (id TEXT NOT NULL, seal TEXT NOT NULL);
-- Its path is as seen from the folder of the ledger: whole folders may be moved. Once table and
-- record were written, it is asked about if they are gone.
CREATE TABLE output (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE,
    header TEXT NOT NULL, count_sensitivity TEXT NOT NULL, written INTEGER NOT NULL DEFAULT 0
);
-- Columns of raw tables whose cells an output holds: counts with noise, or capacities as they are.
CREATE TABLE raw_column (
    output INTEGER NOT NULL REFERENCES output, name TEXT NOT NULL, in_clear INTEGER NOT NULL,
    UNIQUE (output, name, in_clear)
);
-- The agreements of deployments that the holder confirmed: in full, and what ceilings need of them.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    first TEXT NOT NULL, days INTEGER NOT NULL, longest_stay INTEGER NOT NULL,
    budget_mu TEXT NOT NULL, agreement TEXT NOT NULL, confirmed TEXT NOT NULL
);
-- The token is chosen at random: a run of an older copy of the ledger has another one. A run
-- without a deployment was made by hand. days: length of its periods, NULL if not stated. Rows that
-- were taken in, not drawn, count with least_mu at least. The head is a digest of the head before
-- and of the run's rows.
CREATE TABLE run (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, date TEXT NOT NULL,
    output INTEGER NOT NULL REFERENCES output, sampler TEXT NOT NULL, least_mu TEXT,
    deployment INTEGER REFERENCES deployment, days INTEGER, head TEXT
);
CREATE TABLE entity (number INTEGER PRIMARY KEY);
-- One entity may have several names, and names that are folded alike may be several entities.
CREATE TABLE name (
    number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, folded TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity
);
CREATE INDEX name_folded ON name (folded);
-- Noise with memory: a chain is rows of an entity in an output, one after the other. Its state u, a
-- fraction, is secret: with the noisy counts it gives counts back. NULL: the chain has ended.
CREATE TABLE chain (
    number INTEGER PRIMARY KEY, output INTEGER NOT NULL REFERENCES output,
    entity INTEGER NOT NULL REFERENCES entity, a TEXT NOT NULL, b TEXT NOT NULL,
    unit_weeks INTEGER NOT NULL, chain_periods INTEGER NOT NULL, mu TEXT NOT NULL,
    decimals INTEGER NOT NULL, scale INTEGER NOT NULL, u TEXT
);
CREATE UNIQUE INDEX chain_live ON chain (output, entity) WHERE u IS NOT NULL;
-- Rows never change. noise_sd is the noise of the share, or of a count without capacity.
CREATE TABLE release (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,
    name INTEGER NOT NULL REFERENCES name, entity INTEGER NOT NULL REFERENCES entity,
    period TEXT NOT NULL, version INTEGER NOT NULL, noisy_count TEXT NOT NULL,
    capacity TEXT, noisy_share TEXT, mu TEXT NOT NULL, noise_sd TEXT NOT NULL,
    chain INTEGER REFERENCES chain, UNIQUE (entity, period, version)
);
CREATE INDEX release_repeated ON release (entity, period) WHERE version > 1;
-- Rows that left their output: an older copy of the ledger had drawn them again. They stay spent.
CREATE TABLE withdrawn (release INTEGER PRIMARY KEY REFERENCES release);
CREATE VIEW held AS SELECT * FROM release WHERE number NOT IN (SELECT release FROM withdrawn);
