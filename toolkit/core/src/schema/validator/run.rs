//! Checks values by a compiled schema.

use super::build::{Bound, Document, Id, Keyword, Members, Node, Size, Types};
use super::number::{are_unique, compare, equal, is_integer, is_multiple};
use super::pattern::Pattern;
use super::{Kind, Violation};
use crate::pointer::Pointer;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

/// From this many properties, `jsonschema` follows the order of the value, and below only if the value has no more.
const MANY: usize = 15;

impl Document {
    pub(super) fn is_valid(&self, value: &Value) -> bool {
        let run = Run { document: self, gave_up: Cell::new(None) };
        run.holds(self.root, value) && run.gave_up.get().is_none()
    }

    pub(super) fn violations<'v>(&self, value: &'v Value) -> Vec<Violation<'v>> {
        let run = Run { document: self, gave_up: Cell::new(None) };
        let mut found = Vec::new();
        run.collect(self.root, value, Pointer::ROOT, &mut found);
        // Without the pattern's verdict, nothing is known of the value.
        if let (true, Some(id)) = (found.is_empty(), run.gave_up.get()) {
            let node = &self.nodes[id];
            found.push(run.violation(Kind::Other("pattern".into()), "pattern", node, value, Pointer::ROOT));
        }
        found
    }
}

struct Run<'d> {
    document: &'d Document,
    /// The schema of a pattern whose search was given up.
    gave_up: Cell<Option<Id>>,
}

