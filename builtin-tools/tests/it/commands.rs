//! Commands through the tools `exec` and `process`, with the real supervisor.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod asking;
mod background;
mod both_ways;
mod contained;
mod ending;
mod everyday;
mod guarded;
pub(crate) mod house;
mod lasting;
mod limits;
mod masks;
mod option_paths;
mod output;
mod properties;
mod quarantine;
mod reading;
mod safe_bins;
mod streaming;
mod titles;
mod tries;
mod without_namespaces;

toolkit::link!(core: builtin_tools);
