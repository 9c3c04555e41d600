//! Placeholders in descriptions, filled in for each caller.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};
use toolkit_core::caller::Caller;
use toolkit_core::escape::escape_line;

const SECONDS_PER_DAY: u64 = 86_400;

/// Replaces the placeholders in the text with the values of `caller`. Other braces stay unchanged.
pub(crate) fn fill<'a>(text: &'a str, caller: &Caller) -> Cow<'a, str> {
    if memchr::memchr(b'{', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let value = after.split_once('}').and_then(|(name, after)| Some((value(name, caller)?, after)));
        match value {
            Some((value, after)) => {
                // Names chosen by others are escaped, so that they cannot start a new line.
                filled.push_str(&escape_line(&value));
                rest = after;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    Cow::Owned(filled)
}

/// Returns true if the text has a placeholder.
pub(crate) fn has_placeholder(text: &str) -> bool {
    let mut parts = text.split('{');
    parts.next();
    parts.any(|part| part.split_once('}').is_some_and(|(name, _)| PLACEHOLDERS.contains(&name)))
}

/// The names of all placeholders.
pub(crate) const PLACEHOLDERS: &[&str] =
    &["workspace", "working_directory", "agent", "channel", "provider", "model", "os", "date"];

fn value(name: &str, caller: &Caller) -> Option<String> {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    Some(match name {
        "workspace" | "working_directory" => {
            let directory = caller.workspace_dir();
            std::path::absolute(directory).as_deref().unwrap_or(directory).display().to_string()
        }
        "agent" => known(&caller.agent),
        "channel" => known(&caller.channel),
        "provider" => known(&caller.provider),
        "model" => known(&caller.model),
        "os" => std::env::consts::OS.to_owned(),
        "date" => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            date(since.as_secs() / SECONDS_PER_DAY)
        }
        _ => return None,
    })
}

/// Returns the Gregorian date of a day since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms":
/// years begin in March, so that the leap day is the last day).
fn date(day: u64) -> String {
    let day = day + 719_468;
    let (era, day_of_era) = (day / 146_097, day % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day_of_month:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_filled_in() {
        let caller = Caller::new().with_workspace("/srv/a\nb").with_agent("ada").with_model("{agent}");
        for (text, filled) in [
            ("Reads a file.", "Reads a file."),
            ("In {workspace}.", "In /srv/a\\u{a}b."),
            ("{agent}{channel}", "adaunknown"),
            ("{model}", "{agent}"),
            ("a {} { agent } {agents} {agent", "a {} { agent } {agents} {agent"),
            ("{{agent}}", "{ada}"),
            ("{\"a\": {\"b\": \"{agent}\"}}", "{\"a\": {\"b\": \"ada\"}}"),
        ] {
            assert_eq!(fill(text, &caller), filled, "{text}");
            assert_eq!(has_placeholder(text), fill(text, &caller) != text, "{text}");
        }
        assert!(matches!(fill("Reads.", &caller), Cow::Borrowed(_)));
    }

    #[test]
    fn every_placeholder_has_a_value() {
        for name in PLACEHOLDERS {
            assert_ne!(fill(&format!("{{{name}}}"), &Caller::new()), format!("{{{name}}}"));
        }
    }

    #[test]
    fn dates() {
        for (day, expected) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (789, "1972-02-29"),
            (10_956, "1999-12-31"),
            (11_016, "2000-02-29"),
            (11_017, "2000-03-01"),
            (20_483, "2026-01-30"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(date(day), expected, "{day}");
        }
    }
}
