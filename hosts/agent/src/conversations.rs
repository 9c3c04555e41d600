//! Conversations that are alive: they have names, queues of messages, and observers, and run one task at a time.
//!
//! ```text
//! Conversations            by name
//!   └─ Conversation        a handle: send, cancel, set the mode, observe, end
//!        ├─ queue          messages that wait, each with an id and a receipt
//!        └─ worker         the task that owns the session: resumes, runs one message after the other
//!             └─ watch     events to observers, also to those that join late
//! ```

mod conversation;
mod flights;
mod mode;
mod watch;
mod worker;

pub use conversation::{Conversation, ConversationOptions, SendError};
pub use flights::{Ended, IncomingMessage, Receipt};
pub use mode::Mode;
pub use watch::{Observation, Observed, ObservedEvent};

use crate::session::Session;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The conversations of a host that are alive, by name. Cheap to clone.
///
/// ```
/// use std::sync::Arc;
/// use toolkit::Toolkit;
/// use toolkit_agent::{Agent, ConversationOptions, Conversations, DelegationRequest, FinalAnswer, IncomingMessage};
/// use toolkit_models::{Answer, Scripted};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // In place of a real model.
/// let model = Scripted::new([Answer::text("Hello."), Answer::text("Good bye.")]);
/// let agent = Agent::builder(Toolkit::empty().build()?, Arc::new(model)).final_answer(FinalAnswer::Text).build();
///
/// let conversations = Conversations::new();
/// let session = agent.session(&DelegationRequest::default())?;
/// let ada = conversations.open("ada", session, ConversationOptions::new())?;
/// // Both wait in order, and each is answered.
/// let first = ada.send(IncomingMessage::new("1", "hello"))?;
/// let second = ada.send(IncomingMessage::new("2", "bye"))?;
/// assert_eq!(first.ended().await.unwrap().result.summary, "Hello.");
/// assert_eq!(second.ended().await.unwrap().result.summary, "Good bye.");
/// conversations.end("ada").await;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Conversations(Arc<Mutex<BTreeMap<String, Conversation>>>);

/// A conversation of this name is open already.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a conversation `{name}` is open already; end it first, or send to it")]
pub struct NameTaken {
    /// The name.
    pub name: String,
}

impl Conversations {
    /// Returns an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a conversation under a name. A run that a crash interrupted goes on at once, under its own id. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// A conversation of this name is open.
    pub fn open(
        &self,
        name: impl Into<String>,
        session: Session,
        options: ConversationOptions,
    ) -> Result<Conversation, NameTaken> {
        let name = name.into();
        let mut all = self.all();
        // One that ended by itself is held here no longer, and its agent neither.
        all.retain(|_, conversation| !conversation.has_ended());
        if all.contains_key(&name) {
            return Err(NameTaken { name });
        }
        let conversation = Conversation::begin(name.clone(), session, options);
        all.insert(name, conversation.clone());
        Ok(conversation)
    }

    /// Returns an open conversation.
    pub fn get(&self, name: &str) -> Option<Conversation> {
        self.all().get(name).filter(|conversation| !conversation.has_ended()).cloned()
    }

    /// Returns all open conversations, by name.
    pub fn list(&self) -> Vec<Conversation> {
        let mut all = self.all();
        all.retain(|_, conversation| !conversation.has_ended());
        all.values().cloned().collect()
    }

    /// Ends a conversation, as [`Conversation::end`] does. Returns false if there is none.
    pub async fn end(&self, name: &str) -> bool {
        let conversation = self.all().remove(name);
        match conversation {
            Some(conversation) => {
                conversation.end().await;
                true
            }
            None => false,
        }
    }

    /// Ends all conversations.
    pub async fn end_all(&self) {
        let all = std::mem::take(&mut *self.all());
        futures_util::future::join_all(all.values().map(Conversation::end)).await;
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Conversation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
