-- The tables of a ledger. Raw counts are in none of them.
CREATE TABLE ledger (id TEXT NOT NULL);
-- Its path is as seen from the folder of the ledger: whole folders may be moved.
CREATE TABLE output (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE,
    header TEXT NOT NULL, count_sensitivity TEXT NOT NULL
);
-- The token is chosen at random: a run of an older copy of the ledger has another one.
CREATE TABLE run (
    number INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE, date TEXT NOT NULL,
    output INTEGER NOT NULL REFERENCES output, sampler TEXT NOT NULL, imported INTEGER NOT NULL
);
CREATE TABLE entity (number INTEGER PRIMARY KEY);
-- One entity may have several names, and names that are folded alike may be several entities.
CREATE TABLE name (
    number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, folded TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entity
);
CREATE INDEX name_folded ON name (folded);
CREATE TABLE release (
    number INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run,
    name INTEGER NOT NULL REFERENCES name, entity INTEGER NOT NULL REFERENCES entity,
    period TEXT NOT NULL, version INTEGER NOT NULL, noisy_count TEXT NOT NULL,
    capacity TEXT, noisy_share TEXT, mu TEXT NOT NULL,
    UNIQUE (entity, period, version)
);
CREATE INDEX release_repeated ON release (entity, period) WHERE version > 1;
