//! The options of a service.

use crate::access::Asking;
use std::path::PathBuf;
use std::time::Duration;
use toolkit::{Caller, CancellationToken};

/// Options of a [`Web`](crate::Web).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebOptions {
    /// The caller of requests of the [small host](crate::serve), without a session: each client has its own.
    pub caller: Caller,
    /// The way in which questions are answered in the small host; [`Asking::Off`] by default.
    pub asking: Asking,
    /// True if the clients of the small host are told paths on this machine, as [`Access::as_owner`](crate::Access::as_owner) says. False by default.
    pub is_owner: bool,
    /// Hosts, `name` or `name:port`, that requests to the small host may be addressed to, besides those of this machine.
    pub hosts: Vec<String>,
    /// Origins, `https://name:port`, of pages that may send requests to the small host, besides those of this machine.
    pub origins: Vec<String>,
    /// True if a proxy in front of the small host does TLS, so that it may listen on other addresses than those of this machine.
    pub is_behind_proxy: bool,
    /// Maximum number of bytes of a request; 4 MiB by default.
    pub max_body: usize,
    /// Maximum number of calls of one client that run at once; 64 by default.
    pub max_calls: usize,
    /// Time after which a client without a request, a call and a background job is forgotten, with its session, keyed calls and files; 24 hours by
    /// default.
    pub idle: Duration,
    /// Time after which a stream without an event shows that it is alive; 15 seconds by default.
    pub keep_alive: Duration,
    /// Data directory of a history whose calls of a tool are shown to the owner of the host. None by default.
    pub history: Option<PathBuf>,
    /// Ends the service: calls that run are cancelled, and each request gets its result.
    pub shutdown: CancellationToken,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            caller: Caller::new(),
            asking: Asking::Off,
            is_owner: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            is_behind_proxy: false,
            max_body: 4 << 20,
            max_calls: 64,
            idle: Duration::from_hours(24),
            keep_alive: Duration::from_secs(15),
            history: None,
            shutdown: CancellationToken::new(),
        }
    }
}

impl WebOptions {
    /// Returns the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the caller of requests of the small host.
    #[must_use]
    pub fn caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// Sets how questions are answered in the small host.
    #[must_use]
    pub fn asking(self, asking: Asking) -> Self {
        Self { asking, ..self }
    }

    /// Lets requests be for these hosts too.
    #[must_use]
    pub fn allow_hosts(mut self, hosts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hosts.extend(hosts.into_iter().map(Into::into));
        self
    }

    /// Lets pages of these origins send requests too.
    #[must_use]
    pub fn allow_origins(mut self, origins: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.origins.extend(origins.into_iter().map(Into::into));
        self
    }

    /// States that a proxy in front of the small host does TLS.
    #[must_use]
    pub fn behind_proxy(self, is_behind_proxy: bool) -> Self {
        Self { is_behind_proxy, ..self }
    }

    /// Sets the data directory of the history whose calls are shown to the owner.
    #[must_use]
    pub fn history(self, data_dir: impl Into<PathBuf>) -> Self {
        Self { history: Some(data_dir.into()), ..self }
    }

    /// Sets the token that ends the service.
    #[must_use]
    pub fn shutdown(self, shutdown: CancellationToken) -> Self {
        Self { shutdown, ..self }
    }
}
