//! Explains layer by layer why a tool exists or not.

use serde::{Serialize, Serializer};
use std::fmt;
use toolkit_core::config_origin::ConfigOrigin;
use toolkit_core::escape::{escape_line, escape_rest};

/// The verdict of one layer of a policy on a tool.
///
/// It is displayed as a line: `denies  the rules of agent `kid`: …`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LayerVerdict {
    /// The part of the policy: "the rules of agent `kid`".
    pub layer: String,
    /// The verdict.
    pub verdict: PolicyVerdict,
    /// The reason, as a clause: "`exec` is in its deny list".
    pub reason: String,
    /// The rule that decided, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<PolicyRule>,
}

/// A verdict. A tool exists if no layer denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PolicyVerdict {
    /// The layer admits the tool by a rule that names it, or that restricts nothing.
    Allows,
    /// The layer denies the tool.
    Denies,
    /// The layer has no rule for the tool.
    Silent,
}

/// A rule of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyRule {
    /// The entry as it was written; `None` if a missing entry decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The JSON pointer of the rule in the configuration: `/agents/kid/tools/deny/0`.
    pub pointer: String,
    /// The source location, if known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub origin: Option<ConfigOrigin>,
}

/// An explanation why a tool exists for a caller or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explanation {
    /// The tool, by its name.
    pub tool: String,
    /// True if the tool exists for the caller.
    pub exists: bool,
    /// True if there is a tool of this name, even if it is disabled. Otherwise the layers judge the name alone.
    pub present: bool,
    /// The reason why there is no tool of this name, if its source states one: an unreachable server, for example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absence: Option<String>,
    /// The verdict of each layer, in the order in which they are checked.
    pub layers: Vec<LayerVerdict>,
}

impl LayerVerdict {
    /// Creates a verdict of a layer, for a host's own policies.
    pub fn new(layer: impl Into<String>, verdict: PolicyVerdict, reason: impl Into<String>) -> Self {
        Self { layer: layer.into(), verdict, reason: reason.into(), rule: None }
    }
}

impl Explanation {
    /// Returns the first layer that denies the tool.
    pub fn denied_by(&self) -> Option<&LayerVerdict> {
        self.layers.iter().find(|layer| layer.verdict == PolicyVerdict::Denies)
    }
}

impl fmt::Display for PolicyVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Allows => "allows",
            Self::Denies => "denies",
            Self::Silent => "silent",
        })
    }
}

/// Formats the source location if known, or else the pointer, in one line that is safe to display.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = escape_line(&self.pointer);
        match &self.origin {
            Some(origin) => write!(f, "{pointer} at {}", escape_line(&origin.to_string())),
            None => f.write_str(&pointer),
        }
    }
}

/// Formats the verdict in one line that is safe to display: names chosen by others are escaped.
impl fmt::Display for LayerVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layer, reason) = (escape_rest(&self.layer), escape_rest(&self.reason));
        write!(f, "{:<6}  {layer}: {reason}", self.verdict)?;
        match &self.rule {
            Some(rule) => write!(f, " ({rule})"),
            None => Ok(()),
        }
    }
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn as_text<S: Serializer>(origin: &Option<ConfigOrigin>, serializer: S) -> Result<S::Ok, S::Error> {
    match origin {
        Some(origin) => serializer.collect_str(origin),
        None => serializer.serialize_none(),
    }
}
