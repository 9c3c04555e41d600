//! Patterns, and the names of files that they match when the command is judged.

use super::scan::Out;
use super::{Found, Value};
use crate::state::State;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Maximum number of matches of one pattern.
const MAX_MATCHES: usize = 2_000;

/// Adds the values that a word expands to.
pub(super) fn expand(out: &Out, state: &State<'_>, values: &mut Vec<Value>, found: &mut Found) {
    if out.hole.is_none() && out.chars.is_empty() && !out.is_quoted && out.is_emptied {
        return;
    }
    let text = || out.chars.iter().map(|(c, _)| c).collect::<String>();
    if let Some(words) = &out.listed {
        values.push(Value::Listed(Rc::clone(words)));
        return;
    }
    if let Some(splits) = out.hole {
        if is_pattern(&out.chars) {
            found.lists.push(listed_first(&out.chars, state));
        } else if out.is_pattern_behind {
            found.lists.push(None);
        }
        values.push(Value::Unknown { prefix: text(), splits: splits || is_pattern(&out.chars) });
        return;
    }
    if !is_pattern(&out.chars) {
        values.push(Value::Text(text()));
        return;
    }
    found.lists.push(listed_first(&out.chars, state));
    match matches(&out.chars, state, found) {
        Some(matches) if matches.is_empty() => values.push(Value::Text(text())),
        Some(matches) => {
            // Whether one of them matches may depend on the locale, or on the version of the shell; without a match the pattern
            // is literal.
            let pattern = text();
            let is_certain = !out.chars.contains(&('[', false))
                && matches
                    .iter()
                    .filter_map(Value::text)
                    .all(|name| name.is_ascii() && dots(name) == dots(&pattern));
            values.extend(matches);
            if !is_certain {
                values.push(Value::Text(pattern));
            }
        }
        None => {
            let before =
                out.chars.iter().take_while(|(c, is_quoted)| *is_quoted || !matches!(c, '*' | '?' | '['));
            let before: String = before.map(|(c, _)| c).collect();
            // Some entry of the directory, whichever it is.
            let prefix = if before.is_empty() { "./".to_owned() } else { before };
            values.push(Value::Unknown { prefix, splits: true });
        }
    }
}

/// Returns the number of `.` and `..` components in a path.
fn dots(path: &str) -> usize {
    path.split('/').filter(|name| matches!(*name, "." | "..")).count()
}

fn is_pattern(chars: &[(char, bool)]) -> bool {
    chars.iter().any(|(c, is_quoted)| !is_quoted && matches!(c, '*' | '?' | '['))
}

/// Returns the directory that the first wildcard component of a pattern lists, even if it does not exist. `None` if it is
/// unknown.
fn listed_first(pattern: &[(char, bool)], state: &State<'_>) -> Option<PathBuf> {
    let is_absolute = pattern.first().is_some_and(|(c, _)| *c == '/');
    let mut directory = if is_absolute { PathBuf::from("/") } else { state.cwd.clone()? };
    for part in pattern.split(|(c, _)| *c == '/').take_while(|part| !is_pattern(part)) {
        directory.push(part.iter().map(|(c, _)| c).collect::<String>());
    }
    Some(directory)
}

/// Returns all possible matches, in the form that the command gets, and records each directory that is listed for them. `None` if
/// they are unknown.
fn matches(pattern: &[(char, bool)], state: &State<'_>, found: &mut Found) -> Option<Vec<Value>> {
    if !state.plain_patterns {
        return None;
    }
    let cwd = state.cwd.as_deref()?;
    let mut odd = Vec::new();
    // Each with the text before it, as written, and its directory.
    let is_absolute = pattern.first().is_some_and(|(c, _)| *c == '/');
    let start = if is_absolute { PathBuf::from("/") } else { cwd.to_owned() };
    let mut so_far = vec![(String::new(), start)];
    let mut parts = pattern.split(|(c, _)| *c == '/').peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let mut next = Vec::new();
        for (text, directory) in &so_far {
            if is_pattern(part) {
                if directory.is_dir() {
                    found.lists.push(Some(directory.clone()));
                }
                let Names { names, has_odd } = names(part, directory, state)?;
                if has_odd {
                    odd.push(Value::Unknown { prefix: text.clone(), splits: false });
                }
                for name in names {
                    next.push((format!("{text}{name}"), directory.join(&name)));
                }
            } else {
                let name: String = part.iter().map(|(c, _)| c).collect();
                let path = if name.is_empty() { directory.clone() } else { directory.join(&name) };
                // The component before a slash is a directory.
                let is_there = if name.is_empty() { path.is_dir() } else { path.symlink_metadata().is_ok() };
                if is_there {
                    next.push((format!("{text}{name}"), path));
                }
            }
        }
        if next.len() > MAX_MATCHES || !state.spend(next.len()) {
            return None;
        }
        if !is_last {
            for (text, _) in &mut next {
                text.push('/');
            }
        }
        so_far = next;
    }
    Some(so_far.into_iter().map(|(text, _)| Value::Text(text)).chain(odd).collect())
}

