//! Lengths of time as text: `90s`, `1h30m`, `2d`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The units, the longest first, with their seconds.
const UNITS: [(&str, u64); 5] = [("w", 7 * 24 * 3_600), ("d", 24 * 3_600), ("h", 3_600), ("m", 60), ("s", 1)];
/// The longest interval: ten years.
const MAX_SECONDS: u64 = 10 * 366 * 24 * 3_600;

/// A length of time from one second to ten years, in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Interval(u64);

/// A text that is no interval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IntervalError {
    /// It has another form.
    #[error(
        "`{0}` is no interval: write numbers with `w`, `d`, `h`, `m` or `s`, the longest unit first, such as `90s` or `1h30m`"
    )]
    Form(String),
    /// It is too short or too long.
    #[error("`{0}` is out of range: an interval has at least 1s, and at most 3660d")]
    Range(String),
}

impl Interval {
    /// The interval of this length; a part of a second is dropped.
    ///
    /// # Errors
    ///
    /// It is shorter than a second, or longer than ten years.
    pub fn new(duration: Duration) -> Result<Self, IntervalError> {
        let seconds = duration.as_secs();
        if (1..=MAX_SECONDS).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(IntervalError::Range(format!("{}ms", duration.as_millis())))
        }
    }

    /// Its length.
    pub fn duration(self) -> Duration {
        Duration::from_secs(self.0)
    }
}

impl FromStr for Interval {
    type Err = IntervalError;

    fn from_str(text: &str) -> Result<Self, IntervalError> {
        let shown = || text.chars().take(40).collect::<String>();
        let form = || IntervalError::Form(shown());
        let mut rest = text.trim();
        let mut units = UNITS.iter();
        let mut seconds: u64 = 0;
        if rest.is_empty() {
            return Err(form());
        }
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = rest[..digits].parse().map_err(|_| form())?;
            let unit = rest[digits..].chars().next().ok_or_else(form)?;
            let (_, length) = units.find(|(name, _)| name.chars().eq([unit])).ok_or_else(form)?;
            let part = number.checked_mul(*length).and_then(|part| seconds.checked_add(part));
            seconds = part.ok_or_else(|| IntervalError::Range(shown()))?;
            rest = &rest[digits + unit.len_utf8()..];
        }
        if (1..=MAX_SECONDS).contains(&seconds) {
            Ok(Self(seconds))
        } else {
            Err(IntervalError::Range(shown()))
        }
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (name, length) in UNITS {
            if rest >= length {
                write!(f, "{}{name}", rest / length)?;
                rest %= length;
            }
        }
        Ok(())
    }
}

impl TryFrom<String> for Interval {
    type Error = IntervalError;

    fn try_from(text: String) -> Result<Self, IntervalError> {
        text.parse()
    }
}

impl From<Interval> for String {
    fn from(interval: Interval) -> Self {
        interval.to_string()
    }
}
