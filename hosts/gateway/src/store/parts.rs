//! The division of what leaves into parts that fit its channel.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::target::Target;

/// Divides the body of a delivery into those of its parts, each a row of the outbox; none if there is nothing to send.
type Divide = dyn Fn(&Target, Value) -> Vec<Value> + Send + Sync;

/// How bodies are divided. By default each is one part.
#[derive(Clone, Default)]
pub struct Parts(Option<Arc<Divide>>);

impl Parts {
    /// Divides by a function, within the transaction that prepares a delivery: it must not wait.
    pub fn by(divide: impl Fn(&Target, Value) -> Vec<Value> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(divide)))
    }

    pub(super) fn of(&self, target: &Target, body: Value) -> Vec<Value> {
        match &self.0 {
            Some(divide) => divide(target, body),
            None => vec![body],
        }
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parts").field(&self.0.is_some()).finish()
    }
}
