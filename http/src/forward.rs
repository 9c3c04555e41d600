//! A forward proxy for a program that makes its own connections, such as a browser.

mod answer;
mod serve;

use crate::Guard;
use data_encoding::{BASE64, HEXLOWER};
use serve::Shared;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The name that a client gives beside the password.
const USER: &str = "toolkit";
/// The most refusals that are kept until [`ForwardProxy::take_refusals`] is called.
const MAX_REFUSALS: usize = 100;

/// Limits of a [`ForwardProxy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForwardLimits {
    /// Connections of clients at once; further ones wait. 256.
    pub connections: usize,
    /// Time for the head of a request, also of a further one on the same connection. 60 seconds.
    pub request_head: Duration,
    /// Time until the server begins to answer. 5 minutes.
    pub first_byte: Duration,
    /// Bytes of a head of a request or of an answer. 256 KiB.
    pub header_bytes: usize,
}

impl Default for ForwardLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            request_head: Duration::from_mins(1),
            first_byte: Duration::from_mins(5),
            header_bytes: 256 << 10,
        }
    }
}

/// A request that a [`ForwardProxy`] did not forward.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The target: the URL, or the host with its port where the client asked for a tunnel.
    pub target: String,
    /// The reason, as the client got it.
    pub reason: String,
    /// True if a rule of the guard refuses it; else the connection failed.
    pub by_rule: bool,
}

/// Says what else a client is told of an error: the setting that decides it, for instance.
pub type Explain = dyn Fn(&crate::ConnectError) -> String + Send + Sync;

/// An HTTP proxy on a port of 127.0.0.1 that connects to what its [`Guard`] allows, and to nothing else. For a program that cannot be
/// made to check addresses itself: with this proxy as its only way out, all its traffic is checked.
///
/// It takes `http` URLs in absolute form, and `CONNECT` for all other traffic, sockets of pages included. A refused request is answered with
/// 403, and a text that names the rule. Only a client that knows [`user`](Self::user) and [`password`](Self::password), which are made
/// anew for each proxy, is served. It ends when it is dropped, with all its connections.
pub struct ForwardProxy {
    address: SocketAddr,
    password: String,
    refusals: Arc<Mutex<VecDeque<Refusal>>>,
    _serving: JoinSet<()>,
}

impl fmt::Debug for ForwardProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForwardProxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ForwardProxy {
    /// Starts a proxy in the current tokio runtime. `explain` completes the text of an error.
    ///
    /// # Errors
    ///
    /// No port is free, or there is no random number for the password.
    pub async fn start(
        guard: Guard,
        limits: ForwardLimits,
        explain: impl Fn(&crate::ConnectError) -> String + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let mut random = [0; 16];
        let provider = rustls::crypto::ring::default_provider();
        provider
            .secure_random
            .fill(&mut random)
            .map_err(|_| io::Error::other("the system has no random numbers"))?;
        let password = HEXLOWER.encode(&random);
        let authorization = format!("Basic {}", BASE64.encode(format!("{USER}:{password}").as_bytes()));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let refusals = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Shared {
            guard,
            limits,
            authorization,
            refusals: Arc::clone(&refusals),
            explain: Box::new(explain),
        };
        let mut serving = JoinSet::new();
        serving.spawn(serve::accept(listener, Arc::new(shared)));
        Ok(Self { address, password, refusals, _serving: serving })
    }

    /// The address, on 127.0.0.1.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The user name that a client gives by HTTP Basic authentication.
    pub fn user(&self) -> &str {
        USER
    }

    /// The password that a client gives.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// Takes the refusals since the last call, the oldest first. Of more than 100 the last ones are kept.
    pub fn take_refusals(&self) -> Vec<Refusal> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }
}

impl Shared {
    fn note(&self, refusal: Refusal) {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        if refusals.len() == MAX_REFUSALS {
            refusals.pop_front();
        }
        refusals.push_back(refusal);
    }
}
