//! Events of answers that are kept for clients whose connection ended before they had read the answer.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time for which an answer is kept.
pub(super) const KEPT_FOR: Duration = Duration::from_mins(5);
/// Maximum number of answers of one session; the oldest go first.
const MAX_ANSWERS: usize = 32;
/// Maximum number of bytes of the answers of one session.
const MAX_SESSION_BYTES: usize = 32 << 20;
/// Maximum number of bytes of the answers of all sessions.
const MAX_BYTES: usize = 128 << 20;
/// Maximum number of events of one stream; the oldest go first.
const MAX_EVENTS: usize = 256;

/// Maximum number of bytes of an event after its data: its id, and the delay before the client resumes.
const MAX_TAIL: usize = 128;

/// The place of an event: its number in the stream of a request, and the number of the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) index: u64,
    pub(super) stream: u64,
}

impl Place {
    /// Parses the id of an event of a request's stream. A stream that belongs to no request has other ids.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (index, stream) = id.split_once('/')?;
        Some(Self { index: index.parse().ok()?, stream: stream.parse().ok()? })
    }

    /// Reads the id from an event. rmcp writes it after the data.
    fn of_event(event: &[u8]) -> Option<Self> {
        let end = &event[event.len().saturating_sub(MAX_TAIL)..];
        let is_whole = end.len() == event.len();
        // The first line may be the end of a longer one.
        let mut lines = end.split(|byte| *byte == b'\n').skip(usize::from(!is_whole));
        let id = lines.find_map(|line| line.strip_prefix(b"id:"))?;
        Self::parse(std::str::from_utf8(id).ok()?.trim())
    }
}

