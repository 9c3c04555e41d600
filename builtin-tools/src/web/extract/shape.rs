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
/// Minimum number of bytes of a linked title. Bytes, because a character of Chinese says more than one of English.
const MIN_TITLE_BYTES: usize = 24;
/// Maximum number of characters before the title of a card: a date or a topic.
const MAX_BEFORE_TITLE: usize = 24;
/// Maximum number of characters of a card outside its links.
const MAX_CARD: usize = 300;
/// Elements that are cards. Items of lists are not: lists of links with a description are content of many pages.
const CARDS: &[&str] = &["div", "section", "td"];
/// Maximum share of a page's text before its title, in percent.
const MAX_BEFORE_PERCENT: usize = 15;
/// Maximum mean length of the links at the end of a page: imprint, privacy.
const MAX_END_LINK: usize = 25;
/// Elements of text, whose parts belong together.
const TEXTS: &[&str] = &["article", "blockquote", "dl", "li", "main", "ol", "p", "pre", "ul"];
/// Elements before the text that introduce it.
const INTRODUCTIONS: &[&str] = &["blockquote", "h2", "h3", "ol", "p", "table", "ul"];

/// Removes the elements around the content.
pub(super) fn trim(document: &Document) {
    if let Some(body) = document.body() {
        remove_before_title(&body);
        remove_link_groups(&body);
        remove_cards(&body);
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

/// Returns true for an element that groups others, such as one of a component.
fn is_group(node: &NodeRef<'_>) -> bool {
    is_one_of(node, GROUPS) || node.node_name().is_some_and(|name| name.contains('-'))
}

/// Returns true for an element whose parts are content by its meaning.
fn is_content(node: &NodeRef<'_>) -> bool {
    is_one_of(node, &["main", "article", "pre", "code"])
        || node.attr("role").is_some_and(|role| &*role == "main")
}

/// Removes groups that are made of links, such as menus and boxes with related pages, unless the page consists of them.
fn remove_link_groups(body: &NodeRef<'_>) {
    let measures = Measures::of(body);
    let all = measures.get(body).characters;
    let (mut groups, mut removed, mut open) = (Vec::new(), 0, vec![*body]);
    while let Some(node) = open.pop() {
        for child in node.element_children() {
            if is_content(&child) {
                continue;
            }
            let Measure { characters, linked, links, has_code, .. } = measures.get(&child);
            let is_made_of_links = links >= MIN_LINKS && linked * 10 >= characters * 8 && !has_code;
            if is_made_of_links && characters * 2 <= all && is_group(&child) {
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

/// Removes what a page says before its title: notices, and what the site says of itself. The title is the only `h1`, outside links, and
/// little stands before it.
fn remove_before_title(body: &NodeRef<'_>) {
    let titles: Vec<_> = body.descendants_it().filter(|node| node.has_name("h1")).collect();
    let [title] = &*titles else { return };
    let is_linked = title.descendants_it().any(|inner| inner.has_name("a"));
    let measures = Measures::of(body);
    let (mut before, mut characters, mut has_code) = (Vec::new(), 0, false);
    let path =
        std::iter::once(*title).chain(title.ancestors_it(None).take_while(|outer| outer.id != body.id));
    for node in path {
        let mut sibling = node.prev_sibling();
        while let Some(one) = sibling {
            if one.is_element() {
                let measure = measures.get(&one);
                characters += measure.characters;
                has_code |= measure.has_code || one.has_name("table") || is_content(&one);
                before.push(one);
            }
            sibling = one.prev_sibling();
        }
    }
    if !is_linked && !has_code && characters * 100 <= measures.get(body).characters * MAX_BEFORE_PERCENT {
        before.iter().for_each(NodeRef::remove_from_parent);
    }
}

/// Removes cards that lead to other pages: parts of one kind, one after the other, that begin with a linked title and say a little
/// of it. They stay if the page consists of them.
fn remove_cards(body: &NodeRef<'_>) {
    let measures = Measures::of(body);
    let all = measures.get(body).plain();
    let (mut cards, mut removed, mut open) = (Vec::new(), 0, vec![*body]);
    while let Some(node) = open.pop() {
        let children = node.element_children();
        let kinds: Vec<_> = children.iter().map(|child| kind_of_card(child, measures.get(child))).collect();
        let in_row = |at: usize| {
            let beside = [at.checked_sub(1), at.checked_add(1)];
            let is_same = |other: usize| kinds.get(other).is_some_and(|kind| *kind == kinds[at]);
            kinds[at].is_some() && beside.into_iter().flatten().any(is_same)
        };
        let found: Vec<_> = (0..children.len()).filter(|at| in_row(*at)).map(|at| children[at]).collect();
        let characters: usize = found.iter().map(|card| measures.get(card).characters).sum();
        removed += found.iter().map(|card| measures.get(card).plain()).sum::<usize>();
        // The heading above cards, and what is below them, goes with them.
        if characters * 10 >= measures.get(&node).characters * 8 && characters > 0 && node.id != body.id {
            cards.push(node);
            continue;
        }
        let rest = children.into_iter().enumerate().filter(|(at, _)| !in_row(*at)).map(|(_, child)| child);
        open.extend(rest.filter(|child| !is_content(child)));
        cards.extend(found);
    }
    if removed * 10 <= all * 4 {
        cards.iter().for_each(NodeRef::remove_from_parent);
    }
}

/// Returns name and class of a card; `None` for another element.
fn kind_of_card(node: &NodeRef<'_>, measure: Measure) -> Option<(String, String)> {
    let Measure { characters, linked, links, has_code, has_title } = measure;
    let is_card = is_one_of(node, CARDS) || node.node_name()?.contains('-');
    if !is_card
        || links == 0
        || has_code
        || has_title
        || measure.plain() > MAX_CARD
        || linked * 10 < characters * 2
    {
        return None;
    }
    let mut before = 0;
    for text in node.descendants_it().filter(NodeRef::is_text) {
        let words = text.text();
        let words = words.trim();
        if words.is_empty() {
            continue;
        }
        let link = text.ancestors_it(None).find(|outer| outer.has_name("a"));
        match link {
            Some(link) if link.text().trim().len() >= MIN_TITLE_BYTES => {
                let class = node.class().map(|class| class.to_string()).unwrap_or_default();
                return Some((node.node_name()?.to_string(), class));
            }
            _ => before += words.chars().count(),
        }
        if before > MAX_BEFORE_TITLE {
            return None;
        }
    }
    None
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
            let side = match index {
                _ if index < place => Side::Before,
                _ if index + 1 == children.len() => Side::Last,
                _ => Side::After,
            };
            if is_edge(child, measure, side, all) && !is_alike(child, &content, &names) {
                edges.push(*child);
            }
        }
        node = content;
    }
    edges.iter().for_each(NodeRef::remove_from_parent);
}

/// The place of a part beside the content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
    /// After it, with nothing behind.
    Last,
}

/// Returns true for a small part with links, before or after the content of a page with `all` characters outside links.
fn is_edge(node: &NodeRef<'_>, measure: Measure, side: Side, all: usize) -> bool {
    let Measure { characters, linked, links, has_code, has_title } = measure;
    // The end of a page says little, with short links to what every page needs.
    let is_end = side == Side::Last
        && links >= MIN_LINKS
        && linked <= links * MAX_END_LINK
        && !is_one_of(node, TEXTS)
        && measure.plain() * 4 < all;
    if has_code || has_title || links < 2 || measure.plain() * 5 >= all && !is_end {
        return false;
    }
    if side == Side::Before {
        return linked * 10 >= characters * 4 && !is_one_of(node, INTRODUCTIONS);
    }
    linked * 10 >= characters * 3 || linked * 10 >= characters && (is_end || measure.plain() * 10 < all)
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
