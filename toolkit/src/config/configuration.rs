//! The loaded configuration, checked and decoded.

use crate::config::core::{AgentSettings, HistorySettings, LoopGuardSettings};
use crate::config::error::{ConfigError, ConfigProblem, reasons, warning};
use crate::config::instructions::Instructions;
use crate::config::narrow::IgnoredKey;
use crate::config::options::{FILE, LoadOptions};
use crate::config::resolve::hide;
use crate::config::restriction::Restriction;
use crate::config::schema::{Schemas, schemas};
use crate::config::settle::Unavailable;
use crate::config::trust::TrustedFile;
use crate::discovery_settings::DiscoverySettings;
use crate::output_store::OutputStoreSettings;
use crate::permission::PermissionSettings;
use crate::policy::PolicySettings;
use crate::section::pointer::{dotted, join, steps};
use crate::section::{ConfigGate, ConfigSection};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toolkit_core::config_origin::ConfigOrigins;
use toolkit_core::diagnostic::Diagnostic;
use toolkit_core::escape::escape_rest;
use toolkit_core::name::nearest;
use toolkit_core::redact::Redactor;
use toolkit_core::server_names::ServerNames;

/// The most names of one kind that diagnostics list one by one.
const MAX_TOLD: usize = Configuration::MAX_NOTED;

/// A configuration: checked against the schema, merged, and with every section decoded once. Cheap to clone.
///
/// An untrusted file in a workspace is not merged: it is kept as a restriction, of which only the parts that take permissions or tools away
/// have an effect.
///
/// ```
/// use toolkit::config::{Configuration, LoadOptions};
///
/// let configuration = Configuration::load(LoadOptions::new().set("tools.settings.read.autoExecute=false"))?;
/// assert_eq!(configuration.auto_execute("read"), Some(false));
/// # Ok::<(), toolkit::config::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct Configuration(pub(super) Arc<Inner>);

#[derive(Default)]
pub(crate) struct Inner {
    /// The merged document, as written.
    pub(crate) document: Value,
    /// The document with the secrets resolved. Never shown.
    pub(crate) resolved: Value,
    pub(crate) origins: ConfigOrigins,
    pub(crate) policy: PolicySettings,
    pub(crate) permissions: Vec<PermissionSettings>,
    pub(crate) restrictions: Vec<Restriction>,
    pub(crate) ignored: Vec<IgnoredKey>,
    pub(crate) files: Vec<WorkspaceFile>,
    /// The user's own file, even if it does not exist, and the named files.
    pub(crate) own_files: Vec<PathBuf>,
    /// The directory in which the user's trust is remembered.
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) secrets: Vec<String>,
    /// The files that secrets were read from, whether or not they exist.
    pub(crate) secret_files: Vec<PathBuf>,
    /// The parts that cannot be used, because something that they refer to is missing.
    pub(crate) unavailable: Unavailable,
    pub(crate) notes: Vec<String>,
    pub(crate) schemas: Option<Arc<Schemas>>,
    /// The directory of the user's own file.
    pub(crate) user_dir: Option<PathBuf>,
}

/// The effective part of an untrusted file: only restrictions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigRestriction {
    /// The file.
    pub file: String,
    /// The part of the file that has an effect.
    pub document: Value,
    /// The origin of each value of the document.
    pub origins: ConfigOrigins,
}

/// A configuration file in a workspace, or above it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkspaceFile {
    /// The file, with its content when it was read.
    pub file: TrustedFile,
    /// True if the whole file has effect.
    pub is_trusted: bool,
    /// The digest that the skills beside the file must have to be used, as [`SkillFiles::sha256`](crate::skills::SkillFiles::sha256): the digest
    /// from when the file was trusted.
    pub trusted_skills: Option<String>,
    /// The digest that the `AGENTS.md` beside the file must have to be used, as
    /// [`Instructions::sha256`](crate::config::Instructions::sha256): the digest from when the file was trusted.
    pub trusted_instructions: Option<String>,
    /// The digests that the programs and scripts must have that servers of the file run, by path: those from when the file was trusted.
    pub trusted_programs: BTreeMap<PathBuf, String>,
}

/// Without values: they may be secret.
impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configuration")
            .field("files", &self.0.files)
            .field("ignored", &self.0.ignored.len())
            .finish_non_exhaustive()
    }
}

impl Configuration {
    /// The most ignored keys that [`notes`](Self::notes) lists one by one; [`ignored`](Self::ignored) has all.
    pub const MAX_NOTED: usize = 50;