impl<'d> Run<'d> {
    fn node(&self, id: Id) -> &'d Node {
        &self.document.nodes[id]
    }

    fn matches(&self, pattern: &Pattern, id: Id, text: &str) -> bool {
        pattern.is_match(text).unwrap_or_else(|| {
            self.gave_up.set(Some(id));
            false
        })
    }

    /// Returns true if a schema allows the value.
    fn holds(&self, id: Id, value: &Value) -> bool {
        self.node(id).keywords.iter().all(|keyword| self.keyword_holds(keyword, id, value))
    }

    fn keyword_holds(&self, keyword: &Keyword, id: Id, value: &Value) -> bool {
        match (keyword, value) {
            (Keyword::Never, _) => false,
            (Keyword::Type(types), _) => types.allow(value),
            (Keyword::Const(expected), _) => equal(expected, value),
            (Keyword::Enum(options), _) => options.iter().any(|option| equal(option, value)),
            (Keyword::Bound(bound, limit), Value::Number(number)) => {
                let order = compare(number, limit);
                match bound {
                    Bound::Minimum => order.is_ge(),
                    Bound::Maximum => order.is_le(),
                    Bound::ExclusiveMinimum => order.is_gt(),
                    Bound::ExclusiveMaximum => order.is_lt(),
                }
            }
            (Keyword::MultipleOf(divisor), Value::Number(number)) => is_multiple(number, *divisor),
            (Keyword::Size(size, bound), _) => size.holds(*bound, value),
            (Keyword::Required(names), Value::Object(members)) => {
                names.iter().all(|name| members.contains_key(name))
            }
            (Keyword::Pattern(pattern), Value::String(text)) => self.matches(pattern, id, text),
            (Keyword::UniqueItems, Value::Array(items)) => are_unique(items),
            (Keyword::Properties(names), Value::Object(members)) => members
                .iter()
                .all(|(name, member)| names.get(name).is_none_or(|property| self.holds(property, member))),
            (Keyword::PatternProperties(patterns), Value::Object(members)) => {
                patterns.iter().all(|(pattern, each)| {
                    members
                        .iter()
                        .all(|(name, member)| !self.matches(pattern, id, name) || self.holds(*each, member))
                })
            }
            (Keyword::Members(rules), Value::Object(members)) => {
                members.iter().all(|(name, member)| self.member_holds(rules, id, name, member))
            }
            (Keyword::PropertyNames(each), Value::Object(members)) => {
                members.keys().all(|name| self.holds(*each, &Value::String(name.clone())))
            }
            (Keyword::Items { skipped, each }, Value::Array(items)) => {
                items.iter().skip(*skipped).all(|item| self.holds(*each, item))
            }
            (Keyword::PrefixItems(places), Value::Array(items)) => {
                places.iter().zip(items).all(|(place, item)| self.holds(*place, item))
            }
            (Keyword::Contains(each), Value::Array(items)) => {
                items.iter().any(|item| self.holds(*each, item))
            }
            (Keyword::AllOf(parts), _) => parts.iter().all(|part| self.holds(*part, value)),
            (Keyword::AnyOf(options), _) => options.iter().any(|option| self.holds(*option, value)),
            (Keyword::OneOf(options), _) => {
                options.iter().filter(|option| self.holds(**option, value)).take(2).count() == 1
            }
            (Keyword::Not(part), _) => !self.holds(*part, value),
            (Keyword::If { condition, then, otherwise }, _) => {
                let branch = if self.holds(*condition, value) { then } else { otherwise };
                branch.is_none_or(|branch| self.holds(branch, value))
            }
            (Keyword::Unevaluated(rest), Value::Object(_)) => self.unevaluated(*rest, id, value).is_empty(),
            (Keyword::Ref(target), _) => self.holds(*target, value),
            _ => true,
        }
    }

    fn member_holds(&self, rules: &Members, id: Id, name: &str, member: &Value) -> bool {
        let property = rules.properties.get(name);
        let mut is_known = property.is_some();
        if property.is_some_and(|property| !self.holds(property, member)) {
            return false;
        }
        for (pattern, each) in &rules.patterns {
            if self.matches(pattern, id, name) {
                is_known = true;
                if !self.holds(*each, member) {
                    return false;
                }
            }
        }
        is_known || rules.rest.is_some_and(|rest| self.holds(rest, member))
    }

    /// Collects the violations of a schema.
    fn collect<'v>(&self, id: Id, value: &'v Value, at: Pointer<'_>, found: &mut Vec<Violation<'v>>) {
        let node = self.node(id);
        for keyword in &node.keywords {
            match (keyword, value) {
                (Keyword::Required(names), Value::Object(members)) => {
                    for name in names.iter().filter(|name| !members.contains_key(*name)) {
                        let kind = Kind::Required { property: name.clone() };
                        found.push(self.violation(kind, "required", node, value, at));
                    }
                }
                (Keyword::Properties(names), Value::Object(members)) => {
                    if names.list.len() >= MANY || members.len() <= names.list.len() {
                        for (name, member) in members {
                            if let Some(property) = names.get(name) {
                                self.collect(property, member, at.member(name), found);
                            }
                        }
                    } else {
                        for (name, property) in &names.list {
                            if let Some(member) = members.get(name) {
                                self.collect(*property, member, at.member(name), found);
                            }
                        }
                    }
                }
                (Keyword::PatternProperties(patterns), Value::Object(members)) => {
                    for (pattern, each) in patterns {
                        for (name, member) in
                            members.iter().filter(|(name, _)| self.matches(pattern, id, name))
                        {
                            self.collect(*each, member, at.member(name), found);
                        }
                    }
                }
                (Keyword::Members(rules), Value::Object(members)) => {
                    self.collect_members(rules, id, value, members, at, found);
                }
                (Keyword::PropertyNames(each), Value::Object(members)) => {
                    for name in members.keys() {
                        let text = Value::String(name.clone());
                        let mut of_name = Vec::new();
                        self.collect(*each, &text, at, &mut of_name);
                        found.extend(of_name.into_iter().map(|error| Violation {
                            instance: Cow::Borrowed(value),
                            instance_path: at.to_string(),
                            schema_path: error.schema_path.clone(),
                            kind: Kind::PropertyNames { error: Box::new(error.into_owned()) },
                        }));
                    }
                }
                (Keyword::Items { skipped, each }, Value::Array(items)) => {
                    for (place, item) in items.iter().enumerate().skip(*skipped) {
                        self.collect(*each, item, at.item(place), found);
                    }
                }
                (Keyword::PrefixItems(places), Value::Array(items)) => {
                    for (place, (each, item)) in places.iter().zip(items).enumerate() {
                        self.collect(*each, item, at.item(place), found);
                    }
                }
                (Keyword::AllOf(parts), _) => {
                    for part in parts {
                        self.collect(*part, value, at, found);
                    }
                }
                (Keyword::If { condition, then, otherwise }, _) => {
                    let branch = if self.holds(*condition, value) { then } else { otherwise };
                    if let Some(branch) = branch {
                        self.collect(*branch, value, at, found);
                    }
                }
                (Keyword::Ref(target), _) => self.collect(*target, value, at, found),
                (keyword, _) => {
                    if !self.keyword_holds(keyword, id, value) {
                        found.push(self.violated(keyword, id, value, at));
                    }
                }
            }
        }
    }

    fn collect_members<'v>(
        &self,
        rules: &Members,
        id: Id,
        value: &'v Value,
        members: &'v Map<String, Value>,
        at: Pointer<'_>,
        found: &mut Vec<Violation<'v>>,
    ) {
        let key = "additionalProperties";
        let node = self.node(id);
        if rules.is_alone && rules.rest.is_none() {
            if let Some(first) = members.values().next() {
                found.push(self.violation(Kind::FalseSchema, key, node, first, at));
            }
            return;
        }
        let mut unexpected = Vec::new();
        for (name, member) in members {
            let here = at.member(name);
            let property = rules.properties.get(name);
            let mut is_known = property.is_some();
            if let Some(property) = property {
                self.collect(property, member, here, found);
            }
            for (pattern, each) in &rules.patterns {
                if self.matches(pattern, id, name) {
                    is_known = true;
                    self.collect(*each, member, here, found);
                }
            }
            match rules.rest {
                _ if is_known => {}
                Some(rest) => self.collect(rest, member, here, found),
                None => unexpected.push(name.clone()),
            }
        }
        if !unexpected.is_empty() {
            found.push(self.violation(Kind::AdditionalProperties { unexpected }, key, node, value, at));
        }
    }

    /// Returns the violation of a keyword that does not hold.
    fn violated<'v>(&self, keyword: &Keyword, id: Id, value: &'v Value, at: Pointer<'_>) -> Violation<'v> {
        let context = |options: &[Id]| {
            let each = options.iter().map(|option| {
                let mut found = Vec::new();
                self.collect(*option, value, at, &mut found);
                found
            });
            each.collect()
        };
        let (kind, key) = match keyword {
            Keyword::Type(_) => (Kind::Type, "type"),
            Keyword::Enum(options) => (Kind::Enum { options: options.clone() }, "enum"),
            Keyword::AnyOf(options) => (Kind::AnyOf { context: context(options) }, "anyOf"),
            Keyword::OneOf(options) => {
                let none = !options.iter().any(|option| self.holds(*option, value));
                let kind = if none {
                    Kind::OneOfNotValid { context: context(options) }
                } else {
                    Kind::OneOfMultipleValid
                };
                (kind, "oneOf")
            }
            Keyword::Unevaluated(rest) => {
                let unexpected = self.unevaluated(*rest, id, value);
                (Kind::UnevaluatedProperties { unexpected }, "unevaluatedProperties")
            }
            Keyword::Never => (Kind::FalseSchema, ""),
            other => (Kind::Other(other.key().into()), other.key()),
        };
        self.violation(kind, key, self.node(id), value, at)
    }

    #[expect(clippy::unused_self, reason = "beside the others")]
    fn violation<'v>(
        &self,
        kind: Kind<'v>,
        key: &str,
        node: &Node,
        value: &'v Value,
        at: Pointer<'_>,
    ) -> Violation<'v> {
        let pointer = &node.pointer;
        let schema_path = if key.is_empty() { pointer.clone() } else { format!("{pointer}/{key}") };
        Violation { kind, instance: Cow::Borrowed(value), instance_path: at.to_string(), schema_path }
    }

    /// Returns the names of the members that no other keyword of the schema evaluates, and `rest` refuses.
    fn unevaluated(&self, rest: Id, id: Id, value: &Value) -> Vec<String> {
        let mut evaluated = HashSet::new();
        self.evaluate(id, value, &mut evaluated);
        let others = value.as_object().into_iter().flatten();
        others
            .filter(|(name, member)| !evaluated.contains(name.as_str()) && !self.holds(rest, member))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Adds the names of the members that a schema evaluates.
    fn evaluate<'v>(&self, id: Id, value: &'v Value, evaluated: &mut HashSet<&'v str>) {
        let Some(members) = value.as_object() else { return };
        let names = || members.keys().map(String::as_str);
        for keyword in &self.node(id).keywords {
            match keyword {
                Keyword::Members(_) | Keyword::AnyMembers => evaluated.extend(names()),
                Keyword::Properties(known) => {
                    evaluated.extend(names().filter(|name| known.get(name).is_some()));
                }
                Keyword::PatternProperties(patterns) => evaluated.extend(
                    names()
                        .filter(|name| patterns.iter().any(|(pattern, _)| self.matches(pattern, id, name))),
                ),
                Keyword::Unevaluated(rest) => {
                    let fitting = members.iter().filter(|(_, member)| self.holds(*rest, member));
                    evaluated.extend(fitting.map(|(name, _)| name.as_str()));
                }
                Keyword::Ref(target) => self.evaluate(*target, value, evaluated),
                Keyword::AllOf(parts) | Keyword::AnyOf(parts) => {
                    for part in parts.iter().filter(|part| self.holds(**part, value)) {
                        self.evaluate(*part, value, evaluated);
                    }
                }
                Keyword::OneOf(options) => {
                    let mut fitting = options.iter().filter(|option| self.holds(**option, value));
                    if let (Some(only), None) = (fitting.next(), fitting.next()) {
                        self.evaluate(*only, value, evaluated);
                    }
                }
                Keyword::If { condition, then, otherwise } => {
                    let holds = self.holds(*condition, value);
                    if holds {
                        self.evaluate(*condition, value, evaluated);
                    }
                    if let Some(branch) = if holds { then } else { otherwise } {
                        self.evaluate(*branch, value, evaluated);
                    }
                }
                _ => {}
            }
        }
    }
}

