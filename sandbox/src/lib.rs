//! Runs commands under a supervisor that owns their whole process tree, inside an operating system sandbox.

#![deny(unsafe_code)]

mod account;
mod command;
mod containment;
mod error;
mod group;
mod host;
mod input;
mod inside;
mod job;
mod probe;
mod sandbox;
mod socket;
mod supervisor;
mod sys;
mod wire;

pub use account::{Drained, End, Exit, Guarantee, Process, Progress, Stopped};
pub use command::{Command, Output, Size, Stdin};
pub use containment::{Containment, Part};
pub use error::SpawnError;
pub use host::{init, supervise_with};
pub use input::Input;
pub use job::Job;
pub use probe::{Feature, Strength, probe};
pub use sandbox::{Mode, Sandbox};
