-- Noise with memory: a chain is rows of an entity in an output, one after the other. Its state u, a
-- fraction, is secret: with the noisy counts it gives counts back. NULL: the chain has ended.
CREATE TABLE chain (
    number INTEGER PRIMARY KEY, output INTEGER NOT NULL REFERENCES output,
    entity INTEGER NOT NULL REFERENCES entity, a TEXT NOT NULL, b TEXT NOT NULL,
    unit_weeks INTEGER NOT NULL, chain_periods INTEGER NOT NULL, mu TEXT NOT NULL,
    decimals INTEGER NOT NULL, scale INTEGER NOT NULL, u TEXT
);
CREATE UNIQUE INDEX chain_live ON chain (output, entity) WHERE u IS NOT NULL;
ALTER TABLE release ADD COLUMN chain INTEGER REFERENCES chain;
