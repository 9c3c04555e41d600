//! The principal that sends a request, and the revocation of its token.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use std::sync::Arc;
use toolkit::CancellationToken;

/// The sender of a request, by a name that belongs to one person or program, however many tokens it has.
///
/// An authenticating layer adds it to the extensions of the HTTP request. A session of the protocol can be used by the principal that began
/// it alone. Background jobs and approvals belong to the principal: all its requests and sessions share them, until the principal has had no
/// request and no session for the idle time. Requests without a principal share a session with the requests of the same [`Connection`](crate::Connection),
/// which ends with the connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal(pub String);

/// The revocation of the token by which a request was authenticated.
///
/// An authenticating layer adds it to the extensions of the HTTP request, beside the [`Principal`]; [`Bearer`](crate::Bearer) does. Clones
/// are the same token.
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

    /// Revokes the token: ends the connections that used it and the sessions that were begun with it.
    pub fn revoke_token(&self) {
        self.token.cancel();
    }

    /// Ends the background jobs, approvals and waiting calls of the principal, after its last token was revoked.
    pub fn revoke_principal(&self) {
        self.principal.cancel();
    }
}

/// The sender of a request, as its extensions name it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sender {
    pub(crate) principal: Option<Principal>,
    pub(crate) revocation: Option<Revocation>,
}

impl Sender {
    /// Returns the sender that an authenticating layer named.
    #[cfg(feature = "http")]
    pub(crate) fn named(extensions: &http::Extensions) -> Self {
        let (principal, revocation) = (extensions.get().cloned(), extensions.get().cloned());
        Self { principal, revocation }
    }

    #[cfg(feature = "http")]
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let parts = context.extensions.get::<http::request::Parts>();
        parts.map(|parts| Self::named(&parts.extensions)).unwrap_or_default()
    }

    #[cfg(not(feature = "http"))]
    pub(super) fn of(_context: &RequestContext<RoleServer>) -> Self {
        Self::default()
    }
}
