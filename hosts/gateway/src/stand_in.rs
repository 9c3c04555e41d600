//! The store of a gateway that does not run, behind the same interface.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_agent::Agent;
use toolkit_host::transcripts_of;
use toolkit_serve::axum::Router;

use crate::client::{ClientError, GatewayClient};
use crate::gateway::{GatewayError, agent_names};
use crate::http::{self, About, AgentInfo, HttpState};
use crate::people::People;
use crate::sessions::{AgentError, Sessions};
use crate::settings::GatewaySettings;
use crate::store::{SessionRecord, Store, StoreOptions};
use crate::{Nodes, Questions, SessionsOptions};

/// The store in a data directory that no gateway uses, behind the routes of a gateway: nothing runs in it, and messages wait. It listens on a free port of this
/// machine until it is closed.
pub struct StandIn {
    store: Store,
    shutdown: CancellationToken,
    serving: Mutex<Option<JoinHandle<()>>>,
}

impl StandIn {
    /// Opens the store in the data directory of these sources, and returns a client of it, as its owner. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// A gateway uses the data directory, or the store cannot be used.
    pub async fn open(load: LoadOptions) -> Result<(Self, GatewayClient), GatewayError> {
        let data_dir = load.data_dir_path().ok_or(GatewayError::NoDataDirectory)?.to_owned();
        let configuration = Configuration::load(load).map_err(GatewayError::Configuration)?;
        let store = Store::open(&data_dir, StoreOptions::new()).await.map_err(GatewayError::Store)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let cannot_listen = |reason| GatewayError::Address { address, reason };
        let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;

        let people = People::open(store.clone(), &GatewaySettings::of(&configuration).agent).await?;
        let token = people.owner_token_file();
        let token = std::fs::read_to_string(&token)
            .map_err(|reason| GatewayError::Client(ClientError::File { path: token, reason }))?;
        let client = GatewayClient::new(address, token.trim()).map_err(GatewayError::Client)?;
        let sessions = Sessions::at_rest(store.clone(), NoAgents, SessionsOptions::new());
        let transcripts = transcripts_of(&data_dir);
        let questions = Questions::new(store.clone(), transcripts.clone());
        let agents = agent_names(&configuration).into_iter();
        let agents = agents.map(|id| AgentInfo { id, description: None, model: None }).collect();
        let about = About { agents, problems: vec!["no gateway runs".to_owned()], ..About::default() };
        let nodes = Nodes::open(store.clone(), &data_dir).await.map_err(GatewayError::Key)?;
        let shutdown = CancellationToken::new();
        let state = HttpState::new(sessions, people, transcripts, about, shutdown.clone());
        let more = Router::new()
            .merge(http::asks(state.clone(), questions))
            .merge(http::nodes(nodes))
            .merge(http::operation(state.clone(), CancellationToken::new()));
        let serving = toolkit_serve::serve(listener, http::service_with(state, more), shutdown.clone());
        let serving = tokio::spawn(async move {
            let _ = serving.await;
        });
        Ok((Self { store, shutdown, serving: Mutex::new(Some(serving)) }, client))
    }

    /// Closes the store.
    pub async fn close(self) {
        self.shutdown.cancel();
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(serving) = serving {
            let _ = serving.await;
        }
        self.store.close().await;
    }
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StandIn").finish_non_exhaustive()
    }
}

/// Nothing runs, so no agent is asked for.
struct NoAgents;

impl crate::Agents for NoAgents {
    fn agent(&self, _: &SessionRecord) -> Result<Agent, AgentError> {
        Err(AgentError("no gateway runs".to_owned()))
    }
}
