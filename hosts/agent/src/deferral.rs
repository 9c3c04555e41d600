//! The tools that a conversation has found, where definitions are deferred.

/// The tools that a conversation has found or called, in the order of the first time.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deferral {
    found: Vec<String>,
}

impl Deferral {
    /// Adds a tool, unless it is there.
    pub(crate) fn note(&mut self, name: &str) {
        if !self.found.iter().any(|found| found == name) {
            self.found.push(name.to_owned());
        }
    }

    pub(crate) fn found(&self) -> &[String] {
        &self.found
    }
}
