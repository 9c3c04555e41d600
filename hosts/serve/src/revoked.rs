//! Revocation of tokens while a server runs: the file of the tokens is read again as long as a revocation is waited for.

use crate::principal::Revocation;
use crate::shared_token::SharedToken;
use crate::tokens::{ClientTokens, Known};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Pause between two readings of the file.
const PAUSE: Duration = Duration::from_secs(1);

/// The tokens of clients, and the revocations of those that are in use.
#[derive(Debug)]
pub(crate) struct Watched {
    tokens: Source,
    used: Mutex<Used>,
}

/// Where tokens are kept.
#[derive(Debug)]
enum Source {
    Clients(ClientTokens),
    /// A file with one token, which clients share.
    Shared(SharedToken),
}

/// Revocations that a connection, a session or a principal waits for.
#[derive(Debug, Default)]
struct Used {
    /// By the digest of the token.
    tokens: HashMap<String, Weak<CancellationToken>>,
    /// By the name of the principal.
    principals: HashMap<String, Weak<CancellationToken>>,
    is_watched: bool,
}

impl Used {
    /// Cancels what is no longer in the file, and returns true if nothing else is waited for.
    fn check(&mut self, known: &[Known]) -> bool {
        let digests: HashSet<&str> = known.iter().map(|known| &*known.digest).collect();
        let principals: HashSet<&str> = known.iter().map(|known| &*known.principal).collect();
        cancel_others(&mut self.tokens, &digests);
        cancel_others(&mut self.principals, &principals);
        self.is_watched = !(self.tokens.is_empty() && self.principals.is_empty());
        !self.is_watched
    }
}

/// Cancels the entries that are not in `kept`. Removes them, and those that nothing waits for.
fn cancel_others(used: &mut HashMap<String, Weak<CancellationToken>>, kept: &HashSet<&str>) {
    used.retain(|key, cancel| {
        let Some(cancel) = cancel.upgrade() else { return false };
        let is_kept = kept.contains(&**key);
        if !is_kept {
            cancel.cancel();
        }
        is_kept
    });
}

impl Watched {
    pub(crate) fn new(tokens: ClientTokens) -> Arc<Self> {
        Arc::new(Self { tokens: Source::Clients(tokens), used: Mutex::default() })
    }

    pub(crate) fn shared(token: SharedToken) -> Arc<Self> {
        Arc::new(Self { tokens: Source::Shared(token), used: Mutex::default() })
    }

    /// Returns what is known about a token.
    pub(crate) fn find(&self, token: &str) -> Option<Known> {
        match &self.tokens {
            Source::Clients(tokens) => tokens.find(token),
            Source::Shared(shared) => shared.find(token),
        }
    }

    fn known(&self) -> io::Result<Vec<Known>> {
        match &self.tokens {
            Source::Clients(tokens) => tokens.known(),
            Source::Shared(shared) => shared.known(),
        }
    }

    /// Returns the revocation of a token. Must be called within a tokio runtime.
    pub(crate) fn revocation(self: &Arc<Self>, known: &Known) -> Revocation {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let revocation = Revocation {
            token: shared(&mut used.tokens, &known.digest),
            principal: shared(&mut used.principals, &known.principal),
        };
        if !std::mem::replace(&mut used.is_watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        revocation
    }
}

/// Returns the value of a key that is in use, or else a new one.
fn shared<K: Hash + Eq + Clone>(
    used: &mut HashMap<K, Weak<CancellationToken>>,
    key: &K,
) -> Arc<CancellationToken> {
    if let Some(found) = used.get(key).and_then(Weak::upgrade) {
        return found;
    }
    let new = Arc::default();
    used.insert(key.clone(), Arc::downgrade(&new));
    new
}

async fn watch(watched: Weak<Watched>) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let Some(watched) = watched.upgrade() else { return };
        // A file that cannot be read is one that is being repaired: requests are refused meanwhile, and nothing is ended.
        let known = match watched.known() {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, "the tokens of clients cannot be read");
                continue;
            }
        };
        let mut used = watched.used.lock().unwrap_or_else(PoisonError::into_inner);
        if used.check(&known) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_is_revoked_with_its_last_token() {
        let known = |digest: &str, principal: &str| Known {
            digest: digest.to_owned(),
            principal: principal.to_owned(),
        };
        let mut used = Used::default();
        let one: Arc<CancellationToken> = shared(&mut used.tokens, &"1".to_owned());
        let two = shared(&mut used.tokens, &"2".to_owned());
        let ada = shared(&mut used.principals, &"ada".to_owned());
        assert!(Arc::ptr_eq(&ada, &shared(&mut used.principals, &"ada".to_owned())));
        let states = || [&one, &two, &ada].map(|cancel| cancel.is_cancelled());
        for (left, expected, is_done) in [
            (vec![known("1", "ada"), known("2", "ada")], [false, false, false], false),
            (vec![known("2", "ada"), known("3", "eve")], [true, false, false], false),
            (vec![known("3", "eve")], [true, true, true], true),
        ] {
            assert_eq!(used.check(&left), is_done);
            assert_eq!(states(), expected);
        }
    }
}
