//! A repository of git: its configuration, its index, and the files that it tracks.

mod config;
mod index;
mod keys;
mod parse;
mod tracked;

pub(crate) use config::{Looks, Repositories, check_file};
pub(crate) use index::{Entry, tracked};
pub(crate) use tracked::Tracked;
