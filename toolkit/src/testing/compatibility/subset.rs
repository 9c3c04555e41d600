//! Finds values that one schema allows and another does not.

use super::annotation::{AT, is_annotation};
use super::branch::{
    ARRAY, Alternatives, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, Types, alternatives, locate, types,
};
use super::finding::{Finding, Kind, View, plural};
use super::number::{End, bound, count, is_multiple};
use super::same::same;
use super::variant::{apart, is_another, listed, split};
use serde_json::{Map, Value};
use toolkit_core::schema::describe::{cut, describe, join};
use toolkit_core::schema::{Validator, resolve};

/// The maximum number of pairs of schemas that are compared; further pairs are reported as unknown.
const MAX_STEPS: usize = 20_000;
/// The maximum depth of values that is compared.
const DEEPEST: usize = 64;
/// The maximum length of a pattern in a text, in characters.
const LONGEST_PATTERN: usize = 60;

/// Searches for values that match one schema, `given`, and not the other, `demand`.
pub(super) struct Comparison {
    given_root: Value,
    demand_root: Value,
    pub(super) view: View,
    /// The pairs that are being compared: a repeated pair further in yields nothing new.
    open: Vec<(String, String)>,
    steps: usize,
}

impl Comparison {
    pub(super) fn new(given: &Value, demand: &Value, view: View) -> Self {
        let (mut given_root, mut demand_root) = (given.clone(), demand.clone());
        locate(&mut given_root, "");
        locate(&mut demand_root, "");
        Self { given_root, demand_root, view, open: Vec::new(), steps: 0 }
    }

    /// Returns all findings; only notices if `demand` allows everything that `given` does.
    pub(super) fn run(mut self) -> Vec<Finding> {
        let (given, demand) = (self.given_root.clone(), self.demand_root.clone());
        let mut found = self.schemas(&given, &demand, "");
        for finding in &mut found {
            // A keyword may come from outside the branch in which it was checked.
            while given.pointer(&finding.pointer).or_else(|| demand.pointer(&finding.pointer)).is_none() {
                finding.pointer.truncate(finding.pointer.rfind('/').unwrap_or(0));
            }
        }
        found
    }

    pub(super) fn schemas(&mut self, given: &Value, demand: &Value, subject: &str) -> Vec<Finding> {
        if self.same(given, demand) {
            return Vec::new();
        }
        let pair = (given.to_string(), demand.to_string());
        if self.open.contains(&pair) {
            return Vec::new();
        }
        self.steps += 1;
        if self.steps > MAX_STEPS || self.open.len() > DEEPEST {
            return vec![finding(demand, "", subject, false, Kind::Opaque)];
        }
        self.open.push(pair);
        let mut found = self.defaults(given, demand, subject);
        found.extend(self.branches(given, demand, subject));
        self.open.pop();
        found
    }

    pub(super) fn same(&self, given: &Value, demand: &Value) -> bool {
        same(given, &self.given_root, demand, &self.demand_root)
    }

    fn defaults(&self, given: &Value, demand: &Value, subject: &str) -> Vec<Finding> {
        let default = |schema: &Value, root: &Value| {
            schema.get("default").or_else(|| resolve(schema, root).get("default")).cloned()
        };
        let (one, other) = (default(given, &self.given_root), default(demand, &self.demand_root));
        if one == other {
            return Vec::new();
        }
        vec![finding(
            demand,
            if other.is_some() { "default" } else { "" },
            subject,
            true,
            Kind::Default { one, other },
        )]
    }

    fn branches(&mut self, given: &Value, demand: &Value, subject: &str) -> Vec<Finding> {
        let offers = alternatives(given, &self.given_root);
        let demands = alternatives(demand, &self.demand_root);
        if !demands.is_exact {
            return vec![finding(demand, "", subject, false, Kind::Opaque)];
        }
        let mut found = Vec::new();
        for given in &offers.branches {
            let several = offers.branches.len() > 1 || demands.branches.len() > 1;
            for given in split(given, several) {
                let mut new = match self.finite(&given, demand, subject) {
                    Some(found) => found,
                    None => self.branch(&given, &demands, several, demand, subject),
                };
                if !offers.is_exact {
                    for finding in &mut new {
                        finding.is_certain = false;
                    }
                }
                found.extend(new);
            }
        }
        found
    }

