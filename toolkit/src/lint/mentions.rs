//! Checks that the tools and parameters that descriptions mention exist.

use super::Findings;
use super::names::fold;
use crate::search::all_stems_of;
use crate::tool::Tool;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use toolkit_core::escape::escape_line;

/// The maximum length of a word that is treated as a name.
const LONGEST: usize = 64;
/// The maximum number of descriptions of a tool that are checked.
const MAX_TEXTS: usize = 1_000;
/// Words that mark a name beside them as a tool's name.
const SAY_TOOL: &[&str] = &["tool", "tools"];
/// Words after which a name can only be a tool's name.
const BEFORE_TOOL: &[&str] = &["call", "calling", "calls"];
/// Words that mark a name beside them as a parameter's name.
const SAY_PARAMETER: &[&str] = &["parameter", "parameters", "argument", "arguments"];

/// The existing tools.
pub(super) struct Known {
    names: BTreeSet<String>,
    /// Names by their folded form, without case and separators.
    folded: BTreeMap<String, String>,
}

impl Known {
    pub(super) fn of(tools: &[&Tool], more: &[String]) -> Self {
        let own = tools
            .iter()
            .flat_map(|tool| std::iter::once(tool.name()).chain(tool.aliases()).map(str::to_owned));
        let names: BTreeSet<String> = own.chain(more.iter().cloned()).collect();
        let folded = names.iter().map(|name| (fold(name), name.clone())).collect();
        Self { names, folded }
    }

    /// Returns the tool that a misspelled name probably means.
    fn meant(&self, word: &str) -> Option<&str> {
        let wanted = fold(word);
        if let Some(name) = self.folded.get(&wanted) {
            return Some(name);
        }
        let changes = match wanted.chars().count() {
            0..=5 => return None,
            6..=9 => 1,
            _ => 2,
        };
        let near = |(folded, name): (&String, &'_ String)| {
            let distance = strsim::damerau_levenshtein(&wanted, folded);
            let is_possible = looks_like_name(word) || is_rearranged(&wanted, folded);
            (folded.len().abs_diff(wanted.len()) <= changes && distance <= changes && is_possible)
                .then(|| (distance, name.clone()))
        };
        let (_, name) = self.folded.iter().filter_map(near).min()?;
        self.names.get(&name).map(String::as_str)
    }
}

/// The names other than tools that a text may mention.
struct Own<'a> {
    parameters: BTreeSet<&'a str>,
    /// Values, and names of properties that are described elsewhere.
    others: BTreeSet<&'a str>,
}

pub(super) fn check(tool: &Tool, schema: &Value, known: &Known, findings: &mut Findings) {
    let mut own = Own { parameters: BTreeSet::new(), others: BTreeSet::new() };
    let mut texts = vec![("description".to_owned(), tool.description())];
    collect(schema, "", 0, &mut own, &mut texts);
    let output = tool.output_schema();
    let mut of_output = Own { parameters: BTreeSet::new(), others: BTreeSet::new() };
    if let Some(output) = output {
        collect(output, "", 0, &mut of_output, &mut Vec::new());
    }
    own.others.extend(of_output.parameters);
    own.others.extend(of_output.others);
    for (place, text) in texts.into_iter().take(MAX_TEXTS) {
        for mention in mentions(text) {
            check_mention(tool, &mention, &place, &own, known, findings);
        }
    }
}

fn check_mention(
    tool: &Tool,
    mention: &Mention<'_>,
    place: &str,
    own: &Own<'_>,
    known: &Known,
    findings: &mut Findings,
) {
    let Mention { word, says_tool, says_parameter } = *mention;
    let is_tool = known.names.contains(word);
    let is_parameter = own.parameters.contains(word);
    let is_there = is_tool || is_parameter || own.others.contains(word);
    if is_there && (is_tool || !says_tool) && (is_parameter || !says_parameter) {
        return;
    }
    let shown = escape_line(word);
    let advice =
        |meant: Option<&str>| meant.map(|meant| format!("; `{meant}` is probably meant")).unwrap_or_default();
    if says_tool {
        let meant = known.meant(word).filter(|meant| *meant != tool.name());
        findings.add(
            "wrong-tool-name",
            place,
            format!("it mentions the tool `{shown}`, which does not exist{}", advice(meant)),
        );
    } else if says_parameter {
        let meant = own.nearest(word);
        findings.add(
            "wrong-parameter-name",
            place,
            format!("it mentions the parameter `{shown}`, which does not exist{}", advice(meant)),
        );
    } else if let Some(meant) = own.nearest(word) {
        findings.add(
            "wrong-parameter-name",
            place,
            format!("it mentions `{shown}`, which does not exist{}", advice(Some(meant))),
        );
    } else if let Some(meant) = known.meant(word) {
        findings.add(
            "wrong-tool-name",
            place,
            format!("it mentions `{shown}`, which does not exist{}", advice(Some(meant))),
        );
    }
}

