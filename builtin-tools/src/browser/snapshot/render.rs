//! The tree as text: one line for each element that means something.

use super::tree::{AxNode, Frame, Frames};
use crate::browser::refs::{Node, Refs};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The most bytes of a snapshot.
const MAX_BYTES: usize = 2 << 20;
/// The deepest indentation; what is deeper stands at this depth.
const MAX_DEPTH: usize = 30;
/// How deep elements may be nested.
const MAX_NESTING: usize = 300;
/// The most characters of a link's address.
const MAX_LINK_CHARS: usize = 150;

/// Roles that say nothing by themselves: what is in them stands in their place.
const TRANSPARENT: [&str; 13] = [
    "none",
    "generic",
    "InlineTextBox",
    "LineBreak",
    "MenuListPopup",
    "LayoutTable",
    "LayoutTableRow",
    "LayoutTableCell",
    "presentation",
    "RootWebArea",
    "rootWebArea",
    "Section",
    "LabelText",
];

/// Roles that structure a page, and that nothing is done with.
const STRUCTURE: [&str; 20] = [
    "paragraph",
    "list",
    "table",
    "rowgroup",
    "banner",
    "main",
    "navigation",
    "contentinfo",
    "complementary",
    "region",
    "article",
    "section",
    "group",
    "form",
    "term",
    "definition",
    "emphasis",
    "strong",
    "blockquote",
    "DescriptionList",
];

/// Fields: what they hold is their value.
const FIELDS: [&str; 3] = ["textbox", "searchbox", "spinbutton"];

/// The snapshot of a page. Its refs are added to `refs`.
pub(in crate::browser) fn render(frames: &Frames, refs: &mut Refs) -> String {
    let mut renderer = Renderer { frames, refs, text: String::new(), origin: String::new() };
    if let Some(frame) = frames.main() {
        renderer.origin = frame.nodes.first().and_then(|root| origin(root.text("url")?)).unwrap_or_default();
        renderer.frame(frame, 0, 0);
    }
    if renderer.text.is_empty() {
        renderer.text.push_str("(the page shows nothing)\n");
    }
    renderer.text
}

struct Renderer<'a> {
    frames: &'a Frames,
    refs: &'a mut Refs,
    text: String,
    /// Scheme and host of the page: links on it are shown without.
    origin: String,
}

/// Nodes that were not shown so far, by id: each is shown once, whatever the tree says.
type UnshownNodes<'n> = HashMap<&'n str, &'n AxNode>;

/// The rendering of a node.
enum Item<'a> {
    Text(String),
    Element(&'a AxNode),
}