    /// If few values match `given`, checks each of them.
    fn finite(&self, given: &Map<String, Value>, demand: &Value, subject: &str) -> Option<Vec<Finding>> {
        let values = listed(given).or_else(|| {
            let types = types(given);
            let values = [(NULL, Value::Null), (BOOLEAN, true.into()), (BOOLEAN, false.into())];
            let few = types & !(NULL | BOOLEAN) == 0;
            few.then(|| {
                values.into_iter().filter(|(kind, _)| types & kind != 0).map(|(_, value)| value).collect()
            })
        })?;
        let (fits_given, fits_demand) = (
            validator(&Value::Object(given.clone()), &self.given_root)?,
            validator(demand, &self.demand_root)?,
        );
        let lost: Vec<Value> = values
            .into_iter()
            .filter(|value| fits_given.is_valid(value) && !fits_demand.is_valid(value))
            .collect();
        let keyword =
            ["enum", "const", "type"].into_iter().find(|keyword| demand.get(keyword).is_some()).unwrap_or("");
        let booleans = lost.len() == 2 && lost.iter().all(Value::is_boolean);
        let words = if booleans { plural(BOOLEAN) } else { join(&lost) };
        Some(if lost.is_empty() {
            Vec::new()
        } else {
            vec![finding(demand, keyword, subject, true, Kind::Values(words))]
        })
    }

    fn branch(
        &mut self,
        given: &Map<String, Value>,
        demands: &Alternatives,
        several: bool,
        demand: &Value,
        subject: &str,
    ) -> Vec<Finding> {
        let is_exclusive = demands.is_exclusive;
        let demands = &demands.branches;
        let mut best: Option<(usize, Vec<Finding>)> = None;
        for (place, other) in demands.iter().enumerate() {
            if several && is_another(given, other) {
                continue;
            }
            let found = self.simple(given, other, subject);
            let bad = |found: &[Finding]| found.iter().filter(|finding| !finding.is_notice()).count();
            if best.as_ref().is_none_or(|(_, best)| bad(&found) < bad(best)) {
                best = Some((place, found));
            }
        }
        let Some((place, mut found)) = best else {
            let words = match types(given) {
                _ if demands.is_empty() => "anything".to_owned(),
                OBJECT => self.words(given),
                other => plural(other),
            };
            return vec![finding(demand, "", subject, true, Kind::Values(words))];
        };
        let overlaps =
            |(other, branch): (usize, &Map<String, Value>)| other != place && !apart(given, branch);
        let fits = found.iter().all(Finding::is_notice);
        if fits && is_exclusive && demands.iter().enumerate().any(overlaps) {
            let words = "values that fit more than one of its variants".to_owned();
            found.push(finding(demand, "", subject, false, Kind::Values(words)));
        }
        // Parts of it may match other variants.
        if !fits && demands.iter().enumerate().any(overlaps) {
            for finding in &mut found {
                finding.is_certain = false;
            }
        }
        found
    }

