//! What was probably meant by a path at which nothing is.

use super::Workspace;
use super::handle::{Dir, FileKind};
use super::opened::{Repaired, shown};
use crate::ask::Access;
use crate::error::ToolError;
use crate::name::nearest;
use crate::permission::PathDecision;
use crate::workspace::{Look, Place};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use unicode_normalization::UnicodeNormalization as _;

/// How many names of a directory are looked at.
const MAX_NAMES: usize = 20_000;
/// How many places are followed at once. Where more are alike, none is what was meant.
const MAX_PLACES: usize = 4;
/// How often names that nobody may learn of are left out of the nearest ones.
const MAX_ROUNDS: usize = 8;

/// A path that begins with `~`, as that of a file with this name: what stands under a name counts before what it means.
pub(super) fn literal(path: &Path) -> PathBuf {
    if begins_at_home(path) { Path::new(".").join(path) } else { path.to_owned() }
}

fn begins_at_home(path: &Path) -> bool {
    path.components().next().is_some_and(|first| first.as_os_str() == "~")
}

/// Whether a path begins with what can only mean a place elsewhere.
pub(super) fn is_elsewhere(path: &Path) -> bool {
    begins_at_home(path) || path.to_str().is_some_and(|path| path.starts_with("file://"))
}

/// The path without what people put before one.
pub(super) fn translated(path: &Path) -> Option<PathBuf> {
    let mut text = path.to_str()?;
    text = text.strip_prefix('@').unwrap_or(text);
    let from_url = text.strip_prefix("file://").and_then(|rest| {
        // What follows is a host, of which only this one is meant, and an absolute path.
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

/// A path of a URL, with its `%20` and the like as the bytes they stand for.
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

/// A name without the differences that people and programs do not see.
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
    /// The one thing that was probably meant by `given`, which led to `place`, where nothing is; else `absent`, with
    /// similar names.
    pub(super) fn repair(
        &self,
        given: &Path,
        place: &Place,
        absent: ToolError,
    ) -> Result<Repaired, ToolError> {
        let mut found = Vec::new();
        if let Some(path) = translated(given).filter(|path| path != given) {
            match self.ctx.look_at(&path, Access::Read, Look::Inside) {
                // It is not looked whether anything is there before it may be known.
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
            return Ok(Repaired { used: self.relative(&used), given: given.to_owned() });
        }
        let near = if found.is_empty() { self.nearest(&place.real) } else { found };
        Err(with_names(absent, near.iter().map(|path| shown(&self.relative(path)))))
    }

    /// The one thing that is there, which can be known, and that was probably meant by `given`, which led to `place`, where
    /// nothing is.
    pub(super) fn already_there(&self, given: &Path, place: &Place) -> Option<Repaired> {
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
        Some(Repaired { used: self.relative(used), given: given.to_owned() })
    }

    /// The path within the workspace, or the whole one.
    fn relative(&self, real: &Path) -> PathBuf {
        let within = self.roots().ok().and_then(|roots| real.strip_prefix(&roots.workspace().real).ok());
        within.unwrap_or(real).to_owned()
    }

    /// The real paths at which something is, and which differ from this one in nothing that is seen.
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

    /// Whether something is there that may be read without a question, where its links lead.
    fn is_there(&self, path: &Path) -> bool {
        self.place_without_leave(path).is_ok_and(|place| place.obstacle.is_none())
    }

    /// Up to three things with a name like that of the first part of the path that is not there.
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

/// What is in a directory under this name, or else under names that differ in nothing that is seen.
fn names_like(root: &Dir, place: &Path, name: &OsStr) -> Vec<PathBuf> {
    let Ok(dir) = root.open_dir(place) else { return Vec::new() };
    if dir.stat(name).is_ok_and(|stat| stat.kind != FileKind::Special) {
        return vec![place.join(name)];
    }
    let Some(given) = name.to_str() else { return Vec::new() };
    let wanted = folded(given);
    let Ok((entries, _)) = dir.entries(MAX_NAMES, || true) else { return Vec::new() };
    let names = entries.into_iter().map(|entry| entry.name);
    // What cannot be typed is shown in another way, in which it is given back.
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
