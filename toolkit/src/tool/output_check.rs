//! Validates a dynamic tool's structured output by the tool's schema.

use super::args::Handler;
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::{Arc, OnceLock};
use toolkit_core::arguments::check_output;
use toolkit_core::error::ToolError;
use toolkit_core::output::ToolOutput;
use toolkit_core::schema::Compiled;

/// The maximum number of problems in an error.
const MAX_PROBLEMS: usize = 5;

/// A schema of structured output, compiled when the first output arrives.
struct OutputCheck {
    schema: Value,
    compiled: OnceLock<Option<Compiled>>,
}

/// Returns a handler whose structured output matches `schema`; other output becomes an error that keeps the text.
pub(super) fn checked(handler: Arc<Handler>, schema: Value) -> Arc<Handler> {
    let check = Arc::new(OutputCheck { schema, compiled: OnceLock::new() });
    Arc::new(move |context, args| {
        let (run, check) = (handler(context, args), Arc::clone(&check));
        Box::pin(async move { check.apply(run.await?) })
    })
}

impl OutputCheck {
    fn apply(&self, output: ToolOutput) -> Result<ToolOutput, ToolError> {
        let Some(details) = &output.details else { return Ok(output) };
        // The schema was valid when the tool was created.
        let compiled = self.compiled.get_or_init(|| Compiled::foreign("", self.schema.clone()).ok());
        let Some(compiled) = compiled else { return Ok(output) };
        let problems = check_output(compiled, details);
        if problems.is_empty() {
            return Ok(output);
        }
        let mut message =
            "the structured output does not fit the tool's own output schema; do not rely on it".to_owned();
        for problem in problems.iter().take(MAX_PROBLEMS) {
            let place = if problem.pointer.is_empty() { "/" } else { &problem.pointer };
            let _ = write!(message, "\n- {place}: expected {}, got {}", problem.expected, problem.actual);
        }
        if problems.len() > MAX_PROBLEMS {
            message.push_str("\n- and more");
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
            "additionalProperties": {"type": "null"},
        });
        let check = OutputCheck { schema, compiled: OnceLock::new() };
        let output = |details: Value| ToolOutput::default().with_content("five").with_details(details);
        assert!(check.apply(output(json!({"sum": 5}))).is_ok());
        assert!(check.apply(ToolOutput::default().with_content("five")).is_ok(), "without structured output");
        let error = check.apply(output(json!({"sum": "5", "unit": 1}))).expect_err("it does not fit");
        for part in [
            "- /sum: expected an integer, got the string \"5\"\n",
            "- /unit: expected a string, got the number 1\n",
            "Its text:\nfive",
        ] {
            assert!(error.message().contains(part), "{part}: {error}");
        }
        let many = json!({"sum": 5, "a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1});
        let error = check.apply(output(many)).expect_err("it does not fit");
        assert!(error.message().contains("\n- /e: expected null, got the number 1\n- and more"), "{error}");
        let error = check.apply(output(json!(5))).expect_err("it does not fit");
        assert!(error.message().contains("\n- /: expected an object, got the number 5"), "{error}");
        let error = check.apply(output(json!({}))).expect_err("it does not fit");
        assert!(error.message().contains("- /sum: expected an integer (required), got nothing"), "{error}");
    }
}
