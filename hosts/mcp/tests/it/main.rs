//! Integration tests of this crate, in one program: each module is one subject.

mod client;
mod http;
mod server;
mod settings;
mod stdio;
