//! Describes what rules about commands cover.

use super::keys::meant;
use super::rules::{COMMANDS, Permissions};
use super::settings::{Decision, PermissionEntry, PermissionRule};
use toolkit_core::diagnostic::{Diagnostic, Level};
use toolkit_core::escape::escape_line;

/// The maximum number of entries that are described; further ones are only counted.
const MAX_TOLD: usize = 200;

impl Permissions {
    /// Returns a description of the commands that each rule of the kind `exec` covers, in the order of the rules, each with its place. At most
    /// 200 are described, and one line counts the others.
    ///
    /// ```
    /// use toolkit::permission::{PermissionSettings, Permissions};
    ///
    /// let mut settings = PermissionSettings::default();
    /// settings.everybody =
    ///     serde_json::from_value(serde_json::json!({ "exec": [{ "match": "git push", "do": "deny" }] })).unwrap();
    /// let described = Permissions::new([settings]).command_coverage();
    /// assert!(described[0].message.contains("every call of `git push`, with any arguments or none"));
    /// ```
    pub fn command_coverage(&self) -> Vec<Diagnostic> {
        let mut described = Vec::new();
        let mut left_out = 0_usize;
        self.each_rule(|rule| {
            if meant(rule.kind) != COMMANDS {
                return;
            }
            let mut say = |place: &str, what: String| {
                if described.len() == MAX_TOLD {
                    left_out += 1;
                    return;
                }
                let message = format!("{} covers {what}", escape_line(place));
                let said = Diagnostic::new(Level::Info, "configuration", message);
                let origin = rule.origin.map(|origin| escape_line(&origin.to_string()).into_owned());
                described.push(origin.into_iter().fold(said, Diagnostic::with_location));
            };
            match rule.rule {
                PermissionRule::Always(decision) => say(rule.pointer, whole_kind(*decision).to_owned()),
                PermissionRule::List(entries) => {
                    for (number, entry) in entries.iter().enumerate() {
                        say(&format!("{}/{number}", rule.pointer), of_entry(entry, rule.can_allow));
                    }
                }
            }
        });
        if left_out > 0 {
            let message = format!("{left_out} more rules about commands");
            described.push(Diagnostic::new(Level::Info, "configuration", message));
        }
        described
    }
}

fn whole_kind(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => {
            "no command: `allow` for all of `exec` lifts no prompt, so name the commands to allow"
        }
        Decision::Ask => "every command that is not known to be read-only, which is the default: ask",
        Decision::Deny => "every command: deny",
    }
}

/// Returns the commands that an entry covers, and its decision.
fn of_entry(entry: &PermissionEntry, can_allow: bool) -> String {
    let pattern = escape_line(&entry.pattern);
    let (is_any, begin) = (pattern.trim_matches('*').is_empty(), pattern.strip_suffix(" *"));
    let plain = begin.unwrap_or(&pattern);
    let commands = match entry.decision {
        Decision::Allow if !can_allow => {
            return "nothing: a rule of an agent, a channel or a sender cannot allow".to_owned();
        }
        _ if entry.pattern.is_empty() => "nothing: the pattern is empty".to_owned(),
        _ if is_any => "every command".to_owned(),
        Decision::Allow if !pattern.contains('*') => {
            format!("exactly `{pattern}`, without further arguments")
        }
        Decision::Allow if begin.is_some() && !plain.contains('*') => {
            format!("`{plain}` with any arguments, as it is written, and not without arguments")
        }
        Decision::Allow => format!("every simple command that is written like `{pattern}`"),
        Decision::Ask | Decision::Deny if !plain.contains('*') => {
            format!("every call of `{plain}`, with any arguments or none")
        }
        Decision::Ask | Decision::Deny => {
            format!("every call that is written like `{pattern}`, with any further arguments")
        }
    };
    format!("{commands}: {}", entry.decision)
}
