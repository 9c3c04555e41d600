//! Configured paths with an effect on permissions: directories that are treated as part of the workspace, and programs.

use crate::config::configuration::Configuration;
use crate::section::ConfigGate;
use crate::section::pointer::join;
use std::path::{Path, PathBuf};
use toolkit_core::config_origin::ConfigSource;
use toolkit_core::escape::escape_line;

impl Configuration {
    /// Returns the path at a place of the document. A relative one is in the directory of the file that it stands in; one that stands in
    /// no file, in the current directory.
    pub(super) fn absolute(&self, pointer: &str) -> Option<PathBuf> {
        let text = self.0.document.pointer(pointer)?.as_str()?;
        if let Some(path) = directory(text) {
            return Some(path);
        }
        let file = match self.origins().find(pointer).map(|origin| &origin.source) {
            Some(ConfigSource::File(file)) => file.parent(),
            _ => None,
        };
        let path = file.unwrap_or(Path::new("")).join(text);
        Some(std::path::absolute(&path).unwrap_or(path))
    }

    /// Returns the directories that are treated as part of the workspace.
    pub(crate) fn further_directories(&self) -> Vec<PathBuf> {
        self.directories().filter_map(|(_, text)| directory(text)).collect()
    }

    /// Returns the files and directories that the toolkit runs or loads by itself: programs that sections name, and the skills of trusted
    /// workspaces.
    pub(crate) fn programs(&self) -> Vec<PathBuf> {
        let is_program = |gate: &ConfigGate| matches!(gate, ConfigGate::Programs { .. });
        let values = self.gated(is_program).filter_map(|pointer| self.0.resolved.pointer(&pointer));
        let texts = values.flat_map(|value| match value.as_array() {
            Some(list) => list.iter().collect(),
            None => vec![value],
        });
        let named = texts.filter_map(|text| directory(text.as_str()?));
        let skills = self.0.files.iter().filter(|file| file.is_trusted).map(|file| file.file.skills_dir());
        named.chain(skills).collect()
    }

    /// Returns an explanation for each directory that has no effect, and its origin.
    pub(super) fn misplaced_directories(&self) -> Vec<(String, Option<String>)> {
        let misplaced = self.directories().filter_map(|(pointer, text)| {
            let shown = escape_line(text);
            let message = match directory(text) {
                None => format!(
                    "the directory `{shown}` has no effect: it must be absolute or begin with `~/`"
                ),
                // A directory's name may contain such characters.
                Some(path) if text.contains(['*', '?', '[', '{']) && !path.exists() => format!(
                    "the directory `{shown}` has no effect: it does not exist, and wildcards are not expanded; name \
                     each directory"
                ),
                Some(_) => return None,
            };
            Some((message, self.origins().find(&pointer).map(ToString::to_string)))
        });
        misplaced.collect()
    }

    /// Returns the configured directories, each with its pointer.
    fn directories(&self) -> impl Iterator<Item = (String, &str)> {
        let pointers = self.gated(|gate| matches!(gate, ConfigGate::Directories { .. }));
        pointers.flat_map(|pointer| {
            let list = self.0.document.pointer(&pointer).and_then(|list| list.as_array());
            let texts = list.into_iter().flatten().enumerate();
            texts.filter_map(move |(place, text)| {
                Some((format!("{pointer}{}", join([&*place.to_string()])), text.as_str()?))
            })
        })
    }
}

impl Configuration {
    /// Returns the pointers of the keys of all sections that have a gate.
    fn gated(&self, is_gate: impl Fn(&ConfigGate) -> bool + Copy) -> impl Iterator<Item = String> {
        let sections = self.0.schemas.as_ref().map_or(&[][..], |schemas| &schemas.sections);
        sections.iter().flat_map(move |section| {
            let gates = section.its_gates().iter().filter(move |gate| is_gate(gate));
            gates.map(|gate| gate.pointer(&section.pointer()))
        })
    }
}

fn directory(text: &str) -> Option<PathBuf> {
    let path = Path::new(text);
    match ["~", "$HOME", "${HOME}"].into_iter().find_map(|home| path.strip_prefix(home).ok()) {
        Some(below) => Some(etcetera::home_dir().ok()?.join(below)),
        None => path.is_absolute().then(|| path.to_owned()),
    }
}
