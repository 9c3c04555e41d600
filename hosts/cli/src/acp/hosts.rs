//! The hosts of an editor's sessions: those in one workspace with one configuration share a host.

use crate::config;
use crate::exit::Stop;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use toolkit::bootstrap::ConfigurationFollower;
use toolkit::config::{Configuration, LoadOptions};
use toolkit::{Builder, Caller};
use toolkit_agent::acp::AcpSetup;
#[cfg(feature = "mcp")]
use toolkit_host::servers_of_editor;
use toolkit_host::{Host, HostError};

/// The time for the calls and services of a host to be closed at its end.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Starts the hosts of sessions.
pub(super) struct Hosts {
    toolkit: Builder,
    load: LoadOptions,
    caller: Caller,
    workspaces: Mutex<HashMap<PathBuf, Weak<Workspace>>>,
}

/// A workspace in which sessions are open.
struct Workspace {
    follower: ConfigurationFollower,
    /// The host that was started last for sessions that bring nothing of their own.
    shared: Mutex<Weak<SessionHost>>,
}

/// The host of some sessions.
pub(super) struct SessionHost {
    host: Host,
    /// The configuration with which it was started. A reload does not change all that was made of it.
    started_with: Configuration,
    /// The directory of the workspace when it was started; `None` if there was none.
    directory: Option<Directory>,
    /// Kept for the next session.
    _workspace: Arc<Workspace>,
}

/// A directory, whatever its path leads to later.
#[derive(Debug, PartialEq, Eq)]
struct Directory {
    path: PathBuf,
    #[cfg(unix)]
    file: (u64, u64),
}

impl Directory {
    fn at(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        #[cfg(unix)]
        let file = {
            use std::os::unix::fs::MetadataExt as _;
            let metadata = path.metadata().ok()?;
            (metadata.dev(), metadata.ino())
        };
        Some(Self {
            path,
            #[cfg(unix)]
            file,
        })
    }
}

impl Hosts {
    pub(super) fn new(toolkit: Builder, load: LoadOptions, mut caller: Caller) -> Self {
        caller.session_id = None;
        Self { toolkit, load, caller, workspaces: Mutex::default() }
    }

    /// Returns the host of a session: that of other sessions of its workspace if the configuration is still the one with which it was
    /// started, and the directory the same, or else a new one. A session with MCP servers has a host of its own: no other session may see the
    /// tools of its editor's servers, and a server of the configuration may ask only within the session that uses it.
    pub(super) fn of_session(&self, setup: &AcpSetup) -> Result<Arc<SessionHost>, Stop> {
        let load = self.load.clone().workspace(&setup.workspace);
        let workspace = self.workspace(&setup.workspace, &load);
        let may_share = setup.mcp_servers.is_empty();
        let directory = Directory::at(&setup.workspace);
        let mut shared = locked(&workspace.shared);
        if may_share
            && directory.is_some()
            && let Some(host) = shared.upgrade()
            && host.directory == directory
        {
            let configuration = Configuration::load(load.clone()).map_err(HostError::from)?;
            // A change that was taken back meanwhile may still be in effect there.
            let in_effect = [&host.started_with, &host.host.configuration()];
            if in_effect.into_iter().all(|other| other.is_same_as(&configuration)) {
                return Ok(host);
            }
        }
        let host = Host::builder(load)
            .toolkit(self.toolkit.clone())
            .caller(self.caller.clone().with_workspace(&setup.workspace))
            .follower(workspace.follower.clone())
            .on_reload(config::report_reload)
            .on_history_problem(config::warn);
        #[cfg(feature = "mcp")]
        let host = host.further_mcp_servers(servers_of_editor(&setup.mcp_servers));
        let prepared = host.prepare()?;
        let started_with = prepared.configuration().clone();
        let host = prepared.build()?;
        #[cfg(feature = "mcp")]
        let may_share = may_share && host.mcp_servers().is_empty();
        let host =
            Arc::new(SessionHost { host, started_with, directory, _workspace: Arc::clone(&workspace) });
        if may_share {
            *shared = Arc::downgrade(&host);
        }
        Ok(host)
    }

    fn workspace(&self, path: &Path, load: &LoadOptions) -> Arc<Workspace> {
        let mut workspaces = locked(&self.workspaces);
        workspaces.retain(|_, workspace| workspace.strong_count() > 0);
        if let Some(workspace) = workspaces.get(path).and_then(Weak::upgrade) {
            return workspace;
        }
        let follower = ConfigurationFollower::new(load.clone());
        let workspace = Arc::new(Workspace { follower, shared: Mutex::default() });
        workspaces.insert(path.to_owned(), Arc::downgrade(&workspace));
        workspace
    }
}

impl SessionHost {
    pub(super) fn host(&self) -> &Host {
        &self.host
    }

    /// Ends the use of one session. The last one shuts the host down.
    pub(super) async fn leave(self: Arc<Self>) {
        if let Some(last) = Arc::into_inner(self) {
            last.host.shutdown(SHUTDOWN).await;
        }
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
