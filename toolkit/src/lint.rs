//! Checks tools for definitions that mislead a model: missing, misleading or too long texts, and schema parts lost by a
//! provider.
//!
//! A plugin's author runs it in a test; `toolkit lint` runs it for all tools of a program:
//!
//! ```
//! use toolkit::lint::Lint;
//! use toolkit::prelude::*;
//!
//! /// Tells which weather is to come.
//! #[tool(group = "weather", read_only)]
//! async fn forecast(/** Name of the city. */ city: &str, days: u8) {}
//!
//! let findings = Lint::new().check([&toolkit::tool_ref!(forecast)]);
//! assert_eq!(findings.len(), 1);
//! assert_eq!((findings[0].rule, &*findings[0].place), ("parameter-without-description", "/properties/days"));
//! ```

mod losses;
mod mentions;
mod names;
mod output;
mod schema;
mod shape;
mod texts;

use crate::tool::Tool;
use mentions::Known;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use toolkit_core::escape::{escape_line, escape_rest};

/// A rule: its name and a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LintRule {
    /// The name used in findings, and to disable the rule.
    pub name: &'static str,
    /// A description of the problem that the rule finds.
    pub about: &'static str,
}

const fn rule(name: &'static str, about: &'static str) -> LintRule {
    LintRule { name, about }
}

/// Every rule, by name.
pub const RULES: &[LintRule] = &[
    rule("bytes-as-numbers", "a returned list of bytes, each of which a model reads as a number"),
    rule("contradictory-hints", "a tool that is declared both read-only and destructive"),
    rule("deep-schema", "more than ten levels of objects and lists, which strict modes of providers refuse"),
    rule("default-does-not-fit", "a default that the parameter's own schema rejects"),
    rule("invalid-schema", "a schema that is not valid, so that no model gets the tool"),
    rule("large-enum", "more than 1,000 enum values in one tool, which strict modes of providers refuse"),
    rule(
        "lost-by-provider",
        "a JSON Schema keyword that a dialect cannot express, other than a bound of one value",
    ),
    rule("nested-arguments", "a function that takes all its arguments within one struct, without `#[args]`"),
    rule("no-description", "a tool without a description"),
    rule("no-group", "a tool in no group, which lists of a configuration can only name one by one"),
    rule("over-budget", "a definition that takes more tokens than it should"),
    rule(
        "parameter-name-refused",
        "a parameter whose name a provider refuses: it takes letters, digits, `_`, `-` and `.`, at most 64",
    ),
    rule("parameter-repeats-name", "a parameter description that only repeats the name"),
    rule("parameter-without-description", "a parameter without a description, also if nested"),
    rule("recursive-schema", "a schema that refers to itself, which providers cut or refuse"),
    rule("required-but-absent", "a parameter that is required and not described among the properties"),
    rule("same-description", "two tools with the same description, which a model cannot tell apart"),
    rule("short-description", "a description of fewer than three words"),
    rule("similar-names", "tools whose names are too alike"),
    rule("similar-parameters", "parameters of one tool whose names are too alike"),
    rule(
        "tool-name-refused",
        "a name that a provider refuses: it takes letters, digits, `_` and `-`, at most 64",
    ),
    rule("unknown-placeholder", "a placeholder in a description that is nearly one, and stays as it is"),
    rule("unprintable", "a description with invisible characters"),
    rule("unreachable-variant", "a variant without a tag of which an earlier one takes all values"),
    rule("untyped-parameter", "a parameter without a type"),
    rule("wrong-parameter-name", "a description that mentions a parameter that does not exist"),
    rule("wrong-tool-name", "a description that mentions a tool that does not exist"),
];

/// A problem that a model, or a provider, will have with a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LintFinding {
    /// The [rule](RULES) that found it, or the rule of a [further check](Lint::also).
    pub rule: &'static str,
    /// The tool.
    pub tool: String,
    /// The place in the tool: `name`, `description`, `group`, `output`, or a JSON pointer into the schema of its arguments.
    pub place: String,
    /// The problem, and its solution.
    pub message: String,
    /// The source location of the tool, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// Formats the finding in one line that is safe to display: texts of tools are escaped.
impl fmt::Display for LintFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, tool, place, message, location } = self;
        write!(f, "{} {}: {} [{rule}]", escape_line(tool), escape_line(place), escape_rest(message))?;
        match location {
            Some(location) => write!(f, " ({})", escape_line(location)),
            None => Ok(()),
        }
    }
}

/// A further check by the host or another crate: returns places and messages.
type Further = Box<dyn Fn(&Tool) -> Vec<(String, String)> + Send + Sync>;

/// The enabled rules and their limits.
pub struct Lint {
    max_tokens: usize,
    without: BTreeSet<String>,
    known: Vec<String>,
    also: Vec<(&'static str, Further)>,
}

impl fmt::Debug for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lint")
            .field("max_tokens", &self.max_tokens)
            .field("without", &self.without)
            .finish_non_exhaustive()
    }
}

impl Default for Lint {
    fn default() -> Self {
        Self::new()
    }
}

impl Lint {
    /// The default maximum number of tokens of a definition.
    pub const MAX_TOKENS: usize = 1_500;

