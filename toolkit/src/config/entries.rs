//! Sections that are a map of entries, such as servers: validation errors for the most likely form, and entries under a further key.

use crate::config::variables::names_variable;
use crate::section::pointer::escape;
use crate::section::{ConfigEntries, ConfigSection, ConfigVariant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit_core::arguments::{Problem, check_document};
use toolkit_core::name::nearest;
use toolkit_core::parameter::compose;
use toolkit_core::schema::Compiled;

/// The compiled forms of entries, by their keys.
type Forms = BTreeMap<&'static str, Option<Compiled>>;

/// Returns the validation errors of a document. For an entry that has none of several forms, a schema of all can report only that; its keys
/// show which one was meant. A text with a variable is checked when the variable is replaced.
pub(super) fn check(compiled: &Compiled, document: &mut Value, sections: &[ConfigSection]) -> Vec<Problem> {
    let mut problems = check_document(compiled, document);
    let mut forms = Forms::new();
    for section in sections {
        in_form_of_key(section, &mut problems, document, &mut forms);
    }
    problems.retain(|problem| !names_variable(document, &problem.pointer));
    let mut refined = |problem: Problem| {
        let section = sections.iter().find(|section| section.has_entry_at(&problem.pointer));
        let entries = section.and_then(ConfigSection::its_entries);
        let found = entries.and_then(|entries| of_entry(&problem.pointer, entries, document, &mut forms));
        found.unwrap_or_else(|| vec![problem])
    };
    let problems: Vec<Problem> = problems.into_iter().flat_map(&mut refined).collect();
    if problems.is_empty() {
        make_whole(document, sections, &mut forms);
    }
    problems
}

/// Replaces the errors of each entry that has the key of one form by those of this form: the schema of all forms reports those of the form with the
/// fewest, which can be another one where several texts name a variable.
fn in_form_of_key(section: &ConfigSection, problems: &mut Vec<Problem>, document: &Value, forms: &mut Forms) {
    let variants = section.its_entries().map_or(&[][..], |entries| entries.variants);
    if variants.is_empty() {
        return;
    }
    let within = format!("{}/", section.pointer());
    let entry_of = |problem: &Problem| {
        let name = problem.pointer.strip_prefix(&within)?.split('/').next()?;
        Some(format!("{within}{name}"))
    };
    let mut at = 0;
    while let Some(problem) = problems.get(at) {
        let Some(pointer) = entry_of(problem) else {
            at += 1;
            continue;
        };
        let is_its = |problem: &Problem| entry_of(problem).as_ref() == Some(&pointer);
        let own = of_form(&pointer, variants, document, forms);
        let own = own.unwrap_or_else(|| problems.iter().filter(|problem| is_its(problem)).cloned().collect());
        let count = own.len();
        problems.retain(|problem| !is_its(problem));
        problems.splice(at..at, own);
        at += count;
    }
}

/// Returns the errors of an entry in the form whose key alone it has, if it has any.
fn of_form(
    pointer: &str,
    variants: &[ConfigVariant],
    document: &Value,
    forms: &mut Forms,
) -> Option<Vec<Problem>> {
    let entry = document.pointer(pointer)?;
    let mut present = variants.iter().filter(|variant| entry.get(variant.key).is_some());
    let (Some(variant), None) = (present.next(), present.next()) else { return None };
    errors_in_form(pointer, entry, variant, forms)
}

/// Returns the errors of the entry at `pointer` in this form, if it has any.
fn errors_in_form(
    pointer: &str,
    entry: &Value,
    variant: &ConfigVariant,
    forms: &mut Forms,
) -> Option<Vec<Problem>> {
    let mut problems = check_document(compiled(variant, forms)?, &mut entry.clone());
    for problem in &mut problems {
        problem.pointer = format!("{pointer}{}", problem.pointer);
    }
    Some(problems).filter(|problems| !problems.is_empty())
}

/// Writes the whole numbers of valid entries as integers, as validation does where there is only one form.
fn make_whole(document: &mut Value, sections: &[ConfigSection], forms: &mut Forms) {
    for section in sections {
        let variants = section.its_entries().map_or(&[][..], |entries| entries.variants);
        let entries = document.pointer_mut(&section.pointer()).and_then(Value::as_object_mut);
        let entries = entries.filter(|_| !variants.is_empty()).into_iter().flatten();
        for (_, entry) in entries.filter(|(_, entry)| has_fraction(entry)) {
            let form = variants.iter().find(|variant| entry.get(variant.key).is_some());
            if let Some(compiled) = form.and_then(|variant| compiled(variant, forms)) {
                check_document(compiled, entry);
            }
        }
    }
}

fn has_fraction(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fraction),
        Value::Object(members) => members.values().any(has_fraction),
        _ => false,
    }
}

fn compiled<'a>(variant: &ConfigVariant, forms: &'a mut Forms) -> Option<&'a Compiled> {
    let compiled = forms.entry(variant.key).or_insert_with(|| {
        let schema = compose(|generator| (variant.schema)(generator).to_value());
        Compiled::new("an entry", schema).ok()
    });
    compiled.as_ref()
}

