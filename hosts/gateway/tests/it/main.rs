//! Integration tests of this crate, in one program: each module is one subject.

mod agents;
mod at_work;
mod between;
mod budgets;
mod common;
mod crashes;
mod cron_tool;
mod files;
mod http;
mod inbox;
mod kills;
mod outbox;
mod people;
mod process;
mod questions;
mod queue;
mod random_kills;
mod runs;
mod schedule_kills;
mod schedules;
mod schedules_at_work;
mod sending;
mod sessions;
mod visible;
mod waits;
mod websocket;