impl Renderer<'_> {
    fn frame(&mut self, frame: &Frame, depth: usize, nesting: usize) {
        let mut left: UnshownNodes<'_> = frame.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
        let Some(root) = frame.nodes.first().and_then(|root| left.remove(root.id.as_str())) else { return };
        let mut items = Vec::new();
        collect(root, &mut left, &mut items, nesting);
        self.items(frame, &mut left, items, depth, nesting);
    }

    fn items<'n>(
        &mut self,
        frame: &Frame,
        left: &mut UnshownNodes<'n>,
        items: Vec<Item<'n>>,
        depth: usize,
        nesting: usize,
    ) {
        for item in items {
            if self.text.len() > MAX_BYTES || nesting > MAX_NESTING {
                return;
            }
            match item {
                Item::Text(text) => self.line(depth, &format!("text: {text}")),
                Item::Element(node) => self.element(frame, left, node, depth, nesting + 1),
            }
        }
    }

    fn element<'n>(
        &mut self,
        frame: &Frame,
        left: &mut UnshownNodes<'n>,
        node: &'n AxNode,
        depth: usize,
        nesting: usize,
    ) {
        let mut inner = Vec::new();
        for id in &node.children {
            if let Some(child) = left.remove(id.as_str()) {
                collect(child, left, &mut inner, nesting);
            }
        }
        // The parts of a field, and empty boxes, are left out.
        if FIELDS.contains(&&*node.role) {
            inner.clear();
        }
        if node.role == "generic" && inner.is_empty() && node.name.is_empty() && !node.is("focusable") {
            return;
        }
        // A name that was made from the content need not be said twice.
        if let [Item::Text(text)] = &*inner
            && (*text == node.name || *text == node.value)
        {
            inner.clear();
        }
        let mut line = self.head(frame, node);
        let frames = self.frames;
        let inside = node.backend.filter(|_| node.role == "Iframe");
        let inside = inside.and_then(|backend| frames.within(&frame.session, backend));
        if let [Item::Text(text)] = &*inner {
            let _ = write!(line, ": {text}");
            inner.clear();
        } else if !inner.is_empty() || inside.is_some() {
            line.push(':');
        }
        self.line(depth, &line);
        if let Some(inside) = inside {
            self.frame(inside, depth + 1, nesting);
        }
        self.items(frame, left, inner, depth + 1, nesting);
    }

    /// Role, name, ref and state.
    fn head(&mut self, frame: &Frame, node: &AxNode) -> String {
        let role = if node.role == "Iframe" { "iframe" } else { &*node.role };
        let mut line = role.to_owned();
        if !node.name.is_empty() {
            let _ = write!(line, " {}", quoted(&node.name));
        }
        let description = line.clone();
        let is_structure = STRUCTURE.contains(&role) && !node.is("focusable");
        if let Some(backend) = node.backend.filter(|_| !is_structure) {
            let (session, frame) = (frame.session.clone(), frame.id.clone());
            let name = self.refs.name(Node { session, frame, backend, description });
            let _ = write!(line, " [{name}]");
        }
        // Of items of a list, their indentation says it.
        let shown: &[&str] = if role == "listitem" { &["valuetext"] } else { &["level", "valuetext"] };
        for property in shown {
            match node.properties.get(*property) {
                Some(serde_json::Value::Number(number)) => {
                    let _ = write!(line, " [{property}={number}]");
                }
                Some(serde_json::Value::String(text)) if !text.is_empty() => {
                    let _ = write!(line, " [{property}={}]", quoted(text));
                }
                _ => {}
            }
        }
        for property in ["checked", "pressed"] {
            match node.text(property) {
                Some("true") => {
                    let _ = write!(line, " [{property}]");
                }
                Some("mixed") => {
                    let _ = write!(line, " [{property}=mixed]");
                }
                _ => {}
            }
        }
        for property in
            ["disabled", "expanded", "selected", "required", "readonly", "multiselectable", "focused", "busy"]
        {
            if node.is(property) {
                let _ = write!(line, " [{property}]");
            }
        }
        if node.properties.get("expanded").is_some_and(|value| value == &serde_json::Value::Bool(false)) {
            line.push_str(" [collapsed]");
        }
        if node.text("invalid").is_some_and(|invalid| invalid != "false") {
            line.push_str(" [invalid]");
        }
        if !node.value.is_empty() && node.value != node.name {
            let _ = write!(line, " value={}", quoted(&node.value));
        }
        if let Some(url) = node.text("url").filter(|_| node.role == "link") {
            let url = url.strip_prefix(&*self.origin).filter(|rest| rest.starts_with('/')).unwrap_or(url);
            let short: String = url.chars().take(MAX_LINK_CHARS).collect();
            let _ = write!(line, " -> {short}");
        }
        line
    }

    fn line(&mut self, depth: usize, line: &str) {
        for _ in 0..depth.min(MAX_DEPTH) {
            self.text.push_str("  ");
        }
        self.text.push_str("- ");
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// The items of a node: itself, or what is in it where it says nothing by itself.
fn collect<'n>(node: &'n AxNode, left: &mut UnshownNodes<'n>, items: &mut Vec<Item<'n>>, nesting: usize) {
    // The bullet of an item says nothing.
    if nesting > MAX_NESTING || node.role == "ListMarker" {
        return;
    }
    if node.role == "StaticText" && !node.is_ignored {
        if node.name.is_empty() {
            return;
        }
        match items.last_mut() {
            Some(Item::Text(text)) => {
                text.push(' ');
                text.push_str(&node.name);
            }
            _ => items.push(Item::Text(node.name.clone())),
        }
        return;
    }
    let is_shown = !node.is_ignored && (!TRANSPARENT.contains(&&*node.role) || is_told(node));
    if is_shown {
        items.push(Item::Element(node));
        return;
    }
    for id in &node.children {
        if let Some(child) = left.remove(id.as_str()) {
            collect(child, left, items, nesting + 1);
        }
    }
}

/// True for an element without a role that can be acted on all the same.
fn is_told(node: &AxNode) -> bool {
    node.role == "generic"
        && (node.is("focusable")
            || node.text("editable").is_some_and(|kind| kind != "inherit")
            || !node.name.is_empty())
}

fn origin(url: &str) -> Option<String> {
    let host = url.find("://")? + 3;
    let end = url[host..].find('/').map_or(url.len(), |end| host + end);
    Some(url[..end].to_owned())
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
