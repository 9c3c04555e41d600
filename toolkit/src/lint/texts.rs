//! Checks descriptions of tools: whether they are informative, and differ from each other.

use super::Findings;
use crate::search::words_of;
use crate::tool::Tool;
use crate::tool::prepare::PLACEHOLDERS;
use std::collections::HashMap;
use toolkit_core::escape::{escape_line, first_escaped};

/// The minimum number of words of a description.
const LEAST_WORDS: usize = 3;

pub(super) fn check(tool: &Tool, findings: &mut Findings) {
    let words = words_of(tool.description()).len();
    if words == 0 {
        findings.add(
            "no-description",
            "description",
            "it has none; say what it does, to what, and what it returns".to_owned(),
        );
    } else if words < LEAST_WORDS {
        findings.add(
            "short-description",
            "description",
            "it is too short to choose the tool by; say what it does, to what, and what it returns"
                .to_owned(),
        );
    }
    printable("description", tool.description(), findings);
    if !tool.source().is_remote() {
        placeholders(tool.description(), findings);
    }
}

/// Reports a word in braces that is nearly a placeholder. Other braces are part of a text, such as those of the template of a URL.
fn placeholders(text: &str, findings: &mut Findings) {
    let mut parts = text.split('{');
    parts.next();
    for name in parts.filter_map(|part| part.split_once('}')).map(|(name, _)| name) {
        if let Some(meant) = meant_placeholder(name) {
            let name = escape_line(name);
            let message = format!("`{{{name}}}` is no placeholder, and stays as it is; write `{{{meant}}}`");
            findings.add("unknown-placeholder", "description", message);
        }
    }
}

/// Returns the placeholder that is probably meant by a word in braces that is none.
fn meant_placeholder(name: &str) -> Option<&'static str> {
    let fold = |name: &str| name.replace(['-', '_', ' '], "").to_lowercase();
    let folded = fold(name);
    if PLACEHOLDERS.contains(&name) {
        return None;
    }
    let is_near = |known: &&&str| {
        let known = fold(known);
        folded == known || known.len() >= 6 && strsim::damerau_levenshtein(&folded, &known) <= 1
    };
    PLACEHOLDERS.iter().find(is_near).copied()
}

/// Reports invisible characters, which can tell a model something that a reader of the source does not see. Texts of
/// servers are escaped already.
pub(super) fn printable(place: &str, text: &str, findings: &mut Findings) {
    let hidden = text.chars().find(|sign| is_hidden(*sign));
    if let Some(sign) = hidden.or_else(|| first_escaped(text).filter(|_| findings.is_remote)) {
        findings.add(
            "unprintable",
            place,
            format!("it contains the invisible character U+{:04X}; remove it", u32::from(sign)),
        );
    }
}

fn is_hidden(sign: char) -> bool {
    let is_format = matches!(
        sign,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
    );
    is_format || sign.is_control() && !matches!(sign, '\n' | '\t')
}

/// Reports tools with the same description, at each tool but the first in the order of names.
pub(super) fn alike(tools: &[&Tool], findings: &mut Findings) {
    let mut by_text: HashMap<Vec<String>, &Tool> = HashMap::new();
    let mut tools: Vec<&Tool> = tools.to_vec();
    tools.sort_by(|one, other| one.name().cmp(other.name()));
    for tool in tools {
        let words = words_of(tool.description());
        if words.is_empty() {
            continue;
        }
        if let Some(first) = by_text.get(&words).filter(|first| first.name() != tool.name()) {
            findings.of(tool);
            findings.add(
                "same-description",
                "description",
                format!("it is the same as that of `{}`; say what is different", first.name()),
            );
        } else {
            by_text.insert(words, tool);
        }
    }
}
