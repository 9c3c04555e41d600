-- Times are milliseconds since 1970 in UTC. Each table says how long its rows are kept; the clean-up of the gateway removes older ones.

-- Kept until it is removed by a person; an archived one is listed on request alone. That of a sub-agent is removed 90 days after it was active last.
CREATE TABLE sessions (
    key         TEXT PRIMARY KEY,
    agent       TEXT NOT NULL,
    kind        TEXT NOT NULL,
    person      TEXT,
    parent      TEXT REFERENCES sessions (key) ON DELETE SET NULL,
    label       TEXT,
    transcript  TEXT,
    -- Messages that it received, and its answers.
    messages    INTEGER NOT NULL DEFAULT 0,
    -- Of a sub-agent's: its model, how much that reasons, the time after which a run is cancelled, and where the answer goes that its
    -- parent gives to its result.
    model       TEXT,
    thinking    TEXT,
    run_timeout INTEGER,
    result_to   TEXT,
    -- Agents between that of the parent and its own, to which a run of the parent delegated, as JSON: the nearest first.
    begun_by    TEXT,
    -- The run of the parent that began it.
    begun_in    TEXT,
    created_at  INTEGER NOT NULL,
    active_at   INTEGER NOT NULL,
    archived_at INTEGER,
    -- Whose labels it shares: those of its person, or of all sessions that belong to no single one.
    labels_of   TEXT NOT NULL GENERATED ALWAYS AS (CASE WHEN kind = 'main' THEN 'owner' ELSE coalesce(person, '') END) VIRTUAL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX sessions_by_label ON sessions (agent, labels_of, label) WHERE label IS NOT NULL AND archived_at IS NULL;
CREATE UNIQUE INDEX sessions_by_transcript ON sessions (transcript) WHERE transcript IS NOT NULL;
CREATE INDEX sessions_by_activity ON sessions (active_at);
CREATE INDEX sessions_by_parent ON sessions (parent) WHERE parent IS NOT NULL;

-- Kept 90 days after their end.
CREATE TABLE runs (
    id          TEXT PRIMARY KEY,
    session     TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    message     INTEGER NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'answered', 'failed', 'cancelled')),
    resumptions INTEGER NOT NULL DEFAULT 0,
    is_planned  INTEGER NOT NULL DEFAULT 0,
    reason      TEXT,
    -- A budget did not allow it, or its next request.
    is_refused  INTEGER NOT NULL DEFAULT 0,
    -- The answer, where another session asked.
    answer      TEXT,
    -- It was cancelled with the run of the session above, which does not hear of it.
    is_quiet    INTEGER NOT NULL DEFAULT 0,
    started_at  INTEGER NOT NULL,
    -- When somebody cancelled it; it ends as soon as its work has noticed.
    cancelled_at INTEGER,
    ended_at    INTEGER
) STRICT, WITHOUT ROWID;

-- A session runs one run at a time.
CREATE UNIQUE INDEX runs_in_flight ON runs (session) WHERE ended_at IS NULL;
CREATE INDEX runs_by_session ON runs (session, started_at);
CREATE INDEX runs_by_end ON runs (ended_at) WHERE ended_at IS NOT NULL;

-- Kept 30 days after they were consumed or cancelled: for so long, a message that its source hands in again is known.
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    source      TEXT NOT NULL,
    external_id TEXT NOT NULL,
    session     TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    sender      TEXT,
    kind        TEXT NOT NULL CHECK (kind IN ('message', 'result', 'fire')),
    body        TEXT NOT NULL,
    reply_to    TEXT,
    state       TEXT NOT NULL CHECK (state IN ('queued', 'claimed', 'consumed', 'cancelled')),
    run         TEXT REFERENCES runs (id) ON DELETE SET NULL,
    -- The job for which its run works.
    job         TEXT,
    -- A budget does not allow its run before this time.
    held_until  INTEGER,
    accepted_at INTEGER NOT NULL,
    changed_at  INTEGER NOT NULL,
    UNIQUE (source, external_id)
) STRICT;

CREATE INDEX inbox_queued ON inbox (session, id) WHERE state = 'queued';
CREATE INDEX inbox_next ON inbox (id) WHERE state = 'queued';
CREATE INDEX inbox_held ON inbox (held_until) WHERE state = 'queued' AND held_until IS NOT NULL;
CREATE INDEX inbox_by_run ON inbox (run) WHERE run IS NOT NULL;
CREATE INDEX inbox_ended ON inbox (changed_at) WHERE state IN ('consumed', 'cancelled');

