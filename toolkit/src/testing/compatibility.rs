//! Determines what a changed definition breaks for models and calls that know the old one.

mod annotation;
mod branch;
mod finding;
mod number;
mod object;
mod same;
mod subset;
mod variant;

use super::snapshot::Snapshot;
use finding::{Finding, View};
use serde_json::Value;
use std::fmt;
use subset::Comparison;
use toolkit_core::definition::Annotations;

/// One difference between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The severity of the change.
    pub severity: Severity,
    /// A JSON pointer into the new snapshot, or into the old one for removed parts.
    pub pointer: String,
    /// A description of the change, for the author.
    pub text: String,
}

/// The severity of a change for a model, or a recorded call, that knows the old definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Old calls still work.
    Compatible,
    /// Old calls still work, but may have another effect.
    Notice,
    /// It could not be proved that every old call still works.
    MayBreak,
    /// Some old calls do not work any more.
    Breaking,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Compatible => "compatible",
            Self::Notice => "notice",
            Self::MayBreak => "may break",
            Self::Breaking => "breaking",
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.severity, self.text, self.pointer)
    }
}

/// Returns the changes from `old` to `new` for a model, or a recorded call, that knows `old`, the most severe first.
///
/// If no change is [`MayBreak`](Severity::MayBreak) or worse, all arguments that matched the old schema match the new
/// one, and every structured output of the new tool matches the old schema. Repairs of invalid arguments are not
/// considered. Undecidable cases, for example if one regular expression is stricter than another, are reported as
/// `MayBreak`.
///
/// ```
/// use serde_json::json;
/// use toolkit::testing::{Severity, Snapshot, compatibility};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let old = Snapshot::from_json(r#"{
///     "name": "find",
///     "description": "Finds files.",
///     "annotations": { "readOnlyHint": true, "idempotentHint": true },
///     "inputSchema": {
///         "type": "object",
///         "properties": { "limit": { "type": "integer", "minimum": 1 } },
///         "additionalProperties": false
///     }
/// }"#)?;
/// let mut new = old.clone();
/// new.input_schema["properties"]["limit"]["maximum"] = json!(100);
///
/// let changes = compatibility(&old, &new);
/// assert_eq!(changes[0].severity, Severity::Breaking);
/// assert_eq!(changes[0].text, "`limit` no longer takes integers above 100");
/// assert_eq!(changes[0].pointer, "/inputSchema/properties/limit/maximum");
/// # Ok(()) }
/// ```
pub fn compatibility(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let mut changes = Changes(Vec::new());
    names(old, new, &mut changes);
    annotations(old.annotations, new.annotations, &mut changes);
    let (old_input, new_input) = (old.annotated_input(), new.annotated_input());
    changes.schemas(&old_input, &new_input, View::INPUT_LOST);
    changes.schemas(&new_input, &old_input, View::INPUT_WON);
    match (&old.output_schema, &new.output_schema) {
        (Some(old), Some(new)) => {
            changes.schemas(new, old, View::OUTPUT_WON);
            changes.schemas(old, new, View::OUTPUT_LOST);
        }
        (Some(_), None) => {
            changes.add(Severity::Breaking, "/outputSchema", "the output is no longer structured");
        }
        (None, Some(_)) => changes.add(Severity::Compatible, "/outputSchema", "the output is structured now"),
        (None, None) => {}
    }
    let Changes(mut changes) = changes;
    changes.sort_by_key(|change| std::cmp::Reverse(change.severity));
    changes
}

struct Changes(Vec<Change>);

impl Changes {
    fn add(&mut self, severity: Severity, pointer: &str, text: impl Into<String>) {
        let change = Change { severity, pointer: pointer.to_owned(), text: text.into() };
        if !self.0.contains(&change) {
            self.0.push(change);
        }
    }

    /// Finds values that `given` allows and `demand` does not.
    fn schemas(&mut self, given: &Value, demand: &Value, view: View) {
        let findings: Vec<Finding> = Comparison::new(given, demand, view).run();
        for finding in findings {
            if let Some((severity, text)) = finding.told(view) {
                self.add(severity, &format!("{}{}", view.root(), finding.pointer), text);
            }
        }
    }
}

fn names(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    let answers = |name: &String| new.name == *name || new.aliases.contains(name);
    if old.name != new.name {
        let (was, is) = (&old.name, &new.name);
        if answers(was) {
            let text = format!("the tool is called `{is}` now and still answers to `{was}`");
            changes.add(Severity::Compatible, "/name", text);
        } else {
            let text = format!(
                "the tool is called `{is}` now and no longer answers to `{was}`; `alias = \"{was}\"` keeps the name"
            );
            changes.add(Severity::Breaking, "/name", text);
        }
    }
    for (index, alias) in old.aliases.iter().enumerate().filter(|(_, alias)| !answers(alias)) {
        let text = format!("the tool no longer answers to `{alias}`");
        changes.add(Severity::Breaking, &format!("/aliases/{index}"), text);
    }
    for (index, alias) in new.aliases.iter().enumerate() {
        if *alias != old.name && !old.aliases.contains(alias) {
            let text = format!("the tool also answers to `{alias}`");
            changes.add(Severity::Compatible, &format!("/aliases/{index}"), text);
        }
    }
    if old.title != new.title {
        changes.add(Severity::Compatible, "/title", "it has another title");
    }
    if old.description != new.description {
        changes.add(Severity::Compatible, "/description", "its description changed");
    }
}

fn annotations(old: Annotations, new: Annotations, changes: &mut Changes) {
    let mut hint =
        |name: &str, worse: bool, better: bool, severity: Severity, worse_text: &str, better_text: &str| {
            let pointer = format!("/annotations/{name}");
            if worse {
                changes.add(severity, &pointer, worse_text);
            } else if better {
                changes.add(Severity::Compatible, &pointer, better_text);
            }
        };
    hint(
        "readOnlyHint",
        old.read_only_hint && !new.read_only_hint,
        !old.read_only_hint && new.read_only_hint,
        Severity::Breaking,
        "it is no longer read-only: calls that ran without approval now need it or are denied, and they run alone",
        "it is read-only now",
    );
    hint(
        "idempotentHint",
        old.idempotent_hint && !new.idempotent_hint,
        !old.idempotent_hint && new.idempotent_hint,
        Severity::MayBreak,
        "it is no longer idempotent: repeating a call repeats its effects",
        "it is idempotent now",
    );
    // A hint that is not stated counts as the worse value, as in the Model Context Protocol.
    let (was, is) = (old.destructive_hint.unwrap_or(true), new.destructive_hint.unwrap_or(true));
    hint(
        "destructiveHint",
        !was && is,
        was && !is,
        Severity::MayBreak,
        "it may be destructive now: calls that ran without approval may need it or be denied",
        "it is no longer destructive",
    );
    let (was, is) = (old.open_world_hint.unwrap_or(true), new.open_world_hint.unwrap_or(true));
    hint(
        "openWorldHint",
        !was && is,
        was && !is,
        Severity::MayBreak,
        "it may deal with things outside this machine now: calls may need approval or be denied",
        "it no longer deals with things outside this machine",
    );
}
