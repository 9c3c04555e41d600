//! Integration tests of this crate, in one program: each module is one subject.

mod bash;
mod common;
mod edges;
mod environment;
mod git;
mod home;
mod index;
mod limits;
mod listed;
mod packages;
mod parts;
mod properties;
mod recorded;
mod seeds;
mod table;
mod trace;
