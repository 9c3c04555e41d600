//! What the plugins that speak to a platform over HTTP share: a client that follows nobody, answers that are bounded, and failures
//! that name no address.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response};
use std::time::{Duration, SystemTime};

/// How long a connection may take to come about.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// The longest that a server has anybody wait.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The shortest: who is told to wait should not come at once.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// A client whose requests, from the connection to the last byte of the answer, take `timeout` at most. It follows no redirect:
/// another place would get the secrets of the first.
pub fn client(timeout: Duration) -> ClientBuilder {
    // Who has decided on a provider before keeps it.
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    Client::builder().connect_timeout(CONNECT_WITHIN.min(timeout)).timeout(timeout).redirect(Policy::none())
}

/// The whole of an answer; `None` if it has more than `most` bytes.
///
/// # Errors
///
/// When the connection ends before the answer does, or the time is over.
pub async fn read(mut response: Response, most: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut whole = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if whole.len() + chunk.len() > most {
            return Ok(None);
        }
        whole.extend_from_slice(&chunk);
    }
    Ok(Some(whole))
}

/// An answer without a secret of the request: there are servers that repeat what they got.
pub fn without_secret(answer: Vec<u8>, secret: &str) -> Vec<u8> {
    match String::from_utf8(answer) {
        Ok(text) if !secret.is_empty() && text.contains(secret) => {
            text.replace(secret, REDACTED).into_bytes()
        }
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// How long to wait before the next request, where a server says so: `Retry-After`, in seconds or as a date. At most
/// [`LONGEST_WAIT`], and a second at least, also where it is a date that has passed.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    wait(headers.get(RETRY_AFTER)?.to_str().ok()?, SystemTime::now())
}

fn wait(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        // More digits than fit are a long wait, too.
        Duration::from_secs(text.parse().unwrap_or(u64::MAX))
    } else {
        httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(wait.clamp(SHORTEST_WAIT, LONGEST_WAIT))
}

/// Why a request failed, by the innermost of its errors, and without the address: that may hold a secret.
pub fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut innermost: &dyn std::error::Error = &error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets() {
        for (answer, expected) in [
            (&b"a key-1 and key-1."[..], &b"a [redacted] and [redacted]."[..]),
            (b"a key-2", b"a key-2"),
            (b"\xff key-1", b"\xff key-1"),
            (b"", b""),
        ] {
            assert_eq!(without_secret(answer.to_vec(), "key-1"), expected);
        }
        assert_eq!(without_secret(b"all".to_vec(), ""), b"all");
    }

    #[test]
    fn waits() {
        // 1994-11-06 08:49:07, half a minute before the date that RFC 9110 writes in three ways.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_747);
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        for (text, expected) in [
            ("0", seconds(1)),
            ("120", seconds(120)),
            (" 120 ", seconds(120)),
            ("86401", Some(LONGEST_WAIT)),
            ("99999999999999999999999", Some(LONGEST_WAIT)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", seconds(30)),
            ("Sunday, 06-Nov-94 08:49:37 GMT", seconds(30)),
            ("Sun Nov  6 08:49:37 1994", seconds(30)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", seconds(1)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(LONGEST_WAIT)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(wait(text, now), expected, "{text:?}");
        }
    }
}
