//! A double of the platform: it behaves as its documentation says, and meets the faults that a check injects.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use toolkit::config::{Configuration, LoadOptions};
use toolkit_channel::conformance::{Double, Fault, Held, Operation, Person, Sent, Supported};
use toolkit_channel::{Channel, Conversation, Future, registered};
use toolkit_loopback::{Answer, Loopback, Request};

/// The token of the account.
pub(super) const TOKEN: &str = "b7-0a1b2c3d4e5f";
/// The limits of the platform.
const MAX_TEXT: usize = 500;
const MAX_FILE: usize = 1 << 20;

/// The state of the platform.
#[derive(Default)]
struct State {
    /// The events that nobody has confirmed, by their numbers.
    events: BTreeMap<u64, Value>,
    /// The number of the last event, message or file.
    last: u64,
    sent: Vec<Sent>,
    /// The messages by their keys.
    keys: BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
    faults: Vec<(Operation, Fault)>,
    holds: Vec<(Operation, watch::Sender<bool>, watch::Receiver<bool>)>,
}

/// The platform, serving on loopback.
pub(super) struct PostboxDouble {
    server: Loopback,
    state: Arc<Mutex<State>>,
}

impl PostboxDouble {
    pub(super) async fn start() -> Self {
        let state = Arc::new(Mutex::new(State::default()));
        let of_server = Arc::clone(&state);
        let server = Loopback::start_async(move |request| serve(Arc::clone(&of_server), request)).await;
        Self { server, state }
    }

    /// A letter of a person is there for the next request for events.
    fn letter(&self, person: Person, id: Option<&str>, text: &str, file: Option<&Value>) -> String {
        let mut state = self.state.lock().unwrap();
        state.last += 1;
        let number = state.last;
        let letter_id = id.map_or_else(|| format!("letter-{number}"), str::to_owned);
        let letter = json!({
            "id": letter_id, "room": room(person), "text": text, "file": file, "is_correction": id.is_some(),
            "from": { "id": format!("person-{}", person.number), "name": person.name },
        });
        state.events.insert(number, json!({ "number": number, "letter": letter }));
        letter_id
    }
}

fn room(person: Person) -> String {
    format!("room-{}", person.number)
}

/// Opens the account of a configuration, as a gateway does.
pub(super) fn opened(settings: &str) -> Result<Arc<dyn Channel>, String> {
    let options = LoadOptions::new().set(format!("channels.postbox.postbox={settings}"));
    let configuration = Configuration::load(options).map_err(|error| error.to_string())?;
    let platform = registered().into_iter().find(|platform| platform.platform == "postbox").unwrap();
    let mut accounts = platform.open(&configuration).map_err(|error| error.to_string())?;
    Ok(accounts.remove(0).account)
}

fn account(url: &str) -> Arc<dyn Channel> {
    opened(&format!("{{ token: '{TOKEN}', baseUrl: '{url}', waitSeconds: 1 }}")).unwrap()
}

/// Answers a request, with the fault that it meets.
async fn serve(state: Arc<Mutex<State>>, request: Request) -> Answer {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let operation = match (request.method.as_str(), path) {
        ("GET", "/events") => Some(Operation::Receive),
        ("POST", "/messages") => Some(Operation::Send),
        _ => None,
    };
    let fault = {
        let faults = &mut state.lock().unwrap().faults;
        let place = faults.iter().position(|(of, _)| Some(*of) == operation);
        place.map(|place| faults.remove(place).1)
    };
    let refused = |status| error(status, "not now");
    match fault {
        None => {}
        Some(Fault::CutAfter) => {
            process(&state, &request, path, query);
            return Answer::Close;
        }
        Some(Fault::Conflict) => return refused(409),
        Some(Fault::TooMany(wait)) => {
            return refused(429).with_header("retry-after", &wait.as_secs().to_string());
        }
        Some(Fault::ServerError(status)) => return refused(status),
        Some(_) => return Answer::Close,
    }
    let mut answer = process(&state, &request, path, query);
    if operation == Some(Operation::Receive) && number(query, "wait") > 0 && is_empty(&state) {
        tokio::time::sleep(Duration::from_secs(number(query, "wait"))).await;
        answer = process(&state, &request, path, query);
    }
    let hold = {
        let holds = &mut state.lock().unwrap().holds;
        let place = holds.iter().position(|(of, ..)| Some(*of) == operation);
        place.map(|place| holds.remove(place))
    };
    if let Some((_, reached, mut released)) = hold {
        reached.send_replace(true);
        let _ = released.changed().await;
    }
    answer
}

fn is_empty(state: &Mutex<State>) -> bool {
    state.lock().unwrap().events.is_empty()
}

