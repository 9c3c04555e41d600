//! The tools of a person's agent, without the agent: `/v1/tools`, `/v1/openapi.json`, `/mcp`, `/metrics` and `/v1/uploads`.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolkit::{CancellationToken, Toolkit};
use toolkit_mcp::{Answerers, HttpOptions, HttpService};
use toolkit_serve::Problem;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::{Request, State};
use toolkit_serve::axum::http::StatusCode;
use toolkit_serve::axum::middleware::{Next, from_fn_with_state};
use toolkit_serve::axum::response::{IntoResponse as _, Response};
use toolkit_serve::axum::routing::any;
use toolkit_web::{Access, Asking, Web, WebOptions};
use tower_service::Service as _;

use super::caller::Caller;
use super::persons_tools::PersonsTools;
use super::state::HttpState;
use super::{describing, metrics, uploads};
use crate::Clients;
use crate::measured::Measured;
use crate::store::Role;

/// The reason why a tool is not there for people other than the owner.
const NOT_FOR_OTHERS: &str = "it is for the owner of this gateway alone";

/// The parts of the routes of tools.
pub struct ToolRoutes {
    /// The toolkit of the agents.
    pub toolkit: Toolkit,
    /// The rights of people.
    pub tools: Arc<dyn PersonsTools>,
    /// Hosts, besides those of this machine, that requests may be for.
    pub hosts: Vec<String>,
    /// Origins of pages, besides those of this machine, that may send requests.
    pub origins: Vec<String>,
    /// The clients that are connected.
    pub clients: Clients,
    /// The counts of calls.
    pub measured: Measured,
    /// The data directory of the history whose calls the owner sees.
    pub history: Option<PathBuf>,
}

impl fmt::Debug for ToolRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRoutes").field("toolkit", &self.toolkit).finish_non_exhaustive()
    }
}

/// Returns the routes of tools, for [`service_with`](super::service_with).
pub fn tools(state: HttpState, parts: ToolRoutes) -> Router {
    let ToolRoutes { toolkit, tools, hosts, origins, clients, measured, history } = parts;
    let mut options = WebOptions::new().shutdown(state.shutdown().clone());
    options.history = history;
    let web = Web::new(toolkit.clone(), options);
    let mcp = Mcp {
        toolkit,
        tools: Arc::clone(&tools),
        hosts,
        origins,
        shutdown: state.shutdown().clone(),
        of_people: Arc::default(),
    };
    let about = describing::routes(web.clone());
    web.tool_routes()
        .merge(about)
        .layer(from_fn_with_state(Arc::clone(&tools), with_access))
        .merge(Router::new().route("/mcp", any(serve_mcp)).with_state(mcp))
        .merge(metrics::routes(state, clients, web, measured))
        .merge(uploads::routes(tools))
}

/// Adds the rights of a person to a request.
async fn with_access(
    State(tools): State<Arc<dyn PersonsTools>>,
    caller: Caller,
    mut request: Request,
    next: Next,
) -> Result<Response, Problem> {
    let access = access(tools, caller).await?;
    request.extensions_mut().insert(access);
    Ok(next.run(request).await)
}

/// The rights of a person over HTTP: each has one session for calls of tools, whose order, approvals and jobs are apart from those of the agent.
async fn access(tools: Arc<dyn PersonsTools>, caller: Caller) -> Result<Access, Problem> {
    let of_person = in_background(Arc::clone(&tools), caller.clone()).await?;
    let access = Access::new(client_of(&caller), of_person)
        .asking(Asking::Host)
        .answered_by(caller.name())
        .as_owner(caller.is_manager())
        .revoked_with(caller.0.role_revocation.clone());
    Ok(if caller.is_manager() { access } else { access.only_if(move |tool| tools.is_for_others(tool)) })
}

/// A client for each role: a token of a lesser one does not see what a greater one has.
fn client_of(caller: &Caller) -> String {
    format!("person {} as {}", caller.name(), caller.role().name())
}

async fn in_background(tools: Arc<dyn PersonsTools>, caller: Caller) -> Result<toolkit::Caller, Problem> {
    let found = tokio::task::spawn_blocking(move || tools.caller(&caller, None)).await;
    found.map_err(|_| Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the gateway stops"))?
}

/// The servers of MCP, one for each person and role.
#[derive(Clone)]
struct Mcp {
    toolkit: Toolkit,
    tools: Arc<dyn PersonsTools>,
    hosts: Vec<String>,
    origins: Vec<String>,
    shutdown: CancellationToken,
    of_people: Arc<Mutex<HashMap<String, (toolkit::Caller, HttpService)>>>,
}

impl Mcp {
    /// Returns the server of a person. People are as many as the owner has let in.
    async fn of(&self, caller: &Caller) -> Result<HttpService, Problem> {
        // With another agent, its tools are others.
        let key = format!("{}/{}", client_of(caller), caller.agent());
        let of_person = in_background(Arc::clone(&self.tools), caller.clone()).await?;
        // With another configuration its rights may be others, and the sessions of the earlier server are not there any more.
        if let Some((_, service)) = self.servers().get(&key).filter(|(before, _)| *before == of_person) {
            return Ok(service.clone());
        }
        let mut options = HttpOptions::new().allow_hosts(&self.hosts).allow_origins(&self.origins);
        options.shutdown = self.shutdown.clone();
        let answerers = if caller.role() == Role::User { Answerers::Host } else { Answerers::ClientOrHost };
        options.server =
            options.server.named("toolkit-gateway", env!("CARGO_PKG_VERSION")).answerers(answerers);
        if !caller.is_manager() {
            let tools = Arc::clone(&self.tools);
            options.server = options.server.tools(move |tool| tools.is_for_others(tool), NOT_FOR_OTHERS);
        }
        let service = HttpService::new(self.toolkit.clone(), of_person.clone(), options);
        let mut servers = self.servers();
        match servers.get(&key) {
            // Another request was first.
            Some((before, service)) if *before == of_person => Ok(service.clone()),
            _ => {
                servers.insert(key, (of_person, service.clone()));
                Ok(service)
            }
        }
    }

    fn servers(&self) -> MutexGuard<'_, HashMap<String, (toolkit::Caller, HttpService)>> {
        self.of_people.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve_mcp(
    State(mcp): State<Mcp>,
    caller: Caller,
    mut request: Request,
) -> Result<Response, Problem> {
    let mut service = mcp.of(&caller).await?;
    // All that is begun in a role ends with it.
    request.extensions_mut().insert(caller.0.role_revocation.clone());
    let answer = match service.call(request).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    Ok(answer.into_response())
}
