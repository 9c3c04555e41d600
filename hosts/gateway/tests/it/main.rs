//! Integration tests of this crate, in one program: each module is one subject.

mod agents;
mod at_work;
mod common;
mod crashes;
mod cron_tool;
mod files;
mod inbox;
mod kills;
mod outbox;
mod queue;
mod runs;
mod schedule_kills;
mod schedules;
mod schedules_at_work;
mod sessions;
mod waits;
