//! Integration tests of this crate, in one program: each module is one subject.

mod common;
mod death;
mod group;
mod hang;
mod jobs;
mod limits;
mod quarantine;
mod reading;
mod ready;
mod sandbox;
mod signals;
