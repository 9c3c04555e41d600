//! Sections of the configuration that crates declare, and their types.

mod entries;
pub(crate) mod pointer;
mod secret;
mod typed;

pub use entries::{ConfigEntries, ConfigVariant};
pub use secret::Secret;
pub use typed::{Config, Configured};

/// The sections of the configuration that a tool or a plugin gets.
#[cfg(not(feature = "runtime"))]
pub mod config {
    pub use super::{Config, ConfigEntries, ConfigGate, ConfigSection, ConfigVariant, Configured, Secret};
}

use pointer::{join, steps};
use serde_json::Value;
use toolkit_core::arg::ToolArg;
use toolkit_core::location::Location;
use toolkit_core::schema::SchemaFn;

/// A section of the configuration that a crate declares: its place, and the type that it decodes to. The type is a struct with
/// named fields or a map; its schema validates the section.
///
/// ```
/// use toolkit::config::ConfigSection;
///
/// #[toolkit::args]
/// #[serde(rename_all = "camelCase")]
/// struct SearchSettings {
///     /// How long a query may take, in seconds.
///     #[arg(default = 10, range(1..=600))]
///     timeout_seconds: u64,
/// }
///
/// toolkit::config_section!(ConfigSection::at::<SearchSettings>("tools.web.search").tool("web_search"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ConfigSection {
    place: Place,
    /// A key within the section of a plugin: this section is the value of it.
    part: Option<&'static str>,
    tool: Option<&'static str>,
    /// The function that takes the section, if an attribute declared it.
    function: Option<(&'static str, Location)>,
    type_name: fn() -> &'static str,
    gates: &'static [ConfigGate],
    has_members: bool,
    entries: Option<ConfigEntries>,
    is_lenient: bool,
    /// The reason why its keys have no effect unless the host states that it uses the section.
    void_because: Option<&'static str>,
    /// Names that other programs have for such a section.
    other_names: &'static [&'static str],
    schema: SchemaFn,
    decodes: fn(Value) -> serde_json::Result<()>,
}

inventory::collect!(ConfigSection);

