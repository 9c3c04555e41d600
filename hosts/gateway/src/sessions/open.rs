//! The conversations that are open: those at work, and some that were used lately.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};
use toolkit_agent::{Conversation, ConversationOptions, Conversations, Session};

use crate::SessionKey;

/// Open conversations of sessions.
#[derive(Clone)]
pub(super) struct OpenConversations(Arc<Shared>);

struct Shared {
    conversations: Conversations,
    max_idle: usize,
    /// The one that was used longest ago is first.
    places: Mutex<Vec<Place>>,
    /// Notified when one was closed.
    closed: Notify,
    /// How many were opened.
    opened: watch::Sender<u64>,
}

struct Place {
    session: SessionKey,
    /// How many use it, or are about to.
    users: usize,
    /// It is being closed.
    is_closing: bool,
}

/// The place of a session's conversation, which is not closed before this is dropped.
pub(super) struct Hold<'a> {
    open: &'a OpenConversations,
    session: SessionKey,
}

/// An open conversation, which is not closed before this is dropped.
pub(super) struct Held<'a> {
    pub(super) conversation: Conversation,
    _hold: Hold<'a>,
}

impl OpenConversations {
    pub(super) fn new(max_idle: usize) -> Self {
        Self(Arc::new(Shared {
            conversations: Conversations::new(),
            max_idle,
            places: Mutex::default(),
            closed: Notify::new(),
            opened: watch::Sender::new(0),
        }))
    }

    /// Changes each time a conversation was opened.
    pub(super) fn opened(&self) -> watch::Receiver<u64> {
        self.0.opened.subscribe()
    }

    /// Returns the conversation of a session, if it is open.
    pub(super) fn get(&self, session: &SessionKey) -> Option<Conversation> {
        self.0.conversations.get(session.as_str())
    }

    /// Takes the place of a session's conversation, which is open or can be opened then.
    pub(super) async fn hold(&self, session: &SessionKey) -> Hold<'_> {
        loop {
            // Made before the look, so that a closing that ends after it is not missed.
            let closed = self.0.closed.notified();
            {
                let mut places = self.0.places();
                match places.iter_mut().find(|place| place.session == *session) {
                    Some(place) if place.is_closing => {}
                    Some(place) => {
                        place.users += 1;
                        return Hold { open: self, session: session.clone() };
                    }
                    None => {
                        places.push(Place { session: session.clone(), users: 1, is_closing: false });
                        return Hold { open: self, session: session.clone() };
                    }
                }
            }
            closed.await;
        }
    }

    /// Ends the conversation of a session whose place is held: another one can be opened in it.
    pub(super) async fn end(&self, session: &SessionKey) {
        self.0.conversations.end(session.as_str()).await;
    }

    /// Closes all.
    pub(super) async fn close(&self) {
        self.0.conversations.end_all().await;
    }

    /// Ends one use of a place, and closes conversations that nobody uses, if there are too many.
    fn release(&self, session: &SessionKey) {
        let mut places = self.0.places();
        if let Some(index) = places.iter().position(|place| place.session == *session) {
            let mut place = places.remove(index);
            place.users -= 1;
            // A conversation that could not be opened has no place.
            if place.users > 0 || self.get(session).is_some() {
                places.push(place);
            }
        }
        let may_close = |place: &&mut Place| {
            let open = self.get(&place.session);
            place.users == 0 && !place.is_closing && open.is_none_or(|open| !open.has_background_work())
        };
        let surplus = places.iter_mut().filter(may_close).count().saturating_sub(self.0.max_idle);
        for place in places.iter_mut().filter(may_close).take(surplus) {
            place.is_closing = true;
            tokio::spawn(Arc::clone(&self.0).close_one(place.session.clone()));
        }
    }
}

impl Shared {
    async fn close_one(self: Arc<Self>, session: SessionKey) {
        self.conversations.end(session.as_str()).await;
        self.places().retain(|place| place.session != session);
        self.closed.notify_waiters();
    }

    fn places(&self) -> MutexGuard<'_, Vec<Place>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> Hold<'a> {
    pub(super) fn is_open(&self) -> bool {
        self.open.get(&self.session).is_some()
    }

    /// The conversation, if it is open.
    pub(super) fn held(self) -> Option<Held<'a>> {
        let conversation = self.open.get(&self.session)?;
        Some(Held { conversation, _hold: self })
    }

    /// Opens it.
    pub(super) fn open(self, session: Session) -> Result<Held<'a>, String> {
        let options = ConversationOptions::new().wakes(false).resumes(false).max_waiting(usize::MAX);
        let opened = self.open.0.conversations.open(self.session.as_str(), session, options);
        let conversation = opened.map_err(|error| error.to_string())?;
        self.open.0.opened.send_modify(|count| *count += 1);
        Ok(Held { conversation, _hold: self })
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        self.open.release(&self.session);
    }
}
