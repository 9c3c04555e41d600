//! What a person typed, as an answer.

use crate::ask::Answer;
use crate::escape::escape_line;
use serde_json::{Map, Number, Value};

/// The answer to a question for permission; `None` for an empty line.
pub(super) fn read_permission(line: &str) -> Option<Answer> {
    let line = line.trim();
    match line.to_ascii_lowercase().as_str() {
        "" => None,
        "y" | "yes" => Some(Answer::allow()),
        "n" | "no" => Some(Answer::deny()),
        _ => Some(Answer::deny_saying(line)),
    }
}

/// One property of what is asked for.
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

    /// Name, what it means, what may be typed. It ends in the line that the person goes on.
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
        if let Some(options) = self.schema.get("enum").and_then(Value::as_array) {
            let options: Vec<String> =
                options.iter().map(|option| escape_line(&in_text(option)).into_owned()).collect();
            return format!("one of {}", options.join(", "));
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

    /// The value; nothing for an empty line where that is allowed. Bounds are checked later, with all the rest.
    pub(super) fn read(&self, line: &str) -> Result<Option<Value>, String> {
        let typed = line.trim();
        if typed.is_empty() {
            return if self.is_required { Err("it is needed".to_owned()) } else { Ok(None) };
        }
        let wanted = || format!("type {}", self.form());
        if let Some(options) = self.schema.get("enum").and_then(Value::as_array) {
            return options
                .iter()
                .find(|option| in_text(option) == typed)
                .cloned()
                .map(Some)
                .ok_or_else(wanted);
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

    #[test]
    fn only_yes_allows() {
        for (line, expected) in [
            ("y", Some(Answer::allow())),
            (" YES \t", Some(Answer::allow())),
            ("n", Some(Answer::deny())),
            ("No", Some(Answer::deny())),
            ("", None),
            ("  ", None),
            ("yy", Some(Answer::deny_saying("yy"))),
            ("yes, but on a branch", Some(Answer::deny_saying("yes, but on a branch"))),
            ("ｙ", Some(Answer::deny_saying("ｙ"))),
        ] {
            assert_eq!(read_permission(line), expected, "{line:?}");
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
            },
            "required": ["text", "color"],
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
            ]
        );
        for (field, line, expected) in [
            (0, "a b", Ok(Some(json!("a b")))),
            (0, "", Err("it is needed")),
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
        ] {
            assert_eq!(fields[field].read(line), expected.map_err(str::to_owned), "{line}");
        }
    }
}
