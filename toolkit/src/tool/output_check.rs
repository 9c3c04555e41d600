//! Validates a dynamic tool's structured output by the tool's schema.

use super::dynamic::Handler;
use jsonschema::Validator;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use toolkit_core::schema::validator;

/// The maximum number of problems in an error.
const MAX_PROBLEMS: usize = 5;
/// The maximum number of characters of one problem, which may repeat a value of any length.
const MAX_PROBLEM: usize = 300;

/// A schema of structured output, compiled when the first output arrives.
struct OutputCheck {
    schema: Value,
    validator: OnceLock<Option<Validator>>,
}

/// Returns a handler whose structured output matches `schema`; other output becomes an error that keeps the text.
pub(super) fn checked(handler: Arc<Handler>, schema: Value) -> Arc<Handler> {
    let check = Arc::new(OutputCheck { schema, validator: OnceLock::new() });
    Arc::new(move |context, args| {
        let (run, check) = (handler(context, args), Arc::clone(&check));
        Box::pin(async move { check.apply(run.await?) })
    })
}

impl OutputCheck {
    fn apply(&self, output: ToolOutput) -> Result<ToolOutput, ToolError> {
        let Some(details) = &output.details else { return Ok(output) };
        // The schema was valid when the tool was created.
        let validator = self.validator.get_or_init(|| validator(&self.schema).ok());
        let Some(validator) = validator else { return Ok(output) };
        if validator.is_valid(details) {
            return Ok(output);
        }
        let mut errors = validator.iter_errors(details);
        let mut message =
            "the structured output does not fit the tool's own output schema; do not rely on it".to_owned();
        for error in errors.by_ref().take(MAX_PROBLEMS) {
            let path = error.instance_path().to_string();
            let place = if path.is_empty() { "/" } else { &path };
            let problem: String = error.to_string().chars().take(MAX_PROBLEM).collect();
            let _ = write!(message, "\n- {place}: {problem}");
        }
        let more = errors.count();
        if more > 0 {
            let _ = write!(message, "\n- and {more} more");
        }
        let text = output.to_text();
        if !text.trim().is_empty() {
            let _ = write!(message, "\n\nIts text:\n{text}");
        }
        Err(ToolError::failed(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn output_that_does_not_fit_is_an_error_with_its_places_and_text() {
        let schema = json!({
            "type": "object",
            "properties": {"sum": {"type": "integer"}, "unit": {"type": "string"}},
            "required": ["sum"],
        });
        let check = OutputCheck { schema, validator: OnceLock::new() };
        let output = |details: Value| ToolOutput::default().with_content("five").with_details(details);
        assert!(check.apply(output(json!({"sum": 5}))).is_ok());
        assert!(check.apply(ToolOutput::default().with_content("five")).is_ok(), "without structured output");
        let error = check.apply(output(json!({"sum": "5", "unit": 1}))).expect_err("it does not fit");
        for part in ["- /sum: ", "- /unit: ", "Its text:\nfive"] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
        let error = check.apply(output(json!({}))).expect_err("it does not fit");
        assert!(error.message().contains("- /: \"sum\" is a required property"), "{error}");
    }
}
