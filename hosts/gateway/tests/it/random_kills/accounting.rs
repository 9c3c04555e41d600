//! The comparison of what was sent with what the gateway has left.

mod telegram;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use rusqlite::{Connection, Row};
use serde_json::Value;

use super::Place;
use super::kills::Killed;
use super::model::id_of;
use super::telegram::{SOURCE, Telegram, Written};

/// The counts of a run, and everything that is wrong.
#[derive(Debug, Default)]
pub(super) struct Report {
    counts: Vec<(String, usize)>,
    wrong: Vec<String>,
}

impl Report {
    fn count(&mut self, name: impl Into<String>, count: usize) {
        self.counts.push((name.into(), count));
    }

    fn expect(&mut self, is_so: bool, otherwise: impl FnOnce() -> String) {
        if !is_so {
            self.wrong.push(otherwise());
        }
    }

    pub(super) fn is_fine(&self) -> bool {
        self.wrong.is_empty()
    }

    /// Everything that is wrong, a line each.
    pub(super) fn wrong(&self) -> String {
        self.wrong.join("\n")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> =
            self.counts.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        f.write_str(&counts.join("; "))
    }
}

struct Message {
    id: i64,
    source: String,
    external_id: String,
    session: String,
    kind: String,
    text: String,
    state: String,
    run: Option<String>,
    has_target: bool,
}

impl Message {
    /// True if somebody sent it who waits for it to be accepted.
    fn is_of_person(&self) -> bool {
        ["http:", "chat:", "telegram:"].iter().any(|source| self.source.starts_with(source))
    }
}

struct Run {
    state: String,
    reason: Option<String>,
    ended: bool,
    resumptions: u32,
}

struct Part {
    id: i64,
    origin: String,
    channel: String,
    conversation: String,
    text: String,
    state: String,
    reason: Option<String>,
    receipt: Option<String>,
    /// True for an action of a tool of the platform, whose text is its question.
    is_action: bool,
}

struct Fire {
    job: String,
    at: i64,
    state: String,
    message: Option<i64>,
    missed: i64,
    is_over: bool,
    result: Option<String>,
}

/// The content of a store.
struct Left {
    messages: Vec<Message>,
    runs: BTreeMap<String, Run>,
    parts: Vec<Part>,
    fires: Vec<Fire>,
    /// The runs in the order in which they began.
    begun: Vec<String>,
}

