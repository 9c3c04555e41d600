//! The accessibility tree as the browser sends it.

use serde_json::Value;
use std::collections::HashMap;

/// The most characters of a name or a value that are kept.
const MAX_TEXT_CHARS: usize = 500;

/// A node.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::browser) struct AxNode {
    pub(in crate::browser) id: String,
    pub(in crate::browser) is_ignored: bool,
    pub(in crate::browser) role: String,
    pub(in crate::browser) name: String,
    pub(in crate::browser) value: String,
    pub(in crate::browser) properties: HashMap<String, Value>,
    pub(in crate::browser) children: Vec<String>,
    pub(in crate::browser) backend: Option<i64>,
}

impl AxNode {
    pub(super) fn is(&self, property: &str) -> bool {
        match self.properties.get(property) {
            Some(Value::Bool(value)) => *value,
            Some(Value::String(value)) => value == "true",
            _ => false,
        }
    }

    pub(super) fn text(&self, property: &str) -> Option<&str> {
        self.properties.get(property).and_then(Value::as_str)
    }
}

/// The tree of one frame. The first node is its root.
#[derive(Debug, Default)]
pub(in crate::browser) struct Frame {
    pub(in crate::browser) session: String,
    /// Its id.
    pub(in crate::browser) id: String,
    pub(in crate::browser) nodes: Vec<AxNode>,
}

/// An element by its session and its number there.
pub(super) type Owner = (String, i64);

/// The trees of all frames of a page.
#[derive(Debug, Default)]
pub(in crate::browser) struct Frames {
    all: Vec<Frame>,
    by_owner: HashMap<Owner, usize>,
    /// True if something was left out.
    pub(in crate::browser) is_cut: bool,
}

impl Frames {
    pub(super) fn push(&mut self, owner: Option<Owner>, frame: Frame) {
        if let Some(owner) = owner {
            self.by_owner.insert(owner, self.all.len());
        }
        self.all.push(frame);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The page's own frame.
    pub(super) fn main(&self) -> Option<&Frame> {
        self.all.first()
    }

    /// The frame in an element.
    pub(super) fn within(&self, session: &str, backend: i64) -> Option<&Frame> {
        self.by_owner.get(&(session.to_owned(), backend)).map(|place| &self.all[*place])
    }
}

/// Reads the answer to `Accessibility.getFullAXTree`.
pub(super) fn parse(tree: &Value) -> Vec<AxNode> {
    tree["nodes"].as_array().map(Vec::as_slice).unwrap_or_default().iter().map(node).collect()
}

fn node(node: &Value) -> AxNode {
    let properties = node["properties"].as_array().map(Vec::as_slice).unwrap_or_default();
    let properties = properties.iter().filter_map(|property| {
        Some((property["name"].as_str()?.to_owned(), property["value"]["value"].clone()))
    });
    let children = node["childIds"].as_array().map(Vec::as_slice).unwrap_or_default();
    AxNode {
        id: node["nodeId"].as_str().unwrap_or_default().to_owned(),
        is_ignored: node["ignored"].as_bool().unwrap_or_default(),
        role: node["role"]["value"].as_str().unwrap_or_default().to_owned(),
        name: text(&node["name"]["value"]),
        value: text(&node["value"]["value"]),
        properties: properties.collect(),
        children: children.iter().filter_map(|id| id.as_str().map(ToOwned::to_owned)).collect(),
        backend: node["backendDOMNodeId"].as_i64(),
    }
}

/// A value as text, on one line, cut.
fn text(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
