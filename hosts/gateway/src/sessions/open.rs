//! The conversations that are open: those at work, and some that were used lately.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use toolkit_agent::{Conversation, ConversationOptions, Conversations, Session};

use crate::SessionKey;

/// Open conversations of sessions. Cheap to look up.
pub(super) struct OpenConversations {
    conversations: Conversations,
    max_idle: usize,
    /// The one that was used longest ago is first.
    places: Mutex<Vec<Place>>,
    /// Notified when one was closed.
    closed: Notify,
}

struct Place {
    session: SessionKey,
    /// A run uses it, or is about to.
    is_used: bool,
    /// It is being closed.
    is_closing: bool,
}

impl OpenConversations {
    pub(super) fn new(max_idle: usize) -> Self {
        Self {
            conversations: Conversations::new(),
            max_idle,
            places: Mutex::default(),
            closed: Notify::new(),
        }
    }

    /// Returns the conversation of a session, if it is open.
    pub(super) fn get(&self, session: &SessionKey) -> Option<Conversation> {
        self.conversations.get(session.as_str())
    }

    /// Keeps the conversation of a session open for a run, or lets the run open it. Ends with [`release`](Self::release).
    pub(super) async fn hold(&self, session: &SessionKey) -> Option<Conversation> {
        loop {
            // Made before the look, so that a closing that ends after it is not missed.
            let closed = self.closed.notified();
            {
                let mut places = self.places();
                match places.iter_mut().find(|place| place.session == *session) {
                    Some(place) if place.is_closing => {}
                    Some(place) => {
                        place.is_used = true;
                        return self.get(session);
                    }
                    None => {
                        places.push(Place { session: session.clone(), is_used: true, is_closing: false });
                        return self.get(session);
                    }
                }
            }
            closed.await;
        }
    }

    /// Opens the conversation of a session that is held.
    pub(super) fn open(&self, key: &SessionKey, session: Session) -> Result<Conversation, String> {
        let options = ConversationOptions::new().wakes(false).resumes(false).max_waiting(usize::MAX);
        self.conversations.open(key.as_str(), session, options).map_err(|error| error.to_string())
    }

    /// Ends the use by a run, and closes conversations in which nothing goes on, if there are too many.
    pub(super) async fn release(&self, session: &SessionKey) {
        let closing: Vec<SessionKey> = {
            let mut places = self.places();
            if let Some(index) = places.iter().position(|place| place.session == *session) {
                let mut place = places.remove(index);
                place.is_used = false;
                // A conversation that could not be opened has no place.
                if self.get(session).is_some() {
                    places.push(place);
                }
            }
            let may_close = |place: &&mut Place| {
                !place.is_used
                    && !place.is_closing
                    && self.get(&place.session).is_none_or(|open| !open.has_background_work())
            };
            let surplus = places.iter_mut().filter(may_close).count().saturating_sub(self.max_idle);
            let chosen = places.iter_mut().filter(may_close).take(surplus);
            chosen
                .map(|place| {
                    place.is_closing = true;
                    place.session.clone()
                })
                .collect()
        };
        for session in closing {
            self.conversations.end(session.as_str()).await;
            self.places().retain(|place| place.session != session);
            self.closed.notify_waiters();
        }
    }

    /// Interrupts the runs under way, as a crash would.
    pub(super) fn interrupt(&self) {
        for conversation in self.conversations.list() {
            conversation.interrupt();
        }
    }

    /// Closes all.
    pub(super) async fn close(&self) {
        self.conversations.end_all().await;
    }

    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
