//! People and their tokens: who sends a request, and which rights they have.
//!
//! The owner's token is made at the first start, and stands in a file that the owner alone can read. Further tokens are shown once. The store
//! has digests alone. A token counts as the store says at the time of each request; once it is revoked, or its person is blocked, its
//! [`Revocation`] ends what was begun with it.

mod configured;
mod owner_token;
mod pairing;
mod rights;
#[cfg(test)]
mod tests;
mod window;
mod wrong_tokens;

pub(crate) use configured::{configure, keep_named};
pub(crate) use pairing::Paired;
pub(crate) use window::Window;

pub(crate) use rights::is_owners;
pub use rights::{LOCAL_ACCOUNT, LOCAL_CHANNEL, Person};

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::CancellationToken;
use toolkit_serve::Revocation;

use crate::store::{NewToken, Role, Store, StoreError, TokenRecord};
use pairing::WrongCodes;
use wrong_tokens::WrongTokens;

/// The name of the owner, and of the token in the owner's file.
pub const OWNER: &str = "owner";
/// The owner's token, in the data directory.
pub const OWNER_TOKEN_FILE: &str = "gateway.token";

/// An error of people and their tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeopleError {
    /// The store cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file of the owner's token cannot be used.
    #[error("cannot {action} {}, the file of the owner's token: {reason}", file.display())]
    TokenFile {
        /// The action.
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// The file holds another token than the one that was made.
    #[error(
        "{} does not hold the token that was made for this gateway: the file was changed, or the store is another one. Delete the file; the \
         next start makes a new token, and the earlier one counts no more", file.display()
    )]
    Replaced {
        /// The file.
        file: PathBuf,
    },
    /// There are no random numbers for a token.
    #[error("cannot make a token: {0}")]
    Random(std::io::Error),
    /// The token is the one in the owner's file.
    #[error(
        "`{OWNER}` is the token in the file {OWNER_TOKEN_FILE}: stop the gateway and delete the file; the next start makes a new token, and \
         the earlier one counts no more"
    )]
    OwnerToken,
}

/// The people of a gateway. Cheap to clone.
#[derive(Debug, Clone)]
pub struct People(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    used: Mutex<Used>,
    wrong: Mutex<WrongTokens>,
    wrong_codes: Mutex<WrongCodes>,
}

/// The revocations of tokens that were used.
#[derive(Debug, Default)]
struct Used {
    /// By the digest of the token.
    tokens: HashMap<String, Revocation>,
    /// One of each person's, by the person's name.
    people: HashMap<String, Revocation>,
    /// One of each role in which a person has sent a request.
    roles: HashMap<(String, Role), Revocation>,
    /// True if a token has ended since it was looked which people and roles have one left.
    has_ended: bool,
    /// Cancelled once a person is blocked, by the person's name.
    blocked: HashMap<String, CancellationToken>,
}

/// The right by which a request is carried out.
#[derive(Debug, Clone)]
pub struct Access {
    /// The person, with the role of the token.
    pub person: Person,
    /// The revocation of the token.
    pub revocation: Revocation,
    /// The revocation of the token, whose principal is the person in this role: it is revoked with the last token of the role, also if a lesser one stays.
    pub role_revocation: Revocation,
    digest: String,
}

impl Access {
    /// Names the token, without saying anything about it.
    pub(crate) fn token(&self) -> &str {
        self.digest.get(..16).unwrap_or_default()
    }
}

impl People {
    /// Reads who there is. Adds the owner, who talks to this agent, and makes the owner's token if its file is missing.
    ///
    /// # Errors
    ///
    /// The store or the file cannot be used, or the file has another token.
    pub async fn open(store: Store, agent: &str) -> Result<Self, PeopleError> {
        let owner = store.add_person(OWNER.to_owned(), Role::Owner, agent.to_owned()).await?;
        if owner.agent != agent {
            store.set_agent(owner.name, agent.to_owned()).await?;
        }
        owner_token::prepare(&store).await?;
        Ok(Self(Arc::new(Inner {
            store,
            used: Mutex::default(),
            wrong: Mutex::default(),
            wrong_codes: Mutex::default(),
        })))
    }

