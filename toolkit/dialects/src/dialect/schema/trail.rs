//! The references within whose targets something stands.

use std::collections::HashMap;

/// How often each reference was followed on the way to something: one within the other, not beside each other.
#[derive(Debug, Default, Clone)]
pub(super) struct Trail(HashMap<String, usize>);

impl Trail {
    /// How often this one was followed.
    pub(super) fn count(&self, reference: &str) -> usize {
        self.0.get(reference).copied().unwrap_or(0)
    }

    pub(super) fn enter(&mut self, reference: &str) {
        *self.0.entry(reference.to_owned()).or_default() += 1;
    }

    pub(super) fn leave(&mut self, reference: &str) {
        if let Some(count) = self.0.get_mut(reference) {
            *count = count.saturating_sub(1);
        }
    }

    /// The way goes on along another.
    pub(super) fn add(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            *self.0.entry(reference.clone()).or_default() += count;
        }
    }

    /// The way along the other is left again.
    pub(super) fn remove(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            if let Some(own) = self.0.get_mut(reference) {
                *own = own.saturating_sub(*count);
            }
        }
    }

    /// What stands at the end of either.
    pub(super) fn join(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            self.reach(reference, *count);
        }
    }

    /// Somewhere it was followed so often.
    pub(super) fn reach(&mut self, reference: &str, count: usize) {
        let own = self.0.entry(reference.to_owned()).or_default();
        *own = (*own).max(count);
    }
}
