//! Parses a typed line into an answer.

use serde_json::{Map, Number, Value};
use toolkit_core::ask::{AllowScope, Answer, Choice, PendingAsk};
use toolkit_core::escape::escape_line;

/// The meaning of a typed line as a reply to a permission question.
#[derive(Debug, PartialEq)]
pub(super) enum Reply {
    Answer(Answer),
    /// An empty line.
    Empty,
    /// A request to explain the answers.
    Help,
    /// A request to view the whole question.
    View,
    /// A scope that the question does not offer: neither an answer nor a message for the model.
    NotOffered,
}

/// Parses a line, for a question that can be allowed in the given `scopes`.
pub(super) fn read_permission(line: &str, scopes: &[AllowScope]) -> Reply {
    let line = line.trim();
    let scope = match line.to_ascii_lowercase().as_str() {
        "" => return Reply::Empty,
        "?" => return Reply::Help,
        "v" | "view" => return Reply::View,
        "y" | "yes" => AllowScope::Once,
        "s" | "session" => AllowScope::Session,
        "a" | "always" => AllowScope::Always,
        "n" | "no" => return Reply::Answer(Answer::deny()),
        _ => return Reply::Answer(Answer::deny_saying(line)),
    };
    match scope {
        AllowScope::Once => Reply::Answer(Answer::allow()),
        AllowScope::Session if scopes.contains(&scope) => Reply::Answer(Answer::allow_for_session()),
        AllowScope::Always if scopes.contains(&scope) => Reply::Answer(Answer::allow_always()),
        _ => Reply::NotOffered,
    }
}

/// Returns true if a line confirms that values are sent. Every other line declines.
pub(super) fn is_yes(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Returns the prompt that asks whether to send the values.
pub(super) fn confirmation(values: &Map<String, Value>) -> &'static str {
    if values.is_empty() { "y accepts, other text declines: " } else { "y sends this, other text declines: " }
}

/// The response to an empty line.
pub(super) const EXPECTED: &str = "Type one of the letters below and press Enter; ? explains them.\n";

/// The line before the answers to a question of which parts are left out, as long as the person has not viewed them.
const UNSEEN: &str = "Not all of it is shown. v shows the whole, page by page; an answer covers all of it.\n";

/// Returns true if a line stops the pages of a whole question.
pub(super) fn stops_pages(line: &str) -> bool {
    matches!(line.trim().to_ascii_lowercase().as_str(), "q" | "quit")
}

/// The parts of a question that the person has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// All of it, as it is shown.
    Whole,
    /// Not the parts that are left out.
    InPart,
    /// All of it, page by page.
    Viewed,
}

/// Returns the prompt with the answers that can be typed; the person types on the same line.
pub(super) fn choices(pending: &PendingAsk, seen: Seen) -> String {
    let mut text = String::from(if seen == Seen::InPart { UNSEEN } else { "" });
    text.push_str("y once, ");
    for scope in pending.scopes() {
        match scope {
            AllowScope::Session => text.push_str("s session, "),
            AllowScope::Always => text.push_str("a always, "),
            _ => {}
        }
    }
    if seen != Seen::Whole {
        text.push_str("v view all, ");
    }
    text.push_str("n no, ? help; other text: no, said to the model: ");
    text
}

/// One property of the requested value.
pub(super) struct Field<'a> {
    pub(super) name: &'a str,
    schema: &'a Value,
    is_required: bool,
}

impl<'a> Field<'a> {
    pub(super) fn all(schema: &'a Value) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.map(Map::iter).into_iter().flatten();
        fields
            .map(|(name, schema)| {
                let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
                Self { name, schema, is_required }
            })
            .collect()
    }

