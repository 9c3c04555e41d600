//! `std::time::Duration` as an argument: a text such as `30s` or `PT30S`, instead of serde's two numbers.

use serde_json::{Map, Value, json};
use std::time::Duration;

/// One or more numbers with units, or an ISO 8601 duration without years and months, because their length is not fixed.
pub(crate) const PATTERN: &str = r"^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d))+$|^P([0-9]+W|[0-9]+D|([0-9]+D)?T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)$";
/// A description of the schema, for error messages.
pub(super) const WORDS: &str = "a duration such as \"30s\", \"1h30m\" or \"PT30S\"";
/// A sentence that is appended to the author's description.
const HINT: &str = "A duration, such as 30s, 1h30m or PT30S.";

const SECOND: u128 = 1_000_000_000;
/// Units with their nanoseconds; a longer unit comes before its prefix.
const UNITS: [(&str, u128); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", 60 * SECOND),
    ("h", 3_600 * SECOND),
    ("d", 86_400 * SECOND),
];
/// The units of ISO 8601: of the date, then of the time.
const DATE_UNITS: [(&str, u128); 2] = [("W", 7 * 86_400 * SECOND), ("D", 86_400 * SECOND)];
const TIME_UNITS: [(&str, u128); 3] = [("H", 3_600 * SECOND), ("M", 60 * SECOND), ("S", SECOND)];

/// Replaces schemars' schema of a duration by that of a text.
pub(super) fn write_as_text(schema: &mut Map<String, Value>) {
    if !is_duration(schema) {
        return;
    }
    schema.shift_remove("required");
    schema.shift_remove("properties");
    let kind = match schema.get("type") {
        Some(Value::Array(_)) => json!(["string", "null"]),
        _ => json!("string"),
    };
    schema.insert("type".into(), kind);
    let description = match schema.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => HINT.to_owned(),
        Some(own) if own.contains('\n') => format!("{own}\n\n{HINT}"),
        Some(own) if own.ends_with(['.', '!', '?']) => format!("{own} {HINT}"),
        Some(own) => format!("{own}. {HINT}"),
    };
    schema.insert("description".into(), description.into());
    schema.insert("pattern".into(), PATTERN.into());
    if let Some(default) = schema.get_mut("default") {
        show(default);
    }
    if let Some(Value::Array(examples)) = schema.get_mut("examples") {
        examples.iter_mut().for_each(show);
    }
}

fn is_duration(schema: &Map<String, Value>) -> bool {
    let is_object =
        schema.get("type").is_some_and(|kind| kind == "object" || kind == &json!(["object", "null"]));
    is_object
        && !schema.contains_key("additionalProperties")
        && schema.get("required").is_some_and(|required| required == &json!(["secs", "nanos"]))
        && schema.get("properties").is_some_and(|properties| {
            properties
                == &json!({
                    "secs": {"type": "integer", "format": "uint64", "minimum": 0},
                    "nanos": {"type": "integer", "format": "uint32", "minimum": 0},
                })
        })
}

/// Converts a value shown in a schema to text.
pub(crate) fn show(value: &mut Value) {
    let part = |name| value.get(name).and_then(Value::as_u64);
    if let (Some(seconds), Some(nanos)) = (part("secs"), part("nanos")) {
        *value = text(u128::from(seconds) * SECOND + u128::from(nanos)).into();
    }
}

/// Returns the shortest text with one unit.
fn text(nanos: u128) -> String {
    let whole = UNITS.iter().rev().find(|(_, length)| nanos > 0 && nanos.is_multiple_of(*length));
    let (unit, length) = whole.copied().unwrap_or(("s", SECOND));
    format!("{}{unit}", nanos / length)
}

/// Returns true if a text within the value has the form of a duration.
pub(crate) fn holds_duration(value: &Value) -> bool {
    match value {
        Value::String(text) => starts_like_duration(text) && parse(text).is_some(),
        Value::Array(items) => items.iter().any(holds_duration),
        Value::Object(members) => members.values().any(holds_duration),
        _ => false,
    }
}

/// Returns true if the first character allows a text to be a duration. Every text among the arguments of a call is asked.
fn starts_like_duration(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|first| first.is_ascii_digit() || *first == b'P')
}

/// Returns the parts that serde reads.
#[doc(hidden)]
pub fn parts(text: &str) -> Option<Value> {
    let duration = parse(text)?;
    Some(json!({"secs": duration.as_secs(), "nanos": duration.subsec_nanos()}))
}

