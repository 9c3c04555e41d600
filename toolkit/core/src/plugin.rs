//! Plugins: every crate with tools that the host does not call core, the host's own binary included.

use crate::location::Location;
use serde::Serialize;
use std::sync::Arc;

/// What a crate says of itself as a plugin. Made by `toolkit::plugin!`, once a crate.
#[derive(Debug, Clone, Copy)]
pub struct PluginDef {
    /// Its id, by which policies and the configuration name it: letters, digits, `-`, `_` and `.`.
    pub id: &'static str,
    /// Its name for people.
    pub title: Option<&'static str>,
    /// What it brings.
    pub description: Option<&'static str>,
    /// Its tools are there only where an allow list names them, or it.
    pub optional: bool,
    /// The channel in whose sessions alone its tools exist.
    pub channel: Option<&'static str>,
    /// Where it is written; the first segment of its module is the crate.
    pub location: Location,
}

impl PluginDef {
    /// One that says nothing, to fill in.
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
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'static str>,
    /// What it brings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'static str>,
    /// Its crate, as Rust code writes it.
    pub crate_name: &'static str,
    /// Whether its tools are there only where an allow list names them, or it.
    pub optional: bool,
    /// The channel in whose sessions alone its tools exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<&'static str>,
    /// Whether it is left out whole, since its id names a core tool.
    pub blocked: bool,
}

impl Plugin {
    /// What is known of the plugin that a crate is, where it says nothing itself.
    #[doc(hidden)]
    pub fn of_crate(location: &Location) -> Self {
        let crate_name = location.crate_name();
        // The package's name is as people write it, unless it is about another crate of the package.
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

/// The id of the plugin that the crate of a place is, or would be if it is core.
#[doc(hidden)]
pub fn id_of(location: &Location) -> String {
    let stated = inventory::iter::<LinkedPlugin>()
        .map(|LinkedPlugin(def)| *def)
        .filter(|def| def.location.crate_name() == location.crate_name())
        // Of two there is an error when the toolkit is built.
        .min_by_key(|def| (def.location.file, def.location.line));
    let plugin = stated.map_or_else(|| Plugin::of_crate(location), Plugin::of_def);
    plugin.id.as_ref().to_owned()
}

/// Whether `id` can be a plugin's: nothing that means something else in a list of tools.
#[doc(hidden)]
pub fn is_valid_id(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= 128
        && id.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.'))
}