    /// Returns the prompt: name, description, and accepted input. The person types on its last line.
    pub(super) fn prompt(&self) -> String {
        let about = match self.schema.get("description").and_then(Value::as_str) {
            Some(description) => format!("  │ {}\n", escape_line(description)),
            None => String::new(),
        };
        let default =
            self.schema.get("default").map(|default| format!(", else {}", escape_line(&in_text(default))));
        let need = if self.is_required { "" } else { ", optional" };
        format!(
            "{about}  {} ({}{need}{}): ",
            escape_line(self.name),
            self.form(),
            default.unwrap_or_default()
        )
    }

    fn form(&self) -> String {
        if let Some(Choice { options, is_several }) = Choice::of(self.schema) {
            let shown = |(value, title): &(&Value, Option<&str>)| {
                let value = escape_line(&in_text(value)).into_owned();
                match title {
                    Some(title) => format!("{value} ({})", escape_line(title)),
                    None => value,
                }
            };
            let options: Vec<String> = options.iter().map(shown).collect();
            let how = if is_several { "any of, separated by commas," } else { "one of" };
            return format!("{how} {}", options.join(", "));
        }
        match self.kind() {
            "integer" => "a whole number".to_owned(),
            "number" => "a number".to_owned(),
            "boolean" => "y or n".to_owned(),
            _ => "text".to_owned(),
        }
    }

    fn kind(&self) -> &str {
        self.schema.get("type").and_then(Value::as_str).unwrap_or_default()
    }

    /// Parses the value; `None` for an empty line if that is allowed. Bounds are checked later, with the whole
    /// value.
    pub(super) fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let typed = line.trim();
        if typed.is_empty() {
            return if self.is_required { Err("it is required".to_owned()) } else { Ok(None) };
        }
        let wanted = || format!("type {}", self.form());
        if let Some(Choice { options, is_several }) = Choice::of(self.schema) {
            let chosen = |typed: &str| {
                let mut options = options.iter();
                options
                    .find(|(value, title)| in_text(value) == typed || *title == Some(typed))
                    .map(|(value, _)| (*value).clone())
            };
            let value = if is_several {
                typed.split(',').map(|word| chosen(word.trim())).collect::<Option<Vec<_>>>().map(Value::from)
            } else {
                chosen(typed)
            };
            return value.map(Some).ok_or_else(wanted);
        }
        let value = match self.kind() {
            "integer" => {
                typed.parse::<i64>().map(Value::from).or_else(|_| typed.parse::<u64>().map(Value::from)).ok()
            }
            "number" => typed.parse().ok().and_then(Number::from_f64).map(Value::from),
            "boolean" => match typed.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true.into()),
                "n" | "no" | "false" => Some(false.into()),
                _ => None,
            },
            _ => Some(line.into()),
        };
        value.map(Some).ok_or_else(wanted)
    }
}

