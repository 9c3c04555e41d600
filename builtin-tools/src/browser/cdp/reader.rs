//! Reading messages, within a limit.

use super::{Answer, Commands, Event};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The most bytes of a message. A larger one is skipped, and the command that it answers fails.
pub(super) const MAX_MESSAGE_BYTES: usize = 32 << 20;
/// So many bytes of a message that is skipped are kept: its number stands first.
const KEPT_BYTES: usize = 64;

/// Reads until the stream ends. Returns why it did.
pub(super) async fn read(
    mut reader: impl AsyncRead + Unpin,
    commands: &Commands,
    on_event: &mut impl FnMut(Event, &Commands),
) -> String {
    let mut frames = Frames::default();
    let mut chunk = vec![0; 64 << 10];
    loop {
        match reader.read(&mut chunk).await {
            Ok(0) => return "the browser ended".to_owned(),
            Ok(length) => frames.push(&chunk[..length], |frame| match frame {
                Frame::Whole(bytes) => dispatch(bytes, commands, on_event),
                Frame::Skipped(beginning) => {
                    if let Some(id) = number(beginning) {
                        commands.answer(id, Answer::TooLarge);
                    }
                }
            }),
            Err(error) => return format!("the connection to the browser broke: {error}"),
        }
    }
}

fn dispatch(bytes: &[u8], commands: &Commands, on_event: &mut impl FnMut(Event, &Commands)) {
    let Ok(Value::Object(mut message)) = serde_json::from_slice(bytes) else { return };
    if let Some(id) = message.get("id").and_then(Value::as_u64) {
        let answer = match (message.remove("error"), message.remove("result")) {
            (Some(error), _) => Answer::Refused(text(&error["message"])),
            (None, result) => Answer::Result(result.unwrap_or_default()),
        };
        commands.answer(id, answer);
        return;
    }
    let Some(method) = message.get("method").and_then(Value::as_str) else { return };
    let event = Event {
        method: method.to_owned(),
        session: message.get("sessionId").and_then(Value::as_str).map(ToOwned::to_owned),
        params: message.remove("params").unwrap_or_default(),
    };
    on_event(event, commands);
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("it gave no reason").to_owned()
}

/// The number of an answer from its first bytes: `{"id":12,`.
fn number(beginning: &[u8]) -> Option<u64> {
    let rest = beginning.strip_prefix(b"{\"id\":")?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()
}

/// A message as it came.
enum Frame<'a> {
    Whole(&'a [u8]),
    /// One that is too large: its first bytes.
    Skipped(&'a [u8]),
}

/// Takes bytes apart at zero bytes.
#[derive(Default)]
struct Frames {
    buffer: Vec<u8>,
    is_skipping: bool,
}

impl Frames {
    fn push(&mut self, mut bytes: &[u8], mut take: impl FnMut(Frame<'_>)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            self.extend(&bytes[..end]);
            bytes = &bytes[end + 1..];
            take(if self.is_skipping { Frame::Skipped(&self.buffer) } else { Frame::Whole(&self.buffer) });
            self.is_skipping = false;
            self.buffer.clear();
            // The memory of one large message is not kept for small ones.
            self.buffer.shrink_to(1 << 20);
        }
        self.extend(bytes);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if !self.is_skipping && self.buffer.len() + bytes.len() > MAX_MESSAGE_BYTES {
            self.is_skipping = true;
            self.buffer.truncate(KEPT_BYTES);
            self.buffer.shrink_to_fit();
        }
        if !self.is_skipping {
            self.buffer.extend_from_slice(bytes);
        }
    }
}
