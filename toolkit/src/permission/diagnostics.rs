//! Finds rules whose effect differs from their apparent meaning.

use super::glob::PathPattern;
use super::rules::Permissions;
use super::settings::{Decision, PermissionRule};
use std::collections::BTreeSet;
use toolkit_core::ask::SINGLE_PATHS;
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_line;
use toolkit_core::name::nearest;

/// Kinds that the toolkit and its bundled tools ask under, whether or not these tools exist.
pub(crate) const KINDS: [&str; 14] = [
    "read",
    "edit",
    "external_directory",
    "sensitive",
    "protected",
    "exec",
    "web_fetch",
    "browser",
    "message",
    "mcp",
    "mcp_sampling",
    "mcp_url",
    "client",
    "skill",
];
/// The maximum number of diagnostics. Untrusted rules may have thousands of unknown kinds, and finding the probably
/// intended kind takes time for each.
const MAX_TOLD: usize = 100;
impl Permissions {
    /// Returns diagnostics for rules whose effect differs from their apparent meaning: an unknown key, or an `allow`
    /// that cannot allow.
    ///
    /// `keys` are the kinds and names of the existing tools. None of these rules allows more than intended. At most
    /// about a hundred diagnostics are returned.
    pub fn diagnostics<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> Vec<Diagnostic> {
        if self.is_silent() {
            return Vec::new();
        }
        let known: BTreeSet<&str> = KINDS.into_iter().chain(keys).collect();
        self.diagnostics_among(|key| known.contains(key), &known)
    }

    /// Returns the diagnostics, with `is_known` to check keys; `names` are candidates for suggestions.
    pub(crate) fn diagnostics_among(
        &self,
        is_known: impl Fn(&str) -> bool,
        names: &BTreeSet<&str>,
    ) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        self.each_rule(|rule| {
            if diagnostics.len() >= MAX_TOLD {
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
                if rule.rule.allows() {
                    say(
                        Level::Error,
                        format!(
                            "`allow` at {place} allows nothing: the key `{shown}` has a `*`, which also matches kinds and tools added later; name each one to allow"
                        ),
                    );
                }
            } else if !is_known(kind) {
                let near: Vec<String> = nearest(kind, names.iter().copied())
                    .into_iter()
                    .map(|near| format!("`{near}`"))
                    .collect();
                let advice =
                    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
                say(
                    Level::Warning,
                    format!("no tool asks for the permission kind `{shown}` (at {place}){advice}"),
                );
            }
            if !rule.can_allow && rule.rule.allows() && !kind.contains('*') {
                say(
                    Level::Warning,
                    format!(
                        "`allow` at {place} allows nothing: rules of an agent or a channel can only be stricter, and \
                         nothing at /permission/{shown} allows it for everybody"
                    ),
                );
            }
            if SINGLE_PATHS.contains(&kind) && allows_many(rule.rule) {
                say(
                    Level::Warning,
                    format!(
                        "`allow` at {place} allows nothing unless it names a single path: write \
                         {{ match: \"path/of/file\", do: \"allow\" }}, without wildcards"
                    ),
                );
            }
        });
        diagnostics
    }
}

/// Returns true if the rule allows more than single paths.
fn allows_many(rule: &PermissionRule) -> bool {
    match rule {
        PermissionRule::Always(decision) => *decision == Decision::Allow,
        PermissionRule::List(entries) => {
            let is_single =
                |pattern: &str| PathPattern::parse(pattern).is_ok_and(|parsed| parsed.is_literal());
            entries.iter().any(|entry| entry.decision == Decision::Allow && !is_single(&entry.pattern))
        }
    }
}
