//! Path patterns: the syntax of gitignore, with braces and the home directory.

mod component;

use crate::shown_path::shown_path;
use component::Component;
use std::fmt;
use std::path::{Path, PathBuf};

/// The maximum length of a pattern, in bytes. No path is longer.
const MAX_BYTES: usize = 4_096;
/// The maximum number of alternatives that braces expand to: each is matched separately.
const MAX_ALTERNATIVES: usize = 32;
/// The characters with a special meaning in a component.
const SPECIAL: [char; 4] = ['*', '?', '[', '\\'];

/// A path pattern.
///
/// An entry that asks or denies has the meaning of the same line in a `.gitignore`. An entry that allows is narrower:
/// it is anchored at the workspace root unless it begins with `*`, and includes the contents of a directory only if it
/// ends with `*` or `/`. Otherwise a name that was meant for one file would match every file of that name.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    alternatives: Vec<Alternative>,
    is_literal: bool,
}

/// One pattern without braces.
#[derive(Debug, Clone)]
struct Alternative {
    base: Base,
    parts: Vec<Part>,
    /// True if it begins with `*`.
    starts_with_star: bool,
    /// True if it ends with `*` or `/`.
    is_open: bool,
}

/// The directory at which a pattern is anchored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// Any directory: the pattern has no `/` except at its end.
    Anywhere,
    /// The workspace root.
    Workspace,
    /// The pattern begins with `/`: the workspace root, or the root of the file system.
    Root,
    /// The root of the file system: the pattern began with `~`.
    FileSystem,
}

#[derive(Debug, Clone)]
enum Part {
    /// `**`: any number of components, including none.
    Any,
    One(Component),
}

/// A path to match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathText {
    /// The path relative to the workspace root, if it is within the workspace.
    relative: Option<String>,
    absolute: String,
}

impl PathText {
    pub(crate) fn new(relative: Option<String>, absolute: String) -> Self {
        Self { relative, absolute }
    }

    /// Creates the path that a permission prompt shows as `text`: absolute, or relative to `workspace`.
    pub(crate) fn shown(text: &str, workspace: &Path) -> Self {
        if text.starts_with('/') {
            return Self { relative: None, absolute: text.to_owned() };
        }
        let workspace = std::path::absolute(workspace).unwrap_or_else(|_| workspace.to_owned());
        let absolute = shown_path(&workspace);
        Self {
            relative: Some(text.to_owned()),
            absolute: format!("{}/{text}", absolute.trim_end_matches('/')),
        }
    }

    /// Returns true if `pattern` equals this path, character by character, in one of its spellings.
    fn is_written_as(&self, pattern: &str) -> bool {
        let below_home = || {
            let home = shown_path(&etcetera::home_dir().ok()?);
            Some(pattern.strip_prefix('~')? == self.absolute.strip_prefix(&*home)?)
        };
        let relative = self.relative.as_deref();
        pattern == self.absolute
            || relative.is_some_and(|relative| pattern.strip_prefix("./").unwrap_or(pattern) == relative)
            || pattern.starts_with("~/") && below_home() == Some(true)
    }
}

impl PathPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// Returns the reason why the pattern is not valid, and a correction.
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError("it is empty; write `*` for every path"));
        }
        if text.len() > MAX_BYTES {
            return Err(PatternError("it is longer than 4,096 bytes"));
        }
        if text.starts_with('!') {
            return Err(PatternError(
                "`!` has no meaning here; write an entry of its own for the exception, or `\\!` for a name that begins so",
            ));
        }
        let (homes, rest) = split_home(text)?;
        let mut alternatives = Vec::new();
        for expanded in expand(rest)? {
            if homes.is_empty() {
                alternatives.push(Alternative::parse(&expanded, None)?);
            }
            for home in &homes {
                alternatives.push(Alternative::parse(&expanded, Some(home))?);
            }
        }
        let is_literal =
            alternatives.iter().all(|only| !only.is_open && only.parts.iter().all(Part::is_literal))
                && alternatives.len() == homes.len().max(1);
        Ok(Self { alternatives, is_literal })
    }

    /// Returns true if the pattern names one path and has no wildcard.
    pub(crate) fn is_literal(&self) -> bool {
        self.is_literal
    }

    /// Returns true if the pattern of an entry that allows matches the path.
    pub(crate) fn allows(&self, path: &PathText) -> bool {
        self.alternatives.iter().any(|alternative| alternative.allows(path))
    }

    /// Returns true if the pattern of an entry that asks or denies matches the path, as a permission prompt shows it.
    pub(crate) fn includes(&self, path: &PathText) -> bool {
        self.alternatives.iter().any(|alternative| alternative.includes(path))
    }

    /// Returns true if the pattern of an entry that asks or denies matches any spelling of the path.
    pub(crate) fn includes_in_any_way(&self, path: &PathText) -> bool {
        self.alternatives.iter().any(|alternative| {
            alternative.includes(path)
                || alternative.base == Base::Root && alternative.is_at(&components(&path.absolute), true)
        })
    }
}

