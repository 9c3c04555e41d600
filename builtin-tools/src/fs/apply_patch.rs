//! `apply_patch`: many changes of many files at once.

mod begin;
mod hunks;
mod lines;
mod patch;
mod place;
mod unified;

pub(crate) use hunks::apply;
pub(crate) use patch::{Action, Patch, parse};

#[cfg(test)]
mod tests;