    /// The store.
    pub fn store(&self) -> &Store {
        &self.0.store
    }

    /// The file of the owner's token.
    pub fn owner_token_file(&self) -> PathBuf {
        owner_token::file(&self.0.store)
    }

    /// Finds who has a token; `None` if it is unknown or expired, or its person is blocked.
    pub async fn authenticate(&self, token: &str) -> Result<Option<Access>, StoreError> {
        let digest = digest(token);
        // Taken before the look, so that a revocation after it is not missed.
        let known = self.used().tokens.get(&digest).cloned();
        let Some((token, person)) = self.0.store.token_of_digest(digest.clone()).await? else {
            self.end_token(&digest);
            return Ok(None);
        };
        let revocation = match known {
            Some(revocation) => revocation,
            None => {
                let revocation = self.used().begin(&digest, &person.name);
                if self.0.store.token_of_digest(digest.clone()).await?.is_none() {
                    self.end_token(&digest);
                    return Ok(None);
                }
                revocation
            }
        };
        let person = Person::new(person, token.role);
        // A token that has ended meanwhile begins nothing more.
        let Some(of_role) = self.used().of_role(&digest, &person) else { return Ok(None) };
        let role_revocation = revocation.with_principal_of(&of_role);
        Ok(Some(Access { person, revocation, role_revocation, digest }))
    }

    /// Returns true if the token of an access counts still.
    pub async fn still_counts(&self, access: &Access) -> Result<bool, StoreError> {
        Ok(self.0.store.token_of_digest(access.digest.clone()).await?.is_some())
    }

    /// Makes a token, and returns its text, which cannot be shown again.
    pub async fn add_token(&self, token: NewToken) -> Result<(String, TokenRecord), PeopleError> {
        let text = toolkit_serve::new_token().map_err(PeopleError::Random)?;
        let record = self.0.store.add_token(token, digest(&text)).await?;
        // Expired ones that nobody used any more were removed without a word.
        let kept: HashSet<String> = self.0.store.digests(None).await?.into_iter().collect();
        let mut used = self.used();
        let before = used.tokens.len();
        used.tokens.retain(|digest, revocation| {
            let is_kept = kept.contains(digest);
            if !is_kept {
                revocation.revoke_token();
            }
            is_kept
        });
        used.has_ended |= used.tokens.len() < before;
        drop(used);
        Ok((text, record))
    }

    /// Revokes a token, and ends what was begun with it. Returns false if there is none of this name.
    ///
    /// # Errors
    ///
    /// It is the token in the owner's file, or the store cannot be written.
    pub async fn revoke_token(&self, name: &str) -> Result<bool, PeopleError> {
        if name == OWNER {
            return Err(PeopleError::OwnerToken);
        }
        let Some(digest) = self.0.store.revoke_token(name.to_owned()).await? else { return Ok(false) };
        self.end_token(&digest);
        self.end_principals().await?;
        Ok(true)
    }

    /// Ends what was begun with tokens that have expired. Done now and then, since they expire without a word.
    pub(crate) async fn end_expired(&self) -> Result<(), StoreError> {
        let used: Vec<String> = self.used().tokens.keys().cloned().collect();
        for digest in used {
            if self.0.store.token_of_digest(digest.clone()).await?.is_none() {
                self.end_token(&digest);
            }
        }
        // Also if a request has found it before.
        let has_ended = self.used().has_ended;
        if has_ended { self.end_principals().await } else { Ok(()) }
    }