fn rows<T>(store: &Connection, sql: &str, read: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let mut statement = store.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| read(row)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn text_of(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    // Of a part that was divided for its platform, the text without markup.
    let texts = [&body["text"], &body["plain"], &body["arguments"]["question"]];
    texts.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
}

impl Left {
    fn read(store: &Connection) -> Self {
        let messages = "SELECT id, external_id, session, kind, body, state, run, reply_to IS NOT NULL, source FROM inbox ORDER BY id";
        let messages = rows(store, messages, |row| {
            Ok(Message {
                id: row.get(0)?,
                external_id: row.get(1)?,
                session: row.get(2)?,
                kind: row.get(3)?,
                text: text_of(&row.get::<_, String>(4)?),
                state: row.get(5)?,
                run: row.get(6)?,
                has_target: row.get(7)?,
                source: row.get(8)?,
            })
        });
        let runs =
            rows(store, "SELECT id, state, reason, ended_at IS NOT NULL, resumptions FROM runs", |row| {
                let run = Run {
                    state: row.get(1)?,
                    reason: row.get(2)?,
                    ended: row.get(3)?,
                    resumptions: row.get(4)?,
                };
                Ok((row.get(0)?, run))
            });
        let parts = "SELECT id, origin, channel, conversation, body, state, reason, receipt,
            json_extract(body, '$.action') IS 'platform' FROM outbox ORDER BY id";
        let parts = rows(store, parts, |row| {
            Ok(Part {
                id: row.get(0)?,
                origin: row.get(1)?,
                channel: row.get(2)?,
                conversation: row.get(3)?,
                text: text_of(&row.get::<_, String>(4)?),
                state: row.get(5)?,
                reason: row.get(6)?,
                receipt: row.get(7)?,
                is_action: row.get(8)?,
            })
        });
        let fires = "SELECT job, at, state, message, missed, ended_at IS NOT NULL, result FROM fires ORDER BY job, at";
        let fires = rows(store, fires, |row| {
            Ok(Fire {
                job: row.get(0)?,
                at: row.get(1)?,
                state: row.get(2)?,
                message: row.get(3)?,
                missed: row.get(4)?,
                is_over: row.get(5)?,
                result: row.get(6)?,
            })
        });
        let begun = rows(store, "SELECT data FROM events WHERE kind = 'run.begun' ORDER BY seq", |row| {
            let data: Value = serde_json::from_str(&row.get::<_, String>(0)?).unwrap();
            Ok(data["run"].as_str().unwrap().to_owned())
        });
        Self { messages, runs: runs.into_iter().collect(), parts, fires, begun }
    }

    fn answered(&self, message: &Message) -> bool {
        message.run.as_ref().and_then(|run| self.runs.get(run)).is_some_and(|run| run.state == "answered")
    }
}

/// The messages that were sent to the gateway.
pub(super) struct Input {
    /// The ids of the messages over HTTP, which were accepted.
    pub(super) over_http: Vec<String>,
    /// The ids of the messages on the platform of files.
    pub(super) on_platform: Vec<String>,
    /// The messages of people on Telegram.
    pub(super) on_telegram: Vec<Written>,
}

/// Compares what was sent with what is left.
pub(super) fn account(
    place: &Place,
    input: &Input,
    telegram: &Telegram,
    killed: &Killed,
    faults: &BTreeSet<String>,
) -> Report {
    let store = Connection::open(place.data().join("gateway.db")).unwrap();
    let mut report = Report { wrong: faults.iter().cloned().collect(), ..Report::default() };
    for (pragma, fine) in [("integrity_check", vec!["ok".to_owned()]), ("foreign_key_check", Vec::new())] {
        let found: Vec<String> = rows(&store, &format!("PRAGMA {pragma}"), |row| row.get(0));
        report.expect(found == fine, || format!("{pragma}: {found:?}"));
    }
    let left = Left::read(&store);
    report.count("kills", killed.kills);
    report.count("cut transcripts", killed.cut);
    report.count("sent over HTTP", input.over_http.len());
    report.count("sent on the platform", input.on_platform.len());
    accepted(&mut report, &left, input);
    let offsets: Vec<(String, String)> =
        rows(&store, "SELECT source, value FROM offsets", |row| Ok((row.get(0)?, row.get(1)?)));
    let offset = offsets.iter().find(|(source, _)| source == SOURCE).map(|(_, offset)| offset.as_str());
    telegram::updates(&mut report, &left, &input.on_telegram, (offset, &telegram.last_offset()));
    messages(&mut report, &left);
    order(&mut report, &left);
    fires(&mut report, &left, place);
    let arrived = telegram::arrivals(&mut report, &left, &telegram.0);
    let arrived = arrivals(&mut report, place, arrived);
    outbox(&mut report, &left, arrived, killed);
    telegram::polls(&mut report, &left);
    effects(&mut report, &left, place);
    results(&mut report, &left);
    report
}

/// Everything that was accepted is there, once.
fn accepted(report: &mut Report, left: &Left, input: &Input) {
    let mut there: BTreeMap<String, usize> = BTreeMap::new();
    for message in left.messages.iter().filter(|message| message.is_of_person()) {
        *there.entry(id_of(&message.text).unwrap()).or_default() += 1;
    }
    let of_telegram = input.on_telegram.iter().map(|written| &written.id);
    for id in input.over_http.iter().chain(&input.on_platform).chain(of_telegram) {
        let count = there.remove(id).unwrap_or_default();
        report.expect(count == 1, || format!("{id} was accepted, and is there {count} times"));
    }
    report.expect(there.is_empty(), || format!("nobody sent {there:?}"));
}

/// Each message has one run that has ended, and each run that answers has one answer, which names its messages.
fn messages(report: &mut Report, left: &Left) {
    for message in &left.messages {
        let Message { id, text, state, .. } = message;
        let run = message.run.as_ref().and_then(|run| Some((run, left.runs.get(run)?)));
        let Some((name, run)) = run else {
            report.wrong.push(format!("message {id} ({text}) is {state}, and has no run"));
            continue;
        };
        report.expect(state == "consumed" && run.ended, || {
            format!("message {id} ({text}) is {state}, its run {name} {}", run.state)
        });
        let parts = left.parts.iter().filter(|part| part.origin == format!("run/{name}")).count();
        match (run.state.as_str(), id_of(text)) {
            // Whoever asked finds the answer elsewhere.
            ("answered", _) if !message.has_target => {
                report.expect(parts == 0, || format!("run {name} has {parts} answers, and no target"));
            }
            ("answered", Some(word)) if !word.starts_with('j') => {
                let naming =
                    left.parts.iter().filter(|part| part.text.contains(&format!("[{word}]"))).count();
                report.expect(naming == 1, || {
                    format!("{naming} answers name message {id} ({text}) of run {name}")
                });
                report.expect(parts <= 1, || format!("run {name} has {parts} answers"));
            }
            ("answered", _) => report.expect(parts == 1, || format!("run {name} has {parts} answers")),
            ("failed", _) => {
                let expected = usize::from(message.has_target);
                report.expect(run.reason.is_some() && parts == expected, || {
                    format!("run {name} failed: {:?}, and {parts} answers say so", run.reason)
                });
            }
            (state, _) => report.wrong.push(format!("run {name} of message {id} ({text}) is {state}")),
        }
    }
    for state in ["answered", "failed"] {
        report.count(format!("runs {state}"), left.runs.values().filter(|run| run.state == state).count());
    }
    let resumptions: u32 = left.runs.values().map(|run| run.resumptions).sum();
    report.count("resumptions", resumptions as usize);
    let steered = left.messages.len() - left.runs.len().min(left.messages.len());
    report.count("messages that reached a run under way", steered);
    for reason in left.runs.values().filter_map(|run| run.reason.as_ref()) {
        report.expect(reason.contains("times while it worked on this"), || format!("a run failed: {reason}"));
    }
}

/// The messages of a session reach its runs in order.
fn order(report: &mut Report, left: &Left) {
    let place: BTreeMap<&str, usize> =
        left.begun.iter().enumerate().map(|(at, run)| (run.as_str(), at)).collect();
    let mut sessions: BTreeMap<&str, (usize, i64)> = BTreeMap::new();
    for message in &left.messages {
        let Some(at) = message.run.as_deref().and_then(|run| place.get(run)) else { continue };
        let (last, before) = sessions.entry(&message.session).or_default();
        report.expect(at >= last, || {
            format!("message {} of {} was overtaken by {before}", message.id, message.session)
        });
        (*last, *before) = (*at, message.id);
    }
}

/// Each fire has one run or one call of its tool, and no time is missing where all missed ones are made up for.
fn fires(report: &mut Report, left: &Left, place: &Place) {
    let mut of_messages = BTreeSet::new();
    let by_id: BTreeMap<i64, &Message> = left.messages.iter().map(|message| (message.id, message)).collect();
    let mut ticks: BTreeMap<String, usize> = BTreeMap::new();
    for line in place.lines("ticks") {
        *ticks.entry(line).or_default() += 1;
    }
    for (fire, calls) in &ticks {
        report.expect(*calls == 1, || format!("the tool of {fire} was called {calls} times"));
    }
    let mut last: Option<&Fire> = None;
    for fire in &left.fires {
        let Fire { job, at, state, .. } = fire;
        report.expect(fire.is_over, || format!("the fire {job}/{at} is {state}"));
        let Some(message) = fire.message else {
            let calls = ticks.get(&format!("{job}/{at}")).copied().unwrap_or_default();
            let is_fine = match state.as_str() {
                "done" => calls == 1 && fire.result == Some(format!("ticked {job}/{at}")),
                "interrupted" => true,
                "skipped" => calls == 0,
                _ => false,
            };
            report.expect(is_fine, || {
                format!("the fire {job}/{at} is {state}: {:?}, with {calls} calls", fire.result)
            });
            if let Some(last) = last.filter(|last| last.job == *job) {
                let next = last.at + 1_000 * last.missed.max(i64::from(last.state != "skipped"));
                report.expect(*at == next, || {
                    format!(
                        "between {job}/{} ({}, {}) and {at} is something missing",
                        last.at, last.state, last.missed
                    )
                });
            }
            last = Some(fire);
            continue;
        };
        let Some(message) = by_id.get(&message) else {
            report.wrong.push(format!("the message of the fire {job}/{at} is not there"));
            continue;
        };
        report
            .expect(of_messages.insert(message.id), || format!("two fires have the message {}", message.id));
        let expected = if left.answered(message) { "done" } else { "failed" };
        report
            .expect(state == expected, || format!("the fire {job}/{at} is {state}, and its run {expected}"));
    }
    let fired = left.messages.iter().filter(|message| message.kind == "fire");
    for message in fired {
        // Of each job, the newest fires are kept.
        let is_kept =
            left.fires.iter().filter(|fire| message.external_id.starts_with(&fire.job)).count() < 200;
        report.expect(!is_kept || of_messages.contains(&message.id), || {
            format!("the message {} is of no fire", message.external_id)
        });
    }
    for state in ["done", "failed", "interrupted", "skipped"] {
        report.count(format!("fires {state}"), left.fires.iter().filter(|fire| fire.state == state).count());
    }
}

/// Returns how often each part arrived: those for the platform of files, in order, beside others.
fn arrivals(report: &mut Report, place: &Place, mut arrived: BTreeMap<i64, usize>) -> BTreeMap<i64, usize> {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for line in place.lines("sent") {
        let (id, conversation) = line.split_once(' ').unwrap();
        let id: i64 = id.parse().unwrap();
        *arrived.entry(id).or_default() += 1;
        let before = last.insert(conversation.to_owned(), id).unwrap_or_default();
        report.expect(before < id, || format!("{id} arrived in {conversation} after {before}"));
    }
    arrived
}

/// Every part has a last state; the platforms got what was delivered, once; and only what was on its way when a process was killed, or what an
/// outage of a platform left open, is unknown.
fn outbox(report: &mut Report, left: &Left, mut arrived: BTreeMap<i64, usize>, killed: &Killed) {
    let mut of_kills = BTreeSet::new();
    for part in &left.parts {
        let Part { id, state, .. } = part;
        let times = arrived.remove(id).unwrap_or_default();
        let is_fine = match (part.channel.as_str(), state.as_str()) {
            ("local", "delivered") => true,
            ("chat" | "telegram", "delivered") => times == 1,
            ("chat" | "telegram", "dead") => times == 0,
            ("chat" | "telegram", "unknown") => {
                if part.reason.as_ref().is_some_and(|reason| reason.contains("the process ended")) {
                    of_kills.insert(*id);
                }
                times <= 1
            }
            _ => false,
        };
        report.expect(is_fine, || {
            format!(
                "part {id} to {} is {state} ({:?}), and arrived {times} times",
                part.conversation, part.reason
            )
        });
    }
    report.expect(arrived.is_empty(), || format!("these arrived, and nobody prepared them: {arrived:?}"));
    let on_their_way: BTreeSet<i64> = killed.on_their_way.keys().copied().collect();
    report.expect(of_kills == on_their_way, || {
        format!("on their way at the kills were {on_their_way:?}, and unknown are {of_kills:?}")
    });
    report.count("prepared", left.parts.len());
    for state in ["delivered", "unknown", "dead"] {
        report.count(state, left.parts.iter().filter(|part| part.state == state).count());
    }
    report.count("unknown by kills", of_kills.len());
}

/// No effect is there twice, and none is missing that an answer tells of.
fn effects(report: &mut Report, left: &Left, place: &Place) {
    let mut effects: BTreeMap<String, usize> = BTreeMap::new();
    for line in place.lines("effects") {
        *effects.entry(line).or_default() += 1;
    }
    for (id, times) in &effects {
        report.expect(*times == 1, || format!("the effect of {id} is there {times} times"));
    }
    let told =
        left.parts.iter().flat_map(|part| part.text.lines().filter_map(|line| line.strip_prefix("did ")));
    for id in told {
        report.expect(effects.contains_key(id), || {
            format!("an answer tells of the effect of {id}, which is not there")
        });
    }
    // A call of the model that adds a job, or sends to a session, has done so once at most.
    for (begin, name) in
        [("f-", "jobs of the model that ran"), ("s-", "sub-agents"), ("t-", "messages to sub-agents")]
    {
        let mut made: BTreeMap<String, usize> = BTreeMap::new();
        let texts = left.messages.iter().filter(|message| message.kind != "result");
        for id in texts.filter_map(|message| id_of(&message.text)).filter(|id| id.starts_with(begin)) {
            *made.entry(id).or_default() += 1;
        }
        for (id, times) in &made {
            report.expect(*times == 1, || format!("{id} is there {times} times"));
        }
        report.count(name, made.len());
    }
    report.count("effects", effects.len());
}

/// The end of each sub-agent reached the session that began it, once.
fn results(report: &mut Report, left: &Left) {
    let results: BTreeSet<&str> = left
        .messages
        .iter()
        .filter(|message| message.source == "sub")
        .map(|message| message.external_id.as_str())
        .collect();
    let ended: BTreeSet<&str> = left
        .messages
        .iter()
        .filter(|message| message.source == "spawn")
        .filter_map(|message| message.run.as_deref())
        .collect();
    report.expect(results == ended, || {
        format!("sub-agents ended with {ended:?}, and the results are {results:?}")
    });
    report.count("results of sub-agents", results.len());
}
