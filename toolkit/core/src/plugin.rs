//! Plugins: every crate with tools that the host does not declare as core, including the host's own binary.

use crate::location::Location;
use serde::Serialize;
use std::sync::Arc;

/// A crate's description of itself as a plugin. Created by `toolkit::plugin!`, once per crate.
#[derive(Debug, Clone, Copy)]
pub struct PluginDef {
    /// The id used in policies and the configuration: letters, digits, `-`, `_` and `.`.
    pub id: &'static str,
    /// The display name.
    pub title: Option<&'static str>,
    /// A description of its contents.
    pub description: Option<&'static str>,
    /// True if its tools exist only for callers whose allow list names them, or the plugin.
    pub optional: bool,
    /// The channel to whose sessions its tools are limited.
    pub channel: Option<&'static str>,
    /// The source location; the first segment of its module is the crate.
    pub location: Location,
}

impl PluginDef {
    /// An empty definition, to fill in.
    pub const BASE: Self = Self {
        id: "",
        title: None,
        description: None,
        optional: false,
        channel: None,
        location: Location { module: "", package: "", version: "", file: "", line: 0, column: 0 },
    };
}

/// A plugin that is linked into this process.
#[derive(Debug, Clone, Copy)]
pub struct LinkedPlugin(pub &'static PluginDef);

inventory::collect!(LinkedPlugin);

/// A plugin of a toolkit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Plugin {
    /// Its id.
    pub id: Arc<str>,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// A description of its contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'static str>,
    /// Its crate, as Rust code writes it.
    pub crate_name: &'static str,
    /// True if its tools exist only for callers whose allow list names them, or the plugin.
    pub optional: bool,
    /// The channel to whose sessions its tools are limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<&'static str>,
    /// True if the plugin is left out as a whole, since its id is the name of a core tool.
    pub blocked: bool,
}

impl Plugin {
    /// Returns the plugin of a crate that has no `plugin!`.
    #[doc(hidden)]
    pub fn of_crate(location: &Location) -> Self {
        let crate_name = location.crate_name();
        // The package's name is in its usual spelling, unless this is another crate of the package.
        let is_package = location.package.replace('-', "_") == crate_name;
        let id = if is_package { location.package } else { crate_name };
        Self {
            id: id.to_lowercase().into(),
            title: None,
            description: None,
            crate_name,
            optional: false,
            channel: None,
            blocked: false,
        }
    }

    #[doc(hidden)]
    pub fn of_def(def: &PluginDef) -> Self {
        Self {
            id: def.id.trim().to_lowercase().into(),
            title: def.title,
            description: def.description,
            optional: def.optional,
            channel: def.channel,
            ..Self::of_crate(&def.location)
        }
    }
}

/// Returns the id of the plugin that contains a source location; for a core crate, the id it would have.
#[doc(hidden)]
pub fn id_of(location: &Location) -> String {
    let stated = inventory::iter::<LinkedPlugin>()
        .map(|LinkedPlugin(def)| *def)
        .filter(|def| def.location.crate_name() == location.crate_name())
        // If there are two, building the toolkit fails.
        .min_by_key(|def| (def.location.file, def.location.line));
    let plugin = stated.map_or_else(|| Plugin::of_crate(location), Plugin::of_def);
    plugin.id.as_ref().to_owned()
}

/// Returns true if `id` is a valid plugin id, without another meaning in a list of tools.
#[doc(hidden)]
pub fn is_valid_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 128
        && id.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))
}
