//! The parts of the gateway that the routes use.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use toolkit_agent::Transcripts;

use toolkit_web::ConsolePages;

use super::grants::{self, Grant};
use super::rate::Rate;
use crate::store::{Moment, Store, StoreError};
use crate::{People, Sessions};

/// An agent in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentInfo {
    /// Its name, as keys of sessions have it.
    pub id: String,
    /// Its purpose, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The configured name of its model; `None` if it has none.
    pub model: Option<String>,
}

/// The facts about the gateway that its configuration and its other parts tell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct About {
    /// The version of the program.
    pub version: String,
    /// The agents.
    pub agents: Vec<AgentInfo>,
    /// Faults, each in a sentence for the owner; with any, the health is `degraded`.
    pub problems: Vec<String>,
}

/// Requests of a person within ten seconds.
const MAX_REQUESTS: u32 = 10_000;
const REQUESTS: &str = "requests";
/// Sessions of a person other than the owner.
const MAX_SESSIONS: u64 = 1_000;
/// Time after which a stream without an event shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The parts of the gateway that the routes use. Cheap to clone.
#[derive(Clone)]
pub struct HttpState {
    inner: Arc<Inner>,
    keep_alive: Duration,
    /// Counts requests over HTTP, and the first frames of sockets.
    rate: Arc<Rate>,
    max_sessions: u64,
    proxies: Arc<[IpAddr]>,
}

struct Inner {
    console: ConsolePages<Grant>,
    sessions: Sessions,
    people: People,
    transcripts: Transcripts,
    about: RwLock<Arc<About>>,
    started_at: Moment,
    shutdown: CancellationToken,
}

impl HttpState {
    /// The parts of a gateway that begins now. Once `shutdown` is cancelled, which is the token that the server has, streams end.
    pub fn new(
        sessions: Sessions,
        people: People,
        transcripts: Transcripts,
        about: About,
        shutdown: CancellationToken,
    ) -> Self {
        let started_at = sessions.store().clock().now();
        let about = RwLock::new(Arc::new(about));
        let console = grants::pages(people.clone());
        let inner = Inner { console, sessions, people, transcripts, about, started_at, shutdown };
        Self {
            inner: Arc::new(inner),
            keep_alive: KEEP_ALIVE,
            rate: Arc::new(Rate::new(MAX_REQUESTS, REQUESTS)),
            max_sessions: MAX_SESSIONS,
            proxies: Arc::default(),
        }
    }

    /// The pages of the console.
    pub(super) fn console(&self) -> &ConsolePages<Grant> {
        &self.inner.console
    }

    /// Sets the time after which a stream without an event shows that it is alive, and ends if its token has expired; 15 seconds by default.
    #[must_use]
    pub fn with_keep_alive(self, keep_alive: Duration) -> Self {
        Self { keep_alive, ..self }
    }

    /// Sets the most requests of a person within ten seconds; 10,000 by default.
    #[must_use]
    pub fn with_max_requests(self, max_requests: u32) -> Self {
        Self { rate: Arc::new(Rate::new(max_requests, REQUESTS)), ..self }
    }

    /// Sets the most sessions that a person other than the owner begins; 1,000 by default.
    #[must_use]
    pub fn with_max_sessions(self, max_sessions: u64) -> Self {
        Self { max_sessions, ..self }
    }

    /// Sets the addresses of the proxies that say where a request came from; none by default.
    #[must_use]
    pub fn with_proxies(self, proxies: impl Into<Arc<[IpAddr]>>) -> Self {
        Self { proxies: proxies.into(), ..self }
    }

    pub(super) fn proxies(&self) -> &Arc<[IpAddr]> {
        &self.proxies
    }

    pub(super) fn max_sessions(&self) -> u64 {
        self.max_sessions
    }

    pub(super) fn rate(&self) -> &Arc<Rate> {
        &self.rate
    }

    pub(super) fn keep_alive(&self) -> Duration {
        self.keep_alive
    }

    /// Changes the facts, as after a reload of the configuration.
    pub fn set_about(&self, change: impl FnOnce(&mut About)) {
        let mut about = self.inner.about.write().unwrap_or_else(PoisonError::into_inner);
        change(Arc::make_mut(&mut about));
    }

    /// The facts.
    pub fn about(&self) -> Arc<About> {
        Arc::clone(&self.inner.about.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Faults: the problems of [`about`](Self::about), and budgets of people who are not there.
    pub async fn problems(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = self.about().problems.clone();
        let budgets = self.store().budgets();
        if !budgets.people.is_empty() {
            let people = self.store().people().await?;
            let is_nobodys = |name: &&String| !people.iter().any(|person| person.name == **name);
            let of_nobody = budgets.people.keys().filter(is_nobodys);
            problems.extend(of_nobody.map(|name| {
                format!("`budgets.people.{name}` limits nobody: there is no person `{name}`; check the name")
            }));
        }
        Ok(problems)
    }

    /// The sessions.
    pub fn sessions(&self) -> &Sessions {
        &self.inner.sessions
    }

    /// The store.
    pub fn store(&self) -> &Store {
        self.inner.sessions.store()
    }

    /// The people.
    pub fn people(&self) -> &People {
        &self.inner.people
    }

    /// The transcripts of all sessions.
    pub fn transcripts(&self) -> &Transcripts {
        &self.inner.transcripts
    }

    /// When the gateway began.
    pub fn started_at(&self) -> Moment {
        self.inner.started_at
    }

    /// Cancelled when streams end.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.inner.shutdown
    }
}

impl fmt::Debug for HttpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpState").field("about", &self.about()).finish_non_exhaustive()
    }
}
