//! Tests of the configured policy.

mod asked;
mod bounds;
mod fixture;
mod model;
mod names;
mod random;
mod rules;
mod said;