/// Adds a [`ConfigSection`] to every program that this crate is linked into.
#[macro_export]
macro_rules! config_section {
    ($section:expr) => {
        $crate::__private::inventory::submit! { $section }
    };
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Path(&'static str),
    Tool(&'static str),
    Plugin(&'static str),
    /// The section of the plugin that the crate at this location belongs to.
    Crate(Location),
    /// A key of each entry of a map: `agents.<id>.<key>`, `channels.<name>.<key>`.
    Each {
        map: &'static str,
        key: &'static str,
    },
}

/// The step of a pointer that stands for each entry of a map.
pub(crate) const EACH: &str = "*";

/// A key of a section with an effect beyond the section: on which tools exist, on which paths are treated as part of the
/// workspace or protected, or on what an untrusted file may restrict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigGate {
    /// A boolean: `false` removes the tool.
    Enabled {
        /// The tool's name.
        tool: &'static str,
        /// The key within the section, with dots: `enabled`.
        key: &'static str,
    },
    /// A list of models: only they get the tool.
    Models {
        /// The tool's name.
        tool: &'static str,
        /// The key within the section, with dots: `applyPatch.allowModels`.
        key: &'static str,
    },
    /// A list that only takes away: the lists of several sources are united, so that no source loses entries that another blocks.
    Narrows {
        /// The key within the section, with dots: `blockedDomains`.
        key: &'static str,
    },
    /// A word or a boolean: the value of an untrusted file has effect if it is stricter than the value of the other sources.
    Order {
        /// The key within the section, with dots: `sandbox`.
        key: &'static str,
        /// The values in ranks, the loosest first; a boolean is `true` or `false`. Values of the same rank are equally strict, and
        /// then the value of the trusted sources stays.
        ranks: &'static [&'static [&'static str]],
        /// Another key with an order, and a value that also applies to it if a value of the first rank is replaced: for example,
        /// because a sandbox where there was none before may remove questions.
        and: Option<(&'static str, &'static str)>,
    },
    /// A number: the value of an untrusted file has effect if it is less than the value of the other sources.
    AtMost {
        /// The key within the section, with dots: `timeoutSec`.
        key: &'static str,
    },
    /// A key that decides if the tool asks: the tool's `autoExecute: true` then has no effect.
    Asks {
        /// The tool's name.
        tool: &'static str,
        /// The key within the section, with dots: `security`.
        key: &'static str,
    },
    /// A tool that always asks by itself: the tool's `autoExecute: true` has no effect.
    AsksAlways {
        /// The tool's name.
        tool: &'static str,
        /// The action that it asks about, as a noun: `typing into a running command`.
        about: &'static str,
    },
    /// A list of directories, absolute or starting with `~`: they are treated as part of the workspace, for all tools. See
    /// [`Builder::further_directories`](crate::Builder::further_directories).
    Directories {
        /// The key within the section, with dots: `allowedDirectories`.
        key: &'static str,
    },
    /// A path, or a list of paths, absolute or starting with `~`: programs that the tool runs, or directories of them. Writing to them needs
    /// approval, as for [`Builder::protect_program`](crate::Builder::protect_program).
    Programs {
        /// The key within the section, with dots: `executable`.
        key: &'static str,
    },
}

impl ConfigSection {
    /// Declares a section at a path with dots: `tools.exec`. It begins with `tools.` or `plugins.`, and no section is within
    /// another.
    pub const fn at<T: ToolArg>(path: &'static str) -> Self {
        Self::new::<T>(Place::Path(path))
    }

    /// Declares a tool's own section: `tools.settings.<tool>`, beside `enabled` and `autoExecute`.
    pub const fn of_tool<T: ToolArg>(tool: &'static str) -> Self {
        let mut section = Self::new::<T>(Place::Tool(tool));
        section.tool = Some(tool);
        section
    }

    /// Declares a plugin's own section: `plugins.<id>`, beside `enabled` and `joinGroups`.
    pub const fn of_plugin<T: ToolArg>(id: &'static str) -> Self {
        Self::new::<T>(Place::Plugin(id))
    }

    /// Declares a section of each agent: `agents.<id>.<key>`, beside the keys that every agent has. It has no [gates](Self::gates).
    /// [`Configuration::each_section`](crate::config::Configuration::each_section) reads those of all agents.
    pub const fn of_agents<T: ToolArg>(key: &'static str) -> Self {
        Self::new::<T>(Place::Each { map: "agents", key })
    }

    /// Declares a section of each channel: `channels.<name>.<key>`, beside the keys that every channel has. It has no
    /// [gates](Self::gates). The crate of a chat platform names the key after the platform: a channel with the key is one of that platform.
    pub const fn of_channels<T: ToolArg>(key: &'static str) -> Self {
        Self::new::<T>(Place::Each { map: "channels", key })
    }

    const fn new<T: ToolArg>(place: Place) -> Self {
        Self {
            place,
            part: None,
            tool: None,
            function: None,
            type_name: std::any::type_name::<T>,
            gates: &[],
            has_members: false,
            entries: None,
            is_lenient: false,
            void_because: None,
            other_names: &[],
            schema: T::schema,
            decodes: decodes::<T>,
        }
    }

    /// Sets the tool that gets the section as its `ctx.config`.
    #[must_use]
    pub const fn tool(mut self, tool: &'static str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Returns the section with this tool as its place.
    #[doc(hidden)]
    #[must_use]
    pub const fn for_tool(mut self, tool: &'static str) -> Self {
        self.place = Place::Tool(tool);
        self.tool = Some(tool);
        self
    }

    /// Returns the section with the plugin of a crate as its place.
    #[doc(hidden)]
    #[must_use]
    pub const fn for_crate(mut self, location: Location) -> Self {
        self.place = Place::Crate(location);
        self
    }

    /// Names the function that takes the section.
    #[doc(hidden)]
    #[must_use]
    pub const fn of_function(mut self, name: &'static str, location: Location) -> Self {
        self.function = Some((name, location));
        self
    }

    /// Returns the section at a key within the section of the plugin.
    #[doc(hidden)]
    #[must_use]
    pub const fn part(mut self, key: &'static str) -> Self {
        self.part = Some(key);
        self
    }

    /// Sets the keys that decide which tools exist, and those that can only take away.
    #[must_use]
    pub const fn gates(mut self, gates: &'static [ConfigGate]) -> Self {
        self.gates = gates;
        self
    }

    /// Makes each member that is an object stand for itself: one that names a variable or a file that is not there does not make the others
    /// unusable. [`Configuration::section_members`](crate::config::Configuration::section_members) reads such a section.
    #[must_use]
    pub const fn members(mut self) -> Self {
        self.has_members = true;
        self
    }

    /// Makes the section a map of entries, each of which is one thing, such as a server. Each entry [stands for itself](Self::members). A later
    /// source replaces an entry as a whole: one that is merged from two sources could send the secrets of one to the address of the other. An
    /// entry with `enabled: false` needs no variable or file. The section is one key of the configuration, `mcp`.
    #[must_use]
    pub const fn entries(mut self, entries: ConfigEntries) -> Self {
        self.entries = Some(entries);
        self.has_members = true;
        self
    }

    /// Makes the defaults count for keys that name a variable or a file that is not there. Otherwise the whole section is unusable then.
    #[must_use]
    pub const fn lenient(mut self) -> Self {
        self.is_lenient = true;
        self
    }

    /// Declares that only some programs use the section: in one that does not state it with
    /// [`Builder::uses_section`](crate::Builder::uses_section), each configured key is reported to have no effect, for this reason.
    #[must_use]
    pub const fn void_because(mut self, reason: &'static str) -> Self {
        self.void_because = Some(reason);
        self
    }

    /// Sets the names that other programs have for such a section. They stay unknown keys, but the error names this section.
    #[must_use]
    pub const fn also_known_as(mut self, names: &'static [&'static str]) -> Self {
        self.other_names = names;
        self
    }

    /// Returns true if other programs have this name for such a section.
    pub(crate) fn is_known_as(&self, name: &str) -> bool {
        self.other_names.contains(&name)
    }

    /// Returns the place of the section, as a JSON pointer, with `*` for the name of an agent or a channel.
    pub fn pointer(&self) -> String {
        let whole = match self.place {
            Place::Path(path) => join(path.split('.')),
            Place::Tool(tool) => join(["tools", "settings", tool]),
            Place::Plugin(id) => join(["plugins", id]),
            Place::Each { map, key } => join([map, EACH, key]),
            Place::Crate(location) => join(["plugins", &toolkit_core::plugin::id_of(&location)]),
        };
        match self.part {
            Some(key) => format!("{whole}{}", join([key])),
            None => whole,
        }
    }

    /// Returns true if the section is a key of each agent or channel.
    pub(crate) fn is_of_each(&self) -> bool {
        matches!(self.place, Place::Each { .. })
    }

    /// Returns the places in a document at which the section is, or can be if there is only one.
    pub(crate) fn places(&self, document: &Value) -> Vec<String> {
        let Place::Each { map, key } = self.place else { return vec![self.pointer()] };
        let entries = document.get(map).and_then(Value::as_object).into_iter().flatten();
        let entries = entries.filter(|(_, entry)| entry.get(key).is_some());
        entries.map(|(name, _)| join([map, name, key])).collect()
    }

    /// Returns the place of the section that the value at `pointer` is in, or is.
    pub(crate) fn place_of(&self, pointer: &str) -> Option<String> {
        let place = match self.place {
            Place::Each { map, key } => {
                let name = steps(pointer).nth(1)?;
                join([map, &name, key])
            }
            _ => self.pointer(),
        };
        let rest = pointer.strip_prefix(&*place)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(place)
    }

    /// Returns true if defaults replace values that cannot be used.
    pub(crate) fn is_lenient(&self) -> bool {
        self.is_lenient
    }

    /// Returns the reason why the keys have no effect in a program that does not use the section.
    pub(crate) fn is_void_because(&self) -> Option<&'static str> {
        self.void_because
    }

    /// Returns true if the section is the value of a key within the section of its plugin.
    pub(crate) fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// Returns the type, and the function that takes it if an attribute declared the section, for messages.
    pub(crate) fn taker(&self) -> String {
        let ty = (self.type_name)();
        match self.function {
            Some((name, location)) => format!("`Config<{ty}>` by `{name}` ({location})"),
            None => format!("`{ty}`"),
        }
    }

    /// Returns true if an attribute declared the section for a function of a plugin.
    #[cfg(feature = "runtime")]
    pub(crate) fn is_of_function(&self) -> bool {
        self.function.is_some()
    }

    pub(crate) fn its_tool(&self) -> Option<&'static str> {
        self.tool
    }

    pub(crate) fn its_gates(&self) -> &'static [ConfigGate] {
        self.gates
    }

    pub(crate) fn has_members(&self) -> bool {
        self.has_members
    }

    pub(crate) fn its_entries(&self) -> Option<ConfigEntries> {
        self.entries
    }

    /// Returns true if an entry of the section is at `pointer`.
    pub(crate) fn has_entry_at(&self, pointer: &str) -> bool {
        let within =
            || pointer.strip_prefix(&*self.pointer())?.strip_prefix('/').map(|name| !name.contains('/'));
        self.entries.is_some() && within() == Some(true)
    }

    pub(crate) fn schema(&self) -> SchemaFn {
        self.schema
    }

    /// Fails if the type does not accept a value that the schema accepts.
    pub(crate) fn decodes(&self, value: Value) -> serde_json::Result<()> {
        (self.decodes)(value)
    }
}

impl ConfigGate {
    /// Returns the pointer of the key in the document, for the section at `section`.
    pub(crate) fn pointer(self, section: &str) -> String {
        match self {
            Self::Enabled { key, .. }
            | Self::Models { key, .. }
            | Self::Narrows { key }
            | Self::Order { key, .. }
            | Self::AtMost { key }
            | Self::Asks { key, .. }
            | Self::Directories { key }
            | Self::Programs { key } => format!("{section}{}", join(key.split('.'))),
            // It has no key.
            Self::AsksAlways { .. } => section.to_owned(),
        }
    }
}

fn decodes<T: ToolArg>(value: Value) -> serde_json::Result<()> {
    T::decode(value).map(drop)
}
