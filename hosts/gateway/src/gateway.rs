//! The whole of a gateway: from a configuration to a process in which agents live.

mod agents;
mod budgets;
mod directory;
mod error;
mod listening;
mod media;
mod others;
mod persons_tools;
mod process;
mod services;
mod tool_jobs;
mod upkeep;
mod workspaces;

pub(crate) use agents::names as agent_names;
pub use error::GatewayError;

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_host::{Host, HostBuilder, transcripts_of};
use toolkit_serve::axum::Router;

use toolkit_channel::Account;

use crate::address_file::AddressFile;
use crate::channels::{self, AccountSender, AtWork, ChannelMessages, ChannelSettings, Workspaces};
use crate::http::{self, About, HttpState, ToolRoutes};
use crate::measured::Measured;
use crate::settings::{GatewaySettings, SessionSettings};
use crate::store::{SessionRecord, Store, StoreOptions};
use crate::{
    Agents as _, Channels, ClientLimits, Clients, Clock, LocalChannel, Nodes, Outbox, People, Questions,
    Schedules, SendChannel, SessionTools, Sessions, SessionsOptions,
};
use agents::ConfiguredAgents;
use directory::HostDirectory;
use listening::Listening;
use media::ReadingTools;
use others::OwnersTools;
use persons_tools::CallersOfPeople;
use process::Process;
use services::Services;
use tool_jobs::ConfiguredTools;

/// Time for calls, hooks and MCP servers at the end.
const SHUTDOWN: Duration = Duration::from_secs(5);

/// Settings of a gateway besides its configuration.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The address, in place of the configured one.
    pub address: Option<SocketAddr>,
    /// The version of the program, as its status tells it.
    pub version: String,
    /// Channels besides `local`.
    pub channels: Vec<Arc<dyn SendChannel>>,
    /// Accounts of chat channels, besides those of the configuration.
    pub accounts: Vec<Account>,
    /// The clock, in place of the system's.
    pub clock: Option<Clock>,
    /// The limits of clients and of their sockets.
    pub clients: ClientLimits,
}

impl GatewayOptions {
    /// The configured address, and the channel `local` alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the address.
    #[must_use]
    pub fn address(self, address: impl Into<Option<SocketAddr>>) -> Self {
        Self { address: address.into(), ..self }
    }

    /// Sets the version of the program.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        Self { version: version.into(), ..self }
    }

    /// Takes times from another clock than the system's.
    #[must_use]
    pub fn clock(self, clock: impl Into<Option<Clock>>) -> Self {
        Self { clock: clock.into(), ..self }
    }

    /// Sets the limits of clients and of their sockets.
    #[must_use]
    pub fn clients(self, clients: ClientLimits) -> Self {
        Self { clients, ..self }
    }

    /// Adds an account of a chat channel.
    #[must_use]
    pub fn account(mut self, account: Account) -> Self {
        self.accounts.push(account);
        self
    }

    /// Adds a channel.
    #[must_use]
    pub fn channel(mut self, channel: impl SendChannel) -> Self {
        self.channels.push(Arc::new(channel));
        self
    }
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("address", &self.address)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A gateway that runs. It ends with [`stop`](Self::stop).
pub struct Gateway {
    host: Arc<Host>,
    state: HttpState,
    schedules: Schedules,
    channels: Channels,
    outbox: Outbox,
    address: SocketAddr,
    local_address: SocketAddr,
    _address_file: AddressFile,
    serving: Mutex<Option<JoinHandle<()>>>,
    /// Cancelled when the HTTP server ends.
    shutdown: CancellationToken,
    /// Cancelled when the owner asks it to stop.
    stop_asked: CancellationToken,
    /// Cancelled when an agent asks it to restart.
    restart_asked: CancellationToken,
    _upkeep: AbortOnDropHandle<()>,
    _expiry: AbortOnDropHandle<()>,
}

