//! Parses a model's answer to a value that is valid by the schema.

use crate::schema::AnswerSchema;
use serde_json::Value;

/// Returns the value in a model's answer.
///
/// # Errors
///
/// Returns the validation errors, for the model to correct.
pub(crate) fn value_in(said: &str, schema: Option<&AnswerSchema>) -> Result<Value, Vec<String>> {
    let value: Value = serde_json::from_str(without_fence(said)).map_err(|error| {
        // The error does not quote the text, which the model has.
        vec![format!("the answer is not JSON alone (line {}, column {})", error.line(), error.column())]
    })?;
    let problems = match schema {
        Some(schema) => schema.problems(&value),
        None if value.is_object() => Vec::new(),
        None => vec!["the answer is not a JSON object".to_owned()],
    };
    if problems.is_empty() { Ok(value) } else { Err(problems) }
}

/// Returns the text inside a code fence, if the fence encloses the whole answer.
fn without_fence(said: &str) -> &str {
    let text = said.trim();
    let within = || {
        let (language, rest) = text.strip_prefix("```")?.split_once('\n')?;
        let is_language = matches!(language.trim(), "" | "json" | "JSON");
        rest.trim_end().strip_suffix("```").filter(|_| is_language)
    };
    within().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values() {
        for (said, expected) in [
            ("{\"a\": 1}", Some(json!({ "a": 1 }))),
            (" \n{}\n ", Some(json!({}))),
            ("```json\n{\"a\": 1}\n```", Some(json!({ "a": 1 }))),
            ("```\n{}\n```\n", Some(json!({}))),
            ("```python\n{}\n```", None),
            ("Here it is: {}", None),
            ("{} {}", None),
            ("[1]", None),
            ("", None),
            ("```json\n{}", None),
        ] {
            assert_eq!(value_in(said, None).ok(), expected, "{said:?}");
        }
    }
}
