//! Sections of the configuration that crates bring.

use crate::arg::{SchemaFn, ToolArg};
use crate::config::pointer::join;
use crate::tool_def::Location;
use serde_json::Value;

/// A section of the configuration that a crate brings: where it stands, and the type that it decodes to. The type is a
/// struct with named fields or a map; its schema checks the section.
///
/// ```
/// use toolkit::ConfigSection;
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
    tool: Option<&'static str>,
    gates: &'static [ConfigGate],
    has_members: bool,
    schema: SchemaFn,
    decodes: fn(Value) -> serde_json::Result<()>,
}

inventory::collect!(ConfigSection);

/// Brings a [`ConfigSection`] into every program that this crate is linked into.
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
    /// Of the plugin that the crate of this place is.
    Crate(Location),
}

/// A key of a section that decides something beyond the section: which tools there are, what counts as within the
/// workspace, or what a file that is not trusted may take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigGate {
    /// A boolean: `false` takes the tool away.
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
    /// A list that only takes away: what several sources say counts together, so that none loses what another blocks.
    Narrows {
        /// The key within the section, with dots: `blockedDomains`.
        key: &'static str,
    },
    /// A word or a boolean: what a file that is not trusted says of it counts where it is stricter than what else is said.
    Order {
        /// The key within the section, with dots: `sandbox`.
        key: &'static str,
        /// The values in ranks, the loosest first; a boolean is `true` or `false`. Of values of one rank none is stricter than the
        /// other, and the one of whom the user trusts stays.
        ranks: &'static [&'static [&'static str]],
        /// Another key of an order, and the word that counts as said of it too, where a value of the first rank had to give way. A
        /// sandbox, say, that may take questions away where there was none.
        and: Option<(&'static str, &'static str)>,
    },
    /// A number: what a file that is not trusted says of it counts where it is less than what else is said.
    AtMost {
        /// The key within the section, with dots: `timeoutSec`.
        key: &'static str,
    },
    /// A key that decides whether the tool asks: `autoExecute: true` of the tool has no effect beside it.
    Asks {
        /// The tool's name.
        tool: &'static str,
        /// The key within the section, with dots: `security`.
        key: &'static str,
    },
    /// A tool that asks by itself whatever is configured: `autoExecute: true` of the tool has no effect.
    AsksAlways {
        /// The tool's name.
        tool: &'static str,
        /// The action that it asks about, as a noun: `typing into a running command`.
        about: &'static str,
    },
    /// A list of directories, absolute or from `~` on: they count as within the workspace, for all tools. See
    /// [`Builder::further_directories`](crate::Builder::further_directories).
    Directories {
        /// The key within the section, with dots: `allowedDirectories`.
        key: &'static str,
    },
}

impl ConfigSection {
    /// At a path with dots: `tools.exec`. It begins with `tools.` or `plugins.`, or is one key that the core does not have, such as `models`.
    /// No section stands within another.
    pub const fn at<T: ToolArg>(path: &'static str) -> Self {
        Self::new::<T>(Place::Path(path))
    }

    /// A tool's own: `tools.settings.<tool>`, beside `enabled` and `autoExecute`.
    pub const fn of_tool<T: ToolArg>(tool: &'static str) -> Self {
        let mut section = Self::new::<T>(Place::Tool(tool));
        section.tool = Some(tool);
        section
    }

    /// A plugin's own: `plugins.<id>`, beside `enabled` and `joinGroups`.
    pub const fn of_plugin<T: ToolArg>(id: &'static str) -> Self {
        Self::new::<T>(Place::Plugin(id))
    }

    const fn new<T: ToolArg>(place: Place) -> Self {
        Self { place, tool: None, gates: &[], has_members: false, schema: T::schema, decodes: decodes::<T> }
    }

    /// The tool whose `ctx.config` it is.
    #[must_use]
    pub const fn tool(mut self, tool: &'static str) -> Self {
        self.tool = Some(tool);
        self
    }

    /// The same, of this tool.
    #[doc(hidden)]
    #[must_use]
    pub const fn for_tool(mut self, tool: &'static str) -> Self {
        self.place = Place::Tool(tool);
        self.tool = Some(tool);
        self
    }

    /// The same, of the plugin that a crate is.
    #[doc(hidden)]
    #[must_use]
    pub const fn for_crate(mut self, location: Location) -> Self {
        self.place = Place::Crate(location);
        self
    }

    /// Which of its keys decide which tools there are, and which can only take away.
    #[must_use]
    pub const fn gates(mut self, gates: &'static [ConfigGate]) -> Self {
        self.gates = gates;
        self
    }

    /// Makes each member that is an object stand for itself: one that names a variable or a file that is not there does not make the others
    /// unusable. [`Configuration::section_members`](crate::Configuration::section_members) reads such a section.
    #[must_use]
    pub const fn members(mut self) -> Self {
        self.has_members = true;
        self
    }

    /// Where it stands, as a JSON pointer.
    pub fn pointer(&self) -> String {
        match self.place {
            Place::Path(path) => join(path.split('.')),
            Place::Tool(tool) => join(["tools", "settings", tool]),
            Place::Plugin(id) => join(["plugins", id]),
            Place::Crate(location) => join(["plugins", &crate::plugin::id_of(&location)]),
        }
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

    pub(crate) fn schema(&self) -> SchemaFn {
        self.schema
    }

    /// Whether its type takes a value that its schema takes.
    pub(crate) fn decodes(&self, value: Value) -> serde_json::Result<()> {
        (self.decodes)(value)
    }
}

impl ConfigGate {
    /// Its pointer in the document, within the section at `section`.
    pub(crate) fn pointer(self, section: &str) -> String {
        match self {
            Self::Enabled { key, .. }
            | Self::Models { key, .. }
            | Self::Narrows { key }
            | Self::Order { key, .. }
            | Self::AtMost { key }
            | Self::Asks { key, .. }
            | Self::Directories { key } => format!("{section}{}", join(key.split('.'))),
            // It is about no key.
            Self::AsksAlways { .. } => section.to_owned(),
        }
    }
}

fn decodes<T: ToolArg>(value: Value) -> serde_json::Result<()> {
    T::decode(value).map(drop)
}