impl Gateway {
    /// Starts a gateway with these sources of configuration and this host, which gets the workspace of the first agent and the parts that a
    /// gateway needs. Its file, tokens and transcripts are in the data directory of the sources. Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// There is no data directory; another gateway uses it; the store cannot be used; the configuration is wrong; or the address cannot be
    /// listened on.
    pub async fn start(
        load: LoadOptions,
        host: impl FnOnce(LoadOptions) -> HostBuilder,
        options: GatewayOptions,
    ) -> Result<Self, GatewayError> {
        let data_dir = load.data_dir_path().ok_or(GatewayError::NoDataDirectory)?.to_owned();
        // Read once before the store is opened: a wrong configuration stops the start whatever else is wrong.
        let first = Configuration::load(load.clone()).map_err(GatewayError::Configuration)?;
        let settings = GatewaySettings::of(&first);
        let listen_on = options.address.unwrap_or(settings.address);
        listening::check(listen_on, &settings)?;
        let sessions_settings = SessionSettings::of(&first);
        let mut accounts = channels::open(&first).map_err(|error| GatewayError::Channel(error.0))?;
        accounts.extend(options.accounts.iter().cloned());
        let load = if settings.uncontained_commands { load } else { contained(load) };
        let budgets = budgets::of(&first)?;
        let mut store_options = StoreOptions::new()
            .with_max_queued(sessions_settings.max_queued)
            .with_parts(channels::parts_of(&accounts));
        if let Some(clock) = &options.clock {
            store_options = store_options.with_clock(clock.clone());
        }
        let store = Store::open(&data_dir, store_options).await.map_err(GatewayError::Store)?;
        store.set_budgets(budgets);
        let started =
            Self::start_on(store.clone(), load, host, options, (listen_on, settings, accounts)).await;
        if started.is_err() {
            // The directory is free for another try.
            store.close().await;
        }
        started
    }

