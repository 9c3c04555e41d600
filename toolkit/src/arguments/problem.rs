//! What is wrong with arguments, said to the model: where, what was expected, what came, what to do.

use super::shape::meant_option;
use crate::name::nearest;
use crate::schema::describe::{join, literals};
use crate::schema::{Compiled, resolve};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Everything that is wrong with the arguments of one call.
///
/// Its text is what the model reads: one line a problem, then the tool's signature.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidArguments {
    /// The tool that was called.
    pub tool: String,
    /// Every problem, in the order of the schema.
    pub problems: Vec<Problem>,
    /// The tool's parameters in one line.
    pub signature: String,
}

impl InvalidArguments {
    pub(crate) fn of(problems: Vec<Problem>) -> Self {
        Self { problems, ..Self::default() }
    }
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// Where: a JSON pointer into the arguments, empty for all of them.
    pub pointer: String,
    /// What belongs there.
    pub expected: String,
    /// What came instead, cut short.
    pub actual: String,
    /// The argument that was probably meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl Problem {
    pub(crate) fn new(
        pointer: impl Into<String>,
        expected: impl Into<String>,
        actual: impl Into<String>,
    ) -> Self {
        Self { pointer: pointer.into(), expected: expected.into(), actual: actual.into(), nearest: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "the arguments" } else { &self.pointer };
        write!(f, "{pointer}: expected {}, got {}", self.expected, self.actual)?;
        match &self.nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("invalid arguments")?;
        if !self.tool.is_empty() {
            write!(f, " for `{}`", self.tool)?;
        }
        if self.problems.len() > 1 {
            write!(f, " ({} problems)", self.problems.len())?;
        }
        f.write_str(":")?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        if !self.signature.is_empty() {
            write!(f, "\nUsage: {}", self.signature)?;
        }
        Ok(())
    }
}

/// Every problem of `arguments`; none when they fit.
pub(super) fn find(compiled: &Compiled, arguments: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for error in compiled.validator.iter_errors(arguments) {
        describe(&error, compiled, "", arguments, &mut problems);
    }
    problems.dedup();
    problems
}

fn describe(
    error: &ValidationError<'_>,
    compiled: &Compiled,
    base: &str,
    root: &Value,
    problems: &mut Vec<Problem>,
) {
    let pointer = format!("{base}{}", error.instance_path().as_str());
    let actual = short(error.instance());
    let expected = match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let known = sibling_properties(error, compiled);
            for name in unexpected {
                let missing =
                    known.iter().map(String::as_str).filter(|known| error.instance().get(*known).is_none());
                let near = nearest(name, missing).first().map(|near| (*near).to_owned());
                let expected = if known.is_empty() {
                    "no arguments".to_owned()
                } else {
                    format!("one of the arguments {}", list(&known))
                };
                let value = format!("the unknown `{name}`");
                problems.push(Problem {
                    nearest: near,
                    ..Problem::new(format!("{pointer}/{}", escape(name)), expected, value)
                });
            }
            return;
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let expected = compiled
                .property_at(error.schema_path().as_str(), name)
                .map_or_else(|| "a value".to_owned(), |schema| compiled.describe_type(schema));
            problems.push(Problem::new(
                format!("{pointer}/{}", escape(name)),
                format!("{expected} (required)"),
                "nothing",
            ));
            return;
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            // A documented enum is one `const` a variant.
            if let Some(values) = compiled.schema_around(error.schema_path().as_str()).and_then(literals) {
                let expected = format!("one of {}", join(&values));
                let near = error.instance().as_str().and_then(|given| {
                    nearest(given, values.iter().filter_map(Value::as_str))
                        .first()
                        .map(|near| (*near).to_owned())
                });
                problems.push(Problem { nearest: near, ..Problem::new(pointer, expected, actual) });
                return;
            }
            if explain_option(error, context, compiled, base, root, problems) {
                return;
            }
            let options = compiled
                .schema_at(error.schema_path().as_str())
                .and_then(Value::as_array)
                .map(|options| {
                    options.iter().map(|option| compiled.describe_type(option)).collect::<Vec<_>>()
                })
                .unwrap_or_default();
            if options.is_empty() { "one of the allowed forms".to_owned() } else { options.join(" or ") }
        }
        Kind::OneOfMultipleValid { .. } => "a value that fits only one of the allowed forms".to_owned(),
        Kind::Type { .. }
        | Kind::Minimum { .. }
        | Kind::Maximum { .. }
        | Kind::ExclusiveMinimum { .. }
        | Kind::ExclusiveMaximum { .. }
        | Kind::MinLength { .. }
        | Kind::MaxLength { .. }
        | Kind::Pattern { .. }
        | Kind::Enum { .. }
        | Kind::Constant { .. }
        | Kind::MinItems { .. }
        | Kind::MaxItems { .. } => compiled
            .schema_around(error.schema_path().as_str())
            .map_or_else(|| error.to_string(), |schema| compiled.describe_type(schema)),
        _ => error.to_string(),
    };
    let problem = Problem::new(pointer, expected, actual);
    let problem = Problem { nearest: nearest_value(error), ..problem };
    if !problems.contains(&problem) {
        problems.push(problem);
    }
}

/// Says what is wrong with the variant that was meant, instead of that no variant fits.
fn explain_option(
    error: &ValidationError<'_>,
    context: &[Vec<ValidationError<'static>>],
    compiled: &Compiled,
    base: &str,
    root: &Value,
    problems: &mut Vec<Problem>,
) -> bool {
    let Some(options) = compiled.schema_at(error.schema_path().as_str()).and_then(Value::as_array) else {
        return false;
    };
    let Some(meant) = meant_option(error.instance(), options, &compiled.schema) else { return false };
    let Some(index) =
        options.iter().position(|option| std::ptr::eq(resolve(option, &compiled.schema), meant))
    else {
        return false;
    };
    let Some(errors) = context.get(index).filter(|errors| !errors.is_empty()) else { return false };
    for error in errors {
        describe(error, compiled, base, root, problems);
    }
    true
}

/// The names of the properties beside the keyword that complained.
fn sibling_properties(error: &ValidationError<'_>, compiled: &Compiled) -> Vec<String> {
    compiled
        .schema_around(error.schema_path().as_str())
        .and_then(|schema| schema.get("properties")?.as_object())
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default()
}

fn nearest_value(error: &ValidationError<'_>) -> Option<String> {
    let Kind::Enum { options } = error.kind() else { return None };
    let given = error.instance().as_str()?;
    let options = options.as_array()?;
    nearest(given, options.iter().filter_map(Value::as_str)).first().map(|near| (*near).to_owned())
}

fn list(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// What came, cut to a length that a model can read.
fn short(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::Null => return "null".to_owned(),
        Value::Array(items) if items.is_empty() => return "an empty list".to_owned(),
        Value::Object(members) if members.is_empty() => return "an empty object".to_owned(),
        other => other.to_string(),
    };
    let kind = match value {
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "list",
        _ => "object",
    };
    match text.char_indices().nth(LONGEST) {
        None => format!("the {kind} {text}"),
        Some((end, _)) => format!("the {kind} {}… ({} bytes)", &text[..end], text.len()),
    }
}