    /// Describes an object among others, by its tag or its properties.
    fn words(&self, given: &Map<String, Value>) -> String {
        let tags = given.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, property) in tags {
            if let Some(values) = property.as_object().and_then(listed) {
                return format!("objects whose `{name}` is {}", join(&values));
            }
        }
        match given.get("required").and_then(Value::as_array).map(Vec::as_slice) {
            Some([Value::String(name), ..]) => format!("objects with `{name}`"),
            _ => format!("what is {}", describe(&Value::Object(given.clone()), &self.given_root)),
        }
    }

    /// Compares schemas without alternatives.
    fn simple(
        &mut self,
        given: &Map<String, Value>,
        demand: &Map<String, Value>,
        subject: &str,
    ) -> Vec<Finding> {
        let at = |keyword: &str, certain: bool, kind: Kind| located(demand, keyword, subject, certain, kind);
        if let Some(values) = listed(demand) {
            let keyword = if demand.contains_key("const") { "const" } else { "enum" };
            return vec![at(keyword, true, Kind::Others(join(&values)))];
        }
        let (given_types, demanded_types) = (types(given), types(demand));
        let mut found = Vec::new();
        let lost = given_types & !demanded_types;
        if lost != 0 {
            found.push(at("type", true, Kind::Values(plural(lost))));
        }
        let common = given_types & demanded_types;
        if common & (INTEGER | FRACTION) != 0 {
            numbers(given, demand, common & (INTEGER | FRACTION) == INTEGER, &at, &mut found);
        }
        if common & STRING != 0 {
            strings(given, demand, &at, &mut found);
        }
        if common & ARRAY != 0 {
            found.extend(self.arrays(given, demand, subject));
        }
        if common & OBJECT != 0 {
            found.extend(self.objects(given, demand, subject));
        }
        for (keyword, value) in demand {
            if common & reach(keyword) != 0 && given.get(keyword).is_none_or(|given| !self.same(given, value))
            {
                found.push(at(keyword, false, Kind::Keyword(keyword.clone())));
            }
        }
        found
    }

    fn arrays(
        &mut self,
        given: &Map<String, Value>,
        demand: &Map<String, Value>,
        subject: &str,
    ) -> Vec<Finding> {
        let at = |keyword: &str, kind: Kind| located(demand, keyword, subject, true, kind);
        let places = |schema: &Map<String, Value>| {
            schema.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let (given_places, demanded_places) = (places(given), places(demand));
        let rest = |schema: &Map<String, Value>| schema.get("items").cloned().unwrap_or(Value::Bool(true));
        let (given_rest, demanded_rest) = (rest(given), rest(demand));
        let most = |schema: &Map<String, Value>, places: &[Value], rest: &Value| {
            let closed = (*rest == Value::Bool(false)).then_some(places.len() as u64);
            count(schema, "maxItems").into_iter().chain(closed).min()
        };
        let given_most = most(given, &given_places, &given_rest).unwrap_or(u64::MAX);
        let given_least = count(given, "minItems").unwrap_or(0);
        let mut found = Vec::new();
        let item = format!("{subject}[]");
        let named = given_places.len().max(demanded_places.len());
        for index in 0..named {
            if index as u64 >= given_most {
                break;
            }
            let (one, other) = (
                given_places.get(index).unwrap_or(&given_rest),
                demanded_places.get(index).unwrap_or(&demanded_rest),
            );
            if *one == Value::Bool(false) {
                break;
            }
            if *other != Value::Bool(false) {
                found.extend(self.schemas(one, other, &format!("{subject}[{index}]")));
            }
        }
        if given_most > named as u64
            && given_rest != Value::Bool(false)
            && demanded_rest != Value::Bool(false)
        {
            found.extend(self.schemas(&given_rest, &demanded_rest, &item));
        }
        if let Some(most) = most(demand, &demanded_places, &demanded_rest).filter(|most| *most < given_most) {
            let keyword = if count(demand, "maxItems") == Some(most) { "maxItems" } else { "items" };
            found.push(at(keyword, Kind::Values(format!("arrays of more than {}", counted(most, "item")))));
        }
        if let Some(least) = count(demand, "minItems").filter(|least| *least > given_least) {
            found.push(at(
                "minItems",
                Kind::Values(format!("arrays of fewer than {}", counted(least, "item"))),
            ));
        }
        let unique = |schema: &Map<String, Value>| schema.get("uniqueItems") == Some(&Value::Bool(true));
        if unique(demand) && !unique(given) && given_most > 1 {
            found.push(at("uniqueItems", Kind::Values("arrays in which an item comes twice".to_owned())));
        }
        found
    }
}

/// Returns the types that a keyword applies to, if it is not compared elsewhere.
fn reach(keyword: &str) -> Types {
    match keyword {
        "type"
        | "enum"
        | "const"
        | "default"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "format"
        | "prefixItems"
        | "items"
        | "minItems"
        | "maxItems"
        | "uniqueItems"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "required"
        | "minProperties"
        | "maxProperties" => 0,
        _ if keyword == toolkit_core::schema::ALIASES || is_annotation(keyword) => 0,
        "contains" | "minContains" | "maxContains" | "unevaluatedItems" => ARRAY,
        "propertyNames" | "dependentRequired" | "dependentSchemas" | "dependencies" => OBJECT,
        _ => super::branch::ANY,
    }
}

