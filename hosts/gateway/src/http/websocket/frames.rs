//! The frames of clients.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::closing::Closing;
use crate::clients::ResultOfClient;

/// A frame of a client after the first one.
#[derive(Debug)]
pub(super) enum Frame {
    /// A message of MCP on one line, with its number, and that of the last one that the client has.
    Mcp { n: u64, ack: u64, message: String },
    /// The number of the last message that the client has.
    Ack { n: u64 },
    /// The result of a deferred call.
    Result { call: String, result: ResultOfClient },
    /// A message of the person.
    Send { reference: Option<String>, session: Option<String>, text: String, id: Option<String> },
    /// Asks for events, in place of those of an earlier one.
    Events { reference: Option<String>, session: Option<String>, since: Option<i64> },
    /// Ends the events.
    Unfollow,
}

/// The members of all frames. The members of MCP are not taken apart here: a value for each of many small parts would be many times as large.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Members<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    n: Option<u64>,
    ack: Option<u64>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    call: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    session: Option<String>,
    text: Option<String>,
    id: Option<String>,
    since: Option<i64>,
}

/// The first frame.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum First {
    /// The client says who it is.
    Hello(Hello),
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hello {
    /// Says that it is a node, which has a key.
    pub(super) node: Option<Value>,
    /// The token, if the header has none.
    pub(super) token: Option<String>,
    /// The name of the client.
    pub(super) name: Option<String>,
    /// The sessions that get its tools. Without one, it serves none.
    #[serde(default)]
    pub(super) sessions: Vec<String>,
    /// The id by which it comes back.
    pub(super) resume: Option<String>,
    /// The number of the last message that it has.
    #[serde(default)]
    pub(super) received: u64,
}

/// The longest reference that a client may give, in bytes.
const MAX_REFERENCE_BYTES: usize = 64;

/// Reads a frame.
pub(super) fn frame(text: &str) -> Result<Frame, Closing> {
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    if members.reference.as_ref().is_some_and(|reference| reference.len() > MAX_REFERENCE_BYTES) {
        return Err(Closing::malformed(format!("a `ref` is longer than {MAX_REFERENCE_BYTES} bytes")));
    }
    members.frame()
}

impl Members<'_> {
    /// Returns the frame of which these are the members, and no others.
    fn frame(self) -> Result<Frame, Closing> {
        let kind = self.kind.clone();
        let missing = |name: &str| {
            Closing::malformed(format!("a frame of the type `{}` needs `{name}`", kind.escape_debug()))
        };
        let allowed: &[&str] = match &*self.kind {
            "mcp" => &["n", "ack", "message"],
            "ack" => &["n"],
            "result" => &["call", "result"],
            "send" => &["ref", "session", "text", "id"],
            "events" => &["ref", "session", "since"],
            "unfollow" => &[],
            _ => {
                return Err(Closing::malformed(
                    "a frame has one of the types mcp, ack, result, send, events, unfollow",
                ));
            }
        };
        if let Some(name) = self.names().find(|name| !allowed.contains(name)) {
            let text = format!("a frame of the type `{kind}` has no `{name}`");
            return Err(Closing::malformed(text));
        }
        Ok(match &*self.kind {
            "mcp" => Frame::Mcp {
                n: self.n.ok_or_else(|| missing("n"))?,
                ack: self.ack.unwrap_or_default(),
                // Line breaks are between its parts alone: in texts they are escaped.
                message: self.message.ok_or_else(|| missing("message"))?.get().replace(['\n', '\r'], " "),
            },
            "ack" => Frame::Ack { n: self.n.ok_or_else(|| missing("n"))? },
            "result" => Frame::Result {
                call: self.call.ok_or_else(|| missing("call"))?,
                result: result(self.result.ok_or_else(|| missing("result"))?)?,
            },
            "send" => Frame::Send {
                reference: self.reference,
                session: self.session,
                text: self.text.ok_or_else(|| missing("text"))?,
                id: self.id,
            },
            "events" => {
                if self.since.is_some_and(|since| since < 0) {
                    return Err(Closing::malformed("`since` is the number of an event, 0 or more"));
                }
                Frame::Events { reference: self.reference, session: self.session, since: self.since }
            }
            _ => Frame::Unfollow,
        })
    }

    /// The names of the members that are there.
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        [
            ("n", self.n.is_some()),
            ("ack", self.ack.is_some()),
            ("message", self.message.is_some()),
            ("call", self.call.is_some()),
            ("result", self.result.is_some()),
            ("ref", self.reference.is_some()),
            ("session", self.session.is_some()),
            ("text", self.text.is_some()),
            ("id", self.id.is_some()),
            ("since", self.since.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, is_there)| is_there.then_some(name))
    }
}

/// Reads the result of a call.
fn result(text: &RawValue) -> Result<ResultOfClient, Closing> {
    let none = || Closing::malformed("the `result` is none of MCP: an object with a list `content`");
    // A list would be read as the members in their order.
    if !text.get().starts_with('{') {
        return Err(none());
    }
    serde_json::from_str(text.get()).map_err(|_| none())
}

/// Reads the first frame.
pub(super) fn hello(text: &str) -> Result<Hello, Closing> {
    let First::Hello(hello) = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    Ok(hello)
}

fn malformed(error: &serde_json::Error) -> Closing {
    // The text of the frame may have a token: the error names a place and an expectation alone.
    let what = match error.classify() {
        serde_json::error::Category::Data => "is none of the protocol",
        _ => "is no JSON",
    };
    Closing::malformed(format!("the frame {what}, at line {}, column {}", error.line(), error.column()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_mcp_stays_the_text_that_it_was_on_one_line() {
        let text = "{\"type\": \"mcp\", \"n\": 1, \"message\": {\n \"jsonrpc\": \"2.0\",\r\n \"x\": 1e400, \"y\": \"a\\nb\"} }";
        let Ok(Frame::Mcp { n: 1, ack: 0, message }) = frame(text) else { panic!("a frame of MCP") };
        assert_eq!(message, "{  \"jsonrpc\": \"2.0\",   \"x\": 1e400, \"y\": \"a\\nb\"}");
    }

    #[test]
    fn a_frame_has_the_members_of_its_type_alone() {
        let reason = |text: &str| format!("{:?}", frame(text).expect_err("refused"));
        for (text, part) in [
            (r#"{"type":"ack","n":1,"text":"x"}"#, "has no `text`"),
            (r#"{"type":"unfollow","n":1}"#, "has no `n`"),
            (r#"{"type":"ack"}"#, "needs `n`"),
            (r#"{"type":"mcp","n":1}"#, "needs `message`"),
            (r#"{"type":"send"}"#, "needs `text`"),
            (r#"{"type":"result","call":"x","result":[]}"#, "none of MCP"),
            (r#"{"type":"events","since":-1}"#, "0 or more"),
            (r#"{"type":"hello"}"#, "one of the types"),
            (r#"{"type":"ack","n":1,"n":1}"#, "none of the protocol"),
            (r#"{"type":"ack","n":1,"more":1}"#, "none of the protocol"),
            (r#"{"type":"ack","n":-1}"#, "none of the protocol"),
            (r#"{"type":"ack","n":1"#, "is no JSON"),
            ("[]", "none of the protocol"),
        ] {
            assert!(reason(text).contains(part), "{text}: {}", reason(text));
        }
        let long = "x".repeat(65);
        assert!(reason(&format!(r#"{{"type":"events","ref":"{long}"}}"#)).contains("longer than 64"));
    }
}
