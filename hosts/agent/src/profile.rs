//! The agents that tasks can be delegated to.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use toolkit_models::{IntoModel, Model};

/// An agent that tasks can be delegated to by its name.
#[derive(Clone)]
#[non_exhaustive]
pub struct AgentProfile {
    /// The tasks that it is for, as the delegating model reads it.
    pub description: String,
    /// Its model; that of the delegating agent without one.
    pub model: Option<Arc<dyn Model>>,
    /// Further instructions.
    pub instructions: Option<String>,
    /// The only tools that it may use, by name, of those that the delegating agent may; all of these without a list.
    pub tools: Option<BTreeSet<String>>,
}

impl AgentProfile {
    /// Returns a profile that differs from the delegating agent in nothing but its name.
    pub fn new(description: impl Into<String>) -> Self {
        Self { description: description.into(), model: None, instructions: None, tools: None }
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl IntoModel) -> Self {
        self.model = Some(model.into_model());
        self
    }

    /// Sets further instructions.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Narrows its tools to these.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tools = Some(tools.into_iter().map(Into::into).collect());
        self
    }
}

impl fmt::Debug for AgentProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentProfile").field("description", &self.description).finish_non_exhaustive()
    }
}
