//! End-to-end tests through the public interface, in one program: each module is one subject.

mod dialects;
mod discovery;
mod documents;
mod models;
mod packages;
