//! Integration tests of this crate, in one program: each module is one subject.

mod agents;
mod at_work;
mod between;
mod budgets;
mod channels;
mod common;
mod crashes;
mod cron_tool;
mod encrypted;
mod files;
mod hostile_requests;
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
mod tool_routes;
mod visible;
mod waits;
mod websocket;

// Registers the platform and its tools.
use toolkit_telegram as _;
