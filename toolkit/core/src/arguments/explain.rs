//! Converts a validator's violations to problems that a model can correct.

use super::known::{add_properties, place_within, property_of};
use super::repair::only_match;
use super::shown::{KEPT_SECRET, is_secret, short};
use super::variant::{Name, external_names, meant_option, shared_tag};
use crate::excerpt::cut;
use crate::invalid_arguments::{MAX_TOLD, Problem};
use crate::name::nearest;
use crate::pointer::escape;
use crate::schema::describe::{alternatives, cut_list, join, literals, plain};
use crate::schema::{Compiled, Kind, Violation, resolve};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The most characters of an unknown name.
const LONGEST_NAME: usize = 80;

/// Returns the problems of `arguments`, at most one more than is reported; empty if they are valid.
pub(super) fn find(compiled: &Compiled, arguments: &Value) -> Vec<Problem> {
    find_in(compiled, arguments, "arguments")
}

/// Same as [`find`], for a value whose members are called `members`.
pub(super) fn find_in(compiled: &Compiled, value: &Value, members: &'static str) -> Vec<Problem> {
    let mut errors = compiled.validator().violations(value);
    errors.truncate(MAX_TOLD + 1);
    let mut explanation = Explanation { compiled, members, problems: Vec::new() };
    explanation.add_all(&errors, "");
    explanation.problems
}

struct Explanation<'a> {
    compiled: &'a Compiled,
    /// The name of the members of the root.
    members: &'static str,
    problems: Vec<Problem>,
}

