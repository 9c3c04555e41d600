//! A repository of git: its configuration, its index, and the files that it tracks.

mod config;
mod index;
mod keys;
mod layout;
mod objects;
mod parse;
mod tracked;

pub(crate) use config::{Looks, Repositories, check_file};
pub(crate) use index::{Entry, tracked};
pub(crate) use layout::{attributes_of_git, read};
pub(crate) use objects::{Kind, kind_of_hash, kind_of_reference};
pub(crate) use tracked::Tracked;
