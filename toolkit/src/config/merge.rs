//! Merges several sources into one document.

use crate::section::EACH;
use crate::section::pointer::escape;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::config_origin::{ConfigOrigin, ConfigOrigins};

/// A document with the origin of each of its values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    pub(crate) value: Value,
    pub(crate) origins: BTreeMap<String, ConfigOrigin>,
    /// The pointer of its only value, if a variable or an option sets one; `None` for a file.
    pub(crate) only: Option<String>,
}

/// The places whose values are not merged as others.
#[derive(Debug, Default)]
pub(crate) struct MergeRules {
    /// The pointers of lists that only take away, besides those named `deny`.
    pub(crate) narrowing: BTreeSet<String>,
    /// The pointers of sections of which each member is replaced as a whole.
    pub(crate) entries: BTreeSet<String>,
    /// The pointers of sections of each agent and channel, with `*` for the name: each is replaced as a whole.
    pub(crate) of_each: BTreeSet<String>,
}

impl MergeRules {
    /// Returns true if a list only takes away.
    fn narrows(&self, pointer: &str) -> bool {
        pointer.ends_with("/deny") || self.narrowing.contains(pointer)
    }

    /// Returns true if a later value replaces the whole value at `pointer`. A variable or an option can set one key of a section of an agent or a
    /// channel.
    fn replaces(&self, pointer: &str, only: Option<&str>) -> bool {
        let is_entry = pointer.rsplit_once('/').is_some_and(|(section, _)| self.entries.contains(section));
        let sets_key = || only.is_some_and(|only| only != pointer && is_within(only, pointer));
        is_entry || self.is_of_each(pointer) && !sets_key()
    }

    fn is_of_each(&self, pointer: &str) -> bool {
        let steps: Vec<&str> = pointer.split('/').collect();
        let [_, map, _, key] = *steps else { return false };
        self.of_each.contains(&format!("/{map}/{EACH}/{key}"))
    }
}

/// A source that is being added.
struct Later<'a> {
    document: &'a Document,
    rules: &'a MergeRules,
}

impl Document {
    /// Adds a later source: objects are merged, lists that only take away are united, and everything else is replaced. Such
    /// lists are those named `deny`, and those that the rules name. An entry of a map of entries, such as a server, and a section of an agent or a
    /// channel are replaced as a whole: merged from two sources, they could send the secrets of one source to the address of the other.
    pub(crate) fn add(&mut self, later: &Self, rules: &MergeRules) {
        if self.value.is_null() {
            self.clone_from(later);
        } else {
            let mut value = std::mem::take(&mut self.value);
            self.merge(&mut value, &later.value, "", &Later { document: later, rules });
            self.value = value;
        }
    }

    fn merge(&mut self, into: &mut Value, from: &Value, pointer: &str, later: &Later<'_>) {
        let document = later.document;
        match (into, from) {
            (Value::Object(members), Value::Object(new))
                if !later.rules.replaces(pointer, document.only.as_deref()) =>
            {
                if let Some(origin) = document.origins.get(pointer) {
                    self.origins.entry(pointer.to_owned()).or_insert_with(|| origin.clone());
                }
                for (name, member) in new {
                    let pointer = format!("{pointer}/{}", escape(name));
                    match members.get_mut(name) {
                        Some(known) => self.merge(known, member, &pointer, later),
                        None => {
                            members.insert(name.clone(), member.clone());
                            self.copy_origins(&pointer, document, &pointer);
                        }
                    }
                }
            }
            (Value::Array(items), Value::Array(new)) if later.rules.narrows(pointer) => {
                for (number, item) in new.iter().enumerate() {
                    if !items.contains(item) {
                        self.copy_origins(
                            &format!("{pointer}/{}", items.len()),
                            document,
                            &format!("{pointer}/{number}"),
                        );
                        items.push(item.clone());
                    }
                }
            }
            (into, from) => {
                self.origins.retain(|known, _| !is_within(known, pointer));
                self.copy_origins(pointer, document, pointer);
                into.clone_from(from);
            }
        }
    }

    fn copy_origins(&mut self, to: &str, later: &Self, from: &str) {
        let within = later.origins.range(from.to_owned()..).take_while(|(known, _)| known.starts_with(from));
        let within = within.filter(|(known, _)| is_within(known, from));
        self.origins
            .extend(within.map(|(known, origin)| (format!("{to}{}", &known[from.len()..]), origin.clone())));
    }