/// Returns true if an event is the answer to a request, which ends its stream.
fn is_answer(event: &[u8]) -> bool {
    // The beginning of the message that rmcp writes. The rest may be long, and is not parsed.
    let Some(rest) = event.strip_prefix(br#"data: {"jsonrpc":"2.0","id":"#) else { return false };
    let mut is_escaped = false;
    let mut is_text = false;
    let end = rest.iter().position(|byte| {
        let is_end = *byte == b',' && !is_text;
        if *byte == b'"' && !is_escaped {
            is_text = !is_text;
        }
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    let member = end.map(|end| &rest[end + 1..]).unwrap_or_default();
    member.starts_with(br#""result":"#) || member.starts_with(br#""error":"#)
}

/// The events of one stream so far.
#[derive(Debug, Default)]
pub(super) struct Events {
    place: Option<Place>,
    all: VecDeque<(u64, Bytes)>,
    bytes: usize,
}

impl Events {
    /// The number of the stream, once it is known.
    pub(super) fn stream(&self) -> Option<u64> {
        self.place.map(|place| place.stream)
    }

    /// Adds an event. Returns all of them if it is the answer.
    pub(super) fn add(&mut self, event: &Bytes) -> Option<Self> {
        let place = Place::of_event(event)?;
        self.place = Some(place);
        self.bytes += event.len();
        self.all.push_back((place.index, event.clone()));
        if is_answer(event) {
            return Some(std::mem::take(self));
        }
        while self.all.len() > MAX_EVENTS || self.bytes > MAX_SESSION_BYTES {
            let (_, oldest) = self.all.pop_front()?;
            self.bytes -= oldest.len();
        }
        None
    }
}

/// Number of bytes that are kept of all sessions.
#[derive(Debug, Clone, Default)]
pub(super) struct Budget(Arc<AtomicUsize>);

/// A part of the budget that is used.
#[derive(Debug)]
struct Share {
    budget: Budget,
    bytes: usize,
}

impl Budget {
    fn take(&self, bytes: usize) -> Option<Share> {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
        // It is given back when the share is dropped.
        let share = Share { budget: self.clone(), bytes };
        (before + bytes <= MAX_BYTES).then_some(share)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The answers of one session, the newest at the end.
#[derive(Debug)]
pub(super) struct Answers {
    budget: Budget,
    kept: VecDeque<Answer>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    stream: u64,
    events: Events,
    at: Instant,
    _share: Share,
}

impl Answers {
    pub(super) fn new(budget: Budget) -> Self {
        Self { budget, kept: VecDeque::new(), bytes: 0 }
    }

    /// Keeps the events of a stream whose last one is the answer, if they are within the limits.
    pub(super) fn keep(&mut self, events: Events, now: Instant) {
        let Some(stream) = events.stream() else { return };
        while self.kept.len() >= MAX_ANSWERS || self.bytes + events.bytes > MAX_SESSION_BYTES {
            if !self.drop_oldest() {
                return;
            }
        }
        if let Some(share) = self.budget.take(events.bytes) {
            self.bytes += events.bytes;
            self.kept.push_back(Answer { stream, events, at: now, _share: share });
        }
    }

    /// Returns the events of a stream after one that the client has read, if the answer is kept.
    pub(super) fn after(&self, last: Place) -> Option<Vec<Bytes>> {
        let answer = self.kept.iter().rev().find(|answer| answer.stream == last.stream)?;
        let rest = answer.events.all.iter().filter(|(index, _)| *index > last.index);
        Some(rest.map(|(_, event)| event.clone()).collect())
    }

    /// Drops the answers that are too old.
    pub(super) fn expire(&mut self, now: Instant) {
        while self.kept.front().is_some_and(|answer| now.saturating_duration_since(answer.at) > KEPT_FOR) {
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) -> bool {
        let oldest = self.kept.pop_front();
        self.bytes -= oldest.as_ref().map_or(0, |oldest| oldest.events.bytes);
        oldest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(index: u64, stream: u64, data: &str) -> Bytes {
        format!("data: {data}\nid: {index}/{stream}\nretry: 3000\n\n").into()
    }

    fn answer(stream: u64, bytes: usize) -> Events {
        let text = "x".repeat(bytes);
        let mut events = Events::default();
        assert!(events.add(&event(0, stream, "")).is_none());
        events.add(&event(1, stream, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{text}"}}"#))).unwrap()
    }

    #[test]
    fn an_answer_is_recognized_by_its_beginning() {
        for (data, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":"a,\"b\\","error":{}}"#, true),
            (r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#, false),
            (r#"{"jsonrpc":"2.0","method":"x","params":{"id":1,"result":2}}"#, false),
            (r#"{"jsonrpc":"2.0","id":","result":""#, false),
            ("", false),
        ] {
            assert_eq!(is_answer(&event(0, 0, data)), expected, "{data}");
        }
        assert!(!is_answer(b":\n\n"));
    }

    #[test]
    fn answers_are_kept_within_limits() {
        let (budget, now) = (Budget::default(), Instant::now());
        let mut answers = Answers::new(budget.clone());
        for stream in 0..40 {
            answers.keep(answer(stream, 10), now);
        }
        let has = |answers: &Answers, stream| answers.after(Place { index: 0, stream }).is_some();
        assert_eq!((has(&answers, 7), has(&answers, 8), has(&answers, 39)), (false, true, true));
        assert_eq!(answers.after(Place { index: 0, stream: 39 }).unwrap().len(), 1);
        assert_eq!(answers.after(Place { index: 1, stream: 39 }).unwrap().len(), 0);
        // One that is too large by itself is not kept.
        answers.keep(answer(50, MAX_SESSION_BYTES), now);
        assert!(!has(&answers, 50));
        answers.keep(answer(51, MAX_SESSION_BYTES / 2), now);
        answers.keep(answer(52, MAX_SESSION_BYTES / 2 - 1_000), now);
        assert!(has(&answers, 51) && has(&answers, 52));
        let mut others: Vec<Answers> = (0..3).map(|_| Answers::new(budget.clone())).collect();
        for other in &mut others {
            other.keep(answer(0, MAX_SESSION_BYTES - 1_000), now);
            assert!(has(other, 0));
        }
        let mut last = Answers::new(budget.clone());
        last.keep(answer(0, 10_000), now);
        assert!(!has(&last, 0), "all sessions together have a limit");
        answers.expire(now + KEPT_FOR);
        assert!(has(&answers, 52));
        answers.expire(now + KEPT_FOR + Duration::from_secs(1));
        assert!(!has(&answers, 52));
        last.keep(answer(0, 10_000), now);
        assert!(has(&last, 0));
        drop((answers, others, last));
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
    }
}
