//! The gateway over HTTP: JSON, event streams, and problem details for every error.
//!
//! ```text
//! Addressed            refuses other hosts, and pages of other origins
//!   └─ WithConsole     answers with the page of the console and its files, which need no token
//!        └─ Authenticated   finds the person of the token, and limits their requests; what is begun with a token ends with it
//!             └─ Bounded    limits bodies, and the requests and streams that a person has open
//!                  └─ one router for each resource
//! ```
//!
//! ```
//! use tokio_util::sync::CancellationToken;
//! use toolkit_agent::Transcripts;
//! use toolkit_gateway::http::{About, HttpState, service};
//! use toolkit_gateway::{AgentError, People, SessionRecord, Sessions, SessionsOptions, Store, StoreOptions};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let store = Store::open(directory, StoreOptions::new()).await?;
//! let people = People::open(store.clone(), "main").await?;
//! // In place of agents of the configuration.
//! let agents = |_: &SessionRecord| Err(AgentError("no agent is configured".to_owned()));
//! let sessions = Sessions::start(store, agents, SessionsOptions::new()).await?;
//! let shutdown = CancellationToken::new();
//! let transcripts = Transcripts::new(directory.join("transcripts"));
//! let state = HttpState::new(sessions, people, transcripts, About::default(), shutdown.clone());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # shutdown.cancel();
//! toolkit_serve::serve(listener, service(state), shutdown).await?;
//! # Ok(()) }
//! ```
//!
//! `GET /healthz` alone needs no token, and `/ws`, if it is there, takes it in the first frame. What a person may not see is not found, as if it were not there. Times are milliseconds since 1970.

mod agents;
mod asks;
mod authenticated;
mod body;
mod budgets;
mod caller;
mod calls;
mod channels;
mod client_address;
mod configuration;
mod console;
mod describing;
mod errors;
mod events;
mod grants;
mod health;
mod inbox;
mod live;
mod messages;
mod metrics;
mod nodes;
mod operation;
mod outbox;
mod pairings;
mod people;
mod persons_tools;
mod rate;
mod schedules;
mod session_paths;
mod sessions;
mod state;
mod tokens;
mod tools;
mod uploads;
mod websocket;

pub use asks::asks;
pub use authenticated::Authenticated;
pub use caller::Caller;
pub use channels::channels;
pub use client_address::ClientAddress;
pub use configuration::configuration;
pub use console::WithConsole;
pub use nodes::nodes;
pub use operation::operation;
pub use persons_tools::PersonsTools;
pub use state::{About, AgentInfo, HttpState};
pub use tools::{ToolRoutes, tools};
pub use websocket::{clients, clients_and_nodes};

use std::sync::Arc;

use toolkit_serve::axum::Router;
use toolkit_serve::axum::extract::DefaultBodyLimit;
use toolkit_serve::axum::http::header::CACHE_CONTROL;
use toolkit_serve::axum::http::{HeaderValue, StatusCode};
use toolkit_serve::axum::middleware::map_response;
use toolkit_serve::axum::response::Response;
use toolkit_serve::{Addressed, Bounded, Problem};

/// Requests of a person that are without an answer at once. With their streams they are less than a fifth of the connections of a listener.
const MAX_OPEN_REQUESTS: usize = 128;

/// The whole service, for `toolkit_serve::serve`.
pub type Service = Addressed<WithConsole<Authenticated<Bounded<Router>>>>;

/// Returns the service. It answers for this machine; `hosts` and `origins` of [`Addressed`] add others.
pub fn service(state: HttpState) -> Service {
    service_with(state, Router::new())
}

/// Returns the service with further routes, which have neither a fallback nor a path of this module. The extensions of their requests have
/// the [`Caller`], a `toolkit_serve::Principal` and a `toolkit_serve::Revocation`.
pub fn service_with(state: HttpState, more: Router) -> Service {
    let (people, rate, pages) = (state.people().clone(), Arc::clone(state.rate()), state.console().clone());
    let proxies = Arc::clone(state.proxies());
    let router = routes()
        .with_state(state)
        .merge(more)
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not take this method")
        })
        // `Bounded` has limited the body.
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(not_stored));
    let (uploads, each) = uploads::MAX_AT_ONCE;
    let bounded = Bounded::new(router).requests(MAX_OPEN_REQUESTS).larger_body(
        uploads::PATH,
        uploads::limits(),
        uploads,
        each,
    );
    Addressed::local(WithConsole::new(&pages, Authenticated::new(bounded, people, rate, proxies)))
}

fn routes() -> Router<HttpState> {
    [
        agents::routes(),
        budgets::routes(),
        console::routes(),
        events::routes(),
        health::routes(),
        inbox::routes(),
        messages::routes(),
        outbox::routes(),
        pairings::routes(),
        people::routes(),
        schedules::routes(),
        sessions::routes(),
        tokens::routes(),
    ]
    .into_iter()
    .fold(Router::new(), Router::merge)
}

/// Says that nothing stores an answer, which is one person's.
async fn not_stored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
