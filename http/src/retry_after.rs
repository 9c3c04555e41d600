//! `Retry-After`, as seconds or a date.

use http::HeaderMap;
use http::header::RETRY_AFTER;
use std::time::{Duration, SystemTime};

/// The longest wait that a server can ask for.
pub const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The shortest wait, also for a date that has passed.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);

/// Returns the time to wait before the next request, if the server states it: `Retry-After`, in seconds or as a date. At
/// most [`LONGEST_WAIT`], and at least a second.
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

#[cfg(test)]
mod tests {
    use super::*;

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
