//! Reasons for which the guard refuses a request.

use crate::{DomainRule, Host, SpecialRange};

/// The rule by which the guard refused a URL or an address. It discloses nothing else: neither the address that a name
/// resolved to, nor whether there is a server.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The text is not a URL.
    #[error("the URL cannot be read: {0}; write it as \"https://example.com/page\"")]
    Invalid(&'static str),
    /// The URL has another scheme than `http` and `https`.
    #[error("URLs of the scheme `{0}` are refused; use http or https")]
    Scheme(String),
    /// The URL contains a user name or a password.
    #[error("URLs with a user name or password are refused; leave out the part before `@`")]
    UserInfo,
    /// The port belongs to another protocol than HTTP.
    #[error("port {0} is refused: browsers block it, because another protocol uses it")]
    Port(u16),
    /// A rule blocks the domain.
    #[error("`{host}` is refused: the domain is blocked (rule `{rule}`)")]
    Blocked {
        /// The host.
        host: Host,
        /// The rule.
        rule: DomainRule,
    },
    /// The domain is not among the allowed ones.
    #[error("`{host}` is refused: it is not among the allowed domains")]
    NotAllowed {
        /// The host.
        host: Host,
    },
    /// The address is not public.
    #[error(
        "`{host}` is refused: {} ({}, {}, {})",
        match host { Host::Address(_) => "it is not a public address", Host::Domain(_) => "it does not lead to a public address" },
        rule.name, rule.range, rule.document
    )]
    NotPublic {
        /// The host as the URL names it.
        host: Host,
        /// The row of the table.
        rule: &'static SpecialRange,
    },
    /// The address of a cloud metadata service, which returns a machine's credentials.
    #[error("`{host}` is refused: it leads to the metadata service of a cloud, which is never allowed")]
    Metadata {
        /// The host as the URL names it.
        host: Host,
    },
}
