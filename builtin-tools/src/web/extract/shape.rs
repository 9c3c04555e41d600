//! Removal of the elements around the content by the shape of the page: the share of links in its parts, and their place beside the
//! part that has most of the text.
//!
//! It is for pages whose elements and names do not say which part is the content. Nothing within `main` or `article` is removed.

use dom_query::{Document, NodeId, NodeRef};
use std::collections::HashMap;

/// Elements that group others, and that are removed if they are made of links.
const GROUPS: &[&str] =
    &["center", "div", "dl", "font", "ol", "p", "section", "span", "table", "td", "tr", "ul"];
/// Minimum number of links of such a group.
const MIN_LINKS: usize = 3;
/// Elements of text, whose parts belong together.
const TEXTS: &[&str] = &["article", "blockquote", "dl", "li", "main", "ol", "p", "pre", "ul"];
/// Elements before the text that introduce it.
const INTRODUCTIONS: &[&str] = &["blockquote", "h2", "h3", "ol", "p", "table", "ul"];

/// Removes the elements around the content.
pub(super) fn trim(document: &Document) {
    if let Some(body) = document.body() {
        remove_link_groups(&body);
        remove_edges(&body);
    }
}

/// The text of an element, without white space.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    characters: usize,
    /// Characters in links.
    linked: usize,
    links: usize,
    has_code: bool,
    has_title: bool,
}

impl Measure {
    /// The number of characters outside links.
    fn plain(self) -> usize {
        self.characters - self.linked
    }
}

/// The measures of an element and of all nodes in it.
struct Measures(HashMap<NodeId, Measure>);

impl Measures {
    fn of(root: &NodeRef<'_>) -> Self {
        let mut all: HashMap<NodeId, Measure> = HashMap::new();
        let mut nodes = vec![*root];
        nodes.extend(root.descendants_it());
        // A node comes before its descendants, so the reverse order has complete measures.
        for node in nodes.into_iter().rev() {
            let mut measure = all.get(&node.id).copied().unwrap_or_default();
            if node.is_text() {
                measure.characters = node.text().chars().filter(|char| !char.is_whitespace()).count();
            } else if node.has_name("a") {
                (measure.linked, measure.links) = (measure.characters, 1);
            }
            measure.has_code |= node.has_name("pre");
            measure.has_title |= node.has_name("h1");
            all.insert(node.id, measure);
            if let Some(parent) = node.parent().filter(|_| node.id != root.id) {
                let sum = all.entry(parent.id).or_default();
                sum.characters += measure.characters;
                sum.linked += measure.linked;
                sum.links += measure.links;
                sum.has_code |= measure.has_code;
                sum.has_title |= measure.has_title;
            }
        }
        Self(all)
    }

    fn get(&self, node: &NodeRef<'_>) -> Measure {
        self.0.get(&node.id).copied().unwrap_or_default()
    }
}

fn is_one_of(node: &NodeRef<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| node.has_name(name))
}

/// Removes groups that are made of links, such as menus and boxes with related pages, unless the page consists of them.
fn remove_link_groups(body: &NodeRef<'_>) {
    let measures = Measures::of(body);
    let all = measures.get(body).characters;
    let (mut groups, mut removed, mut open) = (Vec::new(), 0, vec![*body]);
    while let Some(node) = open.pop() {
        for child in node.element_children() {
            let is_content = is_one_of(&child, &["main", "article", "pre", "code"])
                || child.attr("role").is_some_and(|role| &*role == "main");
            if is_content {
                continue;
            }
            let Measure { characters, linked, links, has_code, .. } = measures.get(&child);
            let is_made_of_links = links >= MIN_LINKS && linked * 10 >= characters * 8 && !has_code;
            if is_made_of_links && characters * 2 <= all && is_one_of(&child, GROUPS) {
                removed += characters;
                groups.push(child);
            } else {
                open.push(child);
            }
        }
    }
    if removed * 10 <= all * 6 {
        groups.iter().for_each(NodeRef::remove_from_parent);
    }
}

/// Follows the part that has most of the text from the body inwards, and removes small parts with links beside it.
fn remove_edges(body: &NodeRef<'_>) {
    let measures = Measures::of(body);
    let all = measures.get(body).plain();
    if all * 2 < measures.get(body).characters {
        // The links are the content, as of a list of stories.
        return;
    }
    let (mut edges, mut node) = (Vec::new(), *body);
    while !is_one_of(&node, TEXTS) {
        let children = node.element_children();
        let plain = |index: &usize| measures.get(&children[*index]).plain();
        let Some(place) = (0..children.len()).max_by_key(plain) else { break };
        let content = children[place];
        if plain(&place) == 0 || plain(&place) * 10 < measures.get(&node).plain() * 6 {
            break;
        }
        let names = child_names(&content);
        for (index, child) in children.iter().enumerate().filter(|(index, _)| *index != place) {
            let measure = measures.get(child);
            if is_edge(child, measure, index < place, all) && !is_alike(child, &content, &names) {
                edges.push(*child);
            }
        }
        node = content;
    }
    edges.iter().for_each(NodeRef::remove_from_parent);
}

/// Returns true for a small part with links, before or after the content of a page with `all` characters outside links.
fn is_edge(node: &NodeRef<'_>, measure: Measure, is_before: bool, all: usize) -> bool {
    let Measure { characters, linked, links, has_code, has_title } = measure;
    if has_code || has_title || links < 2 || measure.plain() * 5 >= all {
        return false;
    }
    if is_before {
        return linked * 10 >= characters * 4 && !is_one_of(node, INTRODUCTIONS);
    }
    linked * 10 >= characters * 3 || linked * 10 >= characters && measure.plain() * 10 < all
}

/// Returns true if two elements are parts of one series, such as posts or sections.
fn is_alike(node: &NodeRef<'_>, content: &NodeRef<'_>, names: &[String]) -> bool {
    if node.node_name() != content.node_name() {
        return false;
    }
    let class = node.class().filter(|class| !class.trim().is_empty());
    class.is_some() && class == content.class()
        || is_one_of(node, &["article", "section"])
        || names.len() > 1 && child_names(node) == names
}

fn child_names(node: &NodeRef<'_>) -> Vec<String> {
    node.element_children().iter().filter_map(NodeRef::node_name).map(|name| name.to_string()).collect()
}
