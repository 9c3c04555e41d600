//! `edit`: parts of a text file replaced.

mod indent;
mod locate;
mod plan;
mod rewrite;

pub(crate) use locate::Miss;
pub(crate) use plan::{Part, Plan, PlanError, Problem, Replacement, plan};

#[cfg(test)]
mod tests;