    /// Creates a lint with every rule, and a maximum of 1,500 [estimated tokens](crate::text::estimated_tokens) for a
    /// definition.
    pub fn new() -> Self {
        Self { max_tokens: Self::MAX_TOKENS, without: BTreeSet::new(), known: Vec::new(), also: Vec::new() }
    }

    /// Sets the maximum number of [estimated tokens](crate::text::estimated_tokens) of a definition.
    #[must_use]
    pub fn max_tokens(self, tokens: usize) -> Self {
        Self { max_tokens: tokens, ..self }
    }

    /// Disables a rule, by its name.
    #[must_use]
    pub fn without(mut self, rule: impl Into<String>) -> Self {
        self.without.insert(rule.into());
        self
    }

    /// Adds names of tools of other crates that descriptions may mention.
    #[must_use]
    pub fn knowing(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.known.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds a further check under a rule's name; it returns places and messages. The rule for schema parts that a
    /// provider loses in a way that no [`Dialect`](crate::dialects::Dialect) knows of is `lost-by-provider`.
    #[must_use]
    pub fn also(
        mut self,
        rule: &'static str,
        check: impl Fn(&Tool) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.also.push((rule, Box::new(check)));
        self
    }

    /// Returns the findings, by tool and place. Tools of servers and clients need no group, because their authors
    /// cannot state one.
    pub fn check<'a>(&self, tools: impl IntoIterator<Item = &'a Tool>) -> Vec<LintFinding> {
        let tools: Vec<&Tool> = tools.into_iter().collect();
        let mut findings = Findings::default();
        names::alike(&tools, &mut findings);
        texts::alike(&tools, &mut findings);
        let known = Known::of(&tools, &self.known);
        for tool in tools {
            findings.of(tool);
            names::check(tool, &mut findings);
            texts::check(tool, &mut findings);
            self.check_size(tool, &mut findings);
            check_hints(tool, &mut findings);
            if tool.groups().len() == 0 && !tool.source().is_remote() {
                findings.add(
                    "no-group",
                    "group",
                    "it is in no group; name one, so that configuration lists can refer to it".to_owned(),
                );
            }
            if let Some(schema) = tool.output_schema() {
                output::check(schema, &mut findings);
            }
            match tool.input_schema() {
                Err(error) => findings.add("invalid-schema", "", error.message().to_owned()),
                Ok(schema) => {
                    schema::check(schema, &mut findings);
                    shape::check(tool, schema, &mut findings);
                    mentions::check(tool, schema, &known, &mut findings);
                }
            }
            for (rule, check) in &self.also {
                for (place, message) in check(tool) {
                    findings.add(rule, &place, message);
                }
            }
        }
        let mut found = findings.found;
        found.retain(|finding| !self.without.contains(finding.rule));
        found.sort_by(|one, other| {
            (&one.tool, &one.place, one.rule, &one.message).cmp(&(
                &other.tool,
                &other.place,
                other.rule,
                &other.message,
            ))
        });
        found.dedup();
        found
    }

    fn check_size(&self, tool: &Tool, findings: &mut Findings) {
        let tokens = tool.estimated_tokens();
        // Each variant of a tagged union repeats the fields that it shares with others, so that each can be checked.
        let variants = tool.input_schema().map_or(0, variants);
        let limit = self.max_tokens.saturating_add(self.max_tokens / 4 * variants.saturating_sub(1));
        if tokens > limit {
            findings.add(
                "over-budget",
                "",
                format!("its definition takes about {tokens} tokens, more than {limit}; shorten it, or split the tool"),
            );
        }
    }
}

/// Returns the number of variants of the largest tagged union in a schema.
fn variants(schema: &Value) -> usize {
    let is_tagged = |variant: &Value| {
        let properties = variant.get("properties").and_then(Value::as_object);
        properties
            .is_some_and(|properties| properties.values().any(|property| property.get("const").is_some()))
    };
    let within = |value: &Value| match value {
        Value::Object(members) => members.values().map(variants).max().unwrap_or(0),
        Value::Array(items) => items.iter().map(variants).max().unwrap_or(0),
        _ => 0,
    };
    let own = schema.get("oneOf").and_then(Value::as_array).filter(|list| list.iter().all(is_tagged));
    own.map_or(0, Vec::len).max(within(schema))
}

fn check_hints(tool: &Tool, findings: &mut Findings) {
    let hints = tool.annotations();
    if hints.read_only_hint && hints.destructive_hint == Some(true) {
        let message = "it is declared both read-only and destructive; remove one of the two";
        findings.add("contradictory-hints", "", message.to_owned());
    }
}

/// The findings, and the tool that is being checked.
#[derive(Default)]
struct Findings {
    found: Vec<LintFinding>,
    tool: String,
    location: Option<String>,
    is_remote: bool,
}

impl Findings {
    fn of(&mut self, tool: &Tool) {
        tool.name().clone_into(&mut self.tool);
        self.is_remote = tool.source().is_remote();
        let server = || self.is_remote.then(|| tool.source().to_string());
        self.location = tool.location().map(|location| location.to_string()).or_else(server);
    }

    fn add(&mut self, rule: &'static str, place: &str, message: String) {
        let place = if place.is_empty() { "definition" } else { place };
        self.found.push(LintFinding {
            rule,
            tool: self.tool.clone(),
            place: place.to_owned(),
            message,
            location: self.location.clone(),
        });
    }
}
