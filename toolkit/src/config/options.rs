//! The sources of a configuration.

use crate::config::trust::TrustedFile;
use crate::output_store::default_data_dir;
use crate::section::ConfigSection;
use etcetera::BaseStrategy as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of a configuration file.
pub(crate) const FILE: &str = "toolkit.json5";

/// The sources of a configuration. A later source takes precedence over an earlier one: the program's own values, the user's
/// file, each trusted `toolkit.json5` from the root of the file system down to the workspace, the environment, the named
/// files, single values.
///
/// Only the given sources are read, neither other files nor the environment; [`of_process`](Self::of_process) gives the
/// sources that a program of the user usually reads.
///
/// ```
/// use toolkit::config::{Configuration, LoadOptions};
///
/// let options = LoadOptions::new()
///     .environment([("TOOLKIT_TOOLS__DENY", "['exec']")])
///     .set("tools.profile=coding");
/// let configuration = Configuration::load(options)?;
/// assert_eq!(configuration.policy().0.tools.deny, ["exec"]);
///
/// let error = Configuration::load(LoadOptions::new().set("tools.profil=coding")).unwrap_err();
/// assert_eq!(
///     error.problems[0].to_string(),
///     "--set tools.profil: `tools` has no key `profil`; did you mean `profile`?"
/// );
/// # Ok::<(), toolkit::config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct LoadOptions {
    pub(crate) program: Vec<Value>,
    pub(crate) user_file: Option<PathBuf>,
    pub(crate) workspace: Option<PathBuf>,
    pub(crate) environment: BTreeMap<OsString, OsString>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) flags: Vec<String>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) trusting: Vec<TrustedFile>,
    pub(crate) sections: Vec<ConfigSection>,
}

/// Formats without values: the environment contains secrets, and flags may.
impl std::fmt::Debug for LoadOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoadOptions")
            .field("user_file", &self.user_file)
            .field("workspace", &self.workspace)
            .field("files", &self.files)
            .field("data_dir", &self.data_dir)
            .finish_non_exhaustive()
    }
}

/// The parameter of [`Configuration::load`](super::Configuration::load): [`LoadOptions`], and nothing else.
#[diagnostic::on_unimplemented(
    message = "a configuration is loaded by `LoadOptions`",
    label = "not `LoadOptions`",
    note = "one file: `LoadOptions::new().user_file(\"toolkit.json5\")`; those of the user and of a workspace: `LoadOptions::of_process(\".\")`",
    note = "a value in the program: `LoadOptions::new().program(json!({{ .. }}))`"
)]
pub trait AsLoadOptions {
    #[doc(hidden)]
    fn into_load_options(self) -> LoadOptions;
}

#[diagnostic::do_not_recommend]
impl AsLoadOptions for LoadOptions {
    fn into_load_options(self) -> LoadOptions {
        self
    }
}

impl LoadOptions {
    /// Returns options without any source.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the usual sources of this process: the file `toolkit.json5` in `$TOOLKIT_CONFIG_DIR`, or else in the directory
    /// `toolkit` of the platform's configuration directory (`$XDG_CONFIG_HOME` or `~/.config` on Linux); the files in
    /// `workspace` and above it; the environment. Trust is read from `$TOOLKIT_DATA_DIR`, or else from the platform's
    /// directory for a user's data.
    pub fn of_process(workspace: impl Into<PathBuf>) -> Self {
        let directory = |name: &str| {
            let directory = env::var_os(name).filter(|directory| !directory.is_empty())?;
            std::path::absolute(directory).ok()
        };
        let config_dir = directory("TOOLKIT_CONFIG_DIR").or_else(|| {
            Some(etcetera::base_strategy::choose_native_strategy().ok()?.config_dir().join("toolkit"))
        });
        Self {
            user_file: config_dir.map(|directory| directory.join(FILE)),
            workspace: Some(workspace.into()),
            environment: env::vars_os().collect(),
            data_dir: directory("TOOLKIT_DATA_DIR").or_else(default_data_dir),
            ..Self::default()
        }
    }

    /// Adds values of the program, which every other source overrides.
    #[must_use]
    pub fn program(mut self, values: Value) -> Self {
        self.program.push(values);
        self
    }

    /// Sets the user's own file. It need not exist. A toolkit with this configuration asks before anything is written to it,
    /// as for [`protected_paths`](crate::permission::protected_paths).
    #[must_use]
    pub fn user_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.user_file = Some(file.into());
        self
    }

    /// Sets the workspace: each `toolkit.json5` in it and above it is read, and has as much effect as it is trusted.
    #[must_use]
    pub fn workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.workspace = Some(directory.into());
        self
    }

    /// Sets the environment variables: those with the prefix `TOOLKIT_` are values, and secrets can refer to any.
    #[must_use]
    pub fn environment<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Adds a file that the user names and therefore trusts. It must exist. A toolkit with this configuration asks before
    /// anything is written to it, as for [`protected_paths`](crate::permission::protected_paths).
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// Adds one value, `tools.profile=coding`: the key is a path with dots or a JSON pointer, the value is JSON5 or otherwise
    /// a string.
    #[must_use]
    pub fn set(mut self, key_and_value: impl Into<String>) -> Self {
        self.flags.push(key_and_value.into());
        self
    }

    /// Sets the directory in which the user's trust is remembered. Without one, no file of a workspace is trusted.
    #[must_use]
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(directory.into());
        self
    }

    /// Trusts one file of a workspace, with its content, for this run only.
    #[must_use]
    pub fn trusting(mut self, file: TrustedFile) -> Self {
        self.trusting.push(file);
        self
    }

    /// Adds a section that is not linked into this process.
    #[must_use]
    pub fn section(mut self, section: ConfigSection) -> Self {
        self.sections.push(section);
        self
    }

    /// Returns the absolute paths of the user's own file and the named files: the files that decide what is allowed.
    pub(super) fn own_files(&self) -> Vec<PathBuf> {
        let files = self.user_file.iter().chain(&self.files);
        files.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())).collect()
    }

    /// Returns the directory of the user's own file.
    pub(super) fn user_dir(&self) -> Option<PathBuf> {
        Some(self.user_file.as_deref()?.parent()?.to_owned())
    }

    /// Returns the path of the user's own file, even if it does not exist.
    pub fn user_file_path(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// Returns the workspace, from which files are read.
    pub fn workspace_path(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// Returns the directory in which the user's trust is remembered.
    pub fn data_dir_path(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }
}