type At<'a> = dyn Fn(&str, bool, Kind) -> Finding + 'a;

fn numbers(
    given: &Map<String, Value>,
    demand: &Map<String, Value>,
    whole: bool,
    at: &At<'_>,
    found: &mut Vec<Finding>,
) {
    let word = if whole { "integers" } else { "numbers" };
    for end in [End::Low, End::High] {
        let Some(limit) = bound(demand, end, whole) else { continue };
        if !bound(given, end, whole).is_some_and(|own| own.is_at_least_as_strict(limit, end)) {
            found.push(at(limit.keyword, true, Kind::Values(format!("{word} {}", limit.beyond(end)))));
        }
    }
    if let Some(step) = demand.get("multipleOf") {
        let one = Value::from(1);
        let own = given.get("multipleOf").or(whole.then_some(&one));
        let multiple = own.map_or(Some(false), |own| is_multiple(own, step));
        if multiple != Some(true) {
            let words = format!("{word} that are not multiples of {step}");
            found.push(at("multipleOf", multiple.is_some(), Kind::Values(words)));
        }
    }
}

fn strings(given: &Map<String, Value>, demand: &Map<String, Value>, at: &At<'_>, found: &mut Vec<Finding>) {
    let given_least = count(given, "minLength").unwrap_or(0);
    if let Some(least) = count(demand, "minLength").filter(|least| *least > given_least) {
        let words = format!("strings of fewer than {}", counted(least, "character"));
        found.push(at("minLength", true, Kind::Values(words)));
    }
    let given_most = count(given, "maxLength").unwrap_or(u64::MAX);
    if let Some(most) = count(demand, "maxLength").filter(|most| *most < given_most) {
        let words = format!("strings of more than {}", counted(most, "character"));
        found.push(at("maxLength", true, Kind::Values(words)));
    }
    for (keyword, lead) in
        [("pattern", "strings that do not match"), ("format", "strings that are not in the format")]
    {
        let Some(demand) = demand.get(keyword).and_then(Value::as_str) else { continue };
        let own = given.get(keyword);
        if own.and_then(Value::as_str) != Some(demand) {
            // Formats are enforced not by the schema, but by the types that state them.
            let is_certain = own.is_none() && keyword == "pattern";
            let words = format!("{lead} `{}`", cut(demand, LONGEST_PATTERN));
            found.push(at(keyword, is_certain, Kind::Values(words)));
        }
    }
}

fn validator(schema: &Value, root: &Value) -> Option<Validator> {
    let mut document = schema.clone();
    if let (Some(document), Some(definitions)) = (document.as_object_mut(), root.get("$defs")) {
        document.insert("$defs".into(), definitions.clone());
    }
    // Any other reference would have another target here.
    if refers_elsewhere(&document) {
        return None;
    }
    Validator::new(&document).ok()
}

fn refers_elsewhere(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| {
            key == "$ref" && value.as_str().is_none_or(|target| !target.starts_with("#/$defs/"))
                || refers_elsewhere(value)
        }),
        Value::Array(items) => items.iter().any(refers_elsewhere),
        _ => false,
    }
}

pub(super) fn counted(count: u64, unit: &str) -> String {
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

/// Creates a finding about a keyword of a schema, or about the schema if `keyword` is empty.
pub(super) fn finding(schema: &Value, keyword: &str, subject: &str, is_certain: bool, kind: Kind) -> Finding {
    located(schema.as_object().unwrap_or(&Map::new()), keyword, subject, is_certain, kind)
}

pub(super) fn located(
    schema: &Map<String, Value>,
    keyword: &str,
    subject: &str,
    is_certain: bool,
    kind: Kind,
) -> Finding {
    let at = schema.get(AT).and_then(Value::as_str).unwrap_or_default();
    let keyword = if schema.contains_key(keyword) { keyword } else { "" };
    let pointer = if keyword.is_empty() { at.to_owned() } else { format!("{at}/{keyword}") };
    Finding { pointer, subject: subject.to_owned(), is_certain, kind }
}
