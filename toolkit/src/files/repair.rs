//! Guesses the path that was meant by a path that does not exist.

use super::Workspace;
use super::handle::{Dir, FileKind};
use super::opened::{PathRepair, shown};
use crate::permission::PathDecision;
use crate::workspace::{Look, Place};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use toolkit_core::ask::Access;
use toolkit_core::error::ToolError;
use toolkit_core::name::nearest;
use unicode_normalization::UnicodeNormalization as _;

/// The most names of a directory that are examined.
const MAX_NAMES: usize = 20_000;
/// The most places that are followed in parallel. If more places look alike, none is used.
const MAX_PLACES: usize = 4;
/// The most rounds of removing names that must not be revealed from the most similar names.
const MAX_ROUNDS: usize = 8;

/// Returns a path that begins with `~` as the path of a file with this literal name: an existing file of that name takes
/// precedence over the home directory.
pub(super) fn literal(path: &Path) -> PathBuf {
    if begins_at_home(path) { Path::new(".").join(path) } else { path.to_owned() }
}

fn begins_at_home(path: &Path) -> bool {
    path.components().next().is_some_and(|first| first.as_os_str() == "~")
}

/// Returns true if a path begins with text that can only mean another place.
pub(super) fn is_elsewhere(path: &Path) -> bool {
    begins_at_home(path) || path.to_str().is_some_and(|path| path.starts_with("file://"))
}

