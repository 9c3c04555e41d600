//! A stream of server-sent events.

use std::collections::VecDeque;

use serde_json::Value;

use super::ClientError;

/// The longest event, in bytes.
const MAX_EVENT_BYTES: usize = 16 << 20;

/// An event of the gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerEvent {
    /// Its number, with which a stream goes on after it; `None` for what is shown while it happens.
    pub id: Option<i64>,
    /// The kind, such as `run.ended` or `live`.
    pub kind: String,
    /// More about it.
    pub data: Value,
}

/// The events of a gateway, as they come.
#[derive(Debug)]
pub struct EventStream {
    response: reqwest::Response,
    address: String,
    parser: Parser,
}

impl EventStream {
    pub(super) fn new(response: reqwest::Response, address: String) -> Self {
        Self { response, address, parser: Parser::default() }
    }

    /// Waits for the next event; `None` at the end of the stream. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    ///
    /// The connection ended, or what came is no event.
    pub async fn next(&mut self) -> Result<Option<ServerEvent>, ClientError> {
        loop {
            if let Some(event) = self.parser.events.pop_front() {
                return Ok(Some(event));
            }
            let chunk = self.response.chunk().await.map_err(|error| ClientError::Unreachable {
                address: self.address.clone(),
                reason: toolkit_http::reason(error),
            })?;
            let Some(chunk) = chunk else { return Ok(None) };
            self.parser
                .push(&chunk)
                .map_err(|reason| ClientError::Answer { address: self.address.clone(), reason })?;
        }
    }

    /// The number after which another stream goes on.
    pub fn last_id(&self) -> Option<i64> {
        self.parser.last_id
    }
}

/// Reads events from bytes.
#[derive(Debug, Default)]
struct Parser {
    bytes: Vec<u8>,
    id: Option<i64>,
    kind: String,
    data: String,
    last_id: Option<i64>,
    events: VecDeque<ServerEvent>,
}

impl Parser {
    fn push(&mut self, chunk: &[u8]) -> Result<(), String> {
        self.bytes.extend_from_slice(chunk);
        while let Some(end) = self.bytes.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            self.line(line.trim_end_matches(['\n', '\r']))?;
        }
        if self.bytes.len() + self.data.len() > MAX_EVENT_BYTES {
            return Err(format!("an event has more than {MAX_EVENT_BYTES} bytes"));
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() {
            return self.end();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.id = value.parse().ok(),
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // A comment, or a field that is not known.
            _ => {}
        }
        Ok(())
    }

    /// The end of an event; one without data only tells the number after which a stream goes on.
    fn end(&mut self) -> Result<(), String> {
        let id = self.id.take();
        self.last_id = id.or(self.last_id);
        let (kind, data) = (std::mem::take(&mut self.kind), std::mem::take(&mut self.data));
        if data.is_empty() {
            return Ok(());
        }
        let data = serde_json::from_str(&data).map_err(|error| error.to_string())?;
        self.events.push_back(ServerEvent { id, kind, data });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn events_are_read_whatever_the_pieces_are() {
        let text = ": alive\nid: 3\n\nid: 4\nevent: run.ended\ndata: {\"a\":\ndata: 1}\n\nevent: live\r\ndata: \"é\"\r\n\r\nevent: half\ndata: 1\n";
        for size in 1..text.len() {
            let mut parser = Parser::default();
            for chunk in text.as_bytes().chunks(size) {
                parser.push(chunk).unwrap();
            }
            let event = |id, kind: &str, data| ServerEvent { id, kind: kind.to_owned(), data };
            let events: Vec<_> = parser.events.into_iter().collect();
            assert_eq!(
                events,
                [event(Some(4), "run.ended", json!({ "a": 1 })), event(None, "live", json!("é"))]
            );
            assert_eq!(parser.last_id, Some(4));
        }
    }
}
