//! Compares the properties of object schemas.

use super::finding::{Finding, Kind, View, join};
use super::number::count;
use super::subset::{Comparison, counted, located};
use serde_json::{Map, Value};
use std::collections::HashMap;
use toolkit_core::pointer::escape;
use toolkit_core::schema::ALIASES;

const NO: Value = Value::Bool(false);

/// The keywords of a branch for objects.
struct Object<'a> {
    branch: &'a Map<String, Value>,
    properties: Vec<(&'a str, &'a Value)>,
    /// The schema of properties without a name of their own.
    rest: Value,
    required: Vec<&'a str>,
}

impl<'a> Object<'a> {
    fn of(branch: &'a Map<String, Value>) -> Self {
        let properties = branch.get("properties").and_then(Value::as_object).into_iter().flatten();
        let required = branch.get("required").and_then(Value::as_array).into_iter().flatten();
        Self {
            branch,
            properties: properties.map(|(name, property)| (name.as_str(), property)).collect(),
            rest: branch.get("additionalProperties").cloned().unwrap_or(Value::Bool(true)),
            required: required.filter_map(Value::as_str).collect(),
        }
    }

    fn get(&self, name: &str) -> Option<(&'a str, &'a Value)> {
        self.properties.iter().copied().find(|(own, _)| *own == name)
    }

    /// Returns the property that accepts a value of this name.
    fn taking(&self, name: &str, view: View) -> Option<(&'a str, &'a Value)> {
        let by_alias = || {
            let mut properties = self.properties.iter().copied().filter(|_| view.is_input());
            properties.find(|(_, property)| aliases(property).any(|alias| alias == name))
        };
        self.get(name).or_else(by_alias)
    }

    /// Returns a pointer into the document, for a property or a keyword.
    fn at(&self, keyword: &str, name: &str) -> String {
        let finding = located(self.branch, keyword, "", true, Kind::Opaque);
        if name.is_empty() { finding.pointer } else { format!("{}/{}", finding.pointer, escape(name)) }
    }
}