/// Returns the path without such a prefix.
pub(super) fn translated(path: &Path) -> Option<PathBuf> {
    let mut text = path.to_str()?;
    text = text.strip_prefix('@').unwrap_or(text);
    let from_url = text.strip_prefix("file://").and_then(|rest| {
        // A host follows, of which only this one is accepted, and then an absolute path.
        let path = rest.strip_prefix("localhost").unwrap_or(rest);
        path.starts_with('/').then(|| decode(path)).flatten()
    });
    let path = match &from_url {
        Some(path) => path,
        None => Path::new(text),
    };
    let path = if begins_at_home(path) {
        etcetera::home_dir().ok()?.join(path.strip_prefix("~").ok()?)
    } else {
        path.to_owned()
    };
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Decodes the path of a URL: `%20` and the like become bytes.
fn decode(path: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || char::from(rest.next()?).to_digit(16);
        bytes.push(u8::try_from(digit()? * 16 + digit()?).ok()?);
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// Returns a name without differences that people and programs do not see.
fn folded(name: &str) -> String {
    name.nfc()
        .map(|character| match character {
            '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => ' ',
            '\u{2018}' | '\u{2019}' | '\u{201a}' | '\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            other => other,
        })
        .collect()
}

impl Workspace {
    /// Returns the one path that was probably meant by `given`, which was resolved to `place` and does not exist; otherwise
    /// the error `absent`, with similar names.
    pub(super) fn repair(
        &self,
        given: &Path,
        place: &Place,
        absent: ToolError,
    ) -> Result<PathRepair, ToolError> {
        let mut found = Vec::new();
        if let Some(path) = translated(given).filter(|path| path != given) {
            match self.ctx.look_at(&path, Access::Read, Look::Inside) {
                // Existence is not checked before it may be revealed.
                Ok((decided, place)) if decided.decision != PathDecision::Allow || !place.is_inside() => {
                    found.push(path);
                }
                Ok((_, place)) if place.obstacle.is_none() => found.push(path),
                Ok((_, place)) => found.extend(self.alike(&place.real)),
                Err(_) => {}
            }
        }
        if place.is_inside() {
            found.extend(self.alike(&place.real));
        }
        found.sort_unstable();
        found.dedup();
        if let [used] = &*found {
            let used = used.clone();
            return Ok(PathRepair { used: self.relative(&used), given: given.to_owned() });
        }
        let near = if found.is_empty() { self.nearest(&place.real) } else { found };
        Err(with_names(absent, near.iter().map(|path| shown(&self.relative(path)))))
    }

    /// Returns the one existing path that may be revealed and was probably meant by `given`, which was resolved to `place`
    /// and does not exist.
    pub(super) fn already_there(&self, given: &Path, place: &Place) -> Option<PathRepair> {
        if !place.is_inside() || !self.needs_no_leave(&place.real) {
            return None;
        }
        let mut found = self.alike(&place.real);
        if let Some(path) = translated(given).filter(|path| path != given)
            && let Ok(there) = self.place_without_leave(&path)
        {
            match there.obstacle {
                None => found.push(there.real),
                Some(_) => found.extend(self.alike(&there.real)),
            }
        }
        found.sort_unstable();
        found.dedup();
        let [used] = &*found else { return None };
        Some(PathRepair { used: self.relative(used), given: given.to_owned() })
    }

    /// Returns the path relative to the workspace, or the whole path if it is outside.
    fn relative(&self, real: &Path) -> PathBuf {
        let within = self.roots().ok().and_then(|roots| real.strip_prefix(&roots.workspace().real).ok());
        within.unwrap_or(real).to_owned()
    }

    /// Returns the existing real paths that look like this one.
    fn alike(&self, real: &Path) -> Vec<PathBuf> {
        let Ok(roots) = self.roots() else { return Vec::new() };
        let Some((root, within)) = roots.holding(real) else { return Vec::new() };
        let mut places = vec![PathBuf::new()];
        for component in within.components() {
            let Component::Normal(name) = component else { return Vec::new() };
            let next = places.iter().flat_map(|place| names_like(&root.dir, place, name));
            places = next.take(MAX_PLACES + 1).collect();
            if places.len() > MAX_PLACES {
                return Vec::new();
            }
        }
        let mut found: Vec<PathBuf> = places.iter().map(|within| root.real.join(within)).collect();
        found.retain(|found| found != real && self.needs_no_leave(found) && self.is_there(found));
        found
    }

    /// Returns true if a path exists and may be read without a question, with symlinks resolved.
    fn is_there(&self, path: &Path) -> bool {
        self.place_without_leave(path).is_ok_and(|place| place.obstacle.is_none())
    }

    /// Returns up to three existing paths with a name similar to the first missing part of the path.
    fn nearest(&self, real: &Path) -> Vec<PathBuf> {
        let Ok(roots) = self.roots() else { return Vec::new() };
        let Some((root, within)) = roots.holding(real) else { return Vec::new() };
        let mut above = PathBuf::new();
        for component in within.components() {
            if root.dir.open_any(&above.join(component)).is_ok() {
                above.push(component);
                continue;
            }
            let Some(wanted) = component.as_os_str().to_str() else { return Vec::new() };
            let Ok(dir) = root.dir.open_dir(&above) else { return Vec::new() };
            let Ok((entries, _)) = dir.entries(MAX_NAMES, || true) else { return Vec::new() };
            let mut names: Vec<String> =
                entries.into_iter().filter_map(|entry| entry.name.into_string().ok()).collect();
            let whole = |name: &str| root.real.join(&above).join(name);
            for _ in 0..MAX_ROUNDS {
                let near: Vec<String> = nearest(wanted, names.iter().map(String::as_str))
                    .into_iter()
                    .map(str::to_owned)
                    .collect();
                let is_known = |name: &String| self.is_there(&whole(name));
                if near.iter().all(is_known) {
                    return near.iter().map(|name| whole(name)).collect();
                }
                names.retain(|name| !near.contains(name) || is_known(name));
            }
            return Vec::new();
        }
        Vec::new()
    }
}

/// Returns the entries of a directory with this name, or otherwise those whose names look like it.
fn names_like(root: &Dir, place: &Path, name: &OsStr) -> Vec<PathBuf> {
    let Ok(dir) = root.open_dir(place) else { return Vec::new() };
    if dir.stat(name).is_ok_and(|stat| stat.kind != FileKind::Special) {
        return vec![place.join(name)];
    }
    let Some(given) = name.to_str() else { return Vec::new() };
    let wanted = folded(given);
    let Ok((entries, _)) = dir.entries(MAX_NAMES, || true) else { return Vec::new() };
    let names = entries.into_iter().map(|entry| entry.name);
    // Names that cannot be typed are displayed in an escaped form, which is accepted as input here.
    let is_shown_so = |name: &OsString| given.contains('\\') && shown(Path::new(name)) == given;
    let alike = names.filter(|name: &OsString| {
        name.to_str().is_some_and(|name| folded(name) == wanted) || is_shown_so(name)
    });
    alike.take(MAX_PLACES + 1).map(|name| place.join(name)).collect()
}

fn with_names(absent: ToolError, names: impl Iterator<Item = String>) -> ToolError {
    let names: Vec<String> = names.take(3).map(|name| format!("`{name}`")).collect();
    let message = match &*names {
        [] => return absent,
        [one] => format!("{}; there is {one}", absent.message()),
        [one, other] => format!("{}; there are {one} and {other}", absent.message()),
        [one, other, third, ..] => format!("{}; there are {one}, {other} and {third}", absent.message()),
    };
    absent.with_message(message)
}
