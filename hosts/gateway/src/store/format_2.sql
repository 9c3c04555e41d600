-- The nodes: devices that serve their tools. One that waits for approval is removed once its code has expired, a revoked one 400 days later.
CREATE TABLE nodes (
    -- Names the node for rules and tools, and is given to no other one.
    id         TEXT PRIMARY KEY,
    -- Its public key, in hexadecimal.
    key        TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    platform   TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'revoked')),
    -- The digest of the code by which it is approved.
    code       TEXT UNIQUE,
    expires_at INTEGER,
    -- The network from which it asked, while it waits for approval.
    source     TEXT,
    -- The person to whom it belongs, and the one who approved it.
    person      TEXT REFERENCES people (name),
    approved_by TEXT,
    created_at  INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    CHECK (state <> 'pending' OR (code IS NOT NULL AND expires_at IS NOT NULL)),
    CHECK (state <> 'approved' OR (code IS NULL AND person IS NOT NULL AND approved_by IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX nodes_by_state ON nodes (state, changed_at);
