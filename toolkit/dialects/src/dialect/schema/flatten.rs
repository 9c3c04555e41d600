//! Splits a composed schema into alternatives that are not composed.

use super::Rewriter;
use super::document::{is_place, stand_at};
use super::kind;
use super::meet::{cost, join, meet};
use super::trail::Trail;
use serde_json::{Map, Value};

/// The most alternatives that are written out.
pub(super) const MAX_ALTERNATIVES: usize = 64;

/// Annotations: keywords that describe a value without restricting it.
pub(super) const SAID: [&str; 3] = ["description", "default", "examples"];

/// References whose target depends on the path of the validation.
pub(super) const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// A schema split into alternatives, without references.
pub(super) struct Apart {
    /// The annotations, with their place.
    pub(super) said: Map<String, Value>,
    /// The alternatives, one of which has to match.
    pub(super) alternatives: Vec<Alternative>,
    /// True if exactly one has to match.
    pub(super) is_one_only: bool,
    /// True if a part was lost, so that it is unknown which properties that part evaluated.
    is_partial: bool,
}

/// One alternative of a split schema: without references, and not composed of others.
pub(super) struct Alternative {
    pub(super) members: Map<String, Value>,
    /// The references that led to it.
    pub(super) trail: Trail,
}

/// A schema with its parts, while they are collected.
#[derive(Default)]
struct Parts {
    base: Map<String, Value>,
    unions: Vec<Vec<Value>>,
    is_one_only: bool,
    /// The schema for `unevaluatedProperties`.
    rest: Option<Value>,
    is_partial: bool,
    /// The references on the path to the present part, and to all collected parts.
    way: Trail,
    trail: Trail,
}