/// The directory or file, outside the workspace, that contains all that a pattern includes there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Anchor {
    pub(crate) path: PathBuf,
    /// True if the pattern has no wildcards, so that it includes all of the path.
    pub(crate) is_literal: bool,
}

impl PathPattern {
    /// Returns true if a path with this name can be included although its directory is not.
    fn may_end_with(&self, name: &str) -> bool {
        self.alternatives.iter().any(|alternative| match alternative.parts.last() {
            Some(Part::One(component)) => component.matches(name),
            Some(Part::Any) | None => true,
        })
    }

    /// Returns the paths that an entry which asks or denies includes, one text for each alternative: with a `/` at the beginning from the
    /// root of the file system on, otherwise in any directory. `*` stands for any text within a component, `**` for any components. Left
    /// out are alternatives with other wildcards, and those that include the whole workspace.
    fn plain(&self, workspace: &str) -> Vec<String> {
        self.written(workspace, Component::as_plain)
    }

    fn written(&self, workspace: &str, write: impl Fn(&Component) -> Option<String>) -> Vec<String> {
        let plain = |alternative: &Alternative| {
            let parts: Option<Vec<String>> = alternative
                .parts
                .iter()
                .map(|part| match part {
                    Part::Any => Some("**".to_owned()),
                    Part::One(component) => write(component),
                })
                .collect();
            let parts = parts?;
            if parts.iter().all(|part| part.trim_matches('*').is_empty()) {
                return None;
            }
            let path = parts.join("/");
            Some(match alternative.base {
                Base::Anywhere => path,
                Base::FileSystem => format!("/{path}"),
                Base::Workspace | Base::Root => format!("{}/{path}", workspace.trim_end_matches('/')),
            })
        };
        self.alternatives.iter().filter_map(plain).collect()
    }

    /// Returns the places that it includes outside the workspace, if it begins at the root or the home directory.
    fn anchors(&self) -> impl Iterator<Item = Anchor> {
        let anchored =
            self.alternatives.iter().filter(|each| matches!(each.base, Base::Root | Base::FileSystem));
        anchored.map(|alternative| {
            let literal = alternative.parts.iter().map_while(|part| match part {
                Part::One(component) => component.as_literal(),
                Part::Any => None,
            });
            let names: Vec<&str> = literal.collect();
            let path = Path::new("/").join(names.iter().collect::<PathBuf>());
            Anchor { path, is_literal: names.len() == alternative.parts.len() }
        })
    }
}

impl Alternative {
    fn parse(text: &str, home: Option<&str>) -> Result<Self, PatternError> {
        let is_from_root = text.starts_with('/') && home.is_none();
        let is_from_workspace = text.starts_with("./") || text == ".";
        let ends_with_slash = text.ends_with('/');
        let mut parts: Vec<Part> =
            components(home.unwrap_or_default()).into_iter().map(Part::literal).collect();
        let before = parts.len();
        for part in text.split('/').filter(|part| !part.is_empty() && *part != ".") {
            parts.push(match part {
                "**" if matches!(parts.last(), Some(Part::Any)) => continue,
                "**" => Part::Any,
                ".." => {
                    return Err(PatternError(
                        "`..` has no meaning here; write the path from the workspace root, from `/`, or from `~/`",
                    ));
                }
                part => Part::One(Component::parse(part)?),
            });
        }
        let count = parts.len() - before;
        if count == 0 && home.is_none() && !is_from_workspace {
            return Err(PatternError("it names no path; write `*` for every path"));
        }
        let starts_with_star = text.starts_with('*') && home.is_none();
        let mut is_open = ends_with_slash || text.ends_with('*') && !text.ends_with("\\*");
        // Matches the contents of a directory, and not the directory.
        if let Some(Part::Any) = parts.last() {
            parts.pop();
            if !matches!(parts.last(), Some(Part::Any)) {
                parts.push(Part::One(Component::any()));
            }
            is_open = true;
        }
        let base = match (home, is_from_root, is_from_workspace || count > 1) {
            (Some(_), _, _) => Base::FileSystem,
            (None, true, _) => Base::Root,
            (None, false, true) => Base::Workspace,
            (None, false, false) => Base::Anywhere,
        };
        Ok(Self { base, parts, starts_with_star, is_open })
    }

