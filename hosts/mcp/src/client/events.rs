//! The events of an HTTP answer, none larger than a limit.

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

/// The reason for which a stream of events ends early.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error(transparent)]
    Http(reqwest::Error),
    // rmcp's own streams have the same text, which `failure` recognizes.
    #[error("SSE event exceeded the maximum size of {0} bytes")]
    TooLarge(usize),
}

/// Returns the events of an answer. The stream ends with an error at an event of more than `limit` bytes.
pub(super) fn events(response: Response, limit: usize) -> BoxStream<'static, Result<Sse, SseError>> {
    let size = EventSize { limit, ..EventSize::default() };
    let chunks = stream::try_unfold((response, size), async |(mut response, mut size)| {
        match response.chunk().await.map_err(Broken::Http)? {
            None => Ok(None),
            Some(chunk) if size.takes(&chunk) => Ok(Some((chunk, (response, size)))),
            Some(_) => Err(Broken::TooLarge(size.limit)),
        }
    });
    SseStream::from_bytes_stream(chunks.boxed()).boxed()
}

/// Counts the bytes of the present event. Comments, which servers send to keep a connection, count only until their line ends.
#[derive(Debug, Default)]
struct EventSize {
    limit: usize,
    /// The bytes of the event's lines so far.
    event: usize,
    /// The bytes of the present line.
    line: usize,
    is_comment: bool,
    is_after_return: bool,
}

impl EventSize {
    /// Counts a chunk. Returns false if an event in it is too large.
    fn takes(&mut self, mut chunk: &[u8]) -> bool {
        while let Some(first) = chunk.first() {
            if std::mem::take(&mut self.is_after_return) && *first == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let end = memchr::memchr2(b'\r', b'\n', chunk);
            let part = end.unwrap_or(chunk.len());
            if self.line == 0 {
                self.is_comment = *first == b':';
            }
            self.line += part;
            if part > 0 && self.event + self.line > self.limit {
                return false;
            }
            let Some(end) = end else { break };
            match self.line {
                0 => self.event = 0,
                _ if self.is_comment => {}
                line => self.event += line + 1,
            }
            self.line = 0;
            self.is_after_return = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_the_limit_and_comments_do_not_count() {
        for (text, expected) in [
            ("data: 7890\n\ndata: 7890\n\n", true),
            ("data: 78901\n\n", false),
            ("data: 7890\r\n\r\ndata: 7890\r\n\r\n", true),
            ("data: 7890\r\rdata: 7890\r\r", true),
            ("data: 12\ndata: 34\n\n", false),
            (": 1\n: 2\n: 3\n: 4\n: 5\ndata: 7890\n\n", true),
            (": 345678901\n", false),
            ("data: 7890\ndata", false),
        ] {
            let mut whole = EventSize { limit: 10, ..EventSize::default() };
            let mut bytes = EventSize { limit: 10, ..EventSize::default() };
            assert_eq!(whole.takes(text.as_bytes()), expected, "{text:?}");
            assert_eq!(text.as_bytes().chunks(1).all(|byte| bytes.takes(byte)), expected, "{text:?}");
        }
    }
}
