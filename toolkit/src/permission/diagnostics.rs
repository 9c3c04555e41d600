//! Rules that say something else than they seem to.

use super::rules::{Permissions, SINGLE_PATHS};
use super::settings::{Decision, PermissionRule};
use crate::diagnostic::{Diagnostic, Level};
use crate::escape::escape_line;
use crate::name::nearest;
use std::collections::BTreeSet;

/// Kinds that the toolkit asks under itself.
const OWN_KINDS: [&str; 5] = ["read", "edit", "external_directory", "sensitive", "protected"];
/// The most that is told. Somebody else may have written the rules, with thousands of kinds that nothing asks under, and what
/// each of them may have meant takes a while to find.
const MOST_TOLD: usize = 100;
/// The kinds of the tools that come with it, whether or not they are there.
const USUAL_KINDS: [&str; 3] = ["exec", "web_fetch", "message"];

impl Permissions {
    /// Rules that say something else than they seem to: a kind that nothing asks under, a `*` in a kind, an `allow` that
    /// cannot allow.
    ///
    /// `kinds` are those of the tools that there are. None of these rules allows more than was meant. About a hundred things
    /// are told at most.
    pub fn diagnostics<'a>(&self, kinds: impl IntoIterator<Item = &'a str>) -> Vec<Diagnostic> {
        if self.is_silent() {
            return Vec::new();
        }
        let known: BTreeSet<&str> = OWN_KINDS.into_iter().chain(USUAL_KINDS).chain(kinds).collect();
        let mut diagnostics = Vec::new();
        self.each_rule(|rule| {
            if diagnostics.len() >= MOST_TOLD {
                return;
            }
            let kind = rule.kind;
            let mut say = |level, message: String| {
                let said = Diagnostic::new(level, "configuration", message);
                let place = rule.origin.map(|origin| escape_line(&origin.to_string()).into_owned());
                diagnostics.push(place.into_iter().fold(said, Diagnostic::with_location));
            };
            let (shown, place) = (escape_line(kind), escape_line(rule.pointer));
            if kind.contains('*') {
                say(
                    Level::Error,
                    format!(
                        "the kind of permission `{shown}` (at {place}) has a `*`, and kinds are named one by one: \
                         what it asks or denies holds for every kind it describes, what it allows does not count"
                    ),
                );
            } else if !known.contains(kind) {
                let near: Vec<String> = nearest(kind, known.iter().copied())
                    .into_iter()
                    .map(|near| format!("`{near}`"))
                    .collect();
                let advice =
                    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
                say(
                    Level::Warning,
                    format!("nothing here asks under the kind of permission `{shown}` (at {place}){advice}"),
                );
            }
            if !rule.can_allow && rule.rule.allows() {
                say(
                    Level::Warning,
                    format!(
                        "`allow` at {place} allows nothing: of an agent or a channel only what is stricter counts, \
                         and nothing at /permission/{shown} allows it for everybody"
                    ),
                );
            }
            if SINGLE_PATHS.contains(&kind) && allows_many(rule.rule) {
                say(
                    Level::Warning,
                    format!(
                        "`allow` at {place} allows nothing unless it names a single path: write \
                         {{ match: \"path/of/file\", do: \"allow\" }}, without `*`"
                    ),
                );
            }
        });
        diagnostics
    }
}

/// Whether something is allowed that is not one single path.
fn allows_many(rule: &PermissionRule) -> bool {
    match rule {
        PermissionRule::Always(decision) => *decision == Decision::Allow,
        PermissionRule::List(entries) => {
            entries.iter().any(|entry| entry.decision == Decision::Allow && entry.pattern.contains('*'))
        }
    }
}
