//! The services that the tools of a gateway call, in the host of its agents.

use std::sync::{Arc, OnceLock};

use builtin_tools::automation::{GatewayService, JobService};
use builtin_tools::messaging::MessageService;
use builtin_tools::nodes::NodeService;
use builtin_tools::sessions::SessionService;
use tokio::runtime::Handle;
use toolkit_channel::PlatformService;
use toolkit_host::{Host, HostBuilder};

use super::error::GatewayError;
use super::others::OwnersTools;
use super::process::Process;
use super::{follow, follow_people};
use crate::channels::ChannelMessages;
use crate::http::HttpState;
use crate::settings::{BudgetSettings, GatewaySettings, PeopleSettings, SessionSettings};
use crate::store::Store;
use crate::{Clients, Nodes, Questions, SessionTools, StoredJobs, StoredMeter};

/// The services of a gateway.
pub(super) struct Services {
    pub(super) store: Store,
    pub(super) questions: Questions,
    pub(super) session_tools: SessionTools,
    pub(super) clients: Clients,
    pub(super) nodes: Nodes,
    pub(super) messages: Option<ChannelMessages>,
    pub(super) process: Process,
    pub(super) owners_tools: OwnersTools,
    /// The parts that are there once it has begun.
    pub(super) state: Arc<OnceLock<(HttpState, Arc<Host>)>>,
}

impl Services {
    /// Builds the host. Must be called within a tokio runtime.
    pub(super) fn host(&self, host: HostBuilder) -> Result<Host, GatewayError> {
        let jobs = StoredJobs::new(self.store.clone()).with_sessions(self.session_tools.clone());
        let (reloaded, owners_tools) = (Arc::clone(&self.state), self.owners_tools.clone());
        let runtime = Handle::current();
        let host = host
            .approver(self.questions.clone())
            .with_toolkit(|toolkit| {
                let toolkit = match &self.messages {
                    Some(messages) => toolkit
                        .shared_service(Arc::new(messages.clone()) as Arc<dyn MessageService>)
                        .shared_service(Arc::new(messages.clone()) as Arc<dyn PlatformService>),
                    None => toolkit,
                };
                toolkit
                    .tool_source(self.clients.servers())
                    .ask_store(Arc::new(self.questions.clone()))
                    // An approver is not the owner, whose token is there.
                    .seal_data_dir()
                    .shared_service(Arc::new(jobs) as Arc<dyn JobService>)
                    .shared_service(Arc::new(self.session_tools.clone()) as Arc<dyn SessionService>)
                    .shared_service(Arc::new(self.process.clone()) as Arc<dyn GatewayService>)
                    .shared_service(Arc::new(self.nodes.clone()) as Arc<dyn NodeService>)
                    .uses_section(GatewaySettings::SECTION)
                    .uses_section(PeopleSettings::SECTION)
                    .uses_section(SessionSettings::SECTION)
                    .uses_section(BudgetSettings::SECTION)
            })
            .meter(StoredMeter::meter(self.store.clone()))
            .history(true)
            .background_tasks(true)
            .is_kept(is_kept(self.store.clone()))
            .on_reload(move |outcome| {
                match outcome {
                    Ok(reloaded) => tracing::info!(changed = ?reloaded, "the configuration was read anew"),
                    Err(error) => tracing::error!(%error, "a changed configuration is not used"),
                }
                if let Some((state, host)) = reloaded.get() {
                    owners_tools.follow(&host.configuration());
                    follow(state, host);
                    runtime.spawn(follow_people(state.clone(), Arc::clone(host)));
                }
            })
            .prepare()?;
        let owners_tools = self.owners_tools.clone();
        owners_tools.follow(host.configuration());
        Ok(host.with_toolkit(|toolkit| toolkit.inspector("gateway", owners_tools)).build()?)
    }
}

/// Keeps the transcripts of sessions: how long these are kept is a matter of the store.
fn is_kept(store: Store) -> impl Fn(&str) -> bool + Send + Sync + 'static {
    let runtime = Handle::current();
    move |transcript: &str| {
        let found = runtime.block_on(store.session_of_transcript(transcript.to_owned()));
        // Where the store cannot be read, nothing is removed.
        !matches!(found, Ok(None))
    }
}
