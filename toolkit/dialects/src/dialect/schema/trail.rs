//! The references whose targets contain a place in the schema.

use std::collections::HashMap;

/// How often each reference was followed on the path to a place, counting nested uses only.
#[derive(Debug, Default, Clone)]
pub(super) struct Trail(HashMap<String, usize>);

impl Trail {
    /// Returns how often this reference was followed.
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

    /// Extends the path by another one.
    pub(super) fn add(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            *self.0.entry(reference.clone()).or_default() += count;
        }
    }

    /// Removes another path again.
    pub(super) fn remove(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            if let Some(own) = self.0.get_mut(reference) {
                *own = own.saturating_sub(*count);
            }
        }
    }

    /// Combines with the path to another part, for a part that is at the end of both.
    pub(super) fn join(&mut self, other: &Self) {
        for (reference, count) in &other.0 {
            self.reach(reference, *count);
        }
    }

    /// Raises the count of a reference to at least this number.
    pub(super) fn reach(&mut self, reference: &str, count: usize) {
        let own = self.0.entry(reference.to_owned()).or_default();
        *own = (*own).max(count);
    }
}
