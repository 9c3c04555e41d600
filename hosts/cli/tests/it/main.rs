//! Integration tests of this crate, in one program: each module is one subject.

#[cfg(feature = "agent")]
mod acp;
mod acp_shared;
#[cfg(feature = "agent")]
mod agent;
#[cfg(feature = "agent")]
mod agent_large;
mod call;
#[cfg(feature = "agent")]
mod chat;
mod commands;
mod config;
mod cron;
mod cron_rule;
mod docs;
mod edits;
mod explain;
mod faults;
mod file_tools;
mod fixture;
mod flags;
#[cfg(feature = "gateway")]
mod gateway;
#[cfg(all(target_os = "linux", feature = "mcp", feature = "fs"))]
mod history;
mod hostile;
mod hosts;
mod lists;
mod live;
mod mcp;
mod mcp_hostile;
mod mcp_install;
mod mcp_other_clients;
mod mcp_programs;
mod mcp_python_servers;
mod mcp_reference_servers;
mod mcp_servers;
mod mcp_sign_in;
mod media;
mod memory;
mod new;
mod outputs;
mod permission;
mod readme;
mod rules;
mod schema;
mod search;
mod signals;
mod soak;
mod trust;
mod web;
mod web_tools;
