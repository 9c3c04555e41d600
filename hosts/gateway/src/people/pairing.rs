//! Unknown senders of chat channels, and who they become.

use std::time::Duration;

use super::People;
use super::window::Window;
use crate::codes;
use crate::store::{Becomes, IdentityRecord, Moment, PersonRecord, StoreError, Stranger, StrangerName};

/// Wrong codes of one token within a window, after which none is looked at.
const MAX_WRONG_CODES: u32 = 10;
/// The length of the window.
const WINDOW: Duration = Duration::from_mins(10);
/// The most tokens whose wrong codes are counted apart.
const MAX_TOKENS: usize = 1_000;

/// The outcome of an approval.
#[derive(Debug)]
pub(crate) enum Paired {
    /// The sender is a person from now on.
    Approved(PersonRecord, IdentityRecord),
    /// No such sender waits.
    Unknown,
    /// Too many codes were wrong lately; so long to wait.
    TooMany(Duration),
}

/// Wrong codes, counted for each token.
#[derive(Debug, Default)]
pub(super) struct WrongCodes {
    /// Those that were refused, looked at or not.
    all: u64,
    windows: Vec<(String, Window)>,
}

impl WrongCodes {
    /// Refuses one that is not looked at: returns how long the window of its token lasts still, if it has too many.
    fn refuse(&mut self, token: &str, now: Moment) -> Option<Duration> {
        let (_, window) = self.windows.iter().find(|(of, _)| of == token)?;
        let mut looked = *window;
        let (count, left) = looked.note(now);
        if count < MAX_WRONG_CODES {
            return None;
        }
        self.all = self.all.saturating_add(1);
        Some(left)
    }

    fn note(&mut self, token: &str, now: Moment) {
        self.all = self.all.saturating_add(1);
        if let Some((_, window)) = self.windows.iter_mut().find(|(of, _)| of == token) {
            window.note(now);
            return;
        }
        if self.windows.len() >= MAX_TOKENS {
            self.windows.remove(0);
        }
        let mut window = Window::new(WINDOW);
        window.note(now);
        self.windows.push((token.to_owned(), window));
    }
}

impl People {
    /// Makes an unknown sender a person, or one of a person's identities: by the code that they got, by `CHANNEL:SENDER`, or by the
    /// platform's id of the sender alone. `token` names whoever approves, for the count of wrong codes.
    ///
    /// # Errors
    ///
    /// The name fits several senders, the person cannot have the identity, or the store failed.
    pub(crate) async fn approve_sender(
        &self,
        typed: &str,
        becomes: Becomes,
        by: &str,
        token: &str,
    ) -> Result<Paired, StoreError> {
        let now = self.store().clock().now();
        if let Some(wait) = self.wrong_codes().refuse(token, now) {
            return Ok(Paired::TooMany(wait));
        }
        for name in names(typed) {
            let approved = self.store().approve_stranger(name, becomes.clone(), by.to_owned()).await?;
            if let Some((person, identity)) = approved {
                tracing::info!(person = person.name, channel = identity.channel, "a sender was let in");
                return Ok(Paired::Approved(person, identity));
            }
        }
        self.wrong_codes().note(token, now);
        Ok(Paired::Unknown)
    }

    /// Turns an unknown sender away for good, by the same names.
    pub(crate) async fn deny_sender(&self, typed: &str) -> Result<Option<Stranger>, StoreError> {
        for name in names(typed) {
            if let Some(stranger) = self.store().deny_stranger(name).await? {
                return Ok(Some(stranger));
            }
        }
        Ok(None)
    }

    /// How many codes of senders were refused since the start: wrong ones, and those that were not looked at since too many were wrong.
    pub(crate) fn wrong_sender_codes(&self) -> u64 {
        self.wrong_codes().all
    }
}

/// The strangers that a typed text may name, in the order in which they are looked for.
fn names(typed: &str) -> Vec<StrangerName> {
    let typed = typed.trim();
    let code = codes::normalized(typed).map(|code| StrangerName::Code(codes::digest(&code)));
    let of_channel = typed.split_once(':').map(|(channel, sender)| StrangerName::Sender {
        channel: Some(channel.to_owned()),
        sender: sender.to_owned(),
    });
    let alone = StrangerName::Sender { channel: None, sender: typed.to_owned() };
    code.into_iter().chain(of_channel).chain([alone]).collect()
}
