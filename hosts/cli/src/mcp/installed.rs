//! Record of what `mcp install` created around an entry, so that `mcp uninstall` removes exactly that too.

use crate::save;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file in the data directory.
const FILE: &str = "mcp-installed.json";

/// The file and the keys that were created for an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Made {
    /// The file was created.
    pub(super) file: bool,
    /// Number of keys on the path to the entry that were created.
    pub(super) keys: usize,
}

/// The records of one data directory. Without them an entry is removed, and what was created around it stays.
#[derive(Debug)]
pub(super) struct Installed {
    place: Option<PathBuf>,
    notes: Map<String, Value>,
}

impl Installed {
    /// Reads the records. Unreadable records count as none: they are needed only to tidy up.
    pub(super) fn read(data_dir: Option<&Path>) -> Self {
        let place = data_dir.map(|directory| directory.join(FILE));
        let text = place.as_ref().and_then(|place| fs::read(place).ok());
        let notes = text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { place, notes }
    }

    fn key(file: &Path, name: &str) -> String {
        // The same key before the file is created and after it is removed.
        let directory = file.parent().and_then(|directory| directory.canonicalize().ok());
        let place = directory.zip(file.file_name()).map(|(directory, name)| directory.join(name));
        format!("{name}\n{}", place.as_deref().unwrap_or(file).display())
    }

    /// Returns the record of an entry in a file.
    pub(super) fn made(&self, file: &Path, name: &str) -> Made {
        let Some(note) = self.notes.get(&Self::key(file, name)) else { return Made::default() };
        let keys = note["keys"].as_u64().and_then(|keys| keys.try_into().ok()).unwrap_or_default();
        Made { file: note["file"].as_bool().unwrap_or_default(), keys }
    }

    /// Records what was created for an entry, or removes the record.
    pub(super) fn note(&mut self, file: &Path, name: &str, made: Option<Made>) {
        let key = Self::key(file, name);
        let wanted = made.filter(|made| *made != Made::default());
        let wanted = wanted.map(|made| json!({"file": made.file, "keys": made.keys}));
        if self.notes.get(&key) == wanted.as_ref() {
            return;
        }
        match wanted {
            Some(note) => self.notes.insert(key, note),
            None => self.notes.shift_remove(&key),
        };
        let Some(place) = &self.place else { return };
        let text = Value::Object(self.notes.clone()).to_string();
        let _ = place.parent().map(fs::create_dir_all);
        // The entry itself is written already, and counts without a note of it.
        let _ = save::write(place, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_made_is_known_until_it_is_forgotten() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings.json");
        let data = directory.path().join("data");
        let made = Made { file: true, keys: 2 };
        let mut notes = Installed::read(Some(&data));
        assert_eq!(notes.made(&file, "toolkit"), Made::default());
        notes.note(&file, "toolkit", Some(made));
        notes.note(&file, "other", Some(Made::default()));
        let mut notes = Installed::read(Some(&data));
        assert_eq!(notes.made(&file, "toolkit"), made);
        assert_eq!(notes.made(&file, "other"), Made::default());
        notes.note(&file, "toolkit", None);
        assert_eq!(Installed::read(Some(&data)).made(&file, "toolkit"), Made::default());
        fs::write(data.join(FILE), "no notes").unwrap();
        assert_eq!(Installed::read(Some(&data)).made(&file, "toolkit"), Made::default());
        Installed::read(None).note(&file, "toolkit", Some(made));
    }
}
