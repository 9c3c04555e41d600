//! The frames of clients.

use serde::Deserialize;
use serde_json::Value;

use super::closing::Closing;

/// A frame of a client after the first one.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub(super) enum Frame {
    /// A message of MCP, with its number, and that of the last one that the client has.
    Mcp {
        n: u64,
        #[serde(default)]
        ack: u64,
        message: Value,
    },
    /// The number of the last message that the client has.
    Ack { n: u64 },
    /// The result of a deferred call.
    Result { call: String, result: Value },
    /// A message of the person.
    Send {
        #[serde(rename = "ref")]
        reference: Option<String>,
        session: Option<String>,
        text: String,
        id: Option<String>,
    },
    /// Asks for events, in place of those of an earlier one.
    Events {
        #[serde(rename = "ref")]
        reference: Option<String>,
        session: Option<String>,
        since: Option<i64>,
    },
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
    let frame = serde_json::from_str(text).map_err(|error| malformed(&error))?;
    if let Frame::Send { reference: Some(reference), .. } | Frame::Events { reference: Some(reference), .. } =
        &frame
        && reference.len() > MAX_REFERENCE_BYTES
    {
        return Err(Closing::malformed(format!("a `ref` is longer than {MAX_REFERENCE_BYTES} bytes")));
    }
    Ok(frame)
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
