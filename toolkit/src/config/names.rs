//! Checks of a document that a schema cannot express: names that nothing can have, and values at places where they
//! have no effect.
//!
//! An unparsable name is refused everywhere: in a deny list it would deny nothing.

use crate::config::error::ConfigProblem;
use crate::config::merge::Document;
use crate::config::variables::is_resolved;
use crate::link::Linked;
use crate::permission::{PATH_KINDS, PathPattern};
use crate::policy::{Entry, alias_of, folded};
use crate::section::pointer::escape;
use crate::tool::def::ToolDef;
use serde_json::Value;
use toolkit_core::escape::escape_line;

/// The most problems that are reported for one source.
const MAX_TOLD: usize = 20;
/// The longest name of an agent, a channel, a model, a profile or a kind of permission, in bytes.
const LONGEST_NAME: usize = 256;
/// How much of a refused name is repeated in the message, in characters.
const MAX_SHOWN: usize = 80;

/// Runs the checks that a schema cannot express.
pub(super) fn check_names(document: &Document, problems: &mut Vec<ConfigProblem>) {
    let mut check = Check { document, problems: Vec::new() };
    check.misplaced(&document.value, "");
    check.settings();
    check.tools(document.value.get("tools"), "/tools");
    for (key, what) in [("agents", "an agent"), ("channels", "a channel")] {
        check.members(document.value.get(key), &format!("/{key}"), |check, name, member, pointer| {
            check.name(name, what, pointer);
            check.rules(member.get("tools"), &format!("{pointer}/tools"));
            check.kinds(member.get("permission"), &format!("{pointer}/permission"));
            if key == "agents" {
                return;
            }
            for (key, what) in [("groups", "a conversation"), ("senders", "a sender")] {
                check.members(
                    member.get(key),
                    &format!("{pointer}/{key}"),
                    |check, name, member, pointer| {
                        check.name(name, what, pointer);
                        check.rules(member.get("tools"), &format!("{pointer}/tools"));
                        check.kinds(member.get("permission"), &format!("{pointer}/permission"));
                    },
                );
            }
        });
    }
    check.kinds(document.value.get("permission"), "/permission");
    check.problems.truncate(MAX_TOLD);
    problems.extend(check.problems);
}

struct Check<'a> {
    document: &'a Document,
    problems: Vec<ConfigProblem>,
}

impl<'a> Check<'a> {
    fn say(&mut self, pointer: &str, message: impl Into<String>) {
        // One more than is reported, which shows that there are more without counting them.
        if self.problems.len() <= MAX_TOLD {
            self.problems.push(ConfigProblem::new(self.document.origin(pointer), pointer, message));
        }
    }

    fn members(
        &mut self,
        object: Option<&'a Value>,
        pointer: &str,
        mut each: impl FnMut(&mut Self, &'a str, &'a Value, &str),
    ) {
        for (name, member) in object.and_then(Value::as_object).into_iter().flatten() {
            each(self, name, member, &format!("{pointer}/{}", escape(name)));
        }
    }

    /// Checks the names of tool settings: settings under a wrong name would apply to no tool.
    fn settings(&mut self) {
        let document = self.document;
        let settings = document.value.pointer("/tools/settings");
        self.members(settings, "/tools/settings", |check, name, _, pointer| {
            let is_name = inventory::iter::<Linked>().any(|Linked(def)| def.name == name);
            let of = inventory::iter::<Linked>().find(|Linked(def)| def.aliases.contains(&name));
            if let (false, Some(Linked(def))) = (is_name, of) {
                let tool = def.name;
                check.say(
                    pointer,
                    format!("expected the name of a tool, got another name of `{tool}`; write `{tool}`"),
                );
            }
            check.single(name, "a tool", pointer);
        });
        self.members(document.value.get("plugins"), "/plugins", |check, id, plugin, pointer| {
            check.single(id, "a plugin", pointer);
            check.entries(plugin.get("joinGroups"), &format!("{pointer}/joinGroups"));
        });
    }

    /// Checks the rules of `/tools`, and the rules within it for some callers.
    fn tools(&mut self, tools: Option<&'a Value>, pointer: &str) {
        self.rules(tools, pointer);
        for key in ["sandbox", "subagents"] {
            self.rules(tools.and_then(|tools| tools.get(key)), &format!("{pointer}/{key}"));
        }
        let profiles = tools.and_then(|tools| tools.get("profiles"));
        self.members(profiles, &format!("{pointer}/profiles"), |check, name, rules, pointer| {
            check.name(name, "a profile", pointer);
            check.rules(Some(rules), pointer);
        });
    }

