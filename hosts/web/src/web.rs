//! The tools of a toolkit for clients over HTTP.

use crate::access::{Access, Asking};
use crate::clients::{Client, Clients};
use crate::metrics::Metrics;
use crate::options::WebOptions;
use std::fmt;
use std::sync::Arc;
use toolkit::{Toolbox, Toolkit};
use toolkit_serve::Problem;

/// The reason why a tool is not there for a client that is limited to others.
const NOT_FOR_CLIENT: &str = "it is not among the tools of this client";

/// The reason why questions are denied, and the way out.
pub(crate) const NOBODY: &str = "this server asks nobody for approval over HTTP; its owner can turn on questions, or allow the action in the configuration";

/// Serves the tools of a toolkit to clients over HTTP. Cheap to clone.
///
/// ```
/// use toolkit::Toolkit;
/// use toolkit_web::{Web, WebOptions};
///
/// # fn main() -> Result<(), toolkit::BuildError> {
/// let web = Web::new(Toolkit::empty().build()?, WebOptions::new());
/// // A host with clients of its own adds an `Access` to each request of these routes.
/// let router = web.tool_routes();
/// # drop(router);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Web {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) toolkit: Toolkit,
    pub(crate) options: WebOptions,
    pub(crate) clients: Arc<Clients>,
    pub(crate) metrics: Arc<Metrics>,
    /// Held while the history is read.
    pub(crate) reading: tokio::sync::Mutex<()>,
}

impl Web {
    /// Creates the service of a toolkit.
    pub fn new(toolkit: Toolkit, options: WebOptions) -> Self {
        let clients = Clients::new(toolkit.clone(), options.max_calls, options.idle);
        Self {
            inner: Arc::new(Inner {
                toolkit,
                options,
                clients,
                metrics: Arc::default(),
                reading: tokio::sync::Mutex::default(),
            }),
        }
    }

    /// Returns the options.
    pub fn options(&self) -> &WebOptions {
        &self.inner.options
    }
}

impl Inner {
    /// Returns the tools of a client, in its session.
    pub(crate) async fn toolbox(&self, access: &Access, client: &Client) -> Toolbox {
        let mut caller = client.caller(access);
        if access.mode() == Asking::Off {
            caller.unattended.get_or_insert_with(|| NOBODY.to_owned());
        }
        if access.is_limited() {
            self.toolkit.toolbox_of(&caller, |tool| access.admits(tool), NOT_FOR_CLIENT).await
        } else {
            self.toolkit.toolbox(&caller).await
        }
    }

    pub(crate) async fn toolbox_of(&self, access: &Access) -> Result<Toolbox, Problem> {
        let client = self.clients.of(access)?;
        Ok(self.toolbox(access, &client).await)
    }

    /// Returns false for a tool that a client is limited not to use: it is as unknown as one that is not there.
    pub(crate) fn is_visible(&self, toolbox: &Toolbox, access: &Access, name: &str) -> bool {
        if !access.is_limited() || toolbox.tool(name).is_some() {
            return true;
        }
        match self.toolkit.tool(name) {
            Some(tool) => access.admits(&tool),
            // The reason why there is none is told of a tool that the client may use.
            None => access.names(name),
        }
    }
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("options", &self.inner.options).finish_non_exhaustive()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").finish_non_exhaustive()
    }
}
