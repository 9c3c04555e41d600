//! Why a tool is there or not, layer by layer.

use crate::config_origin::ConfigOrigin;
use crate::escape::{escape_line, escape_rest};
use serde::{Serialize, Serializer};
use std::fmt;

/// What one layer of a policy says of a tool.
///
/// It prints as a line: `denies  the rules of agent `kid`: …`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LayerVerdict {
    /// Which part of the policy: "the rules of agent `kid`".
    pub layer: String,
    /// What it says.
    pub verdict: PolicyVerdict,
    /// Why, as a clause: "`exec` is in its deny list".
    pub reason: String,
    /// The rule that made it, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<PolicyRule>,
}

/// What a layer says. A tool exists if none denies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum PolicyVerdict {
    /// It lets the tool through by a rule that names it, or that restricts nothing.
    Allows,
    /// It denies the tool.
    Denies,
    /// It says nothing of it.
    Silent,
}

/// A rule of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyRule {
    /// The entry as it was written; none where it is the lack of one that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Where it stands in the configuration, as a JSON pointer: `/agents/kid/tools/deny/0`.
    pub pointer: String,
    /// Where it was written, if that is known.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub origin: Option<ConfigOrigin>,
}

/// Why a tool exists for a caller, or doesn't.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Explanation {
    /// The tool, by its name.
    pub tool: String,
    /// Whether it exists for the caller.
    pub exists: bool,
    /// Whether there is a tool of this name at all, be it switched off. Otherwise the layers judge the name alone.
    pub present: bool,
    /// Why there is no tool of this name, where what would bring it says so: its server cannot be reached, say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absence: Option<String>,
    /// What each layer says, in the order in which they are asked.
    pub layers: Vec<LayerVerdict>,
}

impl LayerVerdict {
    /// What a layer says, for policies of a host's own.
    pub fn new(layer: impl Into<String>, verdict: PolicyVerdict, reason: impl Into<String>) -> Self {
        Self { layer: layer.into(), verdict, reason: reason.into(), rule: None }
    }
}

impl Explanation {
    /// The first layer that denies the tool.
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

/// Where it was written if that is known, else where it stands; in one line that is safe to show.
impl fmt::Display for PolicyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = escape_line(&self.pointer);
        match &self.origin {
            Some(origin) => write!(f, "{pointer} at {}", escape_line(&origin.to_string())),
            None => f.write_str(&pointer),
        }
    }
}

/// In one line that is safe to show: names that somebody else chose may stand in it.
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
