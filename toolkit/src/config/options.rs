//! From where a configuration is loaded.

use crate::config::section::ConfigSection;
use crate::config::trust::TrustedFile;
use crate::output_store::default_data_dir;
use etcetera::BaseStrategy as _;
use serde_json::Value;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a configuration file is called.
pub(crate) const FILE: &str = "toolkit.json5";

/// From where a configuration is loaded. A later source goes before an earlier one: the program's own values, the user's
/// file, each trusted `toolkit.json5` from the root of the file system down to the workspace, the environment, the files
/// that are named, single values.
///
/// Nothing is looked at but what is said here, neither files nor the environment;
/// [`of_process`](Self::of_process) says what a program of the user's would.
///
/// ```
/// use toolkit::{Configuration, LoadOptions};
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
/// # Ok::<(), toolkit::ConfigError>(())
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

/// Without values: the environment holds secrets, and so may the flags.
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

impl LoadOptions {
    /// From nowhere.
    pub fn new() -> Self {
        Self::default()
    }

    /// From where the user of this process keeps it: the file `toolkit.json5` in `$TOOLKIT_CONFIG_DIR`, else in the
    /// directory `toolkit` of the platform's for configuration (`$XDG_CONFIG_HOME` or `~/.config` on Linux); what stands
    /// above `workspace`; the environment. What is trusted is read from `$TOOLKIT_DATA_DIR`, else the platform's directory
    /// for a user's data.
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

    /// Values of the program's own, before all others.
    #[must_use]
    pub fn program(mut self, values: Value) -> Self {
        self.program.push(values);
        self
    }

    /// The user's own file. It need not be there. A toolkit with this configuration asks before anything is written to it, as
    /// for [`protected_paths`](crate::protected_paths).
    #[must_use]
    pub fn user_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.user_file = Some(file.into());
        self
    }

    /// The workspace: each `toolkit.json5` in it and above it counts, as far as it is trusted.
    #[must_use]
    pub fn workspace(mut self, directory: impl Into<PathBuf>) -> Self {
        self.workspace = Some(directory.into());
        self
    }

    /// The variables of the environment: those that begin with `TOOLKIT_` are values, and secrets can name any.
    #[must_use]
    pub fn environment<N: Into<OsString>, V: Into<OsString>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        self.environment = variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// A file that the user names, and so trusts. It must be there. A toolkit with this configuration asks before anything is
    /// written to it, as for [`protected_paths`](crate::protected_paths).
    #[must_use]
    pub fn file(mut self, file: impl Into<PathBuf>) -> Self {
        self.files.push(file.into());
        self
    }

    /// One value, `tools.profile=coding`: a path with dots, or a JSON pointer, and JSON5 or else a text.
    #[must_use]
    pub fn set(mut self, key_and_value: impl Into<String>) -> Self {
        self.flags.push(key_and_value.into());
        self
    }

    /// The directory that remembers what the user trusts. Without one, nothing in a workspace is trusted.
    #[must_use]
    pub fn data_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(directory.into());
        self
    }

    /// Trusts one file of a workspace, with what it holds, for this once.
    #[must_use]
    pub fn trusting(mut self, file: TrustedFile) -> Self {
        self.trusting.push(file);
        self
    }

    /// A section that is not linked into this process.
    #[must_use]
    pub fn section(mut self, section: ConfigSection) -> Self {
        self.sections.push(section);
        self
    }

    /// The user's own file and those that are named, absolute: what decides what is allowed.
    pub(super) fn own_files(&self) -> Vec<PathBuf> {
        let files = self.user_file.iter().chain(&self.files);
        files.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone())).collect()
    }

    /// Where the user's own file is, whether or not it is there.
    pub fn user_file_path(&self) -> Option<&Path> {
        self.user_file.as_deref()
    }

    /// Where what the user trusts is remembered.
    pub fn data_dir_path(&self) -> Option<&Path> {
        self.data_dir.as_deref()
    }
}