impl Types {
    fn allow(self, value: &Value) -> bool {
        match value {
            Value::Null => self.null,
            Value::Bool(_) => self.boolean,
            Value::Number(number) => self.number || self.integer && is_integer(number),
            Value::String(_) => self.string,
            Value::Array(_) => self.array,
            Value::Object(_) => self.object,
        }
    }
}

impl Size {
    /// Returns true if the value has the right size, or none.
    fn holds(self, bound: u64, value: &Value) -> bool {
        let size = match (self, value) {
            // Most texts are shorter than the limit even in bytes.
            (Self::MaxLength, Value::String(text)) if text.len() as u64 <= bound => return true,
            (Self::MinLength | Self::MaxLength, Value::String(text)) => text.chars().count(),
            (Self::MinItems | Self::MaxItems, Value::Array(items)) => items.len(),
            (Self::MinProperties | Self::MaxProperties, Value::Object(members)) => members.len(),
            _ => return true,
        };
        match self {
            Self::MinLength | Self::MinItems | Self::MinProperties => size as u64 >= bound,
            Self::MaxLength | Self::MaxItems | Self::MaxProperties => size as u64 <= bound,
        }
    }
}

impl Keyword {
    /// Returns the name of a keyword that is explained by the schema around it.
    fn key(&self) -> &'static str {
        match self {
            Self::Const(_) => "const",
            Self::Bound(Bound::Minimum, _) => "minimum",
            Self::Bound(Bound::Maximum, _) => "maximum",
            Self::Bound(Bound::ExclusiveMinimum, _) => "exclusiveMinimum",
            Self::Bound(Bound::ExclusiveMaximum, _) => "exclusiveMaximum",
            Self::MultipleOf(_) => "multipleOf",
            Self::Size(Size::MinLength, _) => "minLength",
            Self::Size(Size::MaxLength, _) => "maxLength",
            Self::Size(Size::MinItems, _) => "minItems",
            Self::Size(Size::MaxItems, _) => "maxItems",
            Self::Size(Size::MinProperties, _) => "minProperties",
            Self::Size(Size::MaxProperties, _) => "maxProperties",
            Self::Pattern(_) => "pattern",
            Self::UniqueItems => "uniqueItems",
            Self::Contains(_) => "contains",
            Self::Not(_) => "not",
            // These have a kind of their own, or the violations of their parts.
            _ => "",
        }
    }
}
