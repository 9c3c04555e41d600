//! The section `node` of the configuration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::config::{ConfigSection, Configuration};

/// A device that serves a gateway (`/node`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct NodeSettings {
    /// If true, the gateway may run commands on this device, by its tool `exec`, under the rules and the sandbox of this configuration. A command
    /// that needs an approval is denied, unless a rule allows it.
    pub run: bool,
    /// If false, the gateway gets no pictures of the screen. Default: true.
    pub screenshot: bool,
    /// If false, the gateway shows no notifications. Default: true.
    pub notify: bool,
    /// The place of this device. Without it, the gateway is told how to set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<NodeLocation>,
}

/// A place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct NodeLocation {
    /// Degrees north, from -90 to 90.
    #[schemars(range(min = -90, max = 90))]
    pub latitude: f64,
    /// Degrees east, from -180 to 180.
    #[schemars(range(min = -180, max = 180))]
    pub longitude: f64,
    /// The place in words, such as `the kitchen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub label: Option<String>,
}

impl Default for NodeSettings {
    fn default() -> Self {
        Self { run: false, screenshot: true, notify: true, location: None }
    }
}

impl NodeSettings {
    /// The path of the section.
    pub const SECTION: &str = "node";

    /// Returns the settings of a configuration.
    pub fn of(configuration: &Configuration) -> Self {
        // A value that does not fit is an error of loading.
        configuration.section(Self::SECTION).unwrap_or_default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<NodeSettings>(NodeSettings::SECTION)
        .lenient()
        .void_because("this program is no node")
);