impl Rewriter<'_> {
    /// Splits a schema into at most this many alternatives.
    pub(super) fn apart(&mut self, schema: &Value, most: usize) -> Apart {
        let apart = if self.enter(schema) {
            self.take_apart(schema, most)
        } else {
            let anything = Alternative { members: Map::new(), trail: Trail::default() };
            Apart { said: Map::new(), alternatives: vec![anything], is_one_only: false, is_partial: true }
        };
        self.depth -= 1;
        apart
    }

    fn take_apart(&mut self, schema: &Value, most: usize) -> Apart {
        let mut parts = Parts::default();
        let is_possible = self.collect(schema, &mut parts, 0);
        let Parts { mut base, unions, is_one_only, rest, mut is_partial, trail, .. } = parts;
        let mut is_one_only = is_one_only && unions.len() == 1;
        let mut said = Map::new();
        for key in SAID {
            if let Some(value) = base.shift_remove(key) {
                said.insert(key.to_owned(), value);
            }
        }
        stand_at(&mut said, &base);
        if !is_possible {
            return Apart { said, alternatives: Vec::new(), is_one_only, is_partial };
        }
        self.followed.add(&trail);
        let mut alternatives = vec![Alternative { members: base, trail: trail.clone() }];
        for union in unions {
            match self.product(&alternatives, &union, most, &mut is_one_only, &mut is_partial) {
                Some(products) => alternatives = products,
                None => {
                    self.lose(&said, "anyOf", "it has too many variants to write out");
                    (is_one_only, is_partial) = (false, true);
                }
            }
        }
        self.followed.remove(&trail);
        if let Some(rest) = rest {
            self.close(&mut alternatives, &rest, is_one_only, is_partial);
        }
        is_one_only &= alternatives.len() > 1;
        Apart { said, alternatives, is_one_only, is_partial }
    }

    /// Adds a schema to the requirements; returns false if no value can match.
    fn collect(&mut self, schema: &Value, parts: &mut Parts, depth: usize) -> bool {
        let members = match schema {
            Value::Bool(allows) => return *allows,
            Value::Object(members) => members,
            _ => return true,
        };
        if depth > super::DEEPEST {
            self.lose(members, "allOf", "it nests too deep: any value is accepted here");
            parts.is_partial = true;
            return true;
        }
        let cost = cost(&parts.base, members, self.copies);
        if !self.spend(members) || !self.copy(members, cost) {
            parts.is_partial = true;
            return true;
        }
        let is_plain = |key: &str| {
            !matches!(
                key,
                "allOf" | "anyOf" | "oneOf" | "$ref" | "$defs" | "definitions" | "unevaluatedProperties"
            )
        };
        let plain: Map<String, Value> = members
            .iter()
            .filter(|(key, _)| is_plain(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        self.meet(members, &mut parts.base, &plain);
        for key in DYNAMIC {
            if members.contains_key(key) {
                self.lose(members, key, "this dialect has no references");
                parts.is_partial = true;
            }
        }
        let beside = parts.rest.take();
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && !self.collect_target(members, reference, parts, depth)
        {
            return false;
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            if !self.collect(part, parts, depth + 1) {
                return false;
            }
        }
        // An inner one evaluates all remaining properties, so that none remain for an outer one. If both are at the same level, both
        // apply.
        let own = parts.rest.take().or_else(|| members.get("unevaluatedProperties").cloned());
        parts.rest = match (beside, own) {
            (Some(mut beside), Some(own)) => {
                join(&mut beside, &own, &mut |key| {
                    self.lose(members, key, "it is too complex for one schema");
                });
                Some(beside)
            }
            (beside, own) => beside.or(own),
        };
        for key in ["anyOf", "oneOf"] {
            if let Some(options) = members.get(key).and_then(Value::as_array) {
                parts.is_one_only |= key == "oneOf";
                parts.unions.push(options.clone());
            }
        }
        true
    }

    fn collect_target(
        &mut self,
        members: &Map<String, Value>,
        reference: &str,
        parts: &mut Parts,
        depth: usize,
    ) -> bool {
        let Some(target) = self.follow(members, reference) else {
            parts.is_partial = true;
            return true;
        };
        parts.way.enter(reference);
        parts.trail.reach(reference, parts.way.count(reference));
        let is_possible = self.collect(target, parts, depth + 1);
        parts.way.leave(reference);
        self.followed.leave(reference);
        is_possible
    }

    /// Restricts `both` to values that also match `other`. `part` is the part with the requirement.
    fn meet(&mut self, part: &Map<String, Value>, both: &mut Map<String, Value>, other: &Map<String, Value>) {
        meet(both, other, &mut |key| self.lose(part, key, "it is too complex for one schema"));
    }

    /// Combines each of the alternatives with each of the options; returns `None` if there are too many.
    fn product(
        &mut self,
        alternatives: &[Alternative],
        options: &[Value],
        most: usize,
        is_one_only: &mut bool,
        is_partial: &mut bool,
    ) -> Option<Vec<Alternative>> {
        if self.copies == 0 {
            return None;
        }
        let mut options_apart = Vec::new();
        for option in options {
            let Apart { said, alternatives: apart, is_partial: is_option_partial, .. } =
                self.apart(option, most);
            *is_one_only &= apart.len() < 2;
            *is_partial |= is_option_partial;
            for mut alternative in apart {
                for (key, value) in &said {
                    if !is_place(key) {
                        alternative.members.entry(key.clone()).or_insert_with(|| value.clone());
                    }
                }
                options_apart.push(alternative);
            }
            if alternatives.len() * options_apart.len() > most {
                return None;
            }
        }
        let mut products = Vec::new();
        for alternative in alternatives {
            for option in &options_apart {
                let cost = cost(&alternative.members, &option.members, self.copies)
                    + super::size(&alternative.members, self.copies);
                if !self.copy(&option.members, cost) {
                    return None;
                }
                let mut both = alternative.members.clone();
                self.meet(&option.members, &mut both, &option.members);
                stand_at(&mut both, &option.members);
                for key in SAID {
                    if let Some(value) = option.members.get(key) {
                        both.insert(key.to_owned(), value.clone());
                    }
                }
                if kind::stated(&both).is_none_or(|kinds| !kinds.is_empty()) {
                    let mut trail = alternative.trail.clone();
                    trail.add(&option.trail);
                    products.push(Alternative { members: both, trail });
                }
            }
        }
        Some(products)
    }
}