/// Parses a text that [`PATTERN`] matches. A longer duration than the maximum becomes the maximum.
fn parse(text: &str) -> Option<Duration> {
    let nanos = match text.strip_prefix('P') {
        None => sum(text, &UNITS, true).filter(|_| !text.is_empty())?,
        Some(iso) => {
            let (date, time) = iso.split_once('T').map_or((iso, None), |(date, time)| (date, Some(time)));
            // Weeks stand alone in ISO 8601.
            let has_more_than_weeks = date.contains('W') && (date.contains('D') || time.is_some());
            if date.is_empty() && time.is_none() || has_more_than_weeks {
                return None;
            }
            sum(date, &DATE_UNITS, false)?.saturating_add(sum(time.unwrap_or_default(), &TIME_UNITS, false)?)
        }
    };
    let seconds = u64::try_from(nanos / SECOND);
    let rest = u32::try_from(nanos % SECOND).ok()?;
    Some(seconds.map_or(Duration::MAX, |seconds| Duration::new(seconds, rest)))
}

/// Returns the sum of numbers with units: in any order and repeated if `is_free`, or each once and in the order of
/// `units`.
fn sum(text: &str, units: &[(&str, u128)], is_free: bool) -> Option<u128> {
    let (mut rest, mut first, mut total) = (text, 0, 0_u128);
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = match after.strip_prefix('.').map(digits) {
            Some(("", _)) => return None,
            Some(found) => found,
            None => ("", after),
        };
        let (place, (unit, length)) =
            units.iter().enumerate().skip(first).find(|(_, (unit, _))| after.starts_with(unit))?;
        let allows_fraction = is_free || *unit == "S";
        if whole.is_empty() || !(fraction.is_empty() || allows_fraction) {
            return None;
        }
        total = total.saturating_add(nanos(whole, fraction, *length));
        rest = &after[unit.len()..];
        first = if is_free { 0 } else { place + 1 };
    }
    Some(total)
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Returns `whole.fraction` times a length, as far as it is exact in nanoseconds.
fn nanos(whole: &str, fraction: &str, length: u128) -> u128 {
    // A number with too many digits is longer than every duration.
    let whole = whole.parse::<u128>().unwrap_or(u128::MAX).saturating_mul(length);
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = fraction.bytes().fold(1_u128, |scale, _| scale * 10);
    whole.saturating_add(fraction.parse::<u128>().unwrap_or(0) * length / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Validator;
    use proptest::prelude::*;

    fn seconds(text: &str) -> Option<f64> {
        parse(text).map(|duration| duration.as_secs_f64())
    }

    #[test]
    fn both_forms_are_read() {
        for (text, expected) in [
            ("30s", 30.0),
            ("250ms", 0.25),
            ("1h30m", 5400.0),
            ("1.5h", 5400.0),
            ("2d", 172_800.0),
            ("7us", 7e-6),
            ("9ns", 9e-9),
            ("0s", 0.0),
            ("1m1m", 120.0),
            ("PT30S", 30.0),
            ("PT1H30M", 5400.0),
            ("P1DT0.5S", 86_400.5),
            ("P2W", 1_209_600.0),
            ("P1D", 86_400.0),
            ("P1DT", 86_400.0),
            ("PT", 0.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
        for text in [
            "", "30", "s", "30 s", "-5s", "+5s", "1.s", ".5s", "30S", "1y", "P", "P1", "P1Y", "P1M",
            "PT1.5H", "PT1S1M", "P1W2D", "P1WT1H", "P1WT", "1h30", "٣s", "PT30S ", "p1d",
        ] {
            assert_eq!(seconds(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_the_longest() {
        for text in ["99999999999999999999d", &format!("{}s", "9".repeat(50)), "P99999999999999999999W"] {
            assert_eq!(parse(text), Some(Duration::MAX), "{text}");
        }
    }

    #[test]
    fn a_shown_value_is_short_and_read_back() {
        for (duration, expected) in [
            (Duration::from_secs(30), "30s"),
            (Duration::from_secs(90), "90s"),
            (Duration::from_hours(2), "2h"),
            (Duration::from_millis(1500), "1500ms"),
            (Duration::from_nanos(1), "1ns"),
            (Duration::ZERO, "0s"),
        ] {
            let mut shown = json!({"secs": duration.as_secs(), "nanos": duration.subsec_nanos()});
            show(&mut shown);
            assert_eq!(shown, expected);
            assert_eq!(parse(expected), Some(duration));
        }
    }

    proptest! {
        /// Every text that the schema accepts decodes, and no other text does.
        #[test]
        fn the_pattern_takes_what_is_read(text in "(P?T?([0-9]{1,3}(\\.[0-9])?(ns|us|ms|s|m|h|d|W|D|H|M|S|T|)){0,3}|[ -~]{0,4})") {
            let schema = json!({"type": "string", "pattern": PATTERN});
            let takes = Validator::new(&schema).unwrap().is_valid(&text.clone().into());
            prop_assert_eq!(takes, parse(&text).is_some(), "{}", text);
        }
    }
}