struct Names {
    names: Vec<String>,
    /// True if there is a name that is not UTF-8, and cannot be represented.
    has_odd: bool,
}

/// The names in a directory that a part of a pattern may match. In doubt one does.
fn names(part: &[(char, bool)], directory: &Path, state: &State<'_>) -> Option<Names> {
    // A directory that cannot be read matches nothing.
    let Ok(listed) = fs::read_dir(directory) else {
        return Some(Names { names: Vec::new(), has_odd: false });
    };
    let mut has_odd = false;
    let begins_with_dot = part.first().is_some_and(|(c, _)| *c == '.');
    let mut names: Vec<String> = Vec::new();
    if begins_with_dot {
        // Older shells match these.
        names.extend([".", ".."].into_iter().filter(|name| is_match(part, name)).map(str::to_owned));
    }
    for entry in listed.flatten() {
        if !state.spend(1) {
            return None;
        }
        let Ok(name) = entry.file_name().into_string() else {
            has_odd = true;
            continue;
        };
        if name.starts_with('.') == begins_with_dot && is_match(part, &name) {
            names.push(name);
        }
    }
    names.sort();
    Some(Names { names, has_odd })
}

/// Returns true if a pattern may match a name. Bracket expressions match any character, since they depend on the locale.
fn is_match(pattern: &[(char, bool)], name: &str) -> bool {
    // How many characters others are depends on the locale.
    if !name.is_ascii() {
        return true;
    }
    let name: Vec<char> = name.chars().collect();
    // The positions in the name that the pattern may have come to.
    let mut at = vec![0_usize];
    let mut rest = pattern;
    while let Some(((c, is_quoted), after)) = rest.split_first() {
        rest = after;
        // Consecutive `*` match the same as one.
        if (*c, *is_quoted) == ('*', false) && after.first() == Some(&('*', false)) {
            continue;
        }
        at = match (c, is_quoted) {
            ('*', false) => (at[0]..=name.len()).collect(),
            ('?', false) => step(&at, &name, |_| true),
            ('[', false) => match bracket(after) {
                Some(length) => {
                    rest = &after[length..];
                    step(&at, &name, |_| true)
                }
                None => step(&at, &name, |c| c == '['),
            },
            (wanted, _) => step(&at, &name, |c| c == *wanted),
        };
        if at.is_empty() {
            return false;
        }
    }
    at.contains(&name.len())
}

fn step(at: &[usize], name: &[char], fits: impl Fn(char) -> bool) -> Vec<usize> {
    at.iter().filter(|at| name.get(**at).is_some_and(|c| fits(*c))).map(|at| at + 1).collect()
}

/// Returns the number of characters of a bracket expression after the opening bracket.
fn bracket(after: &[(char, bool)]) -> Option<usize> {
    let skip = usize::from(after.first().is_some_and(|(c, _)| matches!(c, '!' | '^')));
    // A bracket in the first position belongs to the set.
    let close = after.iter().skip(skip + 1).position(|(c, is_quoted)| *c == ']' && !is_quoted)?;
    let length = skip + 1 + close + 1;
    // A character class has its own closing bracket.
    let has_class =
        after[..length].windows(2).any(|two| two[0].0 == '[' && matches!(two[1].0, ':' | '.' | '='));
    if has_class {
        let more = after[length..].iter().position(|(c, is_quoted)| *c == ']' && !is_quoted)?;
        return Some(length + more + 1);
    }
    Some(length)
}