    /// Returns the origin of the value at `pointer`, or of the nearest value that contains it.
    pub(crate) fn origin(&self, pointer: &str) -> Option<ConfigOrigin> {
        let mut pointer = pointer;
        loop {
            if let Some(origin) = self.origins.get(pointer) {
                return Some(origin.clone());
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }

    pub(crate) fn shared_origins(&self) -> ConfigOrigins {
        ConfigOrigins::new(self.origins.clone())
    }
}

fn is_within(pointer: &str, outer: &str) -> bool {
    pointer.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use toolkit_core::config_origin::ConfigSource;

    fn document(name: &str, value: &Value) -> Document {
        fn add(document: &mut Document, pointer: String, value: &Value, name: &str) {
            match value {
                Value::Array(items) => {
                    for (number, item) in items.iter().enumerate() {
                        add(document, format!("{pointer}/{number}"), item, name);
                    }
                }
                Value::Object(members) => {
                    for (key, member) in members {
                        add(document, format!("{pointer}/{}", escape(key)), member, name);
                    }
                }
                _ => {}
            }
            document.origins.insert(pointer, ConfigOrigin::new(ConfigSource::Flag(name.to_owned())));
        }
        let mut document = Document { value: value.clone(), ..Document::default() };
        add(&mut document, String::new(), value, name);
        document
    }

    fn rules() -> MergeRules {
        let narrowing = { BTreeSet::from(["/tools/web/blocked".to_owned()]) };
        let of_each = BTreeSet::from(["/channels/*/chat".to_owned()]);
        MergeRules { narrowing, entries: BTreeSet::from(["/mcp".to_owned()]), of_each }
    }

    #[test]
    fn objects_merge_denies_unite_and_the_rest_is_replaced() {
        for (first, second, expected) in [
            (
                json!({"tools": {"profile": "full"}}),
                json!({"tools": {"deny": ["a"]}}),
                json!({"tools": {"profile": "full", "deny": ["a"]}}),
            ),
            (
                json!({"tools": {"deny": ["a", "b"]}}),
                json!({"tools": {"deny": ["b", "c"]}}),
                json!({"tools": {"deny": ["a", "b", "c"]}}),
            ),
            (
                json!({"tools": {"web": {"blocked": ["a", "b"], "allowed": ["a"]}}}),
                json!({"tools": {"web": {"blocked": ["c", "a"], "allowed": ["b"]}}}),
                json!({"tools": {"web": {"blocked": ["a", "b", "c"], "allowed": ["b"]}}}),
            ),
            (
                json!({"tools": {"allow": ["a"]}}),
                json!({"tools": {"allow": ["b"]}}),
                json!({"tools": {"allow": ["b"]}}),
            ),
            (
                json!({"tools": {"profile": "full"}}),
                json!({"tools": {"profile": "coding"}}),
                json!({"tools": {"profile": "coding"}}),
            ),
            (
                json!({"mcp": {"a": {"command": "x", "env": {"K": "1"}}, "b": {"url": "u"}}}),
                json!({"mcp": {"a": {"url": "v"}}}),
                json!({"mcp": {"a": {"url": "v"}, "b": {"url": "u"}}}),
            ),
            (
                json!({"channels": {"c": {"chat": {"token": "t", "url": "u"}, "tools": {"deny": ["a"]}}}}),
                json!({"channels": {"c": {"chat": {"url": "v"}, "tools": {"deny": ["b"]}}}}),
                json!({"channels": {"c": {"chat": {"url": "v"}, "tools": {"deny": ["a", "b"]}}}}),
            ),
            (
                json!({"plugins": {"p": {"key": {"file": "a"}}}}),
                json!({"plugins": {"p": {"key": "b"}}}),
                json!({"plugins": {"p": {"key": "b"}}}),
            ),
        ] {
            let mut merged = document("first", &first);
            merged.add(&document("second", &second), &rules());
            assert_eq!(merged.value, expected, "{first} and {second}");
        }
    }

    #[test]
    fn each_value_keeps_its_origin() {
        let mut merged = document(
            "first",
            &json!({"tools": {"deny": ["a"], "allow": ["a", "b"]}, "mcp": {"s": {"command": "x"}}}),
        );
        merged.add(
            &document(
                "second",
                &json!({"tools": {"deny": ["a", "c"], "allow": ["d"]}, "mcp": {"s": {"url": "y"}}}),
            ),
            &rules(),
        );
        let origins = merged.shared_origins();
        for (pointer, expected) in [
            ("/tools", "first"),
            ("/tools/deny", "first"),
            ("/tools/deny/0", "first"),
            ("/tools/deny/1", "second"),
            ("/tools/allow", "second"),
            ("/tools/allow/0", "second"),
            ("/mcp/s/url", "second"),
        ] {
            assert_eq!(
                origins.find(pointer).map(ToString::to_string).as_deref(),
                Some(expected),
                "{pointer}"
            );
        }
        for gone in ["/tools/allow/1", "/mcp/s/command"] {
            assert!(!merged.origins.contains_key(gone), "{gone}");
        }
    }

    /// Generates documents with deny lists at several places.
    fn documents() -> impl Strategy<Value = Vec<Value>> {
        let names = || proptest::collection::vec(proptest::sample::select(vec!["a", "b", "c", "d"]), 0..3);
        let rules = (names(), proptest::option::of(names())).prop_map(|(deny, allow)| match allow {
            Some(allow) => json!({"deny": deny, "allow": allow}),
            None => json!({ "deny": deny }),
        });
        let one = (rules.clone(), proptest::collection::btree_map("[xy/]", rules, 0..2))
            .prop_map(|(tools, agents)| json!({"tools": tools, "agents": agents}));
        proptest::collection::vec(one, 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn no_order_loses_a_deny(documents in documents().prop_shuffle()) {
            let mut merged = Document::default();
            for (number, value) in documents.iter().enumerate() {
                merged.add(&document(&number.to_string(), value), &rules());
            }
            for (number, value) in documents.iter().enumerate() {
                let lists = value["agents"].as_object().into_iter().flatten()
                    .map(|(name, rules)| (format!("/agents/{}/deny", escape(name)), &rules["deny"]))
                    .chain([("/tools/deny".to_owned(), &value["tools"]["deny"])]);
                for (pointer, list) in lists {
                    for item in list.as_array().into_iter().flatten() {
                        let all = merged.value.pointer(&pointer).and_then(Value::as_array).cloned().unwrap_or_default();
                        let Some(at) = all.iter().position(|known| known == item) else {
                            return Err(TestCaseError::fail(format!("{pointer} of {number} lost {item}")));
                        };
                        let known = merged.origins.contains_key(&format!("{pointer}/{at}"));
                        prop_assert!(known);
                    }
                }
            }
        }
    }
}