    async fn start_on(
        store: Store,
        load: LoadOptions,
        host: impl FnOnce(LoadOptions) -> HostBuilder,
        options: GatewayOptions,
        (listen_on, first_settings, accounts): (SocketAddr, GatewaySettings, Vec<Account>),
    ) -> Result<Self, GatewayError> {
        let data_dir = load.data_dir_path().ok_or(GatewayError::NoDataDirectory)?.to_owned();
        // Before anything runs: where the port is taken, nothing has begun.
        let listening = Listening::bind(listen_on, &first_settings).await?;
        let (address, local_address) = (listening.address, listening.local_address);
        let address_file = AddressFile::write(&data_dir, local_address).map_err(GatewayError::AddressFile)?;

        // How the requests of an ended process ended is not known.
        store.settle_open_requests().await.map_err(GatewayError::Store)?;
        let transcripts = transcripts_of(&data_dir);
        let questions = Questions::new(store.clone(), transcripts.clone());
        let [shutdown, stop_asked, restart_asked] = [(); 3].map(|()| CancellationToken::new());
        let session_tools = SessionTools::new(store.clone(), transcripts.clone());
        let clients = Clients::new(store.clone(), options.clients);
        let nodes = Nodes::open(store.clone(), &data_dir).await.map_err(GatewayError::Key)?;
        // Without an account there is nobody to write to.
        let messages =
            (!accounts.is_empty()).then(|| ChannelMessages::new(store.clone(), accounts.clone(), &data_dir));
        let state = Arc::default();
        let owners_tools = OwnersTools::default();
        let services = Services {
            store: store.clone(),
            questions: questions.clone(),
            session_tools: session_tools.clone(),
            clients: clients.clone(),
            owners_tools: owners_tools.clone(),
            nodes: nodes.clone(),
            messages: messages.clone(),
            process: Process::new(store.clone(), Arc::clone(&state), restart_asked.clone()),
            state,
        };
        let host = Arc::new(services.host(host(load))?);
        let measured = Measured::calls_of(host.toolkit());
        let state = services.state;
        let settings = GatewaySettings::of(&host.configuration());

        let people = People::open(store.clone(), &settings.agent).await?;
        crate::people::configure(&people, &host.configuration())
            .await
            .map_err(GatewayError::ConfiguredPeople)?;
        let expiring = people.clone();
        let senders = senders(options.channels, &accounts, &data_dir);
        let outbox = Outbox::start(store.clone(), senders).await.map_err(GatewayError::Store)?;
        questions.begin().await.map_err(GatewayError::Store)?;
        // From here on runs go on: nothing that follows fails, but for the schedules.
        let agents = Arc::new(ConfiguredAgents::new(
            Arc::clone(&host),
            store.clone(),
            data_dir.clone(),
            (session_tools.clone(), owners_tools.clone()),
        ));
        let of_agents = Arc::clone(&agents);
        let of_agents = move |session: &SessionRecord| of_agents.agent(session);
        let options_of_sessions = sessions_options(&SessionSettings::of(&host.configuration()));
        let sessions = Sessions::start(store.clone(), of_agents, options_of_sessions).await;
        let sessions = sessions.map_err(GatewayError::Store)?;
        questions.give_slots_of(&sessions);
        session_tools.begin(&sessions, HostDirectory::new(&host));
        clients.begin(host.toolkit(), &sessions, shutdown.clone());
        nodes.begin(host.toolkit(), shutdown.clone());
        let jobs = ConfiguredTools::new(Arc::clone(&agents), store.clone());
        let schedules = match Schedules::start(sessions.clone(), jobs).await {
            Ok(schedules) => schedules,
            Err(error) => {
                let _ = sessions.stop(Duration::ZERO).await;
                return Err(GatewayError::Store(error));
            }
        };

        let of_channels = of_channels(&sessions, &questions, &agents, &host);
        let connected = begin_channels(&store, accounts, &of_channels, messages.as_ref());
        let about = About { version: options.version, ..About::default() };
        let http_state = HttpState::new(sessions, people, transcripts, about, shutdown.clone())
            .with_proxies(settings.proxies.clone());
        let _ = state.set((http_state.clone(), Arc::clone(&host)));
        // After it can be told of a reload, so that none is missed.
        follow(&http_state, &host);
        follow_people(http_state.clone(), Arc::clone(&host)).await;
        let tool_routes = ToolRoutes {
            toolkit: host.toolkit().clone(),
            tools: Arc::new(CallersOfPeople::new(agents, owners_tools)),
            hosts: hosts(&settings, address),
            origins: settings.origins.clone(),
            clients: clients.clone(),
            measured,
            history: Some(data_dir.clone()),
        };
        let more =
            routes(&http_state, &host, questions, &connected, (clients, nodes), tool_routes, &stop_asked);
        let service = service(&http_state, more, &settings, address);
        let serving = listening.serve(service, shutdown.clone());
        Ok(Self {
            host,
            state: http_state,
            schedules,
            channels: connected,
            outbox,
            address,
            local_address,
            _address_file: address_file,
            serving: Mutex::new(Some(serving)),
            shutdown,
            stop_asked,
            restart_asked,
            _upkeep: AbortOnDropHandle::new(tokio::spawn(upkeep::clean_up(store))),
            _expiry: AbortOnDropHandle::new(tokio::spawn(upkeep::end_expired(expiring))),
        })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address for programs of this machine, without TLS; that of [`address`](Self::address) if TLS is not configured.
    pub fn local_address(&self) -> SocketAddr {
        self.local_address
    }

    /// The parts that its routes use.
    pub fn state(&self) -> &HttpState {
        &self.state
    }

    /// The host of its agents.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The file of the owner's token.
    pub fn owner_token_file(&self) -> PathBuf {
        self.state.people().owner_token_file()
    }

    /// The directory of the workspaces of agents that have none in the configuration.
    pub fn workspaces(data_dir: &Path) -> PathBuf {
        workspaces::directory(data_dir)
    }

    /// Waits until the owner asks it to stop, over HTTP, or an agent asks it to restart.
    pub async fn stop_asked(&self) {
        tokio::select! {
            () = self.stop_asked.cancelled() => {}
            () = self.restart_asked.cancelled() => {}
        }
    }

    /// Returns true if an agent asked it to restart, and the owner has not asked it to stop.
    pub fn wants_restart(&self) -> bool {
        self.restart_asked.is_cancelled() && !self.stop_asked.is_cancelled()
    }

    /// Begins nothing more, lets runs under way end within a time, and interrupts the rest, which go on at the next start. Then everything
    /// is closed. Returns true if whoever runs it is to start another one: an agent asked it to restart, and the owner did not ask it to stop, not
    /// even while runs ended.
    ///
    /// # Errors
    ///
    /// The store could not note that the stop was planned; everything was closed all the same.
    pub async fn stop(self, within: Duration) -> Result<bool, GatewayError> {
        self.channels.stop(within).await;
        self.schedules.stop(within).await;
        let planned = self.state.sessions().stop(within).await;
        self.outbox.stop(SHUTDOWN).await;
        self.shutdown.cancel();
        let serving = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(serving) = serving {
            let _ = serving.await;
        }
        self.host.shutdown(SHUTDOWN).await;
        self.state.store().close().await;
        planned.map_err(GatewayError::Store)?;
        Ok(self.wants_restart())
    }
}

impl fmt::Debug for Gateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway").field("address", &self.address).finish_non_exhaustive()
    }
}

fn sessions_options(settings: &SessionSettings) -> SessionsOptions {
    let SessionSettings { max_runs, max_resumptions, steer, max_idle, .. } = *settings;
    SessionsOptions::new().max_runs(max_runs).max_resumptions(max_resumptions).steer(steer).max_idle(max_idle)
}