    fn allows(&self, path: &PathText) -> bool {
        let is_at = |text: &str| {
            let components = components(text);
            // A pattern that begins with `*` and has no `/` matches at any directory.
            if self.starts_with_star && self.base == Base::Anywhere {
                return self.is_at_any(&components, self.is_open);
            }
            self.is_at(&components, self.is_open)
        };
        match (self.base, path.relative.as_deref()) {
            (Base::FileSystem, _) | (Base::Root, None) => is_at(&path.absolute),
            (_, Some(relative)) => is_at(relative),
            (Base::Anywhere, None) => self.starts_with_star && is_at(&path.absolute),
            (Base::Workspace, None) => self.is_outside(&path.absolute, self.is_open),
        }
    }

    fn includes(&self, path: &PathText) -> bool {
        match (self.base, path.relative.as_deref()) {
            (Base::FileSystem, _) | (Base::Root, None) => self.is_at(&components(&path.absolute), true),
            (Base::Anywhere, Some(relative)) => self.is_at_any(&components(relative), true),
            (Base::Anywhere, None) => self.is_at_any(&components(&path.absolute), true),
            (Base::Workspace | Base::Root, Some(relative)) => self.is_at(&components(relative), true),
            (Base::Workspace, None) => self.is_outside(&path.absolute, true),
        }
    }

    /// Returns true if it matches a path outside the workspace, where a pattern that begins with `*` begins at any directory.
    fn is_outside(&self, path: &str, is_open: bool) -> bool {
        let path = components(path);
        self.starts_with_star && (0..path.len()).any(|start| self.is_at(&path[start..], is_open))
    }

    /// Returns true if it matches from any component on; with `is_open` the contents of a matching directory match too.
    fn is_at_any(&self, path: &[&str], is_open: bool) -> bool {
        let [Part::One(component)] = self.parts.as_slice() else { return self.is_at(path, is_open) };
        match path {
            [] => component.is_any(),
            [.., last] if !is_open => component.matches(last),
            _ => path.iter().any(|part| component.matches(part)),
        }
    }

    /// Returns true if it matches from the first component on; with `is_open` the contents of a matching directory
    /// match too.
    fn is_at(&self, path: &[&str], is_open: bool) -> bool {
        // The workspace contains everything in it.
        if path.is_empty()
            && let [Part::One(component)] = self.parts.as_slice()
        {
            return component.is_any();
        }
        let (mut at, mut place) = (0, 0);
        // The positions at which to retry if the components after the last `**` do not match.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let fits = match self.parts.get(at) {
                None if is_open || place == path.len() => return true,
                Some(Part::Any) => {
                    at += 1;
                    retry = Some((at, place));
                    continue;
                }
                Some(Part::One(component)) => path.get(place).is_some_and(|part| component.matches(part)),
                None => false,
            };
            if fits {
                at += 1;
                place += 1;
                continue;
            }
            match &mut retry {
                Some((after, from)) if *from < path.len() => {
                    *from += 1;
                    (at, place) = (*after, *from);
                }
                _ => return false,
            }
        }
    }
}

impl Part {
    fn literal(text: &str) -> Self {
        Self::One(Component::literal(text))
    }

    fn is_literal(&self) -> bool {
        matches!(self, Self::One(component) if component.is_literal())
    }
}

/// Returns the components of a path.
fn components(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".").collect()
}

/// If the pattern begins with the home directory, returns the directory as named and its real path; also returns the
/// rest of the pattern.
fn split_home(text: &str) -> Result<(Vec<String>, &str), PatternError> {
    let after =
        |prefix: &str| text.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with('/'));
    if let Some(rest) = ["~", "$HOME", "${HOME}"].into_iter().find_map(after) {
        let home = etcetera::home_dir().map_err(|_| {
            PatternError("it begins at the home directory, which is unknown; write the whole path")
        })?;
        let mut homes = vec![shown_path(&home)];
        homes.extend(home.canonicalize().ok().filter(|real| *real != home).map(|real| shown_path(&real)));
        return Ok((homes, rest));
    }
    let first = text.split('/').next().unwrap_or(text);
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
    };
    if first.len() < text.len() && first.strip_prefix('~').is_some_and(is_name) {
        return Err(PatternError(
            "the home directory of another user is not supported here; write the whole path",
        ));
    }
    if first.starts_with("${") || first.len() < text.len() && first.strip_prefix('$').is_some_and(is_name) {
        return Err(PatternError(
            "only the variable `$HOME` is supported here; write the path, or `\\$` for a name that begins with `$`",
        ));
    }
    Ok((Vec::new(), text))
}

/// Expands the braces of a pattern.
fn expand(text: &str) -> Result<Vec<String>, PatternError> {
    let mut expanded = vec![String::new()];
    expand_into(text, &mut expanded)?;
    Ok(expanded)
}

