//! A server of the configuration, and the task that maintains the connection to it.
//!
//! ```text
//! keep ── connect ── list ── tools are there ──┬── its list changes → list again
//!   ↑        │         │                       └── the connection ends ┐
//!   └────────┴─────────┴── wait, longer each time; a call ends that ────┘
//! ```

use super::connect::{self, Target};
use super::follow::{self, Begun, GOOD, LONGEST_WAIT, Refused, Shelf};
use super::known::Known;
use super::launch;
use super::options::ClientOptions;
use super::programs::Trusted;
use super::resources::Resources;
use super::server::{FIRST_WAIT, Identity, Server, State};
use crate::settings::McpServerSettings;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use toolkit::{Tool, descriptor::Source, registry::WeakToolkit, text::escape_line};

/// A server of the configuration.
#[derive(Debug)]
pub(super) struct Configured {
    server: Arc<Server>,
    pub(super) target: Target,
    /// Tools for the resources of all servers.
    resources: Arc<Resources>,
    toolkit: OnceLock<WeakToolkit>,
}

impl Deref for Configured {
    type Target = Arc<Server>;

    fn deref(&self) -> &Arc<Server> {
        &self.server
    }
}

impl Shelf for Configured {
    fn put(&self, tools: Vec<Tool>) -> Vec<Refused> {
        let Some(toolkit) = self.toolkit.get().and_then(WeakToolkit::upgrade) else { return Vec::new() };
        let errors = toolkit.replace_source(&self.server.source, tools);
        let refused =
            errors.iter().map(|error| Refused { tool: error.tool().to_owned(), why: error.to_string() });
        refused.collect()
    }
}

impl Configured {
    pub(super) fn new(
        name: &str,
        prefix: String,
        settings: McpServerSettings,
        (trusted, named_by): (Option<Trusted>, &str),
        options: Arc<ClientOptions>,
        resources: Arc<Resources>,
    ) -> Arc<Self> {
        let identity = Identity {
            name: name.into(),
            source: Source::mcp(name),
            prefix,
            launch: launch::condition(name, &settings, named_by),
            timeout: Duration::from_millis(settings.timeout_ms()),
            address: match &settings {
                McpServerSettings::Url(url) => Some(url.url.clone()),
                _ => None,
            },
            workspace: Some(options.workspace.clone()),
            may_ask: true,
            deferred: None,
        };
        let known = Known::of(options.data_dir.as_deref(), name);
        let target = Target::new(&identity.name, settings, trusted, &options);
        let server = Server::new(identity, known, options);
        Arc::new(Self { server, target, resources, toolkit: OnceLock::new() })
    }

    /// The toolkit that its tools are registered with, from the first time on.
    pub(super) fn is_of(&self, toolkit: WeakToolkit) {
        let _ = self.toolkit.set(toolkit);
    }

    /// Keeps the connection, until the toolkit is gone.
    pub(super) async fn keep(self: Arc<Self>) {
        let mut wait = FIRST_WAIT;
        while self.toolkit.get().is_some_and(|toolkit| toolkit.upgrade().is_some()) {
            self.server.set_state(State::Starting);
            let begun = Instant::now();
            let why = match timeout(self.server.options.start_within, Box::pin(self.begun())).await {
                Ok(Ok(begun)) => follow::attend(&self.server, begun, &*self).await,
                Ok(Err(why)) => why,
                Err(_) => format!("it did not answer within {:?}", self.server.options.start_within),
            };
            let shown = escape_line(&self.server.without_address(why.clone())).into_owned();
            self.server.tell(why);
            self.server.set_state(State::Failed { why: shown });
            if begun.elapsed() >= GOOD {
                wait = FIRST_WAIT;
            }
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.server.needed.notified() => {}
            }
            wait = LONGEST_WAIT.min(wait * 2);
        }
    }

    /// Connects, and lists the tools.
    async fn begun(&self) -> Result<Begun, String> {
        let connection = Box::pin(connect::connect(&self.server, &self.target)).await?;
        let begun = follow::begin(&self.server, connection, self).await?;
        if begun.connection.about.has_resources()
            && let Some(toolkit) = self.toolkit.get().and_then(WeakToolkit::upgrade)
            && let Err(problem) = self.resources.add(&self.server, &toolkit)
        {
            self.server.tell(problem);
        }
        Ok(begun)
    }
}