fn aliases(property: &Value) -> impl Iterator<Item = &str> {
    property.get(ALIASES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

impl Comparison {
    pub(super) fn objects(
        &mut self,
        given: &Map<String, Value>,
        demand: &Map<String, Value>,
        subject: &str,
    ) -> Vec<Finding> {
        let (one, other) = (Object::of(given), Object::of(demand));
        let mut found = Vec::new();
        let taken = self.properties(&one, &other, subject, &mut found);
        self.further(&one, &other, &taken, subject, &mut found);
        self.patterns(&one, &other, subject, &mut found);
        self.rest(&one, &other, subject, &mut found);
        for name in &other.required {
            let has = |own: &&str| taken.get(own).copied().unwrap_or(own) == *name;
            if !one.required.iter().any(has) {
                let is_known = one.properties.iter().any(|(own, _)| has(own));
                let kind = Kind::Missing { name: (*name).to_owned(), is_known };
                found.push(located(demand, "required", subject, true, kind));
            }
        }
        sizes(&one, &other, subject, &mut found);
        found
    }

    /// Compares each property of `one`. Returns the property of `other` that accepts it.
    fn properties<'a>(
        &mut self,
        one: &Object<'a>,
        other: &Object<'a>,
        subject: &str,
        found: &mut Vec<Finding>,
    ) -> HashMap<&'a str, &'a str> {
        let mut taken: HashMap<&str, &str> = HashMap::new();
        for (name, property) in one.properties.iter().copied().filter(|(_, property)| **property != NO) {
            let path = join(subject, name);
            let at = |kind: Kind| Finding {
                pointer: one.at("properties", name),
                subject: subject.to_owned(),
                is_certain: true,
                kind,
            };
            let Some((target, demand)) = other.taking(name, self.view) else {
                // The comparison in the other direction reports the changed name.
                if self.view == View::INPUT_WON && aliases(property).any(|alias| other.get(alias).is_some()) {
                    continue;
                }
                if other.rest == NO {
                    let kind = Kind::Unknown {
                        name: name.to_owned(),
                        renamed: self.renamed(property, one, other),
                        is_required: one.required.contains(&name),
                    };
                    found.push(at(kind));
                } else {
                    let new = self.schemas(property, &other.rest, &path);
                    found.extend(new.into_iter().filter(|finding| !finding.is_notice()));
                    found.push(at(Kind::Undescribed { name: name.to_owned() }));
                }
                self.aliases(name, property, None, other, &at, found);
                continue;
            };
            if let Some((first, _)) = taken.iter().find(|(_, taken)| **taken == target) {
                let names = [(*first).to_owned(), name.to_owned()];
                found
                    .push(Finding { is_certain: false, ..at(Kind::Joined { names, to: target.to_owned() }) });
            }
            taken.insert(name, target);
            if *demand == NO {
                found.push(at(Kind::Unknown { name: name.to_owned(), renamed: None, is_required: false }));
                continue;
            }
            if target != name {
                found.push(at(Kind::Renamed { from: name.to_owned(), to: target.to_owned() }));
            }
            let new = self.schemas(property, demand, &path);
            // A required property is never absent.
            let is_required = one.required.contains(&name) || other.required.contains(&target);
            let says = |finding: &Finding| {
                !is_required || finding.subject != path || !matches!(finding.kind, Kind::Default { .. })
            };
            found.extend(new.into_iter().filter(says));
            self.aliases(name, property, Some(target), other, &at, found);
        }
        taken
    }

    /// Compares aliases of a property that the other schema does not accept for the same property.
    fn aliases(
        &self,
        name: &str,
        property: &Value,
        target: Option<&str>,
        other: &Object<'_>,
        at: &dyn Fn(Kind) -> Finding,
        found: &mut Vec<Finding>,
    ) {
        if !self.view.is_input() || target.is_none() {
            return;
        }
        for alias in aliases(property) {
            if other.taking(alias, self.view).map(|(taking, _)| taking) != target {
                found.push(at(Kind::Alias { name: name.to_owned(), alias: alias.to_owned() }));
            }
        }
    }

    /// Returns the probable new name of a removed property: the only new one that accepts the same values.
    fn renamed(&mut self, property: &Value, one: &Object<'_>, other: &Object<'_>) -> Option<String> {
        let mut news = other.properties.iter().filter(|(name, _)| one.get(name).is_none());
        let mut fitting = Vec::new();
        for (name, new) in news.by_ref() {
            if self.schemas(property, new, "").iter().all(Finding::is_notice) {
                fitting.push((*name).to_owned());
            }
        }
        if fitting.len() == 1 { fitting.pop() } else { None }
    }

    /// Checks the properties of `other` that `one` does not have.
    fn further(
        &mut self,
        one: &Object<'_>,
        other: &Object<'_>,
        taken: &HashMap<&str, &str>,
        subject: &str,
        found: &mut Vec<Finding>,
    ) {
        for (name, property) in &other.properties {
            if taken.values().any(|taken| taken == name) || one.get(name).is_some_and(|(_, own)| *own == NO) {
                continue;
            }
            let is_gone = self.view == View::OUTPUT_WON;
            let is_possible = one.rest != NO && {
                let by_alias = self.view.is_input() && aliases(property).next().is_some();
                by_alias || !self.schemas(&one.rest, property, "").iter().all(Finding::is_notice)
            };
            if is_gone || is_possible {
                let is_required = other.required.contains(name);
                found.push(Finding {
                    pointer: other.at("properties", name),
                    subject: subject.to_owned(),
                    is_certain: is_gone,
                    kind: Kind::Described { name: (*name).to_owned(), is_required },
                });
            }
        }
    }

    /// Compares properties whose schema depends on a pattern of their name.
    fn patterns(&mut self, one: &Object<'_>, other: &Object<'_>, subject: &str, found: &mut Vec<Finding>) {
        let patterns = |object: &Object<'_>| {
            object.branch.get("patternProperties").and_then(Value::as_object).cloned().unwrap_or_default()
        };
        let (own, demanded) = (patterns(one), patterns(other));
        if own.is_empty() && demanded.is_empty() {
            return;
        }
        let names = |object: &Object<'_>| {
            let mut names: Vec<String> =
                object.properties.iter().map(|(name, _)| (*name).to_owned()).collect();
            names.sort_unstable();
            names
        };
        let is_same = own.len() == demanded.len() && own.keys().all(|pattern| demanded.contains_key(pattern));
        if !is_same || names(one) != names(other) {
            found.push(located(
                other.branch,
                "patternProperties",
                subject,
                false,
                Kind::Keyword("patternProperties".to_owned()),
            ));
            return;
        }
        for (pattern, schema) in &own {
            found.extend(self.schemas(schema, &demanded[pattern], &join(subject, "*")));
        }
    }

    /// Compares the properties that neither has a name for.
    fn rest(&mut self, one: &Object<'_>, other: &Object<'_>, subject: &str, found: &mut Vec<Finding>) {
        if one.rest == NO {
            return;
        }
        if other.rest == NO {
            let words = "properties that its schema does not name".to_owned();
            found.push(located(other.branch, "additionalProperties", subject, true, Kind::Values(words)));
        } else {
            found.extend(self.schemas(&one.rest, &other.rest, &join(subject, "*")));
        }
    }
}

fn sizes(one: &Object<'_>, other: &Object<'_>, subject: &str, found: &mut Vec<Finding>) {
    let least = count(one.branch, "minProperties").unwrap_or(0).max(one.required.len() as u64);
    if let Some(limit) = count(other.branch, "minProperties").filter(|limit| *limit > least) {
        let words = format!(
            "objects of fewer than {}",
            counted(limit, "property").replace("propertys", "properties")
        );
        found.push(located(other.branch, "minProperties", subject, true, Kind::Values(words)));
    }
    let is_closed = one.rest == NO && !one.branch.contains_key("patternProperties");
    let closed = is_closed.then_some(one.properties.len() as u64);
    let most = count(one.branch, "maxProperties").into_iter().chain(closed).min().unwrap_or(u64::MAX);
    if let Some(limit) = count(other.branch, "maxProperties").filter(|limit| *limit < most) {
        let words =
            format!("objects of more than {}", counted(limit, "property").replace("propertys", "properties"));
        found.push(located(other.branch, "maxProperties", subject, true, Kind::Values(words)));
    }
}
