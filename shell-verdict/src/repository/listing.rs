//! The entries of a directory of a repository, from one listing: that costs less than looking up each name.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// Maximum number of examined entries of a directory.
const MAX_ENTRIES: usize = 10_000;

/// The names in a directory, as far as they can be relied on.
#[derive(Debug)]
pub(crate) struct Listing {
    directory: PathBuf,
    /// `None` if there may be a file whose name is not among them; then each name is looked up.
    entries: Option<Vec<(String, FileType)>>,
}

/// The entry of a name in a listing.
enum Named {
    Nothing,
    Is(FileType),
    /// The name must be looked up.
    Unsure,
}

impl Listing {
    pub(crate) fn of(directory: PathBuf) -> Self {
        let entries = entries(&directory);
        Self { directory, entries }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns true if there may be an entry with this name.
    pub(crate) fn may_hold(&self, name: &str) -> bool {
        !matches!(self.named(name), Named::Nothing)
    }

    /// Returns true if the entry with this name is a symlink. The name may have several components.
    pub(crate) fn is_link(&self, name: &str) -> bool {
        match self.named(name) {
            Named::Nothing => false,
            Named::Is(kind) => kind.is_symlink(),
            Named::Unsure => self.directory.join(name).is_symlink(),
        }
    }

    /// Returns true if one of the entries is a symlink, or there are too many.
    pub(crate) fn holds_link(&self) -> bool {
        match &self.entries {
            Some(entries) => entries.iter().any(|(_, kind)| kind.is_symlink()),
            None => holds_link(&self.directory),
        }
    }

    fn named(&self, name: &str) -> Named {
        let Some(entries) = &self.entries else { return Named::Unsure };
        let first = name.split('/').next().unwrap_or(name);
        match entries.iter().find(|(known, _)| known == first) {
            // Only a fast path: without it the name is looked up, with the same result, so no test covers it.
            Some((_, kind)) if first == name => Named::Is(*kind),
            Some(_) => Named::Unsure,
            // There are file systems where that is the same name.
            None if entries.iter().any(|(known, _)| known.eq_ignore_ascii_case(first)) => Named::Unsure,
            None => Named::Nothing,
        }
    }
}

fn entries(directory: &Path) -> Option<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).ok()? {
        if found.len() == MAX_ENTRIES {
            return None;
        }
        let entry = entry.ok()?;
        // On some file systems a non-ASCII letter is equivalent to an ASCII one, or is ignored.
        let name = entry.file_name().into_string().ok().filter(|name| name.is_ascii())?;
        found.push((name, entry.file_type().ok()?));
    }
    Some(found)
}

/// Returns true if one of the entries of a directory is a symlink, or there are too many.
pub(crate) fn holds_link(directory: &Path) -> bool {
    let Ok(entries) = fs::read_dir(directory) else { return false };
    for (count, entry) in entries.enumerate() {
        let is_link = entry.and_then(|entry| entry.file_type()).map_or(true, |kind| kind.is_symlink());
        if is_link || count >= MAX_ENTRIES {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_no_file_system_takes_for_a_name_is_certainly_not_there() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("CONFIG"), "").unwrap();
        let listing = Listing::of(directory.path().to_owned());
        assert!(listing.may_hold("CONFIG"));
        assert!(listing.may_hold("config"));
        assert!(listing.may_hold("config/of/what"));
        assert!(!listing.may_hold("index"));
        assert!(!Listing::of(directory.path().join("CONFIG")).holds_link());
        // This is the name `config` where only folded names count.
        fs::write(directory.path().join("con\u{fb01}g"), "").unwrap();
        assert!(Listing::of(directory.path().to_owned()).may_hold("index"));
    }
}