    /// Ends what belongs to people, and to their roles, that have no token left that counts.
    async fn end_principals(&self) -> Result<(), StoreError> {
        let names: Vec<String> = {
            let mut used = self.used();
            used.has_ended = false;
            used.people.keys().cloned().collect()
        };
        for name in names {
            match self.roles(&name).await {
                Ok(roles) => self.used().keep_roles(&name, &roles),
                Err(error) => {
                    self.used().has_ended = true;
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Returns the roles for which a person has a token that counts.
    async fn roles(&self, name: &str) -> Result<HashSet<Role>, StoreError> {
        let mut roles = HashSet::new();
        for digest in self.0.store.digests(Some(name.to_owned())).await? {
            if let Some((token, person)) = self.0.store.token_of_digest(digest).await? {
                roles.insert(Person::new(person, token.role).role());
            }
        }
        Ok(roles)
    }

    /// Blocks a person, and ends what was begun with their tokens. Returns false if they are blocked already.
    pub async fn block(&self, name: &str) -> Result<bool, StoreError> {
        let is_new = self.0.store.block_person(name.to_owned(), true).await?;
        self.end(name).await?;
        if let Some(blocked) = self.used().blocked.remove(name) {
            blocked.cancel();
        }
        Ok(is_new)
    }

    /// Ends what was begun with the tokens of a person, which count as before.
    async fn end(&self, name: &str) -> Result<(), StoreError> {
        for digest in self.0.store.digests(Some(name.to_owned())).await? {
            self.end_token(&digest);
        }
        self.used().keep_roles(name, &HashSet::new());
        Ok(())
    }

    /// Waits until a person is blocked, from now on.
    pub(crate) fn blocked(&self, name: &str) -> impl Future<Output = ()> + Send + use<> {
        self.used().blocked.entry(name.to_owned()).or_default().clone().cancelled_owned()
    }

    /// Lets a person in again. Returns false if they are not blocked.
    pub async fn unblock(&self, name: &str) -> Result<bool, StoreError> {
        self.0.store.block_person(name.to_owned(), false).await
    }

    /// Notes that a request had a wrong token. Returns how long to wait, if there were too many lately.
    pub fn note_wrong_token(&self) -> Option<Duration> {
        let now = self.0.store.clock().now();
        self.0.wrong.lock().unwrap_or_else(PoisonError::into_inner).note(now)
    }

    /// How many requests had a wrong token since the start.
    pub fn wrong_tokens(&self) -> u64 {
        self.0.wrong.lock().unwrap_or_else(PoisonError::into_inner).all()
    }

    fn end_token(&self, digest: &str) {
        let mut used = self.used();
        if let Some(revocation) = used.tokens.remove(digest) {
            revocation.revoke_token();
            used.has_ended = true;
        }
    }

    fn wrong_codes(&self) -> MutexGuard<'_, WrongCodes> {
        self.0.wrong_codes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Used {
    /// Returns the revocation of a token, and makes it if there is none yet.
    fn begin(&mut self, digest: &str, person: &str) -> Revocation {
        let of_person = self.people.entry(person.to_owned()).or_default();
        let revocation = self.tokens.entry(digest.to_owned());
        revocation.or_insert_with(|| of_person.of_another_token()).clone()
    }

    /// Returns the revocation of a person in their role; `None` if the token has ended.
    fn of_role(&mut self, digest: &str, person: &Person) -> Option<Revocation> {
        self.tokens.contains_key(digest).then(|| {
            let of_role = self.roles.entry((person.name().to_owned(), person.role()));
            of_role.or_default().clone()
        })
    }

    /// Ends the other roles of a person; and the person, if none is left.
    fn keep_roles(&mut self, name: &str, roles: &HashSet<Role>) {
        self.roles.retain(|(person, role), revocation| {
            let is_kept = person != name || roles.contains(role);
            if !is_kept {
                revocation.revoke_principal();
            }
            is_kept
        });
        if roles.is_empty()
            && let Some(revocation) = self.people.remove(name)
        {
            revocation.revoke_principal();
        }
    }
}

/// The SHA-256 of a token, in hexadecimal: equal digests disclose nothing about the token by the time that a search takes.
fn digest(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token))
}

/// The directory of a store.
fn directory(store: &Store) -> &Path {
    store.file().parent().unwrap_or(Path::new("."))
}