impl Explanation<'_> {
    /// Adds the errors of one validation; `base` is the pointer that their own pointers are relative to.
    fn add_all(&mut self, errors: &[Violation<'_>], base: &str) {
        let at = |is_kind: fn(&Kind<'_>) -> bool| -> HashSet<&str> {
            let found = errors.iter().filter(|error| is_kind(&error.kind));
            found.map(|error| error.instance_path.as_str()).collect()
        };
        let mistyped = at(|kind| matches!(kind, Kind::Type));
        let unfit = at(|kind| {
            matches!(kind, Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } | Kind::OneOfMultipleValid)
        });
        for error in errors {
            if self.problems.len() > MAX_TOLD {
                return;
            }
            let pointer = error.instance_path.as_str();
            let follows = match &error.kind {
                // A value of the wrong type matches no variant either.
                Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => mistyped.contains(pointer),
                // If no variant matches, the properties of variants are unknown.
                Kind::UnevaluatedProperties { .. } => unfit.contains(pointer),
                _ => false,
            };
            if !follows {
                self.add(error, base);
            }
        }
    }

    fn add(&mut self, error: &Violation<'_>, base: &str) {
        let pointer = format!("{base}{}", error.instance_path.as_str());
        let path = error.schema_path.as_str();
        match &error.kind {
            Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
                self.add_unknown(error, &pointer, unexpected);
            }
            Kind::Required { property } => {
                let name = property.as_str();
                let property = self
                    .compiled
                    .schema_around(path)
                    .and_then(|schema| property_of(schema, &self.compiled.schema, name, 0));
                let expected = property
                    .map_or_else(|| "a value".to_owned(), |schema| self.compiled.describe_type(schema));
                let pointer = format!("{pointer}/{}", escape(name));
                self.problems.push(Problem::new(pointer, format!("{expected} (required)"), "nothing"));
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_unfit(error, context, &pointer, base);
            }
            Kind::OneOfMultipleValid => {
                self.push(error, pointer, "a value that fits only one of the allowed forms".to_owned(), None);
            }
            Kind::PropertyNames { error: inner } => {
                let expected = self.compiled.describe_around(&inner.schema_path);
                let name = cut(inner.instance.as_str().unwrap_or_default(), LONGEST_NAME);
                let expected = format!("{} as a name", expected.unwrap_or_else(|| "another text".to_owned()));
                let pointer = format!("{pointer}/{}", escape(&name));
                self.problems.push(Problem::new(pointer, expected, format!("the name `{name}`")));
            }
            Kind::FalseSchema => self.push(error, pointer, "nothing".to_owned(), None),
            Kind::Enum { options } => {
                let near = nearest_value(&error.instance, options);
                let expected = self.expected(error);
                self.push(error, pointer, expected, near);
            }
            _ => {
                let expected = self.expected(error);
                self.push(error, pointer, expected, None);
            }
        }
    }

    /// Returns what the schema around a keyword allows.
    fn expected(&self, error: &Violation<'_>) -> String {
        let described = self.compiled.describe_around(error.schema_path.as_str());
        described.unwrap_or_else(|| format!("a value that fits the rule `{}`", error.kind.keyword()))
    }

    fn push(&mut self, error: &Violation<'_>, pointer: String, expected: String, near: Option<String>) {
        let problem = if is_secret(self.compiled, &pointer) {
            Problem::new(pointer, expected, KEPT_SECRET)
        } else {
            Problem::new(pointer, expected, short(&error.instance)).near(near)
        };
        self.problems.push(problem);
    }

    fn add_unknown(&mut self, error: &Violation<'_>, pointer: &str, unexpected: &[String]) {
        let what = if pointer.is_empty() { self.members } else { "fields" };
        let schema = self.compiled.schema_around(error.schema_path.as_str());
        let mut known = Vec::new();
        if let Some(schema) = schema {
            add_properties(&mut known, schema, &self.compiled.schema, &error.instance, 0);
        }
        if let Some(schema) = schema
            && self.add_optional_variant(schema, error, pointer, unexpected)
        {
            return;
        }
        let pattern = schema
            .and_then(|schema| schema.get("patternProperties")?.as_object()?.keys().next())
            .map(|pattern| format!("a name that matches the pattern {pattern}"));
        let expected = match (known.as_slice(), pattern) {
            ([], Some(pattern)) => pattern,
            ([], None) => format!("no {what}"),
            (known, _) => {
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                format!("one of the {what} {}", cut_list(&known, ", "))
            }
        };
        for name in unexpected {
            if self.problems.len() > MAX_TOLD {
                return;
            }
            let is_missing = |known: &&str| error.instance.get(*known).is_none();
            let given = known.iter().copied().filter(|known| !is_missing(known));
            if let Some(given) = only_match(name, given) {
                let name = cut(name, LONGEST_NAME);
                let actual = format!("a second one: `{name}` is another spelling of it");
                let pointer = format!("{pointer}/{}", escape(&name));
                self.problems.push(Problem::new(pointer, format!("one value for `{given}`"), actual));
                continue;
            }
            let near = nearest(name, known.iter().copied().filter(is_missing));
            let near = near.first().map(|near| (*near).to_owned()).or_else(|| {
                let place = place_within(schema?, &self.compiled.schema, &known, name)?;
                Some(format!("{pointer}{place}"))
            });
            let name = cut(name, LONGEST_NAME);
            let pointer = format!("{pointer}/{}", escape(&name));
            let problem = Problem::new(pointer, expected.clone(), format!("the unknown `{name}`"));
            self.problems.push(problem.near(near));
        }
    }

    /// Handles a flattened enum that may be absent, and is partly present: reports what is wrong with it, rather
    /// than that its properties are unknown.
    fn add_optional_variant(
        &mut self,
        schema: &Value,
        error: &Violation<'_>,
        pointer: &str,
        unexpected: &[String],
    ) -> bool {
        let Some(choices) = schema.get("anyOf").and_then(Value::as_array) else { return false };
        for options in choices.iter().filter_map(|choice| choice.get("oneOf")?.as_array()) {
            let Some((tag, values)) = shared_tag(options, &self.compiled.schema) else { continue };
            let Some(members) = error.instance.as_object() else { continue };
            let Some(given) = members.get(tag).filter(|_| unexpected.iter().any(|name| name == tag)) else {
                continue;
            };
            match values.iter().position(|value| *value == given).and_then(|place| options.get(place)) {
                None => self.add_wrong_tag(pointer, tag, &values, members),
                Some(option) => return self.add_variant(option, &error.instance, pointer),
            }
            return true;
        }
        false
    }

    /// Adds the problems of `value` as the variant `option`; returns false if there are none.
    fn add_variant(&mut self, option: &Value, value: &Value, pointer: &str) -> bool {
        let mut document = resolve(option, &self.compiled.schema).clone();
        if let (Some(document), Some(definitions)) =
            (document.as_object_mut(), self.compiled.schema.get("$defs"))
        {
            document.insert("$defs".into(), definitions.clone());
        }
        let Ok(variant) = Compiled::new(&self.compiled.name, document) else { return false };
        let found = find_in(&variant, value, self.members);
        let told = self.problems.len();
        self.problems.extend(found.into_iter().map(|problem| {
            let pointer = format!("{pointer}{}", problem.pointer);
            // The variant alone does not show which of its properties are secrets.
            let is_hidden = problem.actual != "nothing" && is_secret(self.compiled, &pointer);
            let actual = if is_hidden { KEPT_SECRET.to_owned() } else { problem.actual };
            let near = problem.nearest.filter(|_| !is_hidden);
            Problem::new(pointer, problem.expected, actual).near(near)
        }));
        self.problems.len() > told
    }

    /// Handles a value that matches no variant: reports the problems of the intended variant, or lists the
    /// variants.
    fn add_unfit(
        &mut self,
        error: &Violation<'_>,
        context: &[Vec<Violation<'_>>],
        pointer: &str,
        base: &str,
    ) {
        let compiled = self.compiled;
        let (root, path) = (&compiled.schema, error.schema_path.as_str());
        // A documented enum has one `const` for each variant.
        if let Some(values) = compiled.schema_around(path).and_then(literals) {
            let near = nearest_value(&error.instance, &values);
            self.push(error, pointer.to_owned(), format!("one of {}", join(&values)), near);
            return;
        }
        let Some(options) = compiled.schema_at(path).and_then(Value::as_array) else {
            self.push(error, pointer.to_owned(), "one of the allowed forms".to_owned(), None);
            return;
        };
        let is_compound = error.instance.is_object() || error.instance.is_array();
        let meant = meant_option(&error.instance, options, root).filter(|_| is_compound);
        let place = meant
            .and_then(|meant| options.iter().position(|option| std::ptr::eq(resolve(option, root), meant)));
        if let Some(errors) = place.and_then(|place| context.get(place)).filter(|errors| !errors.is_empty()) {
            self.add_all(errors, base);
            return;
        }
        if let (Some(members), Some((tag, values))) = (error.instance.as_object(), shared_tag(options, root))
        {
            self.add_wrong_tag(pointer, tag, &values, members);
            return;
        }
        if let Some(names) = external_names(options, root) {
            let near = nearest_name(&error.instance, &names);
            let words = names.iter().map(Name::shown);
            let expected = format!("one of {}", cut_list(&words.collect::<Vec<_>>(), ", "));
            self.push(error, pointer.to_owned(), expected, near);
            return;
        }
        let expected = alternatives(options.iter().map(|option| compiled.describe_type(option)));
        self.push(error, pointer.to_owned(), expected, None);
    }

    fn add_wrong_tag(&mut self, pointer: &str, tag: &str, values: &[&Value], object: &Map<String, Value>) {
        let given = object.get(tag);
        let values: Vec<Value> = values.iter().map(|value| (*value).clone()).collect();
        let pointer = format!("{pointer}/{}", escape(tag));
        let expected = match values.as_slice() {
            [only] => plain(only),
            values => format!("one of {}", join(values)),
        };
        let problem = match given {
            None => {
                let elsewhere = object.iter().find(|(_, member)| values.contains(*member));
                let actual = elsewhere.filter(|_| !is_secret(self.compiled, &pointer)).map_or_else(
                    || "nothing".to_owned(),
                    |(name, _)| format!("nothing; its value is under `{}`", cut(name, LONGEST_NAME)),
                );
                Problem::new(pointer, format!("{expected} (required)"), actual)
            }
            Some(_) if is_secret(self.compiled, &pointer) => Problem::new(pointer, expected, KEPT_SECRET),
            Some(given) => Problem::new(pointer, expected, short(given)).near(nearest_value(given, &values)),
        };
        self.problems.push(problem);
    }
}

fn nearest_value(given: &Value, options: &[Value]) -> Option<String> {
    let near = nearest(given.as_str()?, options.iter().filter_map(Value::as_str));
    near.first().map(|near| (*near).to_owned())
}

fn nearest_name(given: &Value, names: &[Name<'_>]) -> Option<String> {
    let given = match given {
        Value::String(given) => given,
        Value::Object(members) => members.keys().next()?,
        _ => return None,
    };
    let near = nearest(given, names.iter().map(Name::text));
    // A correct name in the wrong form is explained by the expected form already.
    let near = near.first().filter(|near| **near != given)?;
    names.iter().find(|name| name.text() == *near).map(|name| match name {
        Name::Unit(name) => (*name).to_owned(),
        Name::Key(_) => name.shown(),
    })
}

#[cfg(test)]
mod tests;
