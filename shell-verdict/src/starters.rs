//! Programs that start another one than their words suggest, or have a further effect.

use crate::class::Class;
use crate::verdict::Part;
use crate::words::Value;

/// Adds reasons against a wrapper that would otherwise be judged only by the command that it starts.
pub(crate) fn look(base: &str, values: &[Value], part: &mut Part) {
    match base {
        "linux32" | "linux64" if values.iter().all(Value::may_be_option) => {
            let asks = matches!(values, [value] if matches!(value.text(), Some("--help" | "--version")));
            if !asks {
                part.has(Class::Code, format!("{base} runs a shell where it names no command"));
            }
        }
        // Newer versions read the first word as the command, if it is not a priority.
        "chrt" => {
            let is_option = |text: &str| text.len() > 1 && text.starts_with('-');
            let takes_nothing = |text: &str| {
                matches!(text, "--batch" | "--fifo" | "--idle" | "--other" | "--rr" | "--help" | "--version")
                    || text[1..].bytes().all(|letter| b"abfiorvRhV".contains(&letter))
            };
            let is_priority = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let fits = values
                .iter()
                .map(Value::text)
                .take_while(|text| text.is_some_and(is_option))
                .all(|text| text.is_some_and(takes_nothing));
            let first = values.iter().find(|value| !value.text().is_some_and(is_option));
            if !fits || first.is_some_and(|first| !first.text().is_some_and(is_priority)) {
                part.has(Class::Code, "chrt may take the priority for its command");
            }
        }
        "unbuffer" => part.is(Class::Unknown, "unbuffer runs what a file of the home says first"),
        "catchsegv" => part.is(Class::Unknown, "catchsegv keeps what it records in a file"),
        _ => {}
    }
}
