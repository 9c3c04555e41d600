//! `/ws`: clients over a WebSocket. They serve tools to sessions, as MCP in reverse, send messages, and follow events.
//!
//! ```text
//! upgrade ──► hello (token, sessions) ──► welcome ──► frames in both directions, each a JSON object with a `type`
//! ```
//!
//! The token is in the header of the upgrade, or, for pages, which cannot send it, in the first frame. Nothing else is read before.

mod closing;
mod frames;
mod hello;
mod node_socket;
mod reading;
mod socket;
mod unknown;
mod writing;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use toolkit_serve::Problem;
use toolkit_serve::axum::Router;
use toolkit_serve::axum::body::Body;
use toolkit_serve::axum::extract::{Request, State};
use toolkit_serve::axum::http::{StatusCode, header::HOST};
use toolkit_serve::axum::response::Response;
use toolkit_serve::axum::routing::get;
use toolkit_serve::websocket::{self, WebSocketOptions};

use super::caller::Caller;
use super::calls;
use super::client_address::ClientAddress;
use super::rate::Rate;
use super::state::HttpState;
use crate::{Clients, Nodes};
use unknown::{UnknownPlace, UnknownPlaces};

/// A person sends as many frames over all sockets as so many sockets may; beyond that they are read later.
const FLOODS: u32 = 4;

/// Returns the routes of clients, for [`service_with`](super::service_with): `/ws` and `/v1/calls`.
pub fn clients(state: HttpState, clients: Clients) -> Router {
    sockets(state, clients, None)
}

/// Returns the routes of clients, with the sockets of nodes.
pub fn clients_and_nodes(state: HttpState, clients: Clients, nodes: Nodes) -> Router {
    sockets(state, clients, Some(nodes))
}

fn sockets(state: HttpState, clients: Clients, nodes: Option<Nodes>) -> Router {
    let calls = calls::routes(state.store().clone(), clients.clone());
    let unknown = UnknownPlaces::new(clients.limits().max_unknown);
    let frames = clients.limits().max_frames.saturating_mul(FLOODS);
    let frames = Arc::new(Rate::new(frames, "frames"));
    let sockets = Sockets { state, clients, nodes, unknown, frames, of_people: Arc::default() };
    Router::new().route("/ws", get(open)).with_state(sockets).merge(calls)
}

/// The parts that sockets use.
#[derive(Clone)]
struct Sockets {
    state: HttpState,
    clients: Clients,
    nodes: Option<Nodes>,
    /// Places for sockets of which nobody knows yet whose they are.
    unknown: UnknownPlaces,
    /// The frames of each person.
    frames: Arc<Rate>,
    /// How many sockets each person has.
    of_people: Arc<Mutex<HashMap<String, usize>>>,
}

/// A place among the sockets of a person, until it is dropped.
struct OfPerson {
    sockets: Sockets,
    name: String,
}

impl Sockets {
    /// Takes a place among the sockets of a person, if there is one.
    fn enter(&self, name: &str) -> Option<OfPerson> {
        let mut of_people = self.of_people.lock().unwrap_or_else(PoisonError::into_inner);
        let count = of_people.entry(name.to_owned()).or_default();
        if *count >= self.clients.limits().max_sockets {
            return None;
        }
        *count += 1;
        self.clients.sockets().fetch_add(1, Ordering::Relaxed);
        Some(OfPerson { sockets: self.clone(), name: name.to_owned() })
    }
}

impl Drop for OfPerson {
    fn drop(&mut self) {
        self.sockets.clients.sockets().fetch_sub(1, Ordering::Relaxed);
        let mut of_people = self.sockets.of_people.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = of_people.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                of_people.remove(&self.name);
            }
        }
    }
}

/// The sender of the first frame, as far as the upgrade tells it.
enum Opened {
    /// The person of the token in the header.
    By(Caller),
    /// Nobody yet, with a place among those, until it is known whose it is.
    ByUnknown(UnknownPlace),
}

async fn open(State(sockets): State<Sockets>, request: Request) -> Result<Response<Body>, Problem> {
    if request.uri().query().is_some() {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "this address takes no parameters; the token is in the header `Authorization`, or in the first frame",
        ));
    }
    let opened = match request.extensions().get::<Caller>().cloned() {
        Some(caller) => Opened::By(caller),
        None => {
            let client = request.extensions().get::<ClientAddress>().copied();
            Opened::ByUnknown(sockets.unknown.enter(client))
        }
    };
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).map(str::to_owned);
    let limits = sockets.clients.limits();
    let mut options = WebSocketOptions::default();
    options.max_message = limits.max_message;
    options.max_unsent = limits.max_unsent;
    websocket::accept(request, options, async move |socket, shutdown| {
        socket::serve(sockets, socket, (opened, host), shutdown).await;
    })
}
