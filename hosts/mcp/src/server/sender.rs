//! The sender of a request, and the connection over which it came.

use rmcp::RoleServer;
use rmcp::service::RequestContext;
use toolkit_serve::{Connection, Principal, Revocation};

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

/// Returns the connection over which a request came.
#[cfg(feature = "http")]
pub(super) fn connection(context: &RequestContext<RoleServer>) -> Option<Connection> {
    context.extensions.get::<http::request::Parts>()?.extensions.get().cloned()
}

/// Returns none: there are no connections over standard streams.
#[cfg(not(feature = "http"))]
pub(super) fn connection(_context: &RequestContext<RoleServer>) -> Option<Connection> {
    None
}
