//! The first frame of a socket: who the client is, and to which sessions it gives tools.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval, timeout};
use toolkit_serve::websocket::{Message, WebSocket};

use super::closing::Closing;
use super::frames::{self, Hello};
use super::{OfPerson, Opened, Sockets};
use crate::SessionKey;
use crate::clients::{self, Connected, JoinError, Joined};
use crate::http::Caller;
use crate::http::session_paths;
use crate::people::is_owners;

/// The most bytes that a socket sends before it is known whose it is.
const MAX_BYTES: u64 = 64 << 10;
/// Time between two looks at the bytes.
const LOOK: Duration = Duration::from_millis(100);
/// The longest name of a client, and the name of one that has none.
const MAX_NAME_BYTES: usize = 32;
const NAME: &str = "client";
/// The most sessions of a client.
const MAX_SESSIONS: usize = 32;

/// A client that may go on.
pub(super) struct Entered {
    pub(super) caller: Caller,
    /// Its link, if it has sessions.
    pub(super) connected: Option<Connected>,
    /// The first frame for it.
    pub(super) welcome: Value,
    /// Held as long as the socket.
    pub(super) _place: OfPerson,
}

/// Reads the first frame, in time.
pub(super) async fn first(
    sockets: &Sockets,
    socket: &mut WebSocket,
    opened: &Opened,
) -> Result<Hello, Closing> {
    let within = sockets.clients.limits().hello_within;
    let late = || Closing::late(format!("the first frame, `hello`, did not come within {within:?}"));
    let lost = async {
        match opened {
            Opened::ByUnknown(place) => place.lost().await,
            Opened::By(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        hello = timeout(within, text(sockets, socket)) => frames::hello(&hello.map_err(|_| late())??),
        () = lost => {
            let text = "too many sockets are open that have sent no token, and this one has waited longest";
            Err(Closing::too_many(text))
        }
    }
}

/// Finds out whose the first frame of a client is.
pub(super) async fn enter(sockets: &Sockets, opened: Opened, hello: Hello) -> Result<Entered, Closing> {
    let caller = match (opened, &hello.token) {
        (Opened::By(caller), None) => caller,
        (Opened::By(_), Some(_)) => {
            return Err(Closing::malformed(
                "the token is in the header already; leave it out of the first frame",
            ));
        }
        (Opened::ByUnknown(_), Some(token)) => authenticated(sockets, token).await?,
        (Opened::ByUnknown(_), None) => {
            return Err(Closing::unauthorized("the first frame has no `token`"));
        }
    };
    let place = sockets.enter(caller.name());
    let place =
        place.ok_or_else(|| Closing::too_many("you have too many sockets open; close one of them"))?;
    let mut welcome = json!({ "type": "welcome", "person": caller.name() });
    let connected = join(sockets, &caller, hello, &mut welcome).await?;
    Ok(Entered { caller, connected, welcome, _place: place })
}

/// Reads a frame of a socket of which nobody knows yet whose it is.
pub(super) async fn text(sockets: &Sockets, socket: &mut WebSocket) -> Result<String, Closing> {
    let received = socket.get_ref().received();
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) if text.len() as u64 <= MAX_BYTES => return Ok(text.to_string()),
                Some(Ok(Message::Text(_))) => return Err(too_large()),
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_))) => return Err(Closing::by_client(None)),
                Some(Ok(_)) => return Err(Closing::malformed("the first frame is a text")),
                Some(Err(error)) => return Err(Closing::of_error(&error, sockets.clients.limits().max_message)),
                None => return Err(Closing::dropped()),
            },
            _ = look.tick() => {}
        }
        if received.bytes() > MAX_BYTES {
            return Err(too_large());
        }
    }
}

fn too_large() -> Closing {
    Closing::too_large(format!("the first frame is longer than {MAX_BYTES} bytes"))
}