-- One row for each source.
CREATE TABLE offsets (
    source     TEXT PRIMARY KEY,
    value      TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Kept 30 days after they reached their last state.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    origin       TEXT NOT NULL,
    part         INTEGER NOT NULL,
    session      TEXT REFERENCES sessions (key) ON DELETE SET NULL,
    channel      TEXT NOT NULL,
    account      TEXT NOT NULL,
    conversation TEXT NOT NULL,
    body         TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('prepared', 'sending', 'delivered', 'unknown', 'dead')),
    attempts     INTEGER NOT NULL DEFAULT 0,
    not_before   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    reason       TEXT,
    receipt      TEXT,
    created_at   INTEGER NOT NULL,
    changed_at   INTEGER NOT NULL,
    UNIQUE (origin, part)
) STRICT;

-- One for each state: SQLite uses a partial index only where the query has its very condition.
CREATE INDEX outbox_prepared ON outbox (channel, account, conversation, id) WHERE state = 'prepared';
CREATE INDEX outbox_sending ON outbox (channel, account, conversation, id) WHERE state = 'sending';
CREATE INDEX outbox_expiring ON outbox (expires_at) WHERE state = 'prepared';
CREATE INDEX outbox_ended ON outbox (changed_at) WHERE state IN ('delivered', 'unknown', 'dead');

-- Kept until the call that asks has a result, at most seven days after its time is over.
CREATE TABLE asks (
    digest      TEXT PRIMARY KEY,
    code        TEXT NOT NULL UNIQUE,
    session     TEXT REFERENCES sessions (key) ON DELETE CASCADE,
    of_session  TEXT NOT NULL,
    turn        TEXT,
    call        TEXT NOT NULL,
    body        TEXT NOT NULL,
    asked_at    INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    answer      TEXT,
    answered_by TEXT,
    answered_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX asks_by_call ON asks (of_session, call);
CREATE INDEX asks_by_session ON asks (session) WHERE session IS NOT NULL;
CREATE INDEX asks_by_expiry ON asks (expires_at);

-- Kept while the one waits for the other.
CREATE TABLE waits (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    waiter  TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    awaited TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    since   INTEGER NOT NULL
) STRICT;

CREATE INDEX waits_by_waiter ON waits (waiter, awaited);

-- Kept until it is removed by a person, or has run where it is to be removed then.
CREATE TABLE jobs (
    id               TEXT PRIMARY KEY,
    origin           TEXT UNIQUE,
    person           TEXT,
    session          TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    schedule         TEXT NOT NULL,
    work             TEXT NOT NULL,
    reply_to         TEXT,
    model            TEXT,
    timeout          INTEGER,
    missed           TEXT NOT NULL CHECK (missed IN ('skip', 'once', 'all')),
    missed_limit     INTEGER NOT NULL,
    jitter           INTEGER NOT NULL,
    max_failures     INTEGER NOT NULL,
    delete_after_run INTEGER NOT NULL,
    is_enabled       INTEGER NOT NULL,
    paused           TEXT,
    failures         INTEGER NOT NULL DEFAULT 0,
    -- The next time of the schedule, and that time with the jitter.
    next_at          INTEGER,
    due_at           INTEGER,
    -- The latest time of the schedule that was run.
    last_at          INTEGER,
    -- A run beside the schedule that was asked for.
    requested_at     INTEGER,
    -- The time of the clock at which the next time was worked out: if the clock is before it, it was set back.
    advanced_at      INTEGER NOT NULL,
    created_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_due ON jobs (due_at) WHERE is_enabled = 1 AND due_at IS NOT NULL;
CREATE INDEX jobs_requested ON jobs (requested_at) WHERE requested_at IS NOT NULL;
CREATE INDEX jobs_advanced ON jobs (advanced_at);
CREATE INDEX jobs_by_person ON jobs (person);
CREATE INDEX jobs_by_session ON jobs (session);

-- The newest 200 of each job are kept, for 30 days.
CREATE TABLE fires (
    job        TEXT NOT NULL,
    at         INTEGER NOT NULL,
    is_manual  INTEGER NOT NULL,
    person     TEXT,
    session    TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('begun', 'done', 'failed', 'late', 'cancelled', 'interrupted', 'skipped')),
    message    INTEGER,
    missed     INTEGER NOT NULL DEFAULT 0,
    reason     TEXT,
    result     TEXT,
    begun_at   INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (job, at, is_manual)
) STRICT, WITHOUT ROWID;

-- A job does not overlap with itself.
CREATE UNIQUE INDEX fires_in_flight ON fires (job) WHERE ended_at IS NULL;
CREATE INDEX fires_by_end ON fires (ended_at) WHERE ended_at IS NOT NULL;

-- The newest 100,000 are kept, for seven days.
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    session TEXT,
    person  TEXT,
    kind    TEXT NOT NULL,
    data    TEXT NOT NULL
) STRICT;