    fn rules(&mut self, rules: Option<&'a Value>, pointer: &str) {
        let Some(rules) = rules else { return };
        if let Some(profile) = rules.get("profile").and_then(Value::as_str) {
            self.name(profile, "a profile", &format!("{pointer}/profile"));
        }
        for key in ["allow", "alsoAllow", "deny"] {
            self.entries(rules.get(key), &format!("{pointer}/{key}"));
        }
        self.members(
            rules.get("byProvider"),
            &format!("{pointer}/byProvider"),
            |check, key, rules, pointer| {
                check.name(key, "a provider or model", pointer);
                check.rules(Some(rules), pointer);
            },
        );
    }

    /// Checks a list whose entries name tools, plugins or groups.
    fn entries(&mut self, list: Option<&'a Value>, pointer: &str) {
        for (number, entry) in list.and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(entry) = entry.as_str() else { continue };
            if let Err(fault) = Entry::parse(entry) {
                let message = format!(
                    "`{}` {fault}; expected a tool by its name or alias, a plugin by its id, `group:<name>`, or one of \
                     these with `*`",
                    shown(entry)
                );
                self.say(&format!("{pointer}/{number}"), message);
            }
        }
    }

    /// Checks the name of one tool or plugin.
    fn single(&mut self, name: &str, what: &str, pointer: &str) {
        let fault = match Entry::parse(name) {
            Ok(Entry::Name(_)) => return,
            Ok(Entry::NamePattern(_) | Entry::GroupPattern(_)) => {
                "contains `*`, and wildcards are not supported here"
            }
            Ok(Entry::Group(_)) => "is a group",
            Err(fault) => fault,
        };
        self.say(pointer, format!("expected the name of {what}, got `{}`, which {fault}", shown(name)));
    }

    /// Checks another kind of name, which may be any visible text.
    fn name(&mut self, name: &str, what: &str, pointer: &str) {
        let fault = if name.trim().is_empty() {
            "is empty"
        } else if name.len() > LONGEST_NAME {
            "is longer than 256 bytes"
        } else if escape_line(name) != name {
            "contains an invisible character"
        } else {
            return;
        };
        self.say(pointer, format!("expected the name of {what}, got `{}`, which {fault}", shown(name)));
    }

    fn kinds(&mut self, rules: Option<&'a Value>, pointer: &str) {
        self.members(rules, pointer, |check, kind, rule, pointer| {
            check.name(kind, "a kind of permission or a tool", pointer);
            if is_about_paths(kind) {
                check.patterns(rule, pointer);
            }
        });
    }

    /// Checks the patterns of a rule about paths. A deny pattern that matches nothing would deny nothing.
    fn patterns(&mut self, rule: &'a Value, pointer: &str) {
        for (number, entry) in rule.as_array().into_iter().flatten().enumerate() {
            let Some(pattern) = entry.get("match").and_then(Value::as_str) else { continue };
            if let Err(error) = PathPattern::parse(pattern) {
                let message = format!("expected a pattern for paths, got `{}`: {error}", shown(pattern));
                self.say(&format!("{pointer}/{number}/match"), message);
            }
        }
    }

    /// Refuses references to secrets and variables in rules, where they are not replaced: as a literal name they
    /// would deny nothing.
    fn misplaced(&mut self, value: &'a Value, pointer: &str) {
        match value {
            Value::String(text) if text.contains("${env:") && !is_resolved(pointer) => self.say(
                pointer,
                "`${env:…}` is not replaced here: it is supported only in settings of tools, plugins and servers",
            ),
            Value::Object(members) => {
                for (name, member) in members {
                    self.misplaced(member, &format!("{pointer}/{}", escape(name)));
                }
            }
            Value::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    self.misplaced(item, &format!("{pointer}/{number}"));
                }
            }
            _ => {}
        }
    }
}

/// Returns true if a rule with this key matches paths: the key is a kind of permission about paths, or a tool of
/// such a kind.
fn is_about_paths(key: &str) -> bool {
    let key = folded(key);
    let key = alias_of(&key).unwrap_or(key);
    let of_tool = |def: &ToolDef| {
        (def.name == key || def.aliases.contains(&&*key))
            && PATH_KINDS.contains(&def.permission.unwrap_or(def.name))
    };
    PATH_KINDS.contains(&&*key) || inventory::iter::<Linked>().any(|Linked(def)| of_tool(def))
}

/// Returns the beginning of a name. Invisible characters are escaped later, when the problem is shown.
fn shown(name: &str) -> String {
    match name.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
