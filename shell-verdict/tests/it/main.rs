//! Integration tests of this crate, in one program: each module is one subject.

mod bash;
mod common;
mod edges;
mod environment;
mod git;
mod guards;
mod history;
mod home;
mod index;
mod limits;
mod listed;
mod packages;
mod parts;
mod possible;
mod properties;
mod seeds;
mod table;
mod trace;
mod tracked;