/// Returns the service with further routes, for the hosts and pages that may call it.
fn service(
    state: &HttpState,
    more: Router,
    settings: &GatewaySettings,
    address: SocketAddr,
) -> http::Service {
    http::service_with(state.clone(), more).hosts(hosts(settings, address)).origins(&settings.origins)
}

/// The hosts, besides those of this machine, that requests may be for.
fn hosts(settings: &GatewaySettings, address: SocketAddr) -> Vec<String> {
    let mut hosts = settings.hosts.clone();
    if !address.ip().is_loopback() && !address.ip().is_unspecified() {
        hosts.push(match address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        });
    }
    hosts
}

/// Has commands run in the sandbox or not at all, whatever the configuration says: it hides the data directory from them.
fn contained(load: LoadOptions) -> LoadOptions {
    load.set("tools.exec.enableSandbox=true").set("tools.exec.sandbox=required")
}

/// The routes besides those of [`service`](http::service).
fn routes(
    state: &HttpState,
    host: &Arc<Host>,
    questions: Questions,
    channels: &Channels,
    (clients, nodes): (Clients, Nodes),
    tools: ToolRoutes,
    stop_asked: &CancellationToken,
) -> Router {
    Router::new()
        .merge(http::asks(state.clone(), questions))
        .merge(http::channels(state.clone(), channels.clone()))
        .merge(http::configuration(Arc::clone(host)))
        .merge(http::clients_and_nodes(state.clone(), clients, nodes.clone()))
        .merge(http::nodes(nodes))
        .merge(http::tools(state.clone(), tools))
        .merge(http::operation(state.clone(), stop_asked.clone()))
}

/// All that sends: further channels, the gateway's own one, and the accounts.
fn senders(
    mut channels: Vec<Arc<dyn SendChannel>>,
    accounts: &[Account],
    data_dir: &Path,
) -> Vec<Arc<dyn SendChannel>> {
    channels.push(Arc::new(LocalChannel));
    for account in accounts {
        channels.push(Arc::new(AccountSender::new(account, data_dir)));
    }
    channels
}

/// Lets accounts receive, and tools send through them.
fn begin_channels(
    store: &Store,
    accounts: Vec<Account>,
    at_work: &AtWork,
    messages: Option<&ChannelMessages>,
) -> Channels {
    if let Some(messages) = messages {
        messages.begin(Arc::clone(&at_work.settings));
    }
    Channels::begin(store.clone(), accounts, at_work)
}

/// The parts that channels use.
fn of_channels(
    sessions: &Sessions,
    questions: &Questions,
    agents: &Arc<ConfiguredAgents>,
    host: &Arc<Host>,
) -> AtWork {
    AtWork {
        sessions: sessions.clone(),
        questions: questions.clone(),
        workspaces: Arc::clone(agents) as Arc<dyn Workspaces>,
        readers: Arc::new(ReadingTools(Arc::clone(agents))),
        reads: Arc::default(),
        settings: settings_of_channels(Arc::clone(host)),
    }
}

/// Reads what the configuration of now says about channels.
fn settings_of_channels(host: Arc<Host>) -> Arc<dyn Fn() -> ChannelSettings + Send + Sync> {
    Arc::new(move || {
        let GatewaySettings { agent, groups, .. } = GatewaySettings::of(&host.configuration());
        ChannelSettings { agent, groups }
    })
}

/// One change after the other: the newest configuration is read in turn.
static FOLLOWING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Uses the people of the configuration of now.
async fn follow_people(state: HttpState, host: Arc<Host>) {
    let _turn = FOLLOWING.lock().await;
    let configuration = host.configuration();
    if let Err(error) = crate::people::configure(state.people(), &configuration).await {
        tracing::error!(%error, "the people of a changed configuration are not used");
        if let Err(error) = crate::people::keep_named(state.people(), &configuration).await {
            tracing::error!(%error, "identities that are named no more still count");
        }
        state.set_about(|about| {
            about.problems.push(format!(
                "the people of before still count, but for identities that are named no more: {error}"
            ));
        });
    }
}

/// Uses the configuration of now.
fn follow(state: &HttpState, host: &Host) {
    let (agents, mut problems) = agents::listed(host);
    match budgets::of(&host.configuration()) {
        Ok(budgets) => {
            if let Ok(models) = host.models() {
                problems.extend(budgets::problems(&budgets, &models));
            }
            state.store().set_budgets(budgets);
        }
        Err(error) => problems.push(format!("the budgets of before still count: {error}")),
    }
    state.set_about(|about| {
        about.agents = agents;
        about.problems = problems;
    });
}
