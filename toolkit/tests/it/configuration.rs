//! Configuration: sources and their order, errors with their place, secrets, sections, and files that nobody trusts.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod beside;
mod each;
mod elsewhere;
mod errors;
mod hostile;
mod limits;
mod names;
mod narrowing;
mod random;
mod schema;
mod sections;
pub(crate) mod servers;
mod sources;
mod trust;
mod unavailable;
mod users_files;

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toolkit::config::{ConfigError, Configuration, LoadOptions};

/// A directory for everything: a user's, a workspace's, the data.
pub(crate) struct Place {
    root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { root: tempfile::tempdir().unwrap() };
        fs::create_dir_all(place.path("work/inner")).unwrap();
        fs::create_dir_all(place.path("user")).unwrap();
        place
    }

    /// The real path, as the configuration names it.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> &Self {
        fs::write(self.path(path), text).unwrap();
        self
    }

    /// Everything that is here, and nothing that is elsewhere but what stands above it.
    pub(crate) fn options(&self) -> LoadOptions {
        LoadOptions::new()
            .user_file(self.path("user/toolkit.json5"))
            .workspace(self.path("work"))
            .data_dir(self.path("data"))
    }

    pub(crate) fn load(&self) -> Configuration {
        Configuration::load(self.options()).unwrap()
    }

    pub(crate) fn fails(&self) -> String {
        self.shown(&Configuration::load(self.options()).unwrap_err())
    }

    /// An error, with the directory left out.
    pub(crate) fn shown(&self, error: &ConfigError) -> String {
        self.short(&error.to_string())
    }

    pub(crate) fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.path("").display().to_string().trim_end_matches('/')), "")
    }
}

pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap()
}
