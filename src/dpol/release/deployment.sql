-- Deployments, as their files said when rows were released. NULL: by hand.
CREATE TABLE deployment (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL UNIQUE,
    first TEXT NOT NULL, days INTEGER NOT NULL, longest_stay INTEGER NOT NULL,
    budget_mu TEXT NOT NULL
);
ALTER TABLE run ADD COLUMN deployment INTEGER REFERENCES deployment;
