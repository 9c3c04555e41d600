-- The senders of chat channels who are people of the gateway: by the platform's stable ids, which no person has twice. Kept as long as the person.
CREATE TABLE identities (
    channel     TEXT NOT NULL,
    sender      TEXT NOT NULL,
    person      TEXT NOT NULL REFERENCES people (name) ON DELETE CASCADE,
    -- As the platform showed it when it was approved.
    name        TEXT NOT NULL,
    approved_by TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (channel, sender)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_by_person ON identities (person);

-- Unknown senders who wrote to an account directly: 200 of each account, for 30 days after their last message; those who were denied for good.
CREATE TABLE strangers (
    channel    TEXT NOT NULL,
    account    TEXT NOT NULL,
    sender     TEXT NOT NULL,
    name       TEXT NOT NULL,
    -- The digest of the code by which they are approved, while it counts.
    code       TEXT UNIQUE,
    expires_at INTEGER,
    -- When a code was sent to them last: they get one in a day.
    told_at    INTEGER,
    denied_at  INTEGER,
    messages   INTEGER NOT NULL,
    first_at   INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    PRIMARY KEY (channel, account, sender),
    CHECK ((code IS NULL) = (expires_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX strangers_by_time ON strangers (channel, account, last_at);

-- Conversations that have another id on their platform now. Kept for good: the sessions and settings of the first id go on.
CREATE TABLE moved_peers (
    channel TEXT NOT NULL,
    account TEXT NOT NULL,
    peer    TEXT NOT NULL,
    -- The id that it had first.
    first   TEXT NOT NULL,
    PRIMARY KEY (channel, account, peer)
) STRICT, WITHOUT ROWID;

-- 1 if the next run begins a new transcript.
ALTER TABLE sessions ADD COLUMN begins_anew INTEGER NOT NULL DEFAULT 0 CHECK (begins_anew IN (0, 1));

-- 1 if the message was taken back while a run had it whose transcript did not hold it yet: it does not wait again once that run ends.
ALTER TABLE inbox ADD COLUMN is_withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (is_withdrawn IN (0, 1));

-- The files of a message that are still to be fetched and read, and all that its text is made of: until that is done no run begins with it, nor
-- with a later message of its session.
ALTER TABLE inbox ADD COLUMN unread TEXT;

-- 0 as long as it is not known whether a message in a group is for the agent: nobody is told of it.
ALTER TABLE inbox ADD COLUMN is_addressed INTEGER NOT NULL DEFAULT 1 CHECK (is_addressed IN (0, 1));

-- How often it was begun to read them: a file that ends the process is read twice at most.
ALTER TABLE inbox ADD COLUMN reads INTEGER NOT NULL DEFAULT 0;

CREATE INDEX inbox_unread ON inbox (session, id) WHERE state = 'queued' AND unread IS NOT NULL;
