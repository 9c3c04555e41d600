//! Narrows an untrusted file to its restrictions; everything that would grant something is ignored.

use crate::config::merge::Document;
use crate::config::parse::{Place, Places};
use crate::config::stricter::may_be_stricter;
use crate::section::pointer::{dotted, escape, join};
use crate::section::{ConfigGate, ConfigSection};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::escape::escape_line;

/// A key in an untrusted file that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct IgnoredKey {
    /// The key, as a JSON pointer.
    pub pointer: String,
    /// The origin of the key.
    pub origin: ConfigOrigin,
}

impl fmt::Display for IgnoredKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, origin) = (dotted(&self.pointer), self.origin.to_string());
        write!(f, "`{}` at {} is ignored until `toolkit trust`", escape_line(&key), escape_line(&origin))
    }
}

/// The part of a document that has an effect, and the ignored keys.
#[derive(Debug, Default)]
pub(crate) struct Narrowed {
    pub(crate) document: Document,
    /// The tools that the document does not allow to run without asking.
    pub(crate) asking: BTreeSet<String>,
    pub(crate) ignored: Vec<IgnoredKey>,
}

/// Reduces a document that matches its schema to the values that can only restrict.
pub(crate) fn narrow(
    document: &Document,
    places: &Places,
    file: &Arc<Path>,
    sections: &[ConfigSection],
) -> Narrowed {
    let mut narrower = Narrower { places, file, sections, narrowed: Narrowed::default() };
    let mut kept = Map::new();
    for (key, value) in document.value.as_object().into_iter().flatten() {
        let pointer = join([key]);
        let left = match key.as_str() {
            "$schema" => None,
            "tools" => narrower.tools(value, &pointer),
            "agents" | "channels" => narrower.each(value, &pointer, Narrower::some_callers),
            "permission" => narrower.permission(value, &pointer),
            "enableToolCalls" => narrower.only_false(value, &pointer),
            _ if sections
                .iter()
                .any(|section| section.its_entries().is_some() && section.pointer() == pointer) =>
            {
                // Each entry is one thing, whatever its keys are.
                narrower.each(value, &pointer, |narrower, _, pointer| narrower.ignore(&Value::Null, pointer))
            }
            _ => narrower.ignore(value, &pointer),
        };
        if let Some(left) = left {
            kept.insert(key.clone(), left);
        }
    }
    let left = Document { value: kept.into(), origins: document.origins.clone(), only: None };
    Narrowed { document: left, ..narrower.narrowed }
}

struct Narrower<'a> {
    places: &'a Places,
    file: &'a Arc<Path>,
    sections: &'a [ConfigSection],
    narrowed: Narrowed,
}

impl Narrower<'_> {
    /// Records a value, and every value within it, as ignored.
    fn ignore(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    self.ignore(member, &format!("{pointer}/{}", escape(name)));
                }
            }
            _ => {
                let place = self.places.key(pointer);
                let Place { line, column } = place.unwrap_or(Place::START);
                let origin = ConfigOrigin::within(self.file, line, column);
                self.narrowed.ignored.push(IgnoredKey { pointer: pointer.to_owned(), origin });
            }
        }
        None
    }

    fn only_false(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        if value == &Value::Bool(false) { Some(value.clone()) } else { self.ignore(value, pointer) }
    }

    fn members(
        &mut self,
        value: &Value,
        pointer: &str,
        mut left: impl FnMut(&mut Self, &str, &Value, &str) -> Option<Value>,
    ) -> Option<Value> {
        let mut kept = Map::new();
        for (key, member) in value.as_object()? {
            if let Some(left) = left(self, key, member, &format!("{pointer}/{}", escape(key))) {
                kept.insert(key.clone(), left);
            }
        }
        Some(kept.into())
    }

    fn each(
        &mut self,
        value: &Value,
        pointer: &str,
        mut left: impl FnMut(&mut Self, &Value, &str) -> Option<Value>,
    ) -> Option<Value> {
        self.members(value, pointer, |narrower, _, member, pointer| left(narrower, member, pointer))
    }

    /// Narrows the settings of an agent, a channel, or some callers of a channel.
    fn some_callers(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        self.members(value, pointer, |narrower, key, value, pointer| match key {
            "tools" => narrower.members(value, pointer, Self::rule),
            "permission" => narrower.permission(value, pointer),
            "groups" | "senders" => narrower.each(value, pointer, Self::some_callers),
            _ => narrower.ignore(value, pointer),
        })
    }

    fn tools(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        self.members(value, pointer, |narrower, key, value, pointer| match key {
            "settings" => narrower.members(value, pointer, Self::setting),
            "sandbox" | "subagents" => narrower.members(value, pointer, Self::rule),
            "profiles" => Some(value.clone()),
            "profile" | "allow" | "alsoAllow" | "deny" | "byProvider" => narrower.rule(key, value, pointer),
            _ => narrower.section(value, pointer),
        })
    }

    /// Narrows a key of rules about tools. A list that allows everything restricts nothing, and is ignored: its author may
    /// believe that it grants access.
    fn rule(&mut self, key: &str, value: &Value, pointer: &str) -> Option<Value> {
        let is_everything = |item: &Value| item.as_str().is_some_and(|name| name.trim() == "*");
        match (key, value) {
            ("allow", Value::Array(items)) if items.iter().any(is_everything) => self.ignore(value, pointer),
            ("byProvider", rules) => self.each(rules, pointer, |narrower, rules, pointer| {
                narrower.members(rules, pointer, Self::rule)
            }),
            _ => Some(value.clone()),
        }
    }

    /// Narrows the settings of one tool.
    fn setting(&mut self, tool: &str, value: &Value, pointer: &str) -> Option<Value> {
        self.members(value, pointer, |narrower, key, value, pointer| match key {
            "enabled" => narrower.only_false(value, pointer),
            "autoExecute" => {
                let left = narrower.only_false(value, pointer);
                if left.is_some() {
                    narrower.narrowed.asking.insert(tool.to_owned());
                }
                left
            }
            _ => narrower.ignore(value, pointer),
        })
    }

    /// Narrows a tool's section: a key in it can switch the tool off, and some keys can be stricter than the other
    /// settings.
    fn section(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        let gates = self.sections.iter().flat_map(|section| {
            section.its_gates().iter().filter(|gate| gate.pointer(&section.pointer()) == pointer)
        });
        let is_strict = |gate: &ConfigGate| {
            !matches!(
                gate,
                ConfigGate::Models { .. } | ConfigGate::Asks { .. } | ConfigGate::AsksAlways { .. }
            )
        };
        let gate = gates.copied().find(is_strict);
        match value {
            _ if matches!(gate, Some(ConfigGate::Enabled { .. })) => self.only_false(value, pointer),
            _ if gate.is_some_and(|gate| may_be_stricter(gate, value)) => Some(value.clone()),
            Value::Object(members) if !members.is_empty() => self.each(value, pointer, Self::section),
            _ => self.ignore(value, pointer),
        }
    }

    /// Narrows the rules of permission, by kind. A rule or list that only allows restricts nothing.
    fn permission(&mut self, value: &Value, pointer: &str) -> Option<Value> {
        self.each(value, pointer, |narrower, rule, pointer| {
            let allows = match rule {
                Value::Array(entries) => {
                    entries.iter().all(|entry| entry.get("do").is_some_and(|word| word == "allow"))
                }
                word => word == "allow",
            };
            if allows { narrower.ignore(rule, pointer) } else { Some(rule.clone()) }
        })
    }
}