fn in_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use toolkit_core::ask::{Ask, Origin, Question};

    #[test]
    fn only_exact_words_allow_and_only_what_is_offered() {
        const ALL: &[AllowScope] = &[AllowScope::Once, AllowScope::Session, AllowScope::Always];
        let said = |word: &str| Reply::Answer(Answer::deny_saying(word));
        for (line, offered, expected) in [
            ("y", 1, Reply::Answer(Answer::allow())),
            (" YES \t", 3, Reply::Answer(Answer::allow())),
            ("s", 3, Reply::Answer(Answer::allow_for_session())),
            ("Session", 2, Reply::Answer(Answer::allow_for_session())),
            ("s", 1, Reply::NotOffered),
            ("a", 3, Reply::Answer(Answer::allow_always())),
            ("ALWAYS ", 3, Reply::Answer(Answer::allow_always())),
            ("a", 2, Reply::NotOffered),
            ("always", 1, Reply::NotOffered),
            ("n", 3, Reply::Answer(Answer::deny())),
            ("No", 1, Reply::Answer(Answer::deny())),
            ("", 3, Reply::Empty),
            ("?", 1, Reply::Help),
            (" ? ", 3, Reply::Help),
            ("??", 3, said("??")),
            ("  ", 1, Reply::Empty),
            ("yy", 3, said("yy")),
            ("aa", 3, said("aa")),
            ("sa", 3, said("sa")),
            ("yes, but on a branch", 3, said("yes, but on a branch")),
            ("always ask", 3, said("always ask")),
            ("ｙ", 3, said("ｙ")),
            ("а", 3, said("а")),
        ] {
            assert_eq!(read_permission(line, &ALL[..offered]), expected, "{line:?} {offered}");
        }
    }

    #[test]
    fn only_an_explicit_yes_confirms() {
        for line in ["y", "Y", "yes", " YES \t"] {
            assert!(is_yes(line), "{line:?}");
        }
        for line in [
            "", " ", "n", "no", "no!", "decline", "cancel", "yy", "yes!", "y n", "ok", "true", "1", "ｙ", "?",
        ] {
            assert!(!is_yes(line), "{line:?}");
        }
    }

    #[test]
    fn only_what_is_offered_is_shown() {
        let shown = |origin: Origin, ask: Ask| {
            choices(&PendingAsk::detached(origin, Question::Approve(ask)), Seen::Whole)
        };
        let here = || Origin::new("1", "edit").with_workspace("/srv");
        let ask = || Ask::new("edit", "t").with_pattern("src/lib.rs");
        let end = "n no, ? help; other text: no, said to the model: ";
        for (text, offered) in [
            (shown(here(), ask()), "s session, a always, "),
            (shown(Origin::new("1", "edit"), ask()), "s session, "),
            (shown(here(), ask().raised()), "s session, "),
            (shown(here(), ask().once_only()), ""),
        ] {
            assert_eq!(text, format!("y once, {offered}{end}"));
            assert!(text.len() < 80, "{text}");
        }
    }

    #[test]
    fn fields_are_read_by_their_type() {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "What\nfor."},
                "count": {"type": "integer", "default": 3},
                "share": {"type": "number"},
                "really": {"type": "boolean"},
                "color": {"type": "string", "enum": ["red", "green"]},
                "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l"}]},
                "days": {"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}},
            },
            "required": ["text", "color", "size", "days"],
        });
        let fields = Field::all(&schema);
        let prompts: Vec<String> = fields.iter().map(Field::prompt).collect();
        assert_eq!(
            prompts,
            [
                "  │ What\\u{a}for.\n  text (text): ",
                "  count (a whole number, optional, else 3): ",
                "  share (a number, optional): ",
                "  really (y or n, optional): ",
                "  color (one of red, green): ",
                "  size (one of s (Small), l): ",
                "  days (any of, separated by commas, mo, tu): ",
            ]
        );
        for (field, line, expected) in [
            (0, "a b", Ok(Some(json!("a b")))),
            (0, "", Err("it is required")),
            (1, " 5 ", Ok(Some(json!(5)))),
            (1, "18446744073709551615", Ok(Some(json!(u64::MAX)))),
            (1, "5.5", Err("type a whole number")),
            (1, "", Ok(None)),
            (2, "0.5", Ok(Some(json!(0.5)))),
            (2, "NaN", Err("type a number")),
            (3, "Yes", Ok(Some(json!(true)))),
            (3, "n", Ok(Some(json!(false)))),
            (3, "x", Err("type y or n")),
            (4, "red", Ok(Some(json!("red")))),
            (4, "blue", Err("type one of red, green")),
            (5, "s", Ok(Some(json!("s")))),
            (5, "Small", Ok(Some(json!("s")))),
            (5, "m", Err("type one of s (Small), l")),
            (6, "tu, mo", Ok(Some(json!(["tu", "mo"])))),
            (6, "mo", Ok(Some(json!(["mo"])))),
            (6, "mo,", Err("type any of, separated by commas, mo, tu")),
        ] {
            assert_eq!(fields[field].read(line), expected.map_err(str::to_owned), "{line}");
        }
    }
}