/// Returns the validation errors of the entry at `pointer`, if it may have several forms.
fn of_entry(
    pointer: &str,
    entries: ConfigEntries,
    document: &Value,
    forms: &mut Forms,
) -> Option<Vec<Problem>> {
    let variants = entries.variants;
    let (entry, at) = (document.pointer(pointer)?, pointer.to_owned());
    let members = entry.as_object()?;
    let listed = |each: fn(&ConfigVariant) -> String, between: &str| {
        variants.iter().map(each).collect::<Vec<_>>().join(between)
    };
    let present = variants.iter().filter(|variant| members.contains_key(variant.key)).count();
    // With only one of them, the schema itself reports the error.
    if present > 1 {
        let nouns = listed(|variant| variant.noun.to_owned(), " or ");
        let keys = listed(|variant| format!("`{}`", variant.key), " and ");
        return Some(vec![Problem::new(at, nouns, format!("both {keys}"))]);
    }
    let all = || variants.iter().flat_map(|variant| variant.keys).copied();
    let is_near = |variant: &&ConfigVariant| {
        let means =
            |key: &String| nearest(key, all()).first().is_some_and(|near| variant.keys.contains(near));
        members.keys().any(means)
    };
    let Some(variant) = variants.iter().rev().find(is_near) else {
        let keys = listed(|variant| format!("the key `{}`", variant.key), " or ");
        let expected = format!("an object with {keys}");
        return (!variants.is_empty()).then(|| vec![Problem::new(at, expected, "an object with neither")]);
    };
    errors_in_form(&at, entry, variant, forms)
}

/// Makes entries that are switched off readable: they need no variable, so that a key may still name one where its type takes no text. Of such an entry
/// the keys without a variable stay, or else only that it is off. An entry that is not readable then is left out.
pub(super) fn ease_switched_off(section: &mut Value, mut decodes: impl FnMut(Value) -> bool) {
    let Some(entries) = section.as_object_mut() else { return };
    entries.retain(|name, entry| {
        if entry["enabled"] != Value::Bool(false) {
            return true;
        }
        let mut literal = entry.clone();
        if let Some(members) = literal.as_object_mut() {
            members.retain(|_, member| !has_variable(member));
        }
        for form in [entry.clone(), literal, json!({ "enabled": false })] {
            if decodes(json!({ name: form })) {
                *entry = form;
                return true;
            }
        }
        false
    });
}

fn has_variable(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains("${env:"),
        Value::Array(items) => items.iter().any(has_variable),
        Value::Object(members) => members.values().any(has_variable),
        _ => false,
    }
}

/// Returns the places of the entries of sections that may also be under a further key: of the section and of that key.
fn further(sections: &[ConfigSection]) -> impl Iterator<Item = (String, &'static str)> {
    sections.iter().filter_map(|section| Some((section.pointer(), section.its_entries()?.also_under?)))
}

/// Moves entries from under a further key to their section, and returns true if there were any. Nothing is moved if there is something else,
/// or if an entry is in both places.
pub(super) fn lift(document: &mut Value, sections: &[ConfigSection]) -> bool {
    let mut is_moved = false;
    for (section, key) in further(sections) {
        let Some(members) = document.pointer_mut(&section).and_then(Value::as_object_mut) else { continue };
        let Some(entries) = members.get(key).and_then(Value::as_object) else { continue };
        let fits = |(name, entry): (&String, &Value)| {
            entry.is_object() && (name == key || !members.contains_key(name))
        };
        if !entries.iter().all(fits) {
            continue;
        }
        if let Some(Value::Object(entries)) = members.shift_remove(key) {
            members.extend(entries);
            is_moved = true;
        }
    }
    is_moved
}

/// Returns the pointer after the move of the value that was at a pointer; `None` if it no longer exists.
pub(super) fn lifted(pointer: &str, sections: &[ConfigSection]) -> Option<String> {
    for (section, key) in further(sections) {
        let rest = pointer.strip_prefix(&*format!("{section}/{}", escape(key)));
        match rest {
            Some("") => return None,
            Some(rest) if rest.starts_with('/') => return Some(format!("{section}{rest}")),
            _ => {}
        }
    }
    Some(pointer.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn servers_under_their_own_key_are_lifted() {
        let entries = ConfigEntries::new().also_under("servers");
        let sections = [ConfigSection::at::<BTreeMap<String, Value>>("mcp").entries(entries)];
        for (given, expected) in [
            (
                json!({"mcp": {"servers": {"a": {"command": "x"}}}}),
                Some(json!({"mcp": {"a": {"command": "x"}}})),
            ),
            (
                json!({"mcp": {"b": {"url": "u"}, "servers": {"a": {"command": "x"}}}}),
                Some(json!({"mcp": {"b": {"url": "u"}, "a": {"command": "x"}}})),
            ),
            (json!({"mcp": {"servers": {}}}), Some(json!({"mcp": {}}))),
            (
                json!({"mcp": {"servers": {"servers": {"command": "x"}}}}),
                Some(json!({"mcp": {"servers": {"command": "x"}}})),
            ),
            // A server named `servers`.
            (json!({"mcp": {"servers": {"command": "x"}}}), None),
            (json!({"mcp": {"servers": {"url": "u", "headers": {}}}}), None),
            (json!({"mcp": {"a": {"url": "u"}, "servers": {"a": {"command": "x"}}}}), None),
            (json!({"mcp": {"servers": 1}}), None),
            (json!({"tools": {}}), None),
        ] {
            let mut document = given.clone();
            assert_eq!(lift(&mut document, &sections), expected.is_some(), "{given}");
            assert_eq!(document, expected.unwrap_or(given));
        }
        for (pointer, expected) in [
            ("/mcp/servers/a/command", Some("/mcp/a/command")),
            ("/mcp/servers", None),
            ("/mcp/serversx", Some("/mcp/serversx")),
            ("/mcp/b", Some("/mcp/b")),
        ] {
            assert_eq!(lifted(pointer, &sections).as_deref(), expected);
        }
    }
}