impl Own<'_> {
    /// Returns the parameter that a misspelled name probably means.
    fn nearest(&self, word: &str) -> Option<&str> {
        let wanted = fold(word);
        let near = |name: &&&str| {
            let folded = fold(name);
            let changes = usize::from(wanted.len().min(folded.len()) >= 6);
            let distance = strsim::damerau_levenshtein(&wanted, &folded);
            // A form of the same word is a different word, unless it looks like a name.
            let is_possible = looks_like_name(word) || all_stems_of(word) != all_stems_of(name);
            distance == 0 || distance <= changes && is_possible
        };
        self.parameters.iter().find(near).copied()
    }
}

/// Returns true if a word can hardly be anything but a name: `read_file`, `readFile`. A word like `enabled` is more
/// probably plain language or a value than a misspelled name.
fn looks_like_name(word: &str) -> bool {
    let is_within =
        |sign: char| matches!(sign, '_' | '-') || sign.is_ascii_uppercase() || sign.is_ascii_digit();
    word.chars().skip(1).any(is_within)
}

/// Returns true if both words have the same letters, in another order.
fn is_rearranged(one: &str, other: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// A name in a text, in backticks or quotation marks.
struct Mention<'a> {
    word: &'a str,
    says_tool: bool,
    says_parameter: bool,
}

/// Returns the words that could be names, outside of code blocks: those in backticks or quotation marks, and those with
/// a `_`.
fn mentions(text: &str) -> Vec<Mention<'_>> {
    let mut mentions = Vec::new();
    // Text between fences is an example.
    for prose in text.split("```").step_by(2) {
        for quote in ['`', '"'] {
            let parts: Vec<&str> = prose.split(quote).collect();
            let quoted = (1..parts.len().saturating_sub(1)).step_by(2);
            mentions.extend(
                quoted.filter_map(|at| mention(parts[at], parts[at - 1], parts[at + 1], quote == '`')),
            );
        }
        for plain in prose.split('`').step_by(2).flat_map(|part| part.split('"').step_by(2)) {
            let words: Vec<&str> = plain.split_whitespace().collect();
            let beside = |at: Option<usize>| at.and_then(|at| words.get(at)).copied().unwrap_or_default();
            for (at, word) in words.iter().enumerate() {
                let name = word.trim_matches(|sign: char| !sign.is_ascii_alphanumeric());
                let ends = if word.ends_with(name) { beside(Some(at + 1)) } else { "" };
                if name.contains('_') {
                    mentions.extend(mention(name, beside(at.checked_sub(1)), ends, true));
                }
            }
        }
    }
    mentions
}

/// Returns the word between two texts, if it could be a name.
fn mention<'a>(word: &'a str, before: &str, after: &str, can_be_called: bool) -> Option<Mention<'a>> {
    let is_name = word.len() <= LONGEST
        && word.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && word.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '_' | '-'));
    if !is_name {
        return None;
    }
    // In "the tool. `x` is" the name belongs to another sentence; in "the tool `x`" it does not.
    let ends = |sign: char| matches!(sign, '.' | ';' | ':' | ',');
    let beside = |word: Option<&str>| word.unwrap_or_default().to_lowercase();
    let before = beside(before.split_whitespace().next_back().filter(|before| !before.ends_with(ends)));
    let after = beside(after.split_whitespace().next().filter(|_| !after.starts_with(ends)));
    let after = after.trim_end_matches(|sign: char| !sign.is_alphanumeric());
    let is = |list: &[&str]| list.contains(&&*before) || list.contains(&after);
    Some(Mention {
        word,
        says_tool: is(SAY_TOOL) || can_be_called && BEFORE_TOOL.contains(&&*before),
        says_parameter: is(SAY_PARAMETER),
    })
}

/// Collects the names, values and texts of a schema.
fn collect<'a>(
    schema: &'a Value,
    pointer: &str,
    level: usize,
    own: &mut Own<'a>,
    texts: &mut Vec<(String, &'a str)>,
) {
    if level > 32 || texts.len() > MAX_TEXTS {
        return;
    }
    match schema {
        Value::Object(members) => {
            for (key, inner) in members {
                let place = format!("{pointer}/{}", toolkit_core::pointer::escape(key));
                match (key.as_str(), inner) {
                    ("properties", Value::Object(properties)) => {
                        for (name, parameter) in properties {
                            own.parameters.insert(name);
                            let place = format!("{place}/{}", toolkit_core::pointer::escape(name));
                            collect(parameter, &place, level + 1, own, texts);
                        }
                    }
                    ("description", Value::String(text)) => {
                        let place = if pointer.is_empty() { place } else { pointer.to_owned() };
                        texts.push((place, text));
                    }
                    ("enum" | "examples", Value::Array(values)) => {
                        own.others.extend(values.iter().filter_map(Value::as_str));
                    }
                    ("const" | "default", Value::String(value)) => {
                        own.others.insert(value);
                    }
                    _ => collect(inner, &place, level + 1, own, texts),
                }
            }
        }
        Value::Array(items) => {
            for (number, inner) in items.iter().enumerate() {
                collect(inner, &format!("{pointer}/{number}"), level + 1, own, texts);
            }
        }
        _ => {}
    }
}
