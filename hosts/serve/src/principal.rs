//! The principal that sends a request, and the revocation of its token.

use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The sender of a request, by a name that belongs to one person or program, however many tokens it has.
///
/// An authenticating layer adds it to the extensions of the request. Sessions, jobs and approvals belong to a principal: no other one can use
/// them. Requests without a principal can share what belongs to their [`Connection`](crate::Connection).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// The revocation of the token by which a request was authenticated.
///
/// An authenticating layer adds it to the extensions of the request, beside the [`Principal`]; `Bearer` does. Clones are the same token.
#[derive(Debug, Clone, Default)]
pub struct Revocation {
    pub(crate) token: Arc<CancellationToken>,
    pub(crate) principal: Arc<CancellationToken>,
}

impl Revocation {
    /// Creates the revocation of the first token of a principal.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the revocation of another token of the same principal.
    #[must_use]
    pub fn of_another_token(&self) -> Self {
        Self { token: Arc::default(), principal: Arc::clone(&self.principal) }
    }

    /// Returns the revocation of the same token, with the principal of another one: for a part of what belongs to a person, such as one of their roles,
    /// that ends earlier than the rest.
    #[must_use]
    pub fn with_principal_of(&self, other: &Self) -> Self {
        Self { token: Arc::clone(&self.token), principal: Arc::clone(&other.principal) }
    }

    /// Revokes the token: ends the connections that used it and the sessions that were begun with it.
    pub fn revoke_token(&self) {
        self.token.cancel();
    }

    /// Ends what belongs to the principal, after its last token was revoked.
    pub fn revoke_principal(&self) {
        self.principal.cancel();
    }

    /// Waits until the token is revoked. The future holds the token alone.
    pub fn token_revoked(&self) -> impl Future<Output = ()> + Send + use<> {
        let token = Arc::clone(&self.token);
        async move { token.cancelled().await }
    }

    /// Waits until the last token of the principal is revoked. The future does not hold the token.
    pub fn principal_revoked(&self) -> impl Future<Output = ()> + Send + use<> {
        let principal = Arc::clone(&self.principal);
        async move { principal.cancelled().await }
    }

    /// Returns true if both are revocations of one token.
    pub fn is_of_same_token(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.token, &other.token)
    }
}
