//! Removes wrappers around the arguments: a code fence, a byte order mark, a key as in protocols.

use super::super::known::add_properties;
use super::convert::is_null;
use super::mend::{Mender, Wrapping};
use super::names::is_closed;
use super::{Repair, RepairKind};
use crate::pointer::Pointer;
use serde_json::{Map, Value};

/// The keys under which models send all arguments, as protocols do.
const WRAPPERS: [&str; 8] =
    ["arguments", "args", "input", "inputs", "parameters", "params", "kwargs", "tool_input"];

/// Returns the text within a Markdown code fence or after a byte order mark; `None` if there is neither.
pub(in super::super) fn without_wrapping(text: &str) -> Option<&str> {
    let trimmed = text.trim();
    let marked = trimmed.strip_prefix('\u{FEFF}').map(str::trim);
    let body = marked.unwrap_or(trimmed);
    fenced(body).or(marked)
}

fn fenced(text: &str) -> Option<&str> {
    let within = text.strip_prefix("```")?.strip_suffix("```")?;
    // The language, if it is given: a fence of another language may contain anything.
    let body = match within.get(..4) {
        Some(language) if language.eq_ignore_ascii_case("json") => &within[4..],
        _ => within,
    };
    let body = body.trim();
    (body.starts_with(['{', '[', '"']) && !body.contains("```")).then_some(body)
}

impl Mender<'_> {
    /// Unwraps arguments that are all under one key, as in a protocol, with nothing beside it but the tool's
    /// name.
    pub(super) fn unwrap_arguments(&mut self, arguments: &mut Value) -> bool {
        let root = &self.compiled.annotated;
        let Some(members) = arguments.as_object() else { return false };
        let is_unknown = |name: &str| {
            let mut known = Vec::new();
            add_properties(&mut known, root, root, arguments, 0);
            !known.contains(&name)
        };
        if !root.as_object().is_some_and(is_closed) || members.len() > 2 {
            return false;
        }
        let mut found = None;
        for (name, member) in members {
            let is_name_of_tool =
                matches!(name.as_str(), "name" | "tool" | "tool_name") && *member == self.compiled.name;
            if WRAPPERS.contains(&name.as_str()) && found.is_none() {
                found = Some((name, member));
            } else if !is_name_of_tool {
                return false;
            }
            if !is_unknown(name) {
                return false;
            }
        }
        let Some((name, member)) = found else { return false };
        let note = format!("the arguments were nested under `{name}`");
        let is_nothing =
            member.is_null() || member.as_str().is_some_and(|text| text.trim().is_empty() || is_null(text));
        let mut within = if is_nothing { Value::Object(Map::new()) } else { member.clone() };
        if !self.mend(&mut within, root, Pointer::ROOT, Wrapping::Done) {
            self.repairs.clear();
            return false;
        }
        self.repairs.insert(0, Repair::new("", RepairKind::ArgumentsUnwrapped, note));
        *arguments = within;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around() {
        for (text, expected) in [
            ("```json\n{}\n```", Some("{}")),
            ("\n```JSON\r\n{}\r\n```\n", Some("{}")),
            ("```\n[1]\n```", Some("[1]")),
            ("```{}```", Some("{}")),
            ("\u{FEFF}{}", Some("{}")),
            ("\u{FEFF} ```json\n{}\n```", Some("{}")),
            ("{}", None),
            ("```json\n{}", None),
            ("```python\n{}\n```", None),
            ("```json5\n{}\n```", None),
            ("```json\n{}\n```\n```json\n{}\n```", None),
            ("```json {} ``` and more", None),
            ("``````", None),
            ("`````", None),
        ] {
            assert_eq!(without_wrapping(text), expected, "{text:?}");
        }
    }
}
