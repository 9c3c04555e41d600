//! The files of the repository, the manifests among them, and the faults that rules find in them.

use std::fmt;
use std::path::Path;

use crate::manifest::{Manifest, Setting};

/// A text file; the path is relative to the repository's root.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A violation of a rule, with its location and the remedy.
pub(crate) struct Fault {
    pub(crate) path: String,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

impl SourceFile {
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// Returns true if the file is below a directory of this name.
    pub(crate) fn is_in(&self, directory: &str) -> bool {
        let above = Path::new(&self.path).parent();
        above.is_some_and(|above| above.components().any(|component| component.as_os_str() == directory))
    }

    pub(crate) fn fault(&self, line: usize, message: String) -> Fault {
        Fault { path: self.path.clone(), line, message }
    }
}

/// The path of the workspace's manifest.
pub(crate) const ROOT_MANIFEST: &str = "Cargo.toml";

/// The manifest of each crate of the workspace.
pub(crate) fn members(files: &[SourceFile]) -> impl Iterator<Item = (&SourceFile, Manifest)> {
    let listed = listed_members(files).map(|(_, _, listed)| listed).unwrap_or_default();
    files
        .iter()
        .filter(move |file| listed.contains(&file.path))
        .map(|file| (file, Manifest::parse(&file.text)))
}

/// The workspace's manifest, the line on which it lists its members, and the paths of their manifests.
pub(crate) fn listed_members(files: &[SourceFile]) -> Option<(&SourceFile, usize, Vec<String>)> {
    let root = files.iter().find(|file| file.path == ROOT_MANIFEST)?;
    let manifest = Manifest::parse(&root.text);
    let members = manifest.get(&["workspace", "members"])?;
    Some((root, members.line, members.strings().map(|member| format!("{member}/Cargo.toml")).collect()))
}

/// A dependency of a manifest.
pub(crate) struct Dependency<'a> {
    /// Up to the dependency's name: `["target", "cfg(unix)", "dependencies", "libc"]`.
    pub(crate) path: &'a [String],
    pub(crate) line: usize,
    /// True if the manifest gives no version of its own.
    pub(crate) inherited: bool,
}

/// The dependencies of a manifest, each once, however many settings it has.
pub(crate) fn dependencies(manifest: &Manifest) -> Vec<Dependency<'_>> {
    let mut dependencies: Vec<Dependency<'_>> = Vec::new();
    for setting in &manifest.settings {
        let Some((path, rest)) = split_dependency(&setting.path) else { continue };
        let inherited = match rest {
            [] => setting.inline_table_sets("workspace") || is_local_for_tests(setting),
            [key] => key == "workspace" && setting.value == "true",
            _ => false,
        };
        match dependencies.iter_mut().find(|known| known.path == path) {
            Some(known) => known.inherited |= inherited,
            None => dependencies.push(Dependency { path, line: setting.line, inherited }),
        }
    }
    dependencies
}

/// Returns true if a setting is a dependency of tests, given by its path alone.
fn is_local_for_tests(setting: &Setting) -> bool {
    let has = |key: &str| setting.value.split([',', '{']).any(|entry| entry.trim_start().starts_with(key));
    setting.path.iter().any(|segment| segment == "dev-dependencies") && has("path") && !has("version")
}

/// Splits the path of a setting into that of the dependency and the rest.
fn split_dependency(path: &[String]) -> Option<(&[String], &[String])> {
    const KINDS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];
    let kind = if path.first()? == "target" { 2 } else { 0 };
    if !KINDS.contains(&path.get(kind)?.as_str()) {
        return None;
    }
    // The path of `dependencies = { … }` contains no name.
    Some(path.split_at((kind + 2).min(path.len())))
}
