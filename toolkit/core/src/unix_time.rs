//! Times as milliseconds since 1970-01-01 UTC, as they are written to files and sent to hosts. With `#[serde(with)]` for
//! [`SystemTime`].

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the milliseconds of a time; 0 if it is before 1970.
pub fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the milliseconds of the current time.
pub fn now() -> u64 {
    milliseconds(SystemTime::now())
}

/// Returns the time of milliseconds; `None` if it is too far ahead for this system.
pub fn time(milliseconds: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}

/// Returns a time without its fraction of a millisecond.
pub fn whole(exact: SystemTime) -> SystemTime {
    time(milliseconds(exact)).unwrap_or(exact)
}

/// Serializes a time.
///
/// # Errors
///
/// Those of the serializer.
pub fn serialize<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(milliseconds(*time))
}

/// Deserializes a time.
///
/// # Errors
///
/// When it is no integer, or too far ahead for this system.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SystemTime, D::Error> {
    time(u64::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("a time too far ahead"))
}