async fn authenticated(sockets: &Sockets, token: &str) -> Result<Caller, Closing> {
    let people = sockets.state.people();
    let found = people.authenticate(token).await.map_err(|error| Closing::of_problem(&error.into()))?;
    if let Some(access) = found {
        // With the header, the upgrade was counted.
        let noted = sockets.state.rate().note(access.person.name(), people.store().clock().now());
        noted.map_err(|problem| Closing::of_problem(&problem))?;
        return Ok(Caller(access));
    }
    Err(match people.note_wrong_token() {
        None => Closing::unauthorized("this token does not count: it is unknown, revoked or expired"),
        Some(_) => {
            Closing::too_many("too many requests had a wrong token lately; wait, and send a right one")
        }
    })
}

/// Attaches the client to its sessions, and completes the welcome.
async fn join(
    sockets: &Sockets,
    caller: &Caller,
    hello: Hello,
    welcome: &mut Value,
) -> Result<Option<Connected>, Closing> {
    if hello.sessions.is_empty() {
        return match hello.resume {
            None => Ok(None),
            Some(_) => Err(Closing::malformed("a client that comes back names its sessions again")),
        };
    }
    let name = hello.name.unwrap_or_else(|| NAME.to_owned());
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(is_of_name) {
        let text = format!("the `name` of a client has 1 to {MAX_NAME_BYTES} letters, digits, `-` or `_`");
        return Err(Closing::malformed(text));
    }
    if hello.resume.as_deref().is_some_and(|resume| !clients::is_resume_id(resume)) {
        return Err(Closing::malformed("`resume` is none that the gateway gave; leave it out"));
    }
    if hello.sessions.len() > MAX_SESSIONS {
        return Err(Closing::malformed(format!("a client has {MAX_SESSIONS} sessions at most")));
    }
    let mut named = Vec::new();
    for text in &hello.sessions {
        named.push(session(sockets, caller, text).await?);
    }
    let Some(first_session) = named.first().cloned() else { return Ok(None) };
    let sessions: BTreeSet<_> = named.into_iter().collect();
    let shown: Vec<String> = sessions.iter().map(ToString::to_string).collect();
    let hello_of =
        clients::Hello { access: caller.0.clone(), name, sessions, first_session, resume: hello.resume };
    let Joined { link, resume, is_resumed } =
        sockets.clients.join(hello_of).map_err(|error| match error {
            JoinError::Busy(reason) => Closing::too_many(reason),
            JoinError::OtherSessions => Closing::malformed(
                "a client that comes back has the sessions that it had; leave `resume` out to begin anew",
            ),
        })?;
    let received = if is_resumed { hello.received } else { 0 };
    let lost = || Closing::ended("messages of the connection were lost; begin anew, without `resume`");
    let (socket, gateway_has) = link.connect(received).ok_or_else(lost)?;
    let connected = Connected { link: Arc::clone(&link), socket };
    let calls = sockets.state.store().client_calls(Some(caller.name().to_owned())).await;
    let calls = calls.map_err(|error| Closing::of_problem(&error.into()))?;
    let calls: Vec<_> =
        calls.into_iter().filter(|call| call.client == link.digest()).map(|call| call.id).collect();
    welcome["client"] = format!("{}.{}", link.person(), link.name()).into();
    welcome["sessions"] = shown.into();
    welcome["resume"] = resume.into();
    welcome["resumed"] = is_resumed.into();
    welcome["received"] = gateway_has.into();
    welcome["calls"] = calls.into();
    welcome["resumeSeconds"] = sockets.clients.limits().resume_within.as_secs().into();
    Ok(Some(connected))
}

/// Finds a session that gets tools. The tools act with the rights of the client's person, so another person's agent does not get them, the owner's
/// clients included.
async fn session(sockets: &Sockets, caller: &Caller, text: &str) -> Result<SessionKey, Closing> {
    let named = session_paths::find(&sockets.state, caller, text).await;
    let named = named.map_err(|problem| Closing::of_problem(&problem))?;
    let is_anothers = named.record.is_some_and(|record| {
        !is_owners(&record) && record.person.is_none_or(|person| person != caller.name())
    });
    if is_anothers {
        return Err(Closing::not_found(
            "this session belongs to another person, or to nobody alone: its agent does not get your tools",
        ));
    }
    Ok(named.key)
}