CREATE INDEX events_by_session ON events (session, seq) WHERE session IS NOT NULL;
CREATE INDEX events_by_time ON events (at);

-- 1,000 at most, kept for good: also one who is blocked, so that the name is not given to somebody else.
CREATE TABLE people (
    name       TEXT PRIMARY KEY,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'approver', 'user')),
    agent      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    blocked_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX people_owner ON people (role) WHERE role = 'owner';

CREATE INDEX people_blocked ON people (name) WHERE blocked_at IS NOT NULL;

-- Kept until they are revoked, or 30 days after they expired. The token itself is stored nowhere.
CREATE TABLE tokens (
    name       TEXT PRIMARY KEY,
    digest     TEXT NOT NULL UNIQUE,
    person     TEXT NOT NULL REFERENCES people (name) ON DELETE CASCADE,
    role       TEXT NOT NULL CHECK (role IN ('owner', 'approver', 'user')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX tokens_by_person ON tokens (person);
CREATE INDEX tokens_by_expiry ON tokens (expires_at) WHERE expires_at IS NOT NULL;

-- The sessions of a person, and from them those below.
CREATE INDEX sessions_by_person ON sessions (person) WHERE person IS NOT NULL;

-- The job for which a run works. Kept with the run.
CREATE TABLE run_jobs (
    run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    job TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The use of an account in a day (`2026-11-30`) or a month (`2026-11`). Days are kept 62 days, months 400 days.
CREATE TABLE budget_usage (
    kind     TEXT NOT NULL CHECK (kind IN ('everything', 'agent', 'session', 'job', 'person')),
    name     TEXT NOT NULL,
    period   TEXT NOT NULL,
    runs     INTEGER NOT NULL DEFAULT 0,
    requests INTEGER NOT NULL DEFAULT 0,
    tokens   INTEGER NOT NULL DEFAULT 0,
    cost     REAL NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, name, period)
) STRICT, WITHOUT ROWID;

CREATE INDEX budget_usage_by_period ON budget_usage (period);

-- The requests that are open, with the use that is reserved for each. Kept until they have ended; what a crash leaves counts as used.
CREATE TABLE budget_requests (
    id     TEXT PRIMARY KEY,
    day    TEXT NOT NULL,
    month  TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    cost   REAL NOT NULL,
    -- 1 if nothing limits its answer: it may use all that is left.
    is_unlimited INTEGER NOT NULL CHECK (is_unlimited IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE budget_request_accounts (
    request TEXT NOT NULL REFERENCES budget_requests (id) ON DELETE CASCADE,
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    PRIMARY KEY (kind, name, request)
) STRICT, WITHOUT ROWID;

CREATE INDEX budget_request_accounts_by_request ON budget_request_accounts (request);

-- The budgets that refused something, for which the owner was told. Kept as long as the use of their period.
CREATE TABLE budget_refusals (
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    period     TEXT NOT NULL,
    measure    TEXT NOT NULL CHECK (measure IN ('tokens', 'cost', 'requests', 'runs')),
    most       REAL NOT NULL,
    refused_at INTEGER NOT NULL,
    PRIMARY KEY (kind, name, period, measure)
) STRICT, WITHOUT ROWID;

CREATE INDEX budget_refusals_by_period ON budget_refusals (period);

-- Calls of tools of clients whose results come later, until they have ended: then the result is a row of the inbox.
CREATE TABLE client_calls (
    -- The digest of the name of the call, which is also the external id of its result.
    id         TEXT PRIMARY KEY,
    -- The digest of the id by which the client comes back.
    client     TEXT NOT NULL,
    client_name TEXT NOT NULL,
    person     TEXT NOT NULL,
    session    TEXT NOT NULL REFERENCES sessions (key) ON DELETE CASCADE,
    tool       TEXT NOT NULL,
    reply_to   TEXT,
    -- The job for which it is made.
    job        TEXT,
    begun_at   INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX client_calls_by_client ON client_calls (client);
CREATE INDEX client_calls_by_expiry ON client_calls (expires_at);
CREATE INDEX client_calls_by_session ON client_calls (session);