    /// Returns the configuration for sources that are all empty.
    pub(super) fn of_nothing(options: &LoadOptions) -> Self {
        Self::new(Inner {
            own_files: options.own_files(),
            data_dir: options.data_dir.clone(),
            user_dir: options.user_dir(),
            ..Inner::default()
        })
    }

    pub(crate) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// Returns the JSON Schema of a configuration (draft 2020-12): the keys of the core, and the sections of all crates that are linked
    /// into this process.
    ///
    /// # Errors
    ///
    /// When a section of a crate does not fit, for example because two have the same path.
    pub fn schema() -> Result<Value, ConfigError> {
        let fault = |reason: String| ConfigError { problems: vec![ConfigProblem::new(None, "", reason)] };
        let mut schema = schemas(&[]).map_err(fault)?.whole.shown().clone();
        if let Some(members) = schema.as_object_mut() {
            members.shift_insert(0, "$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        }
        Ok(schema)
    }

    /// Returns the configured policy (which tools exist for which callers), and the policy of each untrusted file, by its path.
    pub fn policy(&self) -> (PolicySettings, Vec<(String, PolicySettings)>) {
        let restrictions = self.0.restrictions.iter();
        (self.0.policy.clone(), restrictions.map(|each| (each.file.clone(), each.policy.clone())).collect())
    }

    /// Returns the permissions of each source, later sources last, and those of each untrusted file, by its path. They are not merged: a
    /// later source takes precedence over an earlier one except over a deny, and an untrusted file can only make permissions stricter.
    pub fn permissions(&self) -> (Vec<PermissionSettings>, Vec<(String, PermissionSettings)>) {
        let restrictions = self.0.restrictions.iter();
        let restrictions = restrictions.map(|each| (each.file.clone(), each.permissions.clone()));
        (self.0.permissions.clone(), restrictions.collect())
    }

    /// Returns true if a tool runs without asking; `None` if that is not configured.
    pub fn auto_execute(&self, tool: &str) -> Option<bool> {
        if self.0.restrictions.iter().any(|restriction| restriction.asking.contains(tool)) {
            return Some(false);
        }
        self.0.resolved.pointer(&join(["tools", "settings", tool, "autoExecute"]))?.as_bool()
    }

    /// Returns the user's own file, even if it does not exist, and the named files: the files that decide what is allowed.
    pub(crate) fn own_files(&self) -> &[PathBuf] {
        &self.0.own_files
    }

    /// Returns the files that secrets are read from: `apiKey: { file: … }`.
    pub(crate) fn secret_files(&self) -> &[PathBuf] {
        &self.0.secret_files
    }

    /// Returns the directory in which the user's trust is remembered; tools must not write there.
    pub(crate) fn data_dir(&self) -> Option<&Path> {
        self.0.data_dir.as_deref()
    }

    /// Returns true if a configuration was loaded at all.
    pub(crate) fn is_loaded(&self) -> bool {
        self.0.schemas.is_some()
    }

    /// Returns all `autoExecute` settings; the last one for a tool takes effect.
    pub(crate) fn auto_executes(&self) -> Vec<(String, bool)> {
        let tools = self.0.resolved.pointer("/tools/settings").and_then(Value::as_object);
        let said = tools
            .into_iter()
            .flatten()
            .filter_map(|(tool, settings)| Some((tool.clone(), settings.get("autoExecute")?.as_bool()?)));
        let asking = self.0.restrictions.iter().flat_map(|restriction| &restriction.asking);
        said.chain(asking.map(|tool| (tool.clone(), false))).collect()
    }

    /// Returns the reason why a tool asks although its `autoExecute` is true.
    pub(crate) fn why_it_asks_anyway(&self, tool: &str) -> Option<String> {
        let sections = self.sections();
        sections.iter().find_map(|section| {
            section.its_gates().iter().find_map(|gate| match gate {
                ConfigGate::Asks { tool: of, .. } if *of == tool => {
                    let key = dotted(&gate.pointer(&section.pointer()));
                    Some(format!("`{key}` decides whether it asks"))
                }
                ConfigGate::AsksAlways { tool: of, about } if *of == tool => {
                    Some(format!("{about} always needs approval, its other actions never do"))
                }
                _ => None,
            })
        })
    }

    /// Returns the ids of the plugins that take precedence if two have a tool of the same name.
    pub fn prefer(&self) -> Vec<String> {
        let list = self.0.resolved.pointer("/plugins/prefer").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Returns the limits at which a model that repeats itself is stopped.
    pub fn loop_guard(&self) -> LoopGuardSettings {
        self.core("loopGuard").unwrap_or_default()
    }

    /// Returns the settings of the history that a host keeps on disk. A host that keeps one states it with
    /// [`Builder::keeps_history`](crate::Builder::keeps_history).
    pub fn history(&self) -> HistorySettings {
        self.core("history").unwrap_or_default()
    }

    /// Returns the limits beyond which not every definition is shown.
    pub fn discovery(&self) -> DiscoverySettings {
        let said = self.0.resolved.pointer("/tools/discovery");
        said.and_then(|said| DiscoverySettings::deserialize(said).ok()).unwrap_or_default()
    }

    /// Returns how much of whole outputs is kept on disk.
    pub fn output_store(&self) -> OutputStoreSettings {
        let said = self.0.resolved.pointer("/tools/outputs");
        said.and_then(|said| OutputStoreSettings::deserialize(said).ok()).unwrap_or_default()
    }

    /// Returns the settings of an agent, by its id; without any if it is not configured. Its workspace is an absolute path.
    pub fn agent(&self, id: &str) -> AgentSettings {
        let agent = self.0.resolved.get("agents").and_then(|agents| agents.get(id));
        let of = |key: &str| Some(agent?.get(key)?.as_str()?.to_owned());
        let workspace = self.absolute(&join(["agents", id, "workspace"]));
        AgentSettings { name: of("name"), model: of("model"), workspace }
    }

    /// Returns the ids of the configured agents.
    pub fn agents(&self) -> Vec<String> {
        let agents = self.0.resolved.get("agents").and_then(Value::as_object);
        agents.into_iter().flat_map(Map::keys).cloned().collect()
    }

    /// Returns the sections that were known when the configuration was loaded.
    pub(crate) fn sections(&self) -> &[ConfigSection] {
        self.0.schemas.as_ref().map_or(&[], |schemas| &schemas.sections)
    }

    /// Returns the names of the configured servers, including those that are switched off.
    pub(crate) fn server_names(&self) -> ServerNames {
        let sections = self
            .sections()
            .iter()
            .filter(|section| section.its_entries().is_some_and(|entries| entries.are_servers));
        let servers = sections.filter_map(|section| self.0.document.pointer(&section.pointer())?.as_object());
        ServerNames::new(servers.flat_map(Map::keys).map(String::as_str))
    }

    /// Decodes a part of the core's keys, which matches its schema and therefore decodes.
    fn core<'a, T: Deserialize<'a>>(&'a self, key: &str) -> Option<T> {
        T::deserialize(self.0.resolved.get(key)?).ok()
    }

    /// Adds the secrets of the configuration to a redactor.
    pub(crate) fn add_secrets(&self, redactor: Redactor) -> Redactor {
        self.0.secrets.iter().fold(redactor, Redactor::value)
    }

    /// Returns the effective document, without permissions, which are not merged. Secrets are left out; references to them stay.
    pub fn document(&self) -> Value {
        let mut document = self.0.document.clone();
        if let Some(schemas) = &self.0.schemas {
            hide(&mut document, "", &schemas.whole);
        }
        if document.is_null() { Map::new().into() } else { document }
    }

    /// Returns the origin of each value of [`document`](Self::document).
    pub fn origins(&self) -> &ConfigOrigins {
        &self.0.origins
    }

    /// Returns the restrictions: the effective part of each untrusted file, permissions included.
    pub fn restrictions(&self) -> Vec<ConfigRestriction> {
        let restriction = |of: &Restriction| ConfigRestriction {
            file: of.file.clone(),
            document: of.document.clone(),
            origins: of.policy.origins.clone(),
        };
        self.0.restrictions.iter().map(restriction).collect()
    }

    /// Returns the configuration files of the workspace and of the directories above it, the nearest last.
    pub fn workspace_files(&self) -> &[WorkspaceFile] {
        &self.0.files
    }

    /// Returns true if the user trusts a workspace: it directly contains a `toolkit.json5` that is trusted with its present content. Blocks
    /// briefly.
    pub fn trusts_workspace(&self, workspace: &Path) -> bool {
        let Ok(place) = workspace.canonicalize().map(|real| real.join(FILE)) else { return false };
        self.0.files.iter().any(|file| file.is_trusted && file.file.path == place)
    }

    /// Returns the digest that the skills of a workspace must have to be used: the digest from when the user trusted it. Blocks briefly.
    pub(crate) fn trusted_skills(&self, workspace: &Path) -> Option<String> {
        let place = workspace.canonicalize().ok()?.join(FILE);
        let file = self.0.files.iter().find(|file| file.is_trusted && file.file.path == place)?;
        file.trusted_skills.clone()
    }

    /// Returns true if the user trusts the `AGENTS.md` of a workspace: the workspace's `toolkit.json5` is trusted, and these instructions
    /// are those that were beside it then. Blocks briefly.
    pub fn trusts_instructions(&self, workspace: &Path, instructions: &Instructions) -> bool {
        let Ok(place) = workspace.canonicalize().map(|real| real.join(FILE)) else { return false };
        let Some(file) = self.0.files.iter().find(|file| file.is_trusted && file.file.path == place) else {
            return false;
        };
        file.trusted_instructions.as_deref() == Some(&*instructions.sha256())
    }

    /// Returns the directory of the user's own configuration, even if it does not exist; `None` if no configuration was loaded from one.
    pub fn user_dir(&self) -> Option<&Path> {
        self.0.user_dir.as_deref()
    }

    /// Returns the keys of untrusted files that have no effect, in the order of the files.
    pub fn ignored(&self) -> &[IgnoredKey] {
        &self.0.ignored
    }

    /// Returns the notes that a host should show: ignored keys, and reasons why nothing is trusted. Each is given once, in a line that is
    /// safe to show.
    pub fn notes(&self) -> Vec<String> {
        let ignored = &self.0.ignored;
        let mut notes: Vec<String> = ignored.iter().take(MAX_TOLD).map(ToString::to_string).collect();
        if let Some(more) = ignored.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
            notes.push(format!(
                "{more} more keys are ignored until `toolkit trust`; `toolkit config check` lists each"
            ));
        }
        notes.extend(self.0.notes.iter().map(|note| escape_rest(note).into_owned()));
        notes
    }

    /// Returns the notes as diagnostics, together with tools and plugins that are configured but do not exist.
    pub(crate) fn diagnostics<'a>(
        &self,
        tools: impl Iterator<Item = &'a str>,
        plugins: impl Iterator<Item = &'a str>,
    ) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> =
            self.notes().into_iter().map(|note| warning(note, None)).collect();
        let tools: Vec<&str> = tools.collect();
        let sections = self.sections();
        for section in sections {
            let pointer = section.pointer();
            let absent = section.its_tool().filter(|tool| !tools.contains(tool));
            if let Some(tool) = absent.filter(|_| !pointer.starts_with("/tools/settings/"))
                && self.0.document.pointer(&pointer).is_some()
            {
                let origin = self.0.origins.find(&pointer).map(ToString::to_string);
                let message = format!(
                    "there is no tool `{tool}`, so the section `{}` has no effect yet",
                    dotted(&pointer)
                );
                diagnostics.push(warning(message, origin));
            }
        }
        for (owner, problems) in self.0.unavailable.each() {
            let message = format!("{} is unavailable: {}", dotted(owner), reasons(problems));
            diagnostics.push(warning(escape_rest(&message).into_owned(), None));
        }
        let servers = self.server_names();
        let mut unknown = |pointer: &str, what: &str, names: &mut dyn Iterator<Item = &str>| {
            // Finding the nearest name compares all names, and a file can have many unknown ones, so the number is limited.
            let mut count = 0;
            let Some(given) = self.0.document.pointer(pointer).and_then(Value::as_object) else { return };
            let known: BTreeSet<&str> = names.collect();
            for name in given.keys().map(String::as_str) {
                let is_of_server = pointer == "/tools/settings" && servers.has(name);
                if known.contains(name) || is_of_server || pointer == "/plugins" && name == "prefer" {
                    continue;
                }
                count += 1;
                if count > MAX_TOLD {
                    continue;
                }
                let near = nearest(name, known.iter().copied());
                let near = match near.first() {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => {
                        "; if a crate brings it, name the crate in `toolkit::link!` of the program".to_owned()
                    }
                };
                let at = format!("{pointer}{}", join([name]));
                let origin = self.0.origins.find(&at).map(ToString::to_string);
                diagnostics.push(warning(
                    format!("there is no {what} `{name}`, so its section has no effect yet{near}"),
                    origin,
                ));
            }
            if count > MAX_TOLD {
                let more = count - MAX_TOLD;
                diagnostics
                    .push(warning(format!("{more} more sections at {pointer} have no effect yet"), None));
            }
        };
        unknown("/tools/settings", "tool", &mut tools.iter().copied());
        let ids: Vec<String> = sections
            .iter()
            .filter_map(|section| steps(section.pointer().strip_prefix("/plugins")?).next())
            .collect();
        let plugins: Vec<&str> = plugins.collect();
        unknown("/plugins", "plugin", &mut plugins.into_iter().chain(ids.iter().map(String::as_str)));
        let misplaced = self.misplaced_directories().into_iter();
        diagnostics.extend(misplaced.map(|(message, origin)| warning(message, origin)));
        diagnostics
    }
}