/// Processes a request, as the documentation of the platform says.
fn process(state: &Mutex<State>, request: &Request, path: &str, query: &str) -> Answer {
    if request.header("authorization") != Some(&format!("Bearer {TOKEN}")) {
        return error(401, "unknown token");
    }
    let mut state = state.lock().unwrap();
    match (request.method.as_str(), path.trim_start_matches('/').split_once('/')) {
        ("GET", None) if path == "/me" => Answer::json(200, &json!({ "id": "box-7", "name": "Front desk" })),
        ("GET", None) if path == "/events" => {
            // Events that are confirmed are forgotten.
            state.events.retain(|event, _| *event > number(query, "after"));
            Answer::json(200, &json!({ "events": state.events.values().collect::<Vec<_>>() }))
        }
        ("POST", None) if path == "/messages" => post(&mut state, &request.json()),
        ("POST", None) if path == "/files" && request.body.len() > MAX_FILE => error(413, "too large"),
        ("POST", None) if path == "/files" => {
            state.last += 1;
            let id = format!("file-{}", state.last);
            state.files.insert(id.clone(), request.body.clone());
            Answer::json(201, &json!({ "id": id }))
        }
        ("GET", Some(("files", id))) => match state.files.get(id) {
            Some(bytes) => Answer::bytes(200, bytes.clone()),
            None => error(404, "no such file"),
        },
        _ => error(404, "no such path"),
    }
}

fn post(state: &mut State, body: &Value) -> Answer {
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    // The same key is the same message.
    if let Some(id) = state.keys.get(&text("key")) {
        return Answer::json(201, &json!({ "id": id }));
    }
    let file = match body["file"].as_str() {
        Some(id) => match state.files.get(id) {
            Some(bytes) => Some(bytes.clone()),
            None => return error(400, "no such file"),
        },
        None => None,
    };
    if text("text").chars().count() > MAX_TEXT || text("text").is_empty() && file.is_none() {
        return error(400, "the text has 1 to 500 characters");
    }
    state.last += 1;
    let id = format!("message-{}", state.last);
    let mut sent = Sent::new(Conversation::direct(text("room")), id.clone(), text("text"));
    sent.file = file;
    state.sent.push(sent);
    state.keys.insert(text("key"), id.clone());
    Answer::json(201, &json!({ "id": id }))
}

fn error(status: u16, text: &str) -> Answer {
    Answer::json(status, &json!({ "error": text }))
}

/// Returns a number of the query; 0 if it is not there.
fn number(query: &str, name: &str) -> u64 {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find(|(known, _)| *known == name).and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
}

/// An answer that is held back.
struct Holding(
    watch::Receiver<bool>,
    #[expect(dead_code, reason = "its end lets the answer go")] watch::Sender<bool>,
);

impl Held for Holding {
    fn reached(&self) -> Future<'_, ()> {
        Box::pin(async {
            let _ = self.0.clone().wait_for(|reached| *reached).await;
        })
    }
}

impl Double for PostboxDouble {
    fn open(&self) -> Arc<dyn Channel> {
        account(self.server.url())
    }

    fn open_unreachable(&self) -> Supported<Arc<dyn Channel>> {
        Ok(account("http://127.0.0.1:1"))
    }

    fn conversation(&self, person: Person) -> Conversation {
        Conversation::direct(room(person))
    }

    fn write(&self, person: Person, text: &str) -> String {
        self.letter(person, None, text, None)
    }

    fn sent(&self) -> Vec<Sent> {
        self.state.lock().unwrap().sent.clone()
    }

    fn secrets(&self) -> Vec<String> {
        vec![TOKEN.to_owned()]
    }

    fn inject(&self, operation: Operation, fault: Fault) -> Supported<()> {
        self.state.lock().unwrap().faults.push((operation, fault));
        Ok(())
    }

    fn clear_faults(&self) {
        let mut state = self.state.lock().unwrap();
        state.faults.clear();
        state.holds.clear();
    }

    fn hold(&self, operation: Operation) -> Supported<Box<dyn Held>> {
        let (reached, was_reached) = watch::channel(false);
        let (release, released) = watch::channel(false);
        self.state.lock().unwrap().holds.push((operation, reached, released));
        Ok(Box::new(Holding(was_reached, release)))
    }

    fn edit(&self, person: Person, message_id: &str, text: &str) -> Supported<()> {
        self.letter(person, Some(message_id), text, None);
        Ok(())
    }

    fn write_file(&self, person: Person, name: &str, bytes: &[u8]) -> Supported<()> {
        let id = format!("file-of-{}", person.number);
        self.state.lock().unwrap().files.insert(id.clone(), bytes.to_vec());
        let file = json!({ "id": id, "name": name, "size": bytes.len() });
        self.letter(person, None, "", Some(&file));
        Ok(())
    }

    fn write_unreadable(&self) -> Supported<()> {
        let mut state = self.state.lock().unwrap();
        state.last += 1;
        let number = state.last;
        state.events.insert(number, json!({ "number": number, "letter": { "text": 5 } }));
        Ok(())
    }
}