/// Appends each expansion of `text` to each of `expanded`.
fn expand_into(text: &str, expanded: &mut Vec<String>) -> Result<(), PatternError> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let plain = match c {
            '{' => {
                let end = closing_brace(rest)?;
                let mut all = Vec::new();
                for choice in choices(&rest[1..end]) {
                    let mut with_choice = expanded.clone();
                    expand_into(choice, &mut with_choice)?;
                    all.extend(with_choice);
                    if all.len() > MAX_ALTERNATIVES {
                        return Err(PatternError(
                            "its braces expand to more than 32 patterns; write several entries",
                        ));
                    }
                }
                *expanded = all;
                rest = &rest[end + 1..];
                continue;
            }
            '}' => return Err(PatternError("it has a `}` without a `{`; write `\\}` for the character")),
            '\\' | '[' => skip(rest)?,
            c => c.len_utf8(),
        };
        for pattern in &mut *expanded {
            pattern.push_str(&rest[..plain]);
        }
        rest = &rest[plain..];
    }
    Ok(())
}

/// Returns the length in bytes of an escape or a class at the beginning.
fn skip(text: &str) -> Result<usize, PatternError> {
    match text.strip_prefix('\\') {
        Some(escaped) => match escaped.chars().next() {
            Some(c) => Ok(1 + c.len_utf8()),
            None => Err(component::TRAILING_BACKSLASH),
        },
        None => component::class_end(text),
    }
}

/// Returns the position of the brace that closes the one at the beginning.
fn closing_brace(text: &str) -> Result<usize, PatternError> {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return Ok(at),
            '}' => depth -= 1,
            '\\' | '[' => {
                at += skip(&text[at..])?;
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    Err(PatternError("it has a `{` without a `}`; write `\\{` for the character"))
}

/// Splits the text between braces at its commas. Its inner braces and classes are balanced.
fn choices(text: &str) -> Vec<&str> {
    let (mut choices, mut from, mut depth, mut at) = (Vec::new(), 0, 0_usize, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                choices.push(&text[from..at]);
                from = at + 1;
            }
            '\\' | '[' => {
                at += skip(&text[at..]).unwrap_or(1);
                continue;
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    choices.push(&text[from..]);
    choices
}

/// The reason why a pattern is not valid, as a clause with a correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PatternError(&'static str);

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The path pattern of an entry, or the text of an entry that cannot be parsed.
#[derive(Debug, Clone)]
pub(super) struct PathMatch {
    text: Box<str>,
    pattern: Option<PathPattern>,
}

impl PathMatch {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.into(), pattern: PathPattern::parse(text).ok() }
    }

    /// Returns the pattern as it is written.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if it names one path and has no wildcard.
    pub(super) fn is_literal(&self, path: &PathText) -> bool {
        self.pattern.as_ref().is_some_and(PathPattern::is_literal) || path.is_written_as(&self.text)
    }

    /// Returns true if an entry that allows matches the path. An entry that cannot be parsed matches only its own text.
    pub(super) fn allows(&self, path: &PathText) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.allows(path))
            || path.relative.as_deref().unwrap_or(&path.absolute) == &*self.text
    }

    /// Returns true if an entry that asks or denies matches the path as a permission prompt shows it. An entry that
    /// cannot be parsed matches every path.
    pub(super) fn includes(&self, path: &PathText) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.includes(path))
            || path.relative.as_deref().unwrap_or(&path.absolute) == &*self.text
    }

    /// Returns true if an entry that asks or denies can match a path with this name although it does not match its directory.
    pub(super) fn may_end_with(&self, name: &str) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.may_end_with(name))
            || self.text.rsplit('/').next() == Some(name)
    }

    /// Returns the paths that an entry which asks or denies includes, as far as they can be written with `*` and `**` alone.
    pub(super) fn plain(&self, workspace: &str) -> Vec<String> {
        self.pattern.as_ref().map(|pattern| pattern.plain(workspace)).unwrap_or_default()
    }

    /// Returns the same for all patterns, with `?` for any one character; some include more paths than the pattern.
    pub(super) fn wide(&self, workspace: &str) -> Vec<String> {
        let wide = |pattern: &PathPattern| pattern.written(workspace, |component| Some(component.as_wide()));
        self.pattern.as_ref().map(wide).unwrap_or_default()
    }

    /// Returns the places that the pattern includes outside the workspace, if it begins at the root or the home directory.
    pub(super) fn anchors(&self) -> impl Iterator<Item = Anchor> {
        self.pattern.iter().flat_map(PathPattern::anchors)
    }

    /// Returns true if an entry that asks or denies matches any spelling of the path.
    pub(super) fn includes_in_any_way(&self, path: &PathText) -> bool {
        self.pattern.as_ref().is_none_or(|pattern| pattern.includes_in_any_way(path))
            || path.is_written_as(&self.text)
    }
}

#[cfg(test)]
mod tests;
